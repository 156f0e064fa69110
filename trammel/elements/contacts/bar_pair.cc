// Two rounded bars, each the hull of spheres about the points of a segment. With a, b their axes, w from the point s of
// A's to the point t of B's, the gap is the least of
//
//   F(s, t) = |w| - r_A(s) - r_B(t),   w = p_B + t b - p_A - s a
//
// over -h_A <= s <= h_A, -h_B <= t <= h_B. F is convex, strictly with crowns: one minimum, which moves continuously
// with the bars, also through parallel axes and off the ends. With n = w/|w| and P = (1 - n n^T)/|w|:
//
//   F_s = -n . a + 2 k_A s         F_ss = a . P a + 2 k_A     F_st = -a . P b      k = crown/h^2
//   F_t =  n . b + 2 k_B t         F_tt = b . P b + 2 k_B
//
// Of the two, those on a bound that F would leave are fixed. At the minimum d depth = -n . dw at fixed s, t; the free
// ones follow from d(F_s, F_t) = 0. Where axes cross, w = 0, F has a corner: n is then across both, and held.
#include <algorithm>
#include <cmath>

#include "trammel/elements/contacts/shape_pair.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

using Rows = Eigen::Matrix<double, 3, 12>;
using Vec2 = Eigen::Vector2d;

// The solution of H x = y in the free of two variables; the others are zero.
Vec2 solve_free(const Eigen::Matrix2d& H, const Vec2& y, const bool* free) {
  Vec2 x = Vec2::Zero();
  if (free[0] && free[1]) {
    const double det = H(0, 0) * H(1, 1) - H(0, 1) * H(1, 0);
    x << (H(1, 1) * y[0] - H(0, 1) * y[1]) / det, (H(0, 0) * y[1] - H(1, 0) * y[0]) / det;
  } else if (free[0]) {
    x[0] = y[0] / H(0, 0);
  } else if (free[1]) {
    x[1] = y[1] / H(1, 1);
  }
  return x;
}

class BarPair final : public ShapePair {
 public:
  BarPair(const Bar& a, const Bar& b) : bars_{a, b} {
    for (int i = 0; i < 2; ++i) bend_[i] = bars_[i].crown / (bars_[i].half_length * bars_[i].half_length);
  }

  int locate(const FrameState& A, const FrameState& B, ContactPoint* points,
             ContactPointPartials* partials) const override {
    const Vec3 a = A.R.col(2), b = B.R.col(2), d = B.p - A.p;
    Nearest at;
    find(d, a, b, at);
    if (at.crossing) {
      const Vec3 across = a.cross(b);
      at.n = across.squaredNorm() > 1e-12 ? across.normalized() : Vec3(A.R.col(0));
    }
    const double s = at.x[0], t = at.x[1], r_a = bars_[0].radius - bend_[0] * s * s,
                 r_b = bars_[1].radius - bend_[1] * t * t;
    const Vec3& n = at.n;
    ContactPoint& point = points[0];
    point.depth = r_a + r_b - at.length;
    point.normal = -n;
    point.place = A.p + s * a + (r_a - 0.5 * point.depth) * n;
    if (partials == nullptr || !(point.depth > 0)) return 1;

    const Mat3 I = Mat3::Identity(), P = at.crossing ? Mat3(Mat3::Zero()) : Mat3((I - n * n.transpose()) / at.length);
    Rows da = Rows::Zero(), db = Rows::Zero(), dw;
    da.middleCols<3>(3) = -skew(a);
    db.rightCols<3>() = -skew(b);
    dw << -I, Mat3::Zero(), I, Mat3::Zero();
    dw += t * db - s * da;
    ContactPointPartials& out = partials[0];
    out.depth = -n.transpose() * dw;
    const Rows dn_fixed = P * dw;
    Eigen::Matrix<double, 2, 12> slopes, moved = Eigen::Matrix<double, 2, 12>::Zero();
    slopes.row(0) = -a.transpose() * dn_fixed - n.transpose() * da;
    slopes.row(1) = b.transpose() * dn_fixed + n.transpose() * db;
    for (int k = 0; k < 12 && !at.crossing; ++k) moved.col(k) = solve_free(at.H, -slopes.col(k), at.free);
    dw += b * moved.row(1) - a * moved.row(0);
    const Rows dn = P * dw;
    out.normal = -dn;
    out.place = s * da + a * moved.row(0) + (r_a - 0.5 * point.depth) * dn -
                n * (2 * bend_[0] * s * moved.row(0) + 0.5 * out.depth);
    out.place.leftCols<3>() += I;
    return 1;
  }

