// Step size from the error of the last attempt. Elementary control, HHT (47d): h_new = s h / e^(1/order), s = 0.9,
// with e the weighted error by tolerance, growth at most fivefold and none directly after a rejection.
#pragma once
#include <algorithm>
#include <cmath>

#include "trammel/integrate/archive.h"

namespace trammel {

class StepController {
 public:
  struct Options {
    double safety = 0.9, greatest_growth = 5, least_shrink = 0.1;
    // A proposed growth below this keeps the step and with it the factorisation.
    double worth_growing = 1.0;
    double after_failure = 0.25;  // of Newton or of an element
  };
  StepController() = default;
  explicit StepController(const Options& options) : options_(options) {}

  double after_accept(double h, double error, int order) {
    double factor = error > 0 ? options_.safety / std::pow(error, 1.0 / order) : options_.greatest_growth;
    factor = std::clamp(factor, options_.least_shrink, rejected_ ? 1.0 : options_.greatest_growth);
    rejected_ = false;
    return factor > 1 && factor < options_.worth_growing ? h : h * factor;
  }
  double after_reject(double h, double error, int order) {
    rejected_ = true;
    return h * std::clamp(options_.safety / std::pow(error, 1.0 / order), options_.least_shrink, 0.9);
  }
  double after_failure(double h) {
    rejected_ = true;
    return h * options_.after_failure;
  }
  void save(Bytes& out) const { put(out, rejected_); }
  void restore(std::span<const std::byte>& in) { take(in, rejected_); }

 private:
  Options options_;
  bool rejected_ = false;
};

}  // namespace trammel
