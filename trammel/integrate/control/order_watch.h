// BDF of orders above 2 is not stable on all of the imaginary axis: what vibrates without damping and is not resolved
// grows, slowly, until the error test sees it, and then dictates steps that resolve it. Order 2 damps it instead.
//
// Such parts have h omega near 1, so that their differences do not fall with the order: order 2 would allow almost the
// same step. Steps in which that is so are counted against those in which it is not, rejected ones tenfold; when they
// prevail by 300, order 2 is held for 400 steps, and up to 3200 as it goes on. Where its last steps are less than half
// as large as those before, the higher orders were limited by something else and are left alone for a while.
//
// Undamped cantilever of ten beams, 0.4 s, tolerance 1e-5, bdf-si2: 191,691 steps without this, 3,635 with it,
// 4,457 of order 2 alone. In state space (bdf) order 2 is given up too early: it needs 15,463 steps, bdf half a
// million.
#pragma once
#include <algorithm>
#include <cmath>

#include "trammel/integrate/archive.h"

namespace trammel {

class OrderWatch {
 public:
  // After a step of order k > 2, with its error and that of order 2 in the same step, by tolerance: is order 2 to be
  // taken from now on?
  bool falls_back(int k, double error, double error_of_2, bool rejected) {
    if (k <= 2 || ignored_ > 0) return false;
    const bool alike = std::pow(error_of_2, -1.0 / 3) > 0.4 * std::pow(error, -1.0 / (k + 1));
    count_ = std::max(0, count_ + (alike ? 1 : -1) * (rejected ? 10 : 1));
    if (count_ < 300) return false;
    count_ = 0;
    hold_ = held_ = 400 << std::min(in_series_++, 3);
    time_held_ = 0;
    return true;
  }
  void accept(double h) {
    if (held_ == 0) {
      mean_ += (h - mean_) / (mean_ > 0 ? 20 : 1);
      ignored_ = std::max(ignored_ - 1, 0);
      return;
    }
    ++held_steps_;
    if (held_ <= hold_ / 4) time_held_ += h;  // by then what vibrates is damped
    if (--held_ > 0 || time_held_ > 0.55 * (hold_ / 4) * mean_) return;
    in_vain_ = std::min(in_vain_ + 1, 6);
    ignored_ = 500 << in_vain_;
    in_series_ = 0;
  }
  int most_order(int allowed) const { return held_ > 0 ? std::min(allowed, 2) : allowed; }
  long held_steps() const { return held_steps_; }

  void save(Bytes& out) const {
    for (const int i : {count_, in_series_, hold_, held_, ignored_, in_vain_}) put(out, i);
    for (const double x : {mean_, time_held_}) put(out, x);
    put(out, held_steps_);
  }
  void restore(std::span<const std::byte>& in) {
    for (int* i : {&count_, &in_series_, &hold_, &held_, &ignored_, &in_vain_}) take(in, *i);
    for (double* x : {&mean_, &time_held_}) take(in, *x);
    take(in, held_steps_);
  }

 private:
  int count_ = 0;  // of steps in which order 2 would do as well, less the others
  int in_series_ = 0, hold_ = 0, held_ = 0;
  int ignored_ = 0, in_vain_ = 0;
  double mean_ = 0, time_held_ = 0;  // mean_: of the step size of late, order 2 not held
  long held_steps_ = 0;
};

}  // namespace trammel
