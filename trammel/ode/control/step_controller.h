// Step size from the error of the last attempt, HHT (47d) with a gain: h_new = h (s / e^(1/order))^gain, s = 0.9, with
// e the weighted error by tolerance, growth at most fivefold and none directly after a rejection.
//
// Gain 1 is the rule as published. At index 3 a change of step size itself disturbs the next error estimate by as much
// as the estimate, so the full correction may chase its own noise. Heavy top, tolerance 1e-7: 10159 steps, 3196
// rejected, 5.0 Newton iterations a step with gain 1; 9848, none and 2.4 with 0.4. Where nothing oscillates the two
// differ by a per cent in steps.
#pragma once
#include <algorithm>
#include <cmath>

#include "trammel/base/archive.h"
#include "trammel/ode/attempt.h"

namespace trammel {

class StepController {
 public:
  struct Options {
    double safety = 0.9, greatest_growth = 5, least_shrink = 0.1;
    double gain = 0.4;
    double after_failure = 0.25;  // of Newton or of an element
  };
  StepController() = default;
  explicit StepController(const Options& options) : options_(options) {}

  // The step to try after an attempt over h. A method that chooses its order and step
  // together is followed, but after a rejection the step always shrinks.
  double next(double h, const Attempt& attempt, bool accepted, int order) {
    const double suggested = std::abs(attempt.suggested_h);
    if (accepted) return suggested > 0 ? suggested : after_accept(h, attempt.error, order);
    if (attempt.verdict != Verdict::ok) return after_failure(h);
    return suggested > 0 ? std::min(suggested, 0.9 * h) : after_reject(h, attempt.error, order);
  }
  double after_accept(double h, double error, int order) {
    double factor =
        error > 0 ? std::pow(options_.safety / std::pow(error, 1.0 / order), options_.gain) : options_.greatest_growth;
    factor = std::clamp(factor, options_.least_shrink, rejected_ ? 1.0 : options_.greatest_growth);
    rejected_ = false;
    return h * factor;
  }
  double after_reject(double h, double error, int order) {
    rejected_ = true;
    return h * std::clamp(options_.safety / std::pow(error, 1.0 / order), options_.least_shrink, 0.9);
  }
  double after_failure(double h) {
    rejected_ = true;
    return h * options_.after_failure;
  }
  void visit(Archive& archive) { archive(rejected_); }

 private:
  Options options_;
  bool rejected_ = false;
};

}  // namespace trammel
