// Truncated Taylor arithmetic of third order in one variable, time: a quantity near t is
//
//   u(t + s) = c0 + c1 s + c2 s^2 + c3 s^3 + O(s^4),      k-th derivative = k! c_k.
//
// Products follow Leibniz, quotients the recurrence of q v = u, and a function f of u the chain rule of Faa di Bruno.
// A derivative that is zero silences an infinite factor beside it (0 * inf = 0): a force v * sqrt(d) at rest and at
// d = 0 has the slope 0 in d, not "not a number".
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace trammel {

struct Taylor3 {
  std::array<double, 4> c{};

  bool is_constant() const { return c[1] == 0 && c[2] == 0 && c[3] == 0; }
  // Which way u goes next: the sign of its first derivative that is not zero.
  double direction() const {
    for (const int k : {1, 2, 3}) {
      if (c[k] != 0) return c[k] > 0 ? 1 : -1;
    }
    return 0;
  }
  std::array<double, 4> derivatives() const { return {c[0], c[1], 2 * c[2], 6 * c[3]}; }
};

namespace taylor {

inline double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

inline Taylor3 constant(double value) { return {{value, 0, 0, 0}}; }

// `f` (the values of f, f', f'', f''' at u's value) applied to u.
inline Taylor3 compose(const Taylor3& u, const std::array<double, 4>& f) {
  return {{f[0], product(f[1], u.c[1]), product(f[1], u.c[2]) + product(f[2] / 2, u.c[1] * u.c[1]),
           product(f[1], u.c[3]) + product(f[2], u.c[1] * u.c[2]) + product(f[3] / 6, u.c[1] * u.c[1] * u.c[1])}};
}

// d/ds and its inverse; differentiating drops the highest order, which is then zero.
inline Taylor3 derivative(const Taylor3& u) { return {{u.c[1], 2 * u.c[2], 3 * u.c[3], 0}}; }
inline Taylor3 integral(double value, const Taylor3& rate) {
  return {{value, rate.c[0], rate.c[1] / 2, rate.c[2] / 3}};
}

}  // namespace taylor

inline Taylor3 operator+(const Taylor3& a, const Taylor3& b) {
  return {{a.c[0] + b.c[0], a.c[1] + b.c[1], a.c[2] + b.c[2], a.c[3] + b.c[3]}};
}

inline Taylor3 operator-(const Taylor3& a, const Taylor3& b) {
  return {{a.c[0] - b.c[0], a.c[1] - b.c[1], a.c[2] - b.c[2], a.c[3] - b.c[3]}};
}

inline Taylor3 operator*(double factor, const Taylor3& a) {
  return {{factor * a.c[0], factor * a.c[1], factor * a.c[2], factor * a.c[3]}};
}

inline Taylor3 operator*(const Taylor3& a, const Taylor3& b) {
  using taylor::product;
  return {{a.c[0] * b.c[0], product(a.c[0], b.c[1]) + product(a.c[1], b.c[0]),
           product(a.c[0], b.c[2]) + product(a.c[1], b.c[1]) + product(a.c[2], b.c[0]),
           product(a.c[0], b.c[3]) + product(a.c[1], b.c[2]) + product(a.c[2], b.c[1]) + product(a.c[3], b.c[0])}};
}

inline Taylor3 operator/(const Taylor3& a, const Taylor3& b) {
  Taylor3 q;
  q.c[0] = a.c[0] / b.c[0];
  for (std::size_t k = 1; k < 4; ++k) {
    double rest = a.c[k];
    for (std::size_t j = 1; j <= k; ++j) rest -= taylor::product(b.c[j], q.c[k - j]);
    q.c[k] = rest == 0 ? 0 : rest / b.c[0];
  }
  return q;
}

namespace taylor {

// u^p for a constant p > 0 where u's value is zero. With u = s^m w, w(0) != 0: u^p = s^(mp) w^p. A whole mp shifts the
// series of w^p; otherwise derivatives below order mp are zero and those above are infinite. These are right-hand
// derivatives; where u^p is not real to the right (u falls below zero), left-hand ones.
inline Taylor3 power_at_zero(const Taylor3& u, double p) {
  if (u.is_constant()) return constant(0);
  std::size_t m = 1;
  while (u.c[m] == 0) ++m;
  if (u.c[m] < 0 && p != std::floor(p)) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (m == 2) return {{0, nan, nan, nan}};  // below zero on both sides
    const Taylor3 mirrored = power_at_zero({{0, -u.c[1], u.c[2], -u.c[3]}}, p);
    return {{0, -mirrored.c[1], mirrored.c[2], -mirrored.c[3]}};
  }
  Taylor3 w;
  for (std::size_t j = 0; j + m < 4; ++j) w.c[j] = u.c[j + m];
  const double w0 = w.c[0];
  const double head = std::pow(w0, p);
  const double order = static_cast<double>(m) * p;
  Taylor3 result;
  if (order != std::floor(order)) {
    double sign = head;
    for (std::size_t k = 1; k < 4; ++k) {
      sign *= order - static_cast<double>(k - 1);
      if (static_cast<double>(k) > order) result.c[k] = std::copysign(std::numeric_limits<double>::infinity(), sign);
    }
    return result;
  }
  const Taylor3 v =
      compose(w, {head, p * head / w0, p * (p - 1) * head / (w0 * w0), p * (p - 1) * (p - 2) * head / (w0 * w0 * w0)});
  for (std::size_t j = 0; static_cast<double>(j) + order < 4; ++j) {
    // u's own terms end at s^3, so w^p is known up to s^(3-m) only.
    result.c[j + static_cast<std::size_t>(order)] = j + m < 4 ? v.c[j] : std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

// u^p for a constant p.
inline Taylor3 power(const Taylor3& u, double p) {
  const double x = u.c[0];
  if (u.is_constant()) return constant(std::pow(x, p));
  if (x == 0 && p > 0) return power_at_zero(u, p);
  return compose(u, {std::pow(x, p), product(p, std::pow(x, p - 1)), product(p * (p - 1), std::pow(x, p - 2)),
                     product(p * (p - 1) * (p - 2), std::pow(x, p - 3))});
}

// sqrt(x^2 + y^2), scaled so that nothing overflows. At the origin, where the length of s (a + b s + ...) is
// s |a + b s + ...| to the right.
inline Taylor3 hypot(const Taylor3& x, const Taylor3& y) {
  const double r = std::hypot(x.c[0], y.c[0]);
  if (r == 0) {
    if (x.is_constant() && y.is_constant()) return constant(0);
    const Taylor3 ahead = hypot({{x.c[1], x.c[2], x.c[3], 0}}, {{y.c[1], y.c[2], y.c[3], 0}});
    return {{0, ahead.c[0], ahead.c[1], ahead.c[2]}};
  }
  const Taylor3 a = (1 / r) * x, b = (1 / r) * y;
  Taylor3 result = r * compose(a * a + b * b, {1, 0.5, -0.25, 0.375});  // the square root at 1
  result.c[0] = r;
  return result;
}

// The angle of (x, y): its rate is (x y' - y x') / (x^2 + y^2). At the origin it has none; zero stands in.
inline Taylor3 atan2(const Taylor3& y, const Taylor3& x) {
  const double angle = std::atan2(y.c[0], x.c[0]);
  const double r = std::hypot(x.c[0], y.c[0]);
  if (r == 0) return constant(angle);
  const Taylor3 a = (1 / r) * x, b = (1 / r) * y;
  return integral(angle, (a * derivative(b) - b * derivative(a)) / (a * a + b * b));
}

}  // namespace taylor
}  // namespace trammel
