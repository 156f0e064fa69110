#include "trammel/elements/time_function.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace trammel {
namespace {

struct Moments {
  double zeroth = 0, first = 0;  // integrals of a(x) and (end - x) a(x)
  double round_off = 0;          // of the zeroth: of the values, and of the times at which they are taken
};

// Gauss-Lobatto, 8 points: exact to degree 13. It looks at both ends, so that no jump hides between the last point of
// one interval and the first of the next.
Moments lobatto(const Expression& a, double from, double to, double end) {
  static constexpr std::array<double, 4> x{0.20929921790247886877, 0.59170018143314230214, 0.87174014850960661534, 1};
  static constexpr std::array<double, 4> w{0.41245879465870388157, 0.34112269248350436476, 0.21070422714350603938,
                                           1.0 / 28};
  const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
  Moments sum;
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  for (std::size_t i = 0; i < 4; ++i) {
    for (const double sign : {-1.0, 1.0}) {
      const double at = middle + sign * half * x[i], size = a.value(at, {}), value = half * w[i] * size;
      sum.zeroth += value;
      sum.first += (end - at) * value;
      least = std::min(least, size);
      greatest = std::max(greatest, size);
    }
  }
  // A time is known to eps |t|, so the integral moves by eps |t| (greatest - least): where `a` passes zero this stays
  // while the integral itself vanishes.
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const double later = std::max(std::abs(from), std::abs(to));
  sum.round_off =
      8 * eps * (later * (greatest - least) + std::max(std::abs(least), std::abs(greatest)) * std::abs(to - from));
  return sum;
}

// Halved until both halves agree with the whole to round-off; a jump inside costs some fifty halvings, and `budget` is
// what a function of any kind may cost.
Moments integral(const Expression& a, double from, double to, double end, const Moments& whole, int& budget) {
  const double middle = 0.5 * (from + to);
  const Moments left = lobatto(a, from, middle, end), right = lobatto(a, middle, to, end);
  const Moments both{left.zeroth + right.zeroth, left.first + right.first, 0};
  const double size = std::abs(left.zeroth) + std::abs(right.zeroth);
  if (--budget < 0 || !(std::abs(both.zeroth - whole.zeroth) > 1e-13 * size + whole.round_off)) return both;
  const Moments l = integral(a, from, middle, end, left, budget), r = integral(a, middle, to, end, right, budget);
  return {l.zeroth + r.zeroth, l.first + r.first, 0};
}

Moments moments(const Expression& a, double from, double to) {
  if (from == to) return {};
  int budget = 2000;
  return integral(a, from, to, to, lobatto(a, from, to, to), budget);
}

}  // namespace

TimeFunction TimeFunction::accelerated(Expression acceleration, double value, double speed) {
  TimeFunction f(std::move(acceleration));
  f.integrated_ = true;
  f.value_ = value;
  f.speed_ = speed;
  return f;
}

double TimeFunction::value(double t, const double* memory) const {
  if (!integrated_) return expression_.value(t, {});
  return memory[1] + memory[2] * (t - memory[0]) + moments(expression_, memory[0], t).first;
}

std::array<double, 4> TimeFunction::derivatives(double t, const double* memory) const {
  const std::array<double, 4> d = expression_.time_derivatives(t, {});
  if (!integrated_) return d;
  const Moments m = moments(expression_, memory[0], t);
  return {memory[1] + memory[2] * (t - memory[0]) + m.first, memory[2] + m.zeroth, d[0], d[1]};
}

void TimeFunction::start(double t, double* memory) const {
  if (!integrated_) return;
  memory[0] = t;
  memory[1] = value_;
  memory[2] = speed_;
}

void TimeFunction::accept(double t, double* memory) const {
  if (!integrated_) return;
  const std::array<double, 4> d = derivatives(t, memory);
  memory[0] = t;
  memory[1] = d[0];
  memory[2] = d[1];
}

}  // namespace trammel
