// BDF of orders above 2 is not stable on all of the imaginary axis: what vibrates without damping and is not resolved
// grows until the error test sees it, and then dictates steps that resolve it. Order 2 damps it instead, but only while
// it is small: at steps that resolve it, h omega = x, by x^4/4 a step.
//
// Such parts have h omega near 1, so that their differences do not fall with the order: order 2 would allow almost the
// same step. Steps in which that is so, 0.7 of it or more, are counted against those in which it is not, rejected ones
// twice; when they prevail by 8, order 2 is held for 25 steps, and up to 3200 as it goes on. Where the steps of its
// second half are on the mean less than 0.3 of those before, the higher orders were limited by something else, and
// twice as many are asked for the next time.
//
// Undamped cantilever of ten beams, 0.05 s, tolerance 1e-5, accepted steps of bdf / bdf-si2: 22,279 / 18,737 without
// this, 916 / 411 with it. To wait for 300 such steps (0.4 or more) was too late for bdf: 28,643. Tuned on all models
// at 1e-4 and 1e-5: against the methods without it the geometric mean of all steps tried is 0.96. Smooth ones lose up
// to a half at 1e-4 (spatial slider-crank, bdf: 676 to 976; worst bricard, bdf-si2: 660 to 1255), a third at 1e-5.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "trammel/base/archive.h"

namespace trammel {

class OrderWatch {
 public:
  // After a step of order k > 2, with its error and that of order 2 in the same step, by tolerance: is order 2 to be
  // taken from now on?
  bool falls_back(int k, double error, double error_of_2, bool rejected) {
    if (k <= 2) return false;
    const bool alike = std::pow(error_of_2, -1.0 / 3) > 0.7 * std::pow(error, -1.0 / (k + 1));
    count_ = std::max(0, count_ + (alike ? 1 : -1) * (rejected ? 2 : 1));
    if (count_ < enough_) return false;
    count_ = 0;
    hold_ = held_ = 25 << std::min(in_series_, 7);
    time_held_ = 0;
    return true;
  }
  void accept(double h) {
    if (held_ == 0) {
      mean_ += (h - mean_) / (mean_ > 0 ? 20 : 1);
      if (++free_ > 4 * hold_) in_series_ = 0;
      return;
    }
    free_ = 0;
    ++held_steps_;
    const int second_half = hold_ / 2;
    if (held_ <= second_half) time_held_ += h;  // by then what vibrates is damped
    if (--held_ > 0) return;
    const bool worth_it = time_held_ > 0.3 * second_half * mean_;
    in_series_ = worth_it ? in_series_ + 1 : 0;
    enough_ = worth_it ? few : std::min(2 * enough_, 256);
  }
  int most_order(int allowed) const { return held_ > 0 ? std::min(allowed, 2) : allowed; }
  std::string remark() const {
    if (held_steps_ == 0) return "";
    return "; " + std::to_string(held_steps_) +
           " of them held at order 2, because higher orders let vibrations without damping grow";
  }

  void visit(Archive& archive) {
    archive(count_, enough_, in_series_, hold_, held_, free_, mean_, time_held_, held_steps_);
  }

 private:
  static constexpr int few = 8;
  int count_ = 0;  // of steps in which order 2 would do as well, less the others
  int enough_ = few;
  int in_series_ = 0, hold_ = 0, held_ = 0;
  int free_ = 0;                     // steps since order 2 was held
  double mean_ = 0, time_held_ = 0;  // mean_: of the step size of late, order 2 not held
  long held_steps_ = 0;
};

}  // namespace trammel
