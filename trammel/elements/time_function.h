// The function of time f of a prescribed motion, with three derivatives: an expression of time for f itself, or for its
// acceleration. In the second case
//
//   f(t) = s + s' (t - r) + integral from r to t of (t - x) a(x) dx,    f' = s' + integral from r to t of a(x) dx
//
// from the remembered r, s, s' of the last accepted step: three numbers of the element's memory instead of two states,
// and no integration error but that of the quadrature, which halves its interval until it agrees with itself.
#pragma once
#include <array>

#include "trammel/math/expression.h"

namespace trammel {

class TimeFunction {
 public:
  TimeFunction(Expression position) : expression_(std::move(position)) {}  // NOLINT: an expression is one
  static TimeFunction accelerated(Expression acceleration, double value, double speed);

  const Expression& expression() const { return expression_; }
  int memory() const { return integrated_ ? 3 : 0; }
  double value(double t, const double* memory) const;
  std::array<double, 4> derivatives(double t, const double* memory) const;  // f, f', f'', f'''
  void start(double t, double* memory) const;
  void accept(double t, double* memory) const;

 private:
  Expression expression_;
  bool integrated_ = false;
  double value_ = 0, speed_ = 0;  // at the start
};

}  // namespace trammel
