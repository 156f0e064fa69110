// The scalar products that all scalars of two frames are made of, with every derivative by hand. Between frames A and B
// there are vectors that turn with A, vectors that turn with B, vectors that stand still, and d = p_B - p_A. For s = x
// . y of two such vectors:
//
//   first variation      ds = dx . y + x . dy,        dx = phi x x for a vector that turns, dd = dp_B - dp_A
//   d(C u)/dpose . z     = second variation with the twist u held
//   s'' at zero acceleration = x''. y + 2 x'. y' + x . y'',  x'' = w x (w x x), d'' = 0
//
// Positions enter only through d, so a derivative has nine numbers: against d, phi_A and phi_B.
#pragma once
#include "trammel/elements/frame.h"

namespace trammel {

using PairRow = Eigen::Matrix<double, 1, 12>;  // columns (p_A, phi_A, p_B, phi_B)
using PairMatrix = Eigen::Matrix<double, 12, 12>;

// A derivative against (d, phi_A, phi_B).
struct PairSlope {
  Vec3 line = Vec3::Zero(), a = Vec3::Zero(), b = Vec3::Zero();

  void add(double factor, const PairSlope& other) {
    line += factor * other.line;
    a += factor * other.a;
    b += factor * other.b;
  }
  // Adds factor times it to a row of an element that has A and B as its frames number `at_a` and `at_b`.
  template <class Row>
  void scatter(double factor, int at_a, int at_b, Row&& out) const {
    out.template segment<3>(6 * at_a) -= factor * line.transpose();
    out.template segment<3>(6 * at_a + 3) += factor * a.transpose();
    out.template segment<3>(6 * at_b) += factor * line.transpose();
    out.template segment<3>(6 * at_b + 3) += factor * b.transpose();
  }
  PairRow row() const {
    PairRow out;
    out << -line.transpose(), a.transpose(), line.transpose(), b.transpose();
    return out;
  }
};

enum class Owner { a, b, line, world };  // turns with frame A, with frame B, is d, or stands still

struct OwnedVector {
  Owner owner;
  Vec3 x;
};

// The stacked twist of two frames read as a twist for such vectors.
struct PairTwist {
  Vec3 w_a, w_b, v_line;
  explicit PairTwist(const double* u)
      : w_a(u[3], u[4], u[5]), w_b(u[9], u[10], u[11]), v_line(u[6] - u[0], u[7] - u[1], u[8] - u[2]) {}
  PairTwist(const FrameState& a, const FrameState& b) : w_a(a.w), w_b(b.w), v_line(b.v - a.v) {}
  const Vec3& w(Owner owner) const { return owner == Owner::a ? w_a : w_b; }
  Vec3 rate(const OwnedVector& v) const {
    return v.owner == Owner::line ? v_line : v.owner == Owner::world ? Vec3(Vec3::Zero()) : Vec3(w(v.owner).cross(v.x));
  }
};

// s = x . y
struct Invariant {
  OwnedVector x, y;

  double value() const { return x.x.dot(y.x); }
  double rate(const PairTwist& u) const { return u.rate(x).dot(y.x) + x.x.dot(u.rate(y)); }
  PairSlope gradient() const {
    PairSlope out;
    add_variation(x, y.x, out);
    add_variation(y, x.x, out);
    return out;
  }
  PairSlope contracted(const PairTwist& u) const;  // u^T H, H the matrix with u^T H z = d(gradient u)/dpose z
  double curvature(const PairTwist& u) const;      // s'' at zero acceleration
  PairSlope curvature_pose(const PairTwist& u) const;
  PairSlope curvature_twist(const PairTwist& u) const;

  // Adds factor * H. C u = u_x . y + x . u_y: each of x, y gives the variation of its own rate and of its partner,
  //   turning x: u_w . (x x y)  varies by  (phi x x) x y  and  x x dy
  //   d:         u_v . y        varies by  dy
  template <class Matrix>
  void add_hessian(double factor, Matrix&& out) const {
    add_half(factor, x, y, out);
    add_half(factor, y, x, out);
  }

 private:
  static bool turns(const OwnedVector& v) { return v.owner == Owner::a || v.owner == Owner::b; }
  static int column(const OwnedVector& v) { return v.owner == Owner::a ? 3 : 9; }

  // dv . partner: phi . (v x partner) for a vector that turns.
  static void add_variation(const OwnedVector& v, const Vec3& partner, PairSlope& out) {
    switch (v.owner) {
      case Owner::a: out.a += v.x.cross(partner); break;
      case Owner::b: out.b += v.x.cross(partner); break;
      case Owner::line: out.line += partner; break;
      case Owner::world: break;
    }
  }
  // y~ x~, that is z -> y x (x x z)
  static Mat3 cross_twice(const Vec3& y, const Vec3& x) {
    Mat3 out = x * y.transpose();
    out.diagonal() << -(y[1] * x[1]) - y[2] * x[2], -(y[0] * x[0]) - y[2] * x[2], -(y[0] * x[0]) - y[1] * x[1];
    return out;
  }
  static Mat3 skewed(double factor, const Vec3& x) {
    Mat3 out;
    out << 0, -factor * x[2], factor * x[1], factor * x[2], 0, -factor * x[0], -factor * x[1], factor * x[0], 0;
    return out;
  }
  template <class Matrix>
  static void add_half(double factor, const OwnedVector& self, const OwnedVector& other, Matrix&& out) {
    if (turns(self)) {
      const int at = column(self);
      out.template block<3, 3>(at, at) += factor * cross_twice(other.x, self.x);
      if (turns(other)) {
        out.template block<3, 3>(at, column(other)) -= factor * cross_twice(self.x, other.x);
      } else if (other.owner == Owner::line) {
        const Mat3 block = skewed(factor, self.x);
        out.template block<3, 3>(at, 0) -= block;
        out.template block<3, 3>(at, 6) += block;
      }
    } else if (self.owner == Owner::line && turns(other)) {
      const Mat3 block = skewed(factor, other.x);
      out.template block<3, 3>(0, column(other)) += block;
      out.template block<3, 3>(6, column(other)) -= block;
    } else if (self.owner == Owner::line && other.owner == Owner::line) {
      for (int i = 0; i < 3; ++i) {
        out(i, i) += factor;
        out(6 + i, 6 + i) += factor;
        out(i, 6 + i) -= factor;
        out(6 + i, i) -= factor;
      }
    }
  }
};

}  // namespace trammel
