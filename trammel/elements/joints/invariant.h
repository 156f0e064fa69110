// The scalar products that joints are made of, with every derivative by hand. Between frames A and B there are vectors
// that turn with A, vectors that turn with B, and d = p_B - p_A. For s = x . y of two such vectors:
//
//   first variation      ds = dx . y + x . dy,        dx = phi x x for a vector that turns, dd = dp_B - dp_A
//   d(C u)/dpose . z     = second variation with the twist u held
//   s'' at zero acceleration = x''. y + 2 x'. y' + x . y'',  x'' = w x (w x x), d'' = 0
//
// Columns of every row: (p_A, phi_A, p_B, phi_B).
#pragma once
#include "trammel/elements/frame.h"

namespace trammel {

using PairRow = Eigen::Matrix<double, 1, 12>;
using PairMatrix = Eigen::Matrix<double, 12, 12>;

enum class Owner { a, b, line };  // turns with frame A, with frame B, or is d

struct OwnedVector {
  Owner owner;
  Vec3 x;
};

// The stacked twist of two frames read as a twist for such vectors.
struct PairTwist {
  Vec3 w_a, w_b, v_line;
  explicit PairTwist(const double* u)
      : w_a(u[3], u[4], u[5]), w_b(u[9], u[10], u[11]), v_line(u[6] - u[0], u[7] - u[1], u[8] - u[2]) {}
  const Vec3& w(Owner owner) const { return owner == Owner::a ? w_a : w_b; }
  Vec3 rate(const OwnedVector& v) const { return v.owner == Owner::line ? v_line : w(v.owner).cross(v.x).eval(); }
};

// s = x . y
struct Invariant {
  OwnedVector x, y;

  double value() const { return x.x.dot(y.x); }
  double rate(const PairTwist& u) const;
  PairRow gradient() const;
  PairMatrix hessian() const;                    // u^T hessian z = d(gradient u)/dpose z
  PairRow contracted(const PairTwist& u) const;  // u^T hessian
  double curvature(const PairTwist& u) const;    // s'' at zero acceleration
  PairRow curvature_pose(const PairTwist& u) const;
  PairRow curvature_twist(const PairTwist& u) const;
};

}  // namespace trammel
