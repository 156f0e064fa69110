#include "trammel/math/rotation.h"

#include <cmath>
#include <numbers>

namespace trammel {
namespace {

// The series are used below this angle: the next omitted term is then below 1e-18.
constexpr double small_angle = 0.05;

struct Coefficients {
  double sinc;   // sin x / x
  double cosc;   // (1 - cos x) / x^2
  double third;  // (x - sin x) / x^3
};

Coefficients coefficients(double x) {
  const double s = x * x;
  if (x < small_angle) {
    return {1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72))),
            (1 - s / 12 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90)))) / 2,
            (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110)))) / 6};
  }
  return {std::sin(x) / x, (1 - std::cos(x)) / s, (x - std::sin(x)) / (s * x)};
}

}  // namespace

Quat rotation_exp(const Vec3& theta) {
  const double half = 0.5 * theta.norm();
  const double factor = 0.5 * coefficients(half).sinc;
  return Quat(std::cos(half), factor * theta.x(), factor * theta.y(), factor * theta.z());
}

Vec3 rotation_log(const Quat& q) {
  const double sign = q.w() < 0 ? -1 : 1;
  const double sine = q.vec().norm();
  if (sine < 1e-8) return (2 * sign) * q.vec();  // error below 1e-17 of the angle's cube
  return (2 * sign * std::atan2(sine, sign * q.w()) / sine) * q.vec();
}

Mat3 rotation_tangent(const Vec3& theta) {
  const Coefficients c = coefficients(theta.norm());
  const Mat3 s = skew(theta);
  return Mat3::Identity() - c.cosc * s + c.third * (s * s);
}

Mat3 rotation_tangent_inverse(const Vec3& theta) {
  const double x = theta.norm();
  double k;
  if (x < small_angle) {
    const double s = x * x;
    k = 1.0 / 12 * (1 + s / 60 * (1 + s / 42 * (1 + s / 40)));
  } else {
    k = (1 - 0.5 * x * std::cos(0.5 * x) / std::sin(0.5 * x)) / (x * x);
  }
  const Mat3 s = skew(theta);
  return Mat3::Identity() + 0.5 * s + k * (s * s);
}

Mat3 rotation_tangent_derivative(const Vec3& theta, const Vec3& u) {
  // T u = u - c1 theta x u + c2 theta x (theta x u);  c' = dc/dx theta^T / x.
  const double x = theta.norm();
  const double s = x * x;
  const Coefficients c = coefficients(x);
  double dcosc, dthird;  // (dc/dx) / x
  if (x < small_angle) {
    dcosc = -1.0 / 12 * (1 - s / 15 * (1 - 3 * s / 112));
    dthird = -1.0 / 60 * (1 - s / 21 * (1 - s / 48));
  } else {
    dcosc = (c.sinc - 2 * c.cosc) / s;
    dthird = (c.cosc - 3 * c.third) / s;
  }
  const Vec3 cross = theta.cross(u);
  const Vec3 double_cross = theta.cross(cross);
  // d(theta x u) = -u~ dtheta;  d(theta x (theta x u)) = -(theta x u)~ dtheta - theta~ u~ dtheta
  return -dcosc * cross * theta.transpose() + c.cosc * skew(u) + dthird * double_cross * theta.transpose() -
         c.third * (skew(cross) + skew(theta) * skew(u));
}

namespace {

// sum_k (-1)^k p_k x^(2k) / (2k + n)! with p_k the product of `lowered` factors 2k, 2k - 2, ..., that many powers of
// x^2 taken out: the coefficients (1 - cos x)/x^2 (n = 2), (x - sin x)/x^3 (n = 3) and their derivatives (1/x) d/dx.
double lowered_series(double x, int n, int lowered) {
  double sum = 0, power = lowered % 2 == 0 ? 1 : -1, factorial = 1;
  for (int i = 2; i <= 2 * lowered + n; ++i) factorial *= i;
  for (int k = lowered; k < lowered + 10; ++k) {
    double product = 1;
    for (int i = 0; i < lowered; ++i) product *= 2 * (k - i);
    sum += power * product / factorial;
    power *= -x * x;
    factorial *= (2 * k + n + 1) * (2 * k + n + 2);
  }
  return sum;
}

}  // namespace

RotationAcceleration rotation_acceleration(const Vec3& theta, const Vec3& u, const Vec3& second) {
  // T' u = -d1 s (theta x u) + d2 s theta x (theta x u) + c2 u x (theta x u), s = theta . u
  const double x = theta.norm();
  const double c2 = lowered_series(x, 3, 0), d1 = lowered_series(x, 2, 1), d2 = lowered_series(x, 3, 1),
               e1 = lowered_series(x, 2, 2), e2 = lowered_series(x, 3, 2);
  const double s = theta.dot(u);
  const Vec3 cross = theta.cross(u), twice = theta.cross(cross), back = u.cross(cross);
  const Mat3 Th = skew(theta), U = skew(u), C = skew(cross);
  RotationAcceleration out;
  out.by_theta = rotation_tangent_derivative(theta, second) -
                 (e1 * s * cross * theta.transpose() + d1 * cross * u.transpose() - d1 * s * U) +
                 (e2 * s * twice * theta.transpose() + d2 * twice * u.transpose() - d2 * s * (C + Th * U)) +
                 (d2 * back * theta.transpose() - c2 * U * U);
  out.by_rate = -(d1 * cross * theta.transpose() + d1 * s * Th) + (d2 * twice * theta.transpose() + d2 * s * Th * Th) +
                c2 * (U * Th - C);
  return out;
}

Quat axes_with_z(const Vec3& axis, const Vec3& x_axis) {
  const Vec3 z = axis.normalized();
  Vec3 x = x_axis - z * z.dot(x_axis);
  if (x.norm() < 1e-9 * std::max(1.0, x_axis.norm())) {
    int farthest = 0;
    for (int i = 1; i < 3; ++i) {
      if (std::abs(z[i]) < std::abs(z[farthest]) - 1e-12) farthest = i;
    }
    x = Vec3::Unit(farthest) - z * z[farthest];
  }
  x.normalize();
  Mat3 r;
  r.col(0) = x;
  r.col(1) = z.cross(x);
  r.col(2) = z;
  return Quat(r).normalized();
}

double unwrap_angle(double angle, double near) {
  constexpr double turn = 2 * std::numbers::pi;
  return angle + turn * std::round((near - angle) / turn);
}

}  // namespace trammel