 private:
  struct Nearest {
    Vec2 x;  // s, t
    Vec3 n;
    double length = 0;
    Eigen::Matrix2d H;
    bool free[2] = {true, true};
    bool crossing = false;  // n and H have no values
  };

  // Without crowns F is least where the segments are nearest: from elsewhere slender bars send Newton's method to and
  // fro between the bounds.
  static Vec2 nearest_of_segments(const Vec3& d, const Vec3& a, const Vec3& b, const Vec2& bound) {
    const double c = a.dot(b), da = a.dot(d), db = b.dot(d), apart = 1 - c * c;
    const double first = apart > 1e-12 ? std::clamp((da - c * db) / apart, -bound[0], bound[0]) : 0.0;
    const double t = std::clamp(c * first - db, -bound[1], bound[1]);
    return {std::clamp(da + c * t, -bound[0], bound[0]), t};
  }

  double value(const Vec3& d, const Vec3& a, const Vec3& b, const Vec2& x) const {
    return (d + x[1] * b - x[0] * a).norm() + bend_[0] * x[0] * x[0] + bend_[1] * x[1] * x[1];
  }

  // Newton's method with projection onto the bounds. Where |w| vanishes F has no slope, and is least.
  void find(const Vec3& d, const Vec3& a, const Vec3& b, Nearest& at) const {
    const Vec2 bound(bars_[0].half_length, bars_[1].half_length);
    const auto bounded = [&](const Vec2& x) -> Vec2 { return x.cwiseMax(-bound).cwiseMin(bound); };
    at.x = nearest_of_segments(d, a, b, bound);
    const double reach = bound.sum() + bars_[0].radius + bars_[1].radius;
    // A step below `small` is the last: convergence is quadratic, and round-off bends F by more than the next would
    // gain.
    const double small = 1e-9 * reach;
    constexpr int most_steps = 60;  // 5 are usual
    bool last = false;
    for (int k = 0;; ++k) {
      const Vec3 w = d + at.x[1] * b - at.x[0] * a;
      at.length = w.norm();
      at.crossing = !(at.length > 1e-12 * reach);
      if (at.crossing) return;
      at.n = w / at.length;
      const double na = at.n.dot(a), nb = at.n.dot(b), across = (a.dot(b) - na * nb) / at.length;
      const Vec2 slope(2 * bend_[0] * at.x[0] - na, 2 * bend_[1] * at.x[1] + nb);
      at.H << (1 - na * na) / at.length + 2 * bend_[0], -across, -across, (1 - nb * nb) / at.length + 2 * bend_[1];
      for (int i = 0; i < 2; ++i)
        at.free[i] = !(at.x[i] >= bound[i] && slope[i] < 0) && !(at.x[i] <= -bound[i] && slope[i] > 0);
      if (last || k == most_steps) return;
      const Vec2 step = solve_free(at.H, -slope, at.free);
      Vec2 next = bounded(at.x + step);
      last = step.cwiseAbs().maxCoeff() <= small;
      if (!last) {
        const double now = value(d, a, b, at.x) + 1e-15 * reach;  // or round-off halves a good step
        for (double part = 0.5; part > 1e-3 && value(d, a, b, next) > now; part *= 0.5)
          next = bounded(at.x + part * step);
      }
      at.x = next;
    }
  }

  Bar bars_[2];
  double bend_[2];
};

}  // namespace

std::unique_ptr<const ShapePair> bar_against(const Bar& a, const Bar& b) { return std::make_unique<BarPair>(a, b); }

}  // namespace trammel
