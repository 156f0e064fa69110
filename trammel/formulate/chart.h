// A chart of the coordinates: z = positions, and for rotations the rotation vector from an origin. In it a mechanism's
// motion is a curve in a vector space, z'' = a(t, z, z'), for methods that know nothing of rotations.
//
//   q = retract(origin, z)     v = T(z) z'     v' = T z'' + T' z'        (T: identity except on rotations)
#pragma once
#include "trammel/equations/equations.h"

namespace trammel {

class Chart {
 public:
  explicit Chart(const Equations& equations) : equations_(equations), difference_(Vec::Zero(equations.sizes().nv)) {}

  void move_to(const Vec& q) { origin_ = q; }
  const Vec& origin() const { return origin_; }

  // q and v from z and z'.
  void place(const Vec& z, const Vec& z_dot, Vec& q, Vec& v) const;
  // z and z' from q and v; good while no rotation is a half turn or more from the origin.
  void locate(const Vec& q, const Vec& v, Vec& z, Vec& z_dot) const;
  // z'' from v'.
  void second(const Vec& z, const Vec& z_dot, const Vec& a, Vec& z_second) const;
  // Largest rotation from the origin, rad.
  double turn(const Vec& z) const;

  // At a point of the chart, for each rotation: dq = T dz, dv = T dz' + C dz, dv' = T dz'' + B dz + A dz'.
  struct Derivatives {
    std::vector<Mat3> T, T_inverse, C, A, B;
  };
  void differentiate(const Vec& z, const Vec& z_dot, const Vec& z_second, Derivatives& out) const;

 private:
  const Equations& equations_;
  Vec origin_, difference_;
};

}  // namespace trammel
