// Scalars of a pair of frames that rows of constraints are made of, each a function F of one or two of the scalar
// products of invariant.h, with all derivatives by the chain rule:
//
//   in_plane(i)    a_i . d                           coordinate of B's origin along an axis of A
//   distance       |d|
//   dot(i, j)      a_i . b_j                         cosine of the angle of two axes
//   angle          angle of b_x about a_z            multi-turn
//   twist          (a_y . b_x - a_x . b_y) / 2       sine of B's turn about the common axis while b_z leans little
//   radius         sqrt(d_x^2 + d_y^2)               distance of B's origin from the z axis of A, d_i = a_i . d
//   polar          angle of d about a_z              multi-turn
//   cardan(i)      angles of R_A^T R_B = R_x(alpha) R_y(beta) R_z(gamma); alpha and gamma multi-turn
//
// `point(i)`, a world coordinate of d, is linear in the poses and has no F.
#pragma once
#include <array>

#include "trammel/elements/joints/invariant.h"

namespace trammel {

enum class Primitive { point, in_plane, distance, dot, angle, twist, radius, polar, cardan };

// Known up to full turns only: the element remembers the turns.
constexpr bool is_turning(Primitive kind, int i) {
  return kind == Primitive::angle || kind == Primitive::polar || (kind == Primitive::cardan && i != 1);
}

struct PairFunction {
  int count = 1;  // number of invariants
  std::array<Invariant, 2> s;
  double value = 0;  // an angle in (-pi, pi]
  std::array<double, 2> F1{};
  std::array<std::array<double, 2>, 2> F2{};
  std::array<std::array<std::array<double, 2>, 2>, 2> F3{};

  // f(F) instead of F, from f, f', f'', f''' at the value.
  void compose(const std::array<double, 4>& f);
  void scale(double factor);

  PairRow gradient() const;  // against the pose
  // Adds factor times the matrix H with u^T H z = d(gradient u)/dpose z.
  template <class Matrix>
  void add_hessian(double factor, Matrix&& out) const {
    for (std::size_t p = 0; p < static_cast<std::size_t>(count); ++p) {
      out += (factor * F1[p]) * s[p].hessian();
      for (std::size_t q = 0; q < static_cast<std::size_t>(count); ++q) {
        if (F2[p][q] != 0) out += (factor * F2[p][q]) * s[p].gradient().transpose() * s[q].gradient();
      }
    }
  }
  double rate(const PairTwist& u) const;         // gradient u
  PairRow contracted(const PairTwist& u) const;  // u^T H
  double curvature(const PairTwist& u) const;    // second time derivative at zero acceleration
  PairRow curvature_pose(const PairTwist& u) const;
  PairRow curvature_twist(const PairTwist& u) const;
};

// Where there is no value (coinciding points, an axis along the axis of the angle) derivatives are not finite.
PairFunction pair_function(Primitive kind, int i, int j, const FrameState& a, const FrameState& b);

// The stacked twist of two frames.
PairTwist pair_twist_of(const FrameState& a, const FrameState& b);

}  // namespace trammel
