// A chart of the coordinates: z = positions, and for rotations the rotation vector from an origin. In it a mechanism's
// motion is a curve in a vector space, z'' = a(t, z, z'), for methods that know nothing of rotations.
//
//   q = retract(origin, z)     v = T(z) z'     v' = T z'' + T' z'        (T: identity except on rotations)
//
// A rotation vector says nothing of whole turns, and T is singular after one. Where bodies turn fast the origin turns
// with them, at a constant rate w from the time t0 on: z is what remains, small over any number of turns.
//
//   q = retract(retract(origin, (t - t0) w), z)     v = T z' + b     v' = T z'' + T' z' + b x T z',     b = exp(-z~) w
#pragma once
#include "trammel/base/archive.h"
#include "trammel/equations/equations.h"

namespace trammel {

class Chart {
 public:
  explicit Chart(const Equations& equations)
      : equations_(equations),
        rate_(Vec::Zero(equations.sizes().nv)),
        turned_(rate_),
        here_(Vec::Zero(equations.sizes().nq)) {}

  // The origin at rest.
  void move_to(const Vec& q);
  // The origin at time t. Bodies that turn by more than `far` in the time `window` take it with them, and those that do
  // already go on until they turn by a third of it: to change to and fro costs accuracy, because the errors of a method
  // are others in the other chart.
  void move_to(const Vec& q, double t, const Vec& v, double window);
  const Vec& origin() const { return origin_; }  // at the time it was moved
  const Vec& rate() const { return rate_; }      // w; zero where the origin rests

  // q from z.
  void place(double t, const Vec& z, Vec& q) const;
  // q and v from z and z'.
  void place(double t, const Vec& z, const Vec& z_dot, Vec& q, Vec& v) const;
  // z and z' from q and v; good while no rotation is a half turn or more from the origin.
  void locate(double t, const Vec& q, const Vec& v, Vec& z, Vec& z_dot) const;
  // Whether the rates at z and at a later point, dt apart, lead from one to the other, and z is not far from the
  // origin; if not, z may be whole turns away from what it was.
  bool follows(const Vec& z, const Vec& z_dot, const Vec& later, const Vec& later_dot, double dt) const;
  // z'' from v'.
  void second(const Vec& z, const Vec& z_dot, const Vec& a, Vec& z_second) const;
  // Largest rotation from the origin, rad; beyond `far` a place is not to be trusted.
  double turn(const Vec& z) const;
  static constexpr double far = 3;
  // The same a time h later, by the present rates.
  double turn_ahead(const Vec& z, const Vec& z_dot, double h) const;
  // b, of the rotation with the given first column.
  Vec3 drift(int column, const Vec3& theta) const;

  // At a point of the chart, for each rotation: dq = T dz + b dt, dv = T dz' + C dz, dv' = T dz'' + B dz + A dz'.
  struct Derivatives {
    std::vector<Mat3> T, T_inverse, C, A, B;
    std::vector<Vec3> b;
  };
  void differentiate(const Vec& z, const Vec& z_dot, const Vec& z_second, Derivatives& out) const;

  void visit(Archive& archive);

 private:
  const Equations& equations_;
  Vec origin_, rate_;
  double since_ = 0;      // t0
  bool turning_ = false;  // some rate is not zero
  mutable Vec turned_, here_;
};

}  // namespace trammel
