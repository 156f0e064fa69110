#include "trammel/elements/forces/helix.h"

#include <cmath>

#include "trammel/math/rotation.h"

namespace trammel {
namespace {

// Below this angle c and its derivatives come from their series in x^2. There the closed form of c2 has lost seven
// digits, of a term that counts by x^4; the first omitted term of the series is 1e-16 of c.
constexpr double small_angle = 0.3;

struct Bow {
  double c, c1, c2;
};

Bow bow(double x) {
  const double s = x * x;
  if (x < small_angle) {
    constexpr double a0 = 1.0 / 12, a1 = 1.0 / 720, a2 = 1.0 / 30240, a3 = 1.0 / 1209600, a4 = 1.0 / 47900160,
                     a5 = 691.0 / 1307674368000;
    return {a0 + s * (a1 + s * (a2 + s * (a3 + s * (a4 + s * a5)))),
            2 * (a1 + s * (2 * a2 + s * (3 * a3 + s * (4 * a4 + s * 5 * a5)))),
            4 * (2 * a2 + s * (6 * a3 + s * (12 * a4 + s * 20 * a5)))};
  }
  // g = (x/2) cot(x/2):  g' = (g - g^2)/x - x/4,  c = (1 - g)/x^2, c' = -g'/x^2 - 2 c/x;  g'' = -c x^2/(2 sin^2(x/2))
  const double sine = std::sin(0.5 * x), g = 0.5 * x * std::cos(0.5 * x) / sine;
  const double c = (1 - g) / s, slope = (g - g * g) / x - 0.25 * x;
  const double c1 = -(slope / x + 2 * c) / s;
  return {c, c1, (0.5 * c / (sine * sine) - 5 * c1 - 2 * c / s) / s};
}

// d(u x (u x a))/du; for u = y' it is also the second derivative of theta x (theta x a) along y', as matrix of the
// other.
Mat3 double_cross_slope(const Vec3& u, const Vec3& a) {
  return u.dot(a) * Mat3::Identity() + u * a.transpose() - 2 * a * u.transpose();
}

}  // namespace

Helix::Helix(const Vec6& y) : d_(y.head<3>()), theta_(y.tail<3>()) {
  const Bow k = bow(theta_.norm());
  c_ = k.c;
  c1_ = k.c1;
  c2_ = k.c2;
  q_ = theta_.cross(theta_.cross(d_));
  Q_ = double_cross_slope(theta_, d_);
  strain_ << d_ - 0.5 * theta_.cross(d_) + c_ * q_, theta_;
  const Mat3 turn = skew(theta_);
  slope_.setIdentity();
  slope_.topLeftCorner<3, 3>() += c_ * turn * turn - 0.5 * turn;
  slope_.topRightCorner<3, 3>() = 0.5 * skew(d_) + c_ * Q_ + c1_ * q_ * theta_.transpose();
}

// With y' = (b, u): against d the derivative of T(-theta)^-1 along u; against theta Y of b in the place of d, and the
// second derivative of rho along u,
//   c Q(u) + c1 ((theta . u) Q + Q u theta^T + q u^T) + c2 (theta . u) q theta^T
Mat6 Helix::rate_slope(const Vec6& rate) const {
  const Vec3 b = rate.head<3>(), u = rate.tail<3>();
  const double along = theta_.dot(u);
  const Mat3 turn = skew(theta_), turning = skew(u);
  Mat6 out = Mat6::Zero();
  out.topLeftCorner<3, 3>() = -0.5 * turning + c_ * (turning * turn + turn * turning) + c1_ * along * turn * turn;
  out.topRightCorner<3, 3>() = 0.5 * skew(b) + c_ * double_cross_slope(theta_, b) +
                               c1_ * theta_.cross(theta_.cross(b)) * theta_.transpose() +
                               c_ * double_cross_slope(u, d_) + c1_ * along * Q_ +
                               (c1_ * (Q_ * u) + c2_ * along * q_) * theta_.transpose() + c1_ * q_ * u.transpose();
  return out;
}

// With f the first half of s and psi = f . q: the second derivatives of f . rho,
//   d theta       -f~/2 + c Q_f + c1 (theta x (theta x f)) theta^T,   Q_f as Q with f in the place of d
//   theta theta   c (f d^T + d f^T - 2 (f . d) I) + c1 (g theta^T + theta g^T + psi I) + c2 psi theta theta^T,  g = Q^T
//   f
Mat6 Helix::stress_slope(const Vec6& s) const {
  const Vec3 f = s.head<3>(), g = Q_.transpose() * f;
  const double psi = f.dot(q_);
  Mat6 out = Mat6::Zero();
  out.topRightCorner<3, 3>() =
      -0.5 * skew(f) + c_ * double_cross_slope(theta_, f) + c1_ * theta_.cross(theta_.cross(f)) * theta_.transpose();
  out.bottomLeftCorner<3, 3>() = out.topRightCorner<3, 3>().transpose();
  out.bottomRightCorner<3, 3>() =
      c_ * (f * d_.transpose() + d_ * f.transpose()) + (c1_ * psi - 2 * c_ * f.dot(d_)) * Mat3::Identity() +
      c1_ * (g * theta_.transpose() + theta_ * g.transpose()) + c2_ * psi * theta_ * theta_.transpose();
  return out;
}

}  // namespace trammel
