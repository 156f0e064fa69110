// The size of an error estimate by tolerance: root mean square, or largest component, of estimate / (tolerance scale).
#pragma once
#include <cmath>

#include "trammel/ode/attempt.h"
#include "trammel/ode/problem.h"

namespace trammel {

enum class Norm { mean_square, greatest };

// `worst` is the component with the largest share.
inline double error_norm(const Vec& estimate, const Vec& scales, double tolerance, int& worst,
                         Norm norm = Norm::mean_square) {
  double sum = 0, greatest = 0;
  worst = -1;
  for (Eigen::Index i = 0; i < estimate.size(); ++i) {
    const double share = std::abs(estimate[i]) / (tolerance * scales[i]);
    sum += share * share;
    if (share > greatest) {
      greatest = share;
      worst = static_cast<int>(i);
    }
  }
  if (estimate.size() == 0) return 0;
  return norm == Norm::greatest && std::isfinite(sum) ? greatest
                                                      : std::sqrt(sum / static_cast<double>(estimate.size()));
}

// dydt = f(t, y), counted; nothing that is not finite goes in or comes out as `ok`.
inline Verdict evaluate(FirstOrderProblem& problem, double t, const Vec& y, Vec& dydt, Counts& counts) {
  if (!y.allFinite()) return Verdict::not_finite;
  ++counts.evaluations;
  if (problem.f(t, y, dydt) == Eval::rejected) return Verdict::evaluation_rejected;
  return dydt.allFinite() ? Verdict::ok : Verdict::not_finite;
}

}  // namespace trammel
