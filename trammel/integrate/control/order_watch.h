// BDF of orders above 2 is not stable on all of the imaginary axis: what vibrates without damping and is not resolved
// grows, slowly, until the error test sees it, and then dictates steps that resolve it. Order 2 damps it instead.
//
// Growing parts have h omega near 1, so that their differences do not fall with the order: in a step rejected for them
// order 2 would have had almost the same error. Jumps of forces and a step size that swings look the same, some times:
// only a series of a hundred, with fewer than 100 steps from one to the next, makes order 2 be held, for 50 steps at
// first, up to 1000 as the series goes on. Where order 2 turns out to need smaller steps, the higher orders were limited
// by something else, and are left alone for a while, unless their steps become smaller too.
//
// Undamped cantilever of ten beams, 0.4 s, tolerance 1e-5, bdf-si2: 191,691 steps without this, 4,457 of order 2 alone.
#pragma once
#include <algorithm>
#include <cmath>

#include "trammel/integrate/archive.h"

namespace trammel {

class OrderWatch {
 public:
  // After a step of order k was rejected, with its error and that of order 2 in the same step, by tolerance: is order 2
  // to be taken?
  bool falls_back(int k, double error, double error_of_2) {
    if (k <= 2 || ignored_ > 0 || std::pow(error_of_2, -1.0 / 3) < 0.4 * std::pow(error, -1.0 / (k + 1))) return false;
    in_series_ = since_ < 100 ? in_series_ + 1 : 0;
    since_ = 0;
    if (in_series_ < series) return false;
    hold_ = held_ = std::min(1000, 50 << std::min(in_series_ - series, 5));
    time_held_ = 0;
    return true;
  }
  void accept(double h) {
    if (held_ == 0) {
      mean_ += (h - mean_) / (mean_ > 0 ? 20 : 1);
      since_ = std::min(since_ + 1, 200);
      ignored_ = mean_ < 0.7 * mean_in_vain_ ? 0 : std::max(ignored_ - 1, 0);
      return;
    }
    time_held_ += h;
    ++held_steps_;
    if (--held_ > 0 || time_held_ > hold_ * mean_) return;
    in_vain_ = std::min(in_vain_ + 1, 6);
    ignored_ = 250 << in_vain_;
    mean_in_vain_ = mean_;
    in_series_ = 0;
  }
  int most_order(int allowed) const { return held_ > 0 ? std::min(allowed, 2) : allowed; }
  long held_steps() const { return held_steps_; }

  void save(Bytes& out) const {
    for (const int i : {since_, in_series_, hold_, held_, ignored_, in_vain_}) put(out, i);
    for (const double x : {mean_, mean_in_vain_, time_held_}) put(out, x);
    put(out, held_steps_);
  }
  void restore(std::span<const std::byte>& in) {
    for (int* i : {&since_, &in_series_, &hold_, &held_, &ignored_, &in_vain_}) take(in, *i);
    for (double* x : {&mean_, &mean_in_vain_, &time_held_}) take(in, *x);
    take(in, held_steps_);
  }

 private:
  static constexpr int series = 100;
  int since_ = 200;  // accepted steps since the last of such rejections, order 2 not held
  int in_series_ = 0, hold_ = 0, held_ = 0;
  int ignored_ = 0, in_vain_ = 0;
  double mean_ = 0, mean_in_vain_ = 0;  // step size, order 2 not held: of late; when holding was in vain
  double time_held_ = 0;
  long held_steps_ = 0;
};

}  // namespace trammel
