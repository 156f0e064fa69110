// The tape: operations with at most three operands, each with its value, its partial derivatives for the reverse sweep
//
//   adjoint(operand) += adjoint(result) * d result / d operand        (Griewank & Walther, Evaluating Derivatives, ch.
//   3)
//
// and its Taylor series. Functions of more operands are composed of these: step, step5 and havsin of a unit ramp with
// saturated ends, impact of a power and the ramp.
#include "trammel/math/expression.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

#include "trammel/base/numbers.h"
#include "trammel/math/expression_op.h"
#include "trammel/math/taylor.h"

namespace trammel {

namespace {

constexpr double expression_nan = std::numeric_limits<double>::quiet_NaN();

// The remainder with the sign of the divisor, so that mod(angle, 2*pi) is a saw without a flaw at zero.
double floored_remainder(double x, double y) {
  const double r = std::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

double floored_quotient(double x, double y) { return std::round((x - floored_remainder(x, y)) / y); }

// Polynomials of the unit ramps and their derivatives, for 0 <= s <= 1.
std::array<double, 4> cubic_ramp(double s) { return {s * s * (3 - 2 * s), 6 * s * (1 - s), 6 - 12 * s, -12}; }

std::array<double, 4> quintic_ramp(double s) {
  return {s * s * s * (10 + s * (6 * s - 15)), 30 * s * s * (1 - s) * (1 - s), 60 * s * (1 - s) * (1 - 2 * s),
          60 + 360 * s * (s - 1)};
}

std::array<double, 4> haversine_ramp(double s) {
  constexpr double pi = std::numbers::pi;
  const double half = std::sin(pi / 2 * s), sine = std::sin(pi * s), cosine = std::cos(pi * s);
  return {half * half, pi / 2 * sine, pi * pi / 2 * cosine, -pi * pi * pi / 2 * sine};
}

template <typename Ramp>
double saturated(double s, Ramp ramp) {
  return s <= 0 ? 0 : s >= 1 ? 1 : ramp(s)[0];
}

}  // namespace

double Expression::apply(const Node& node, double x, double y, double z) {
  switch (node.op) {
    case Op::constant: return node.number;
    case Op::time:
    case Op::variable: break;
    case Op::negate: return -x;
    case Op::square: return x * x;
    case Op::cube: return x * x * x;
    case Op::power: return std::pow(x, node.number);
    case Op::absolute: return std::abs(x);
    case Op::sign: return x > 0 ? 1 : x < 0 ? -1 : x;  // 0 and not-a-number as they are
    case Op::floor: return std::floor(x);
    case Op::ceil: return std::ceil(x);
    case Op::round: return std::round(x);
    case Op::sine: return std::sin(x);
    case Op::cosine: return std::cos(x);
    case Op::tangent: return std::tan(x);
    case Op::arcsine: return std::asin(x);
    case Op::arccosine: return std::acos(x);
    case Op::arctangent: return std::atan(x);
    case Op::sinh: return std::sinh(x);
    case Op::cosh: return std::cosh(x);
    case Op::tanh: return std::tanh(x);
    case Op::exp: return std::exp(x);
    case Op::log: return std::log(x);
    case Op::log10: return std::log10(x);
    case Op::sqrt: return std::sqrt(x);
    case Op::cbrt: return std::cbrt(x);
    case Op::erf: return std::erf(x);
    case Op::ramp3: return saturated(x, cubic_ramp);
    case Op::ramp5: return saturated(x, quintic_ramp);
    case Op::ramp_haversine: return saturated(x, haversine_ramp);
    case Op::logical_not: return x == 0 ? 1 : 0;
    case Op::truncate: return std::trunc(x);
    case Op::spline:
    case Op::table: break;  // known to the expression, not to the node
    case Op::add: return x + y;
    case Op::subtract: return x - y;
    case Op::multiply: return x * y;
    case Op::divide: return x / y;
    case Op::general_power: return std::pow(x, y);
    case Op::arctangent2: return std::atan2(x, y);
    case Op::hypot: return std::hypot(x, y);
    case Op::mod: return floored_remainder(x, y);
    case Op::min: return y < x || std::isnan(y) ? y : x;
    case Op::max: return y > x || std::isnan(y) ? y : x;
    case Op::less: return x < y ? 1 : 0;
    case Op::less_equal: return x <= y ? 1 : 0;
    case Op::equal: return x == y ? 1 : 0;
    case Op::unequal: return x != y ? 1 : 0;
    case Op::logical_and: return x != 0 && y != 0 ? 1 : 0;
    case Op::logical_or: return x != 0 || y != 0 ? 1 : 0;
    case Op::remainder: return std::fmod(x, y);
    case Op::interpolate: return std::lerp(y, z, x);
    case Op::select: return x != 0 ? y : z;
  }
  return expression_nan;
}

template <int order>
std::array<double, 4> Expression::differentiate(const Node& node, double x, double f) {
  const auto all = [f](double d1, double d2, double d3) -> std::array<double, 4> { return {f, d1, d2, d3}; };
  if (std::isnan(f)) return all(f, f, f);
  const bool on_ramp = x > 0 && x < 1;
  switch (node.op) {
    case Op::negate: return all(-1, 0, 0);
    case Op::square: return all(2 * x, 2, 0);
    case Op::cube: return all(3 * x * x, 6 * x, 6);
    case Op::power: {
      const double p = node.number;  // never 0, 1, 2, 3
      if constexpr (order == 1) return all(p * std::pow(x, p - 1), 0, 0);
      return all(p * std::pow(x, p - 1), p * (p - 1) * std::pow(x, p - 2), p * (p - 1) * (p - 2) * std::pow(x, p - 3));
    }
    case Op::absolute: return all(x >= 0 ? 1 : -1, 0, 0);
    case Op::sine: {
      const double c = std::cos(x);
      return all(c, -f, -c);
    }
    case Op::cosine: {
      const double s = std::sin(x);
      return all(-s, -f, s);
    }
    case Op::tangent: {
      const double d = 1 + f * f;
      return all(d, 2 * f * d, 2 * d * (1 + 3 * f * f));
    }
    case Op::arcsine:
    case Op::arccosine: {
      const double r = (1 - x) * (1 + x);
      const double d = (node.op == Op::arcsine ? 1 : -1) / std::sqrt(r);
      return all(d, x * d / r, (1 + 2 * x * x) * d / (r * r));
    }
    case Op::arctangent: {
      const double d = 1 / (1 + x * x), xd = x * d;
      return all(d, -2 * xd * d, 6 * xd * xd * d - 2 * d * d * d);
    }
    case Op::sinh: {
      const double c = std::cosh(x);
      return all(c, f, c);
    }
    case Op::cosh: {
      const double s = std::sinh(x);
      return all(s, f, s);
    }
    case Op::tanh: {
      const double c = std::cosh(x), d = 1 / c / c;  // 1 - tanh^2 cancels
      return all(d, -2 * f * d, d * (4 * f * f - 2 * d));
    }
    case Op::exp: return all(f, f, f);
    case Op::log: return all(1 / x, -1 / (x * x), 2 / (x * x * x));
    case Op::log10: {
      const double d = std::numbers::log10e / x;
      return all(d, -d / x, 2 * d / (x * x));
    }
    case Op::sqrt: return all(0.5 / f, -0.25 / (f * x), 0.375 / (f * x * x));
    case Op::cbrt: {
      const double d = 1 / (3 * f * f);
      return all(d, -2 * d / (3 * x), 10 * d / (9 * x * x));
    }
    case Op::erf: {
      const double d = 2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
      return all(d, taylor::product(d, -2 * x), taylor::product(d, 4 * x * x - 2));
    }
    case Op::ramp3: return on_ramp ? cubic_ramp(x) : all(0, 0, 0);
    case Op::ramp5: return on_ramp ? quintic_ramp(x) : all(0, 0, 0);
    case Op::ramp_haversine: return on_ramp ? haversine_ramp(x) : all(0, 0, 0);
    default: return all(0, 0, 0);  // sign, floor, ceil, round, truncate, not
  }
}

std::array<double, 4> Expression::differentiate_spline(const Node& node, double x) const {
  std::array<double, 4> f = splines_[node.c]->derivatives(x);
  for (int order = 0; order < static_cast<int>(node.number); ++order) f = {f[1], f[2], f[3], 0};
  return f;
}

void Expression::sweep(double t, std::span<const double> variables, double* values) const {
  assert(variables.size() >= static_cast<std::size_t>(variable_count_));
  const std::size_t size = tape_.size();
  for (std::size_t i = 0; i < size; ++i) {
    const Node& node = tape_[i];
    if (node.op == Op::constant) {
      values[i] = node.number;
    } else if (node.op == Op::time) {
      values[i] = t;
    } else if (node.op == Op::variable) {
      values[i] = variables[slots_[node.a]];
    } else if (node.op == Op::spline) {
      values[i] = differentiate_spline(node, values[node.a])[0];
    } else if (node.op == Op::table) {
      values[i] = tables_[node.c]->value(values[node.a], values[node.b]);
    } else {
      values[i] = apply(node, values[node.a], values[node.b], values[node.c]);
    }
  }
}

bool Expression::sets_in() const {
  const auto jumps = [](const Node& node) {
    switch (node.op) {
      case Op::sign:
      case Op::floor:
      case Op::ceil:
      case Op::round:
      case Op::truncate:
      case Op::mod:
      case Op::remainder:
      case Op::min:
      case Op::max:
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::unequal:
      case Op::select: return true;
      default: return false;
    }
  };
  return !slots_.empty() && std::any_of(tape_.begin(), tape_.end(), jumps);
}

std::vector<Expression::Corner> Expression::corners() const {
  using Kind = Corner::Kind;
  std::vector<Corner> found;
  std::vector<bool> moves(tape_.size(), false), timed(tape_.size(), false);  // with variables, with time
  for (std::size_t i = 0; i < tape_.size(); ++i) {
    const Node& node = tape_[i];
    timed[i] = node.timed;
    moves[i] = node.op == Op::variable;
    if (node.op > Op::variable) moves[i] = moves[node.a];
    if (node.op >= Op::add) moves[i] = moves[i] || moves[node.b];
    if (node.op >= Op::interpolate) moves[i] = moves[i] || moves[node.c];
    const auto add = [&](Kind kind, std::uint16_t a, std::uint16_t b, std::uint16_t c = 0) {
      if (!moves[a] && !moves[b] && !timed[a] && !timed[b]) return;
      found.push_back({kind, a, b, c});
    };
    switch (node.op) {
      case Op::absolute:
      case Op::sign: add(Kind::zero, node.a, node.a); break;
      case Op::min:
      case Op::max:
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::unequal: add(Kind::difference, node.a, node.b); break;
      case Op::floor:
      case Op::ceil:
      case Op::truncate: add(Kind::whole, node.a, node.a); break;
      case Op::round: add(Kind::half, node.a, node.a); break;
      case Op::mod:
      case Op::remainder: add(Kind::ratio, node.a, node.b); break;
      case Op::ramp3:
      case Op::ramp5:
      case Op::ramp_haversine:
        add(Kind::zero, node.a, node.a);
        add(Kind::one, node.a, node.a);
        break;
      case Op::spline: {
        const SplineData& spline = splines_[node.c]->data();
        const int asked = static_cast<int>(node.number);  // derivative
        if (spline.kind == SplineKind::periodic) break;
        // The first derivative that jumps at the points is a corner of that derivative, and of the one below.
        const int jumps = spline.kind == SplineKind::linear ? 1 : spline.kind == SplineKind::akima ? 2 : 3;
        if (asked + 1 >= jumps)
          add(Kind::knot, node.a, node.a, node.c);
        else if (spline.extrapolation == Extrapolation::constant || asked > 0)
          add(Kind::range, node.a, node.a, node.c);
        break;
      }
      case Op::table:
        if (tables_[node.c]->data().extrapolation != Extrapolation::constant) break;
        add(Kind::range_x, node.a, node.a, node.c);
        add(Kind::range_y, node.b, node.b, node.c);
        break;
      default: break;
    }
  }
  return found;
}

Expression::Sources Expression::sources_of(const Corner& corner) const {
  std::vector<bool> used(tape_.size(), false);
  used[corner.a] = used[corner.b] = true;
  Sources found;
  for (std::size_t i = tape_.size(); i-- > 0;) {
    const Node& node = tape_[i];
    if (!used[i]) continue;
    if (node.op == Op::time) found.time = true;
    if (node.op == Op::variable) found.slots.push_back(slots_[node.a]);
    if (node.op > Op::variable) used[node.a] = true;
    if (node.op >= Op::add) used[node.b] = true;
    if (node.op >= Op::interpolate) used[node.c] = true;
  }
  return found;
}

namespace {

// sin(pi x), and exactly zero at whole numbers: there a rounding has jumped already, or is about to.
double half_waves(double x) {
  const double r = std::remainder(x, 2), size = std::abs(r);
  return std::sin(std::numbers::pi * (size > 0.5 ? std::copysign(1 - size, r) : r));
}

// Positive between the first and the last point.
double in_range(const std::vector<double>& x, double at) { return std::min(at - x.front(), x.back() - at); }

// Distance from the nearest knot, of other sign in every next interval.
double at_knots(const std::vector<double>& x, double at) {
  const auto after = std::upper_bound(x.begin(), x.end(), at);
  double nearest = std::numeric_limits<double>::infinity();
  if (after != x.begin()) nearest = std::min(nearest, at - *(after - 1));
  if (after != x.end()) nearest = std::min(nearest, *after - at);
  return (after - x.begin()) % 2 == 0 ? nearest : -nearest;
}

}  // namespace

void Expression::corner_values(double t, std::span<const double> variables, std::span<const Corner> corners,
                               double* out) const {
  if (corners.empty()) return;
  std::array<double, max_operations> values;
  sweep(t, variables, values.data());
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Corner& corner = corners[i];
    const double a = values[corner.a];
    switch (corner.kind) {
      case Corner::Kind::zero: out[i] = a; break;
      case Corner::Kind::difference: out[i] = a - values[corner.b]; break;
      case Corner::Kind::whole: out[i] = half_waves(a); break;
      case Corner::Kind::half: out[i] = half_waves(a + 0.5); break;
      case Corner::Kind::ratio: out[i] = half_waves(a / values[corner.b]); break;
      case Corner::Kind::one: out[i] = a - 1; break;
      case Corner::Kind::knot: out[i] = at_knots(splines_[corner.c]->data().x, a); break;
      case Corner::Kind::range: out[i] = in_range(splines_[corner.c]->data().x, a); break;
      case Corner::Kind::range_x: out[i] = in_range(tables_[corner.c]->data().x, a); break;
      case Corner::Kind::range_y: out[i] = in_range(tables_[corner.c]->data().y, a); break;
    }
  }
}

double Expression::value(double t, std::span<const double> variables) const {
  if (tape_.empty()) return constant_;
  std::array<double, max_operations> values;  // not initialised: the sweep writes before it reads
  sweep(t, variables, values.data());
  return values[tape_.size() - 1];
}

double Expression::gradient(double t, std::span<const double> variables, std::span<double> d_dvariables,
                            double& d_dt) const {
  assert(d_dvariables.size() >= static_cast<std::size_t>(variable_count_));
  std::fill(d_dvariables.begin(), d_dvariables.end(), 0.0);
  d_dt = 0;
  if (tape_.empty()) return constant_;

  std::array<double, max_operations> values;
  std::array<double, max_operations> adjoints;
  const std::size_t size = tape_.size();
  sweep(t, variables, values.data());
  std::fill_n(adjoints.begin(), size, 0.0);
  adjoints[size - 1] = 1;

  for (std::size_t i = size; i-- > 0;) {
    const double adjoint = adjoints[i];
    if (adjoint == 0) continue;  // also keeps the infinite slopes of a branch that is not taken out of the sums
    const Node& node = tape_[i];
    const auto pass = [&](std::uint16_t operand, double partial) {
      if (partial != 0) adjoints[operand] += adjoint * partial;
    };
    const auto pass_both = [&](double d_da, double d_db) {
      pass(node.a, d_da);
      pass(node.b, d_db);
    };
    const double f = values[i];
    switch (node.op) {
      case Op::constant: break;
      case Op::time: d_dt += adjoint; break;
      case Op::variable: d_dvariables[slots_[node.a]] += adjoint; break;
      case Op::add: pass_both(1, 1); break;
      case Op::subtract: pass_both(1, -1); break;
      case Op::multiply: pass_both(values[node.b], values[node.a]); break;
      case Op::divide: pass_both(1 / values[node.b], -f / values[node.b]); break;
      case Op::general_power: {
        const double x = values[node.a], y = values[node.b];
        const double slope_in_y = x > 0 ? f * std::log(x) : x == 0 && y > 0 ? 0 : expression_nan;
        pass_both(taylor::product(y, std::pow(x, y - 1)), slope_in_y);
        break;
      }
      case Op::arctangent2: {
        const double y = values[node.a], x = values[node.b], r = std::hypot(x, y);
        if (r != 0) pass_both(x / r / r, -y / r / r);
        break;
      }
      case Op::hypot:
        if (f != 0) pass_both(values[node.a] / f, values[node.b] / f);
        break;
      case Op::mod: pass_both(1, -floored_quotient(values[node.a], values[node.b])); break;
      case Op::remainder: pass_both(1, -std::trunc(values[node.a] / values[node.b])); break;
      case Op::spline: pass(node.a, differentiate_spline(node, values[node.a])[1]); break;
      case Op::table: {
        const std::array<double, 3> z = tables_[node.c]->gradient(values[node.a], values[node.b]);
        pass_both(z[1], z[2]);
        break;
      }
      case Op::min: pass(values[node.b] < values[node.a] || std::isnan(values[node.b]) ? node.b : node.a, 1); break;
      case Op::max: pass(values[node.b] > values[node.a] || std::isnan(values[node.b]) ? node.b : node.a, 1); break;
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::unequal:
      case Op::logical_and:
      case Op::logical_or: break;
      case Op::interpolate:
        pass(node.a, values[node.c] - values[node.b]);
        pass(node.b, 1 - values[node.a]);
        pass(node.c, values[node.a]);
        break;
      case Op::select: pass(values[node.a] != 0 ? node.b : node.c, 1); break;
      default: pass(node.a, differentiate<1>(node, values[node.a], f)[1]); break;
    }
  }
  return values[size - 1];
}

namespace {

// x^y with the value f.
Taylor3 power_series(const Taylor3& x, const Taylor3& y, double f) {
  if (y.is_constant() || x.c[0] == 0) return taylor::power(x, y.c[0]);
  if (!(x.c[0] > 0)) return {{f, expression_nan, expression_nan, expression_nan}};
  const double r = 1 / x.c[0];
  const Taylor3 exponent = y * taylor::compose(x, {std::log(x.c[0]), r, -r * r, 2 * r * r * r});
  return taylor::compose(exponent, {f, f, f, f});
}

// The smaller or the larger one; of two equal ones that which becomes it next.
Taylor3 extreme_series(const Taylor3& x, const Taylor3& y, bool smaller) {
  const bool tie = x.c[0] == y.c[0];
  const double above = tie ? (y - x).direction() : y.c[0] - x.c[0];  // where y goes, seen from x
  return (smaller ? above < 0 : above > 0) || std::isnan(y.c[0]) ? y : x;
}

Taylor3 absolute_series(const Taylor3& x) {
  const double side = x.c[0] != 0 ? x.c[0] : x.direction();
  return side < 0 ? -1.0 * x : x;
}

// At an end of a ramp, the side that time moves into counts.
bool enters_ramp(const Taylor3& x) {
  const double s = x.c[0];
  return (s == 0 && x.direction() > 0) || (s == 1 && x.direction() < 0);
}

std::array<double, 4> ramp_inside(Expression::Op op, double s) {
  return op == Expression::Op::ramp3   ? cubic_ramp(s)
         : op == Expression::Op::ramp5 ? quintic_ramp(s)
                                       : haversine_ramp(s);
}

}  // namespace

std::array<double, 4> Expression::time_derivatives(double t, std::span<const double> variables) const {
  if (!depends_on_time_) return {value(t, variables), 0, 0, 0};
  std::array<double, max_operations> values;
  sweep(t, variables, values.data());

  std::array<std::array<double, 4>, max_operations> series;  // of plain arrays, which are not set to zero first
  const std::size_t size = tape_.size();
  for (std::size_t i = 0; i < size; ++i) {
    const Node& node = tape_[i];
    const double f = values[i];
    if (!node.timed) {
      series[i] = {f, 0, 0, 0};
      continue;
    }
    if (node.op == Op::time) {
      series[i] = {t, 1, 0, 0};
      continue;
    }
    const auto operand = [&](std::uint16_t place) { return Taylor3{series[place]}; };
    const Taylor3 x = operand(node.a);
    Taylor3 result;
    switch (node.op) {
      case Op::add: result = x + operand(node.b); break;
      case Op::subtract: result = x - operand(node.b); break;
      case Op::multiply: result = x * operand(node.b); break;
      case Op::divide: result = x / operand(node.b); break;
      case Op::power: result = taylor::power(x, node.number); break;
      case Op::general_power: result = power_series(x, operand(node.b), f); break;
      case Op::arctangent2: result = taylor::atan2(x, operand(node.b)); break;
      case Op::hypot: result = taylor::hypot(x, operand(node.b)); break;
      case Op::mod: result = x - floored_quotient(x.c[0], values[node.b]) * operand(node.b); break;
      case Op::remainder: result = x - std::trunc(x.c[0] / values[node.b]) * operand(node.b); break;
      case Op::spline: result = taylor::compose(x, differentiate_spline(node, x.c[0])); break;
      case Op::table: result = tables_[node.c]->along(x, operand(node.b)); break;
      case Op::min:
      case Op::max: result = extreme_series(x, operand(node.b), node.op == Op::min); break;
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::unequal:
      case Op::logical_and:
      case Op::logical_or: result = taylor::constant(f); break;
      case Op::interpolate: result = operand(node.b) + x * (operand(node.c) - operand(node.b)); break;
      case Op::select: result = operand(x.c[0] != 0 ? node.b : node.c); break;
      case Op::absolute: result = absolute_series(x); break;
      case Op::sqrt:
        result = x.c[0] == 0 ? taylor::power(x, 0.5) : taylor::compose(x, differentiate<3>(node, x.c[0], f));
        break;
      case Op::cbrt: {
        const double side = x.direction();
        result = x.c[0] == 0 ? side * taylor::power(side * x, 1.0 / 3)
                             : taylor::compose(x, differentiate<3>(node, x.c[0], f));
        break;
      }
      case Op::ramp3:
      case Op::ramp5:
      case Op::ramp_haversine:
        result = taylor::compose(x, enters_ramp(x) ? ramp_inside(node.op, x.c[0]) : differentiate<3>(node, x.c[0], f));
        break;
      default: result = taylor::compose(x, differentiate<3>(node, x.c[0], f)); break;
    }
    series[i] = result.c;
    series[i][0] = f;  // the same bits as value()
  }
  return Taylor3{series[size - 1]}.derivatives();
}

Expression Expression::constant(double value) {
  Expression expression;
  expression.constant_ = value;
  expression.text_ = shortest(value);
  return expression;
}

}  // namespace trammel
