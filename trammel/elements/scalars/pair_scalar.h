// The scalars of two frames A and B: joints, motions, measures, forces along or about an axis and recorded values are
// all made of them. Each is a function F of one or two of the scalar products of invariant.h, with all derivatives by
// the chain rule:
//
//   point(i)       e_i . d                           world coordinate of B's origin against A's
//   in_plane(i)    a_i . d                           coordinate of B's origin along an axis of A
//   distance       |d|
//   dot(i, j)      a_i . b_j                         cosine of the angle of two axes
//   angle          angle of b_x about a_z            multi-turn
//   twist          (a_y . b_x - a_x . b_y) / 2       sine of B's turn about the common axis while b_z leans little
//   radius         sqrt(d_x^2 + d_y^2)               distance of B's origin from the z axis of A, d_i = a_i . d
//   polar          angle of d about a_z              multi-turn
//   cardan(i)      angles of R_A^T R_B = R_x(alpha) R_y(beta) R_z(gamma); alpha and gamma multi-turn
//
// d = p_B - p_A; a_i, b_j are axes of the frames. Who needs the value, or the first derivatives, says so and does not
// pay for the others.
#pragma once
#include <array>

#include "trammel/elements/remembered_angle.h"
#include "trammel/elements/scalars/invariant.h"

namespace trammel {

enum class Primitive { point, in_plane, distance, dot, angle, twist, radius, polar, cardan };

// Shorter lines have no direction.
constexpr double least_length = 1e-12;  // m
// An axis nearer to the axis of an angle than this has no angle about it.
constexpr double least_sine = 1e-6;

// Which scalar.
struct Scalar {
  Primitive kind = Primitive::in_plane;
  int i = 0, j = 0;

  // Known up to full turns only: elements remember the turns.
  constexpr bool is_multi_turn() const {
    return kind == Primitive::angle || kind == Primitive::polar || (kind == Primitive::cardan && i != 1);
  }
  // A length, to which a force belongs; the others are angles or cosines, to which a torque belongs.
  constexpr bool is_length() const {
    return kind == Primitive::point || kind == Primitive::in_plane || kind == Primitive::distance ||
           kind == Primitive::radius;
  }
  // What it looks at of A (0) and B (1).
  constexpr FrameNeed needs(int frame) const {
    if (kind == Primitive::point || kind == Primitive::distance) return FrameNeed::point;
    if (kind == Primitive::in_plane && frame == 0) return i == 2 ? FrameNeed::z_axis : FrameNeed::orientation;
    if (kind == Primitive::in_plane || kind == Primitive::radius || kind == Primitive::polar)
      return frame == 0 ? FrameNeed::orientation : FrameNeed::point;
    return FrameNeed::orientation;
  }
};

// A scalar at a state of its frames, with its derivatives up to the order that is asked for: 0 the value, 1 gradient
// and rate, 2 the Hessian and all but the last two functions, 3 everything.
class PairScalar {
 public:
  PairScalar(const Scalar& which, const FrameState& a, const FrameState& b, int order) : order_(order) {
    switch (which.kind) {
      case Primitive::point: set_product({{Owner::world, Vec3::Unit(which.i)}, {Owner::line, b.p - a.p}}); break;
      case Primitive::in_plane: set_product({{Owner::a, a.R.col(which.i)}, {Owner::line, b.p - a.p}}); break;
      case Primitive::dot: set_product({{Owner::a, a.R.col(which.i)}, {Owner::b, b.R.col(which.j)}}); break;
      default: set_function(which, a, b);
    }
  }

  double value() const { return value_; }  // of an angle in (-pi, pi], or as set by `unwrap`
  // False where it has no derivatives: coinciding points, an axis along the axis of the angle.
  bool good() const { return good_; }
  void unwrap(double near) { value_ = unwrap_angle(value_, near); }
  // f(F) instead of F, from f, f', f'', f''' at the value.
  void compose(const std::array<double, 4>& f);
  void scale(double factor);

  PairSlope gradient() const {
    return plain_ ? s_[0].gradient() : sum([this](std::size_t p) { return s_[p].gradient(); });
  }
  double rate(const PairTwist& u) const;           // gradient u
  PairSlope contracted(const PairTwist& u) const;  // u^T H, H the matrix with u^T H z = d(gradient u)/dpose z
  double curvature(const PairTwist& u) const;      // second time derivative at zero acceleration
  PairSlope curvature_pose(const PairTwist& u) const;
  PairSlope curvature_twist(const PairTwist& u) const;

  // Adds factor * H.
  template <class Matrix>
  void add_hessian(double factor, Matrix&& out) const {
    if (plain_) {
      s_[0].add_hessian(factor, out);
      return;
    }
    for (std::size_t p = 0; p < count_; ++p) {
      s_[p].add_hessian(factor * F1_[p], out);
      for (std::size_t q = 0; q < count_; ++q) {
        if (F2_[p][q] != 0) out += (factor * F2_[p][q]) * s_[p].gradient().row().transpose() * s_[q].gradient().row();
      }
    }
  }

 private:
  void set_product(const Invariant& s) {
    s_[0] = s;
    value_ = s.value();
  }
  void set_function(const Scalar& which, const FrameState& a, const FrameState& b);
  void set_argument(double sign);
  void set_radius();
  void set_derivatives(double F1, double F2, double F3);  // of one product
  template <class Part>
  PairSlope sum(const Part& part) const {
    PairSlope out;
    for (std::size_t p = 0; p < count_; ++p) out.add(F1_[p], part(p));
    return out;
  }

  int order_;
  std::size_t count_ = 1;  // of products
  bool plain_ = true;      // the product itself
  bool good_ = true;
  double value_;
  std::array<Invariant, 2> s_;
  std::array<double, 2> F1_;
  std::array<std::array<double, 2>, 2> F2_;
  std::array<std::array<std::array<double, 2>, 2>, 2> F3_;
};

// A multi-turn angle with the turns that `memory` leads to, and its rate.
struct TotalAngle {
  double total, rate;
};
TotalAngle total_angle(const Scalar& which, const FrameState& a, const FrameState& b, const double* memory, double t);

}  // namespace trammel
