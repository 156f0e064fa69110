// What BDF of variable order and quasi-constant step remembers, and how it chooses order and step (Shampine, Reichelt:
// The MATLAB ODE Suite, 1997): backward differences D_j at the present step size. With gamma_k = 1 + 1/2 + ... + 1/k,
// alpha_k = (1 - kappa_k) gamma_k and d the correction of a step,
//
//   y = y^p + d,   y^p = sum_{j<=k} D_j,   y' = (alpha_k / h) (psi + d),   psi = sum_{1<=j<=k} gamma_j D_j / alpha_k
//
// The same for ordinary equations (bdf.h) and for those with constraints (integrate/bdf).
#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "trammel/ode/attempt.h"
#include "trammel/ode/control/backward_differences.h"
#include "trammel/ode/control/order_watch.h"

namespace trammel {

class BdfMemory {
 public:
  static constexpr int most_order = 6;
  using ByOrder = std::array<double, most_order + 2>;

  // `top`: the highest order of the method.
  BdfMemory(int size, int top, const ByOrder& kappa) : top_(top) {
    for (int k = 1; k <= top + 1; ++k) gamma_[k] = gamma_[k - 1] + 1.0 / k;
    for (int k = 0; k <= top + 1; ++k) alpha_[k] = (1 - kappa[k]) * gamma_[k];
    D.setZero(size, columns());
    trial_.setZero(size, columns());
    for (Vec* v : {&predicted, &psi, &d, &work_}) v->setZero(size);
  }
  int columns() const { return top_ + 3; }
  double gamma(int k) const { return gamma_[k]; }
  double alpha() const { return alpha_[k_]; }  // of the order in use
  double alpha(int k) const { return alpha_[k]; }

  // ---- the order
  int order() const { return k_; }
  int last_order() const { return last_k_; }  // of the last accepted step
  int tried_order() const { return tried_; }  // of the last attempt
  double step() const { return h_; }          // of the differences; 0: there are none yet
  bool empty() const { return h_ == 0; }
  // Nothing is remembered, and the first step will have this order.
  void clear(int order) {
    h_ = 0;
    k_ = last_k_ = tried_ = next_k_ = order;
    equal_steps_ = 0;
  }
  // D was written from outside: points so far apart, of which as many as the order plus one are known.
  void set(double h, int order) {
    h_ = h;
    k_ = last_k_ = next_k_ = order;
  }
  // Older points are lost: D holds no more than `known`.
  void cut(int known) {
    D.rightCols(columns() - known).setZero();
    equal_steps_ = 0;
    k_ = std::min(k_, known - 1);
  }
  void limit_order(int most) {
    k_ = std::min(k_, most);
    last_k_ = std::min(last_k_, most);
  }

  // ---- a step
  // The differences for a step h, if there are any; else `trial` is for the method to fill.
  Mat& begin(double h) {
    tried_ = k_;
    trial_h_ = h;
    if (h_ != 0) rescale_differences(D, k_, h / h_, trial_);
    return trial_;
  }
  void predict() {
    predicted = trial_.col(0);
    psi.setZero();
    for (int j = 1; j <= k_; ++j) {
      predicted += trial_.col(j);
      psi += (gamma_[j] / alpha_[k_]) * trial_.col(j);
    }
  }
  // Order and size of the next step after one with the given error by tolerance, and of the same one after a rejection;
  // error_of(k, difference) is that of order k.
  template <class ErrorOf>
  void choose_next(Attempt& result, double safety, double most_growth, int most, bool fixed, const ErrorOf& error_of) {
    const double error = result.error, h = trial_h_;
    const bool rejected = error > 1 && !fixed;
    next_k_ = k_;
    if (k_ > 2 && !fixed) {
      difference_after(trial_, k_, d, 3, work_);
      const double of_2 = error_of(2, work_);
      if (watch_.falls_back(k_, error, of_2, rejected)) {
        next_k_ = 2;
        if (rejected) k_ = 2;
        equal_steps_ = 0;
        result.suggested_h = h * std::clamp(safety * choose_order(2, -1, of_2, -1).factor, 0.2, rejected ? 0.9 : 1.0);
        return;
      }
    }
    if (rejected) {
      result.suggested_h = h * std::clamp(safety * choose_order(k_, -1, error, -1).factor, 0.2, 0.9);
      return;
    }
    result.suggested_h = h;
    if (equal_steps_with(h) < k_ + 1) return;
    // differences at the end of this step: D_{k+1} = d, D_k + d, and d - D_{k+1}
    double down = -1, up = -1;
    if (k_ > 1) {
      work_ = trial_.col(k_) + d;
      down = error_of(k_ - 1, work_);
    }
    if (k_ < watch_.most_order(most)) {
      work_ = d - trial_.col(k_ + 1);
      up = error_of(k_ + 1, work_);
    }
    const OrderChoice best = choose_order(k_, down, error, up);
    next_k_ = best.order;
    const double factor = std::min(most_growth, safety * best.factor);
    // A change costs a factorisation and the constant steps: small ones do not pay.
    if (factor > 1.2 || factor < 0.9)
      result.suggested_h = h * factor;
    else
      next_k_ = std::min(next_k_, k_);
  }
  void keep_order() { next_k_ = k_; }
  void accept() {
    ++by_order_[tried_];
    watch_.accept(trial_h_);
    equal_steps_ = equal_steps_with(trial_h_);
    advance_differences(trial_, k_, d);
    D.swap(trial_);
    h_ = trial_h_;
    last_k_ = k_;
    k_ = next_k_;
    if (k_ != last_k_) equal_steps_ = 0;
  }

  // The polynomial of the last step, at a time before (negative) or behind its end.
  void evaluate(double after, Vec& y) const { evaluate_differences(D, last_k_, after / h_, y); }

  std::span<const long> steps_by_order() const { return {by_order_.data(), static_cast<std::size_t>(top_) + 1}; }
  std::string remark() const { return watch_.remark(); }

  void visit(Archive& archive) {
    const Eigen::Index size = D.size();
    archive(D, h_, k_, tried_, last_k_, next_k_, equal_steps_, by_order_, watch_);
    archive.expect(D.size() == size);
  }
  long memory_bytes() const { return 8L * (D.size() + trial_.size() + 4 * d.size()); }

  Mat D;                  // column j: the difference of order j
  Vec predicted, psi, d;  // of the step in hand

 private:
  int equal_steps_with(double h) const { return h_ != 0 && h == h_ ? equal_steps_ + 1 : 1; }

  int top_;
  ByOrder gamma_{}, alpha_{};
  Mat trial_;
  Vec work_;
  double h_ = 0, trial_h_ = 0;
  int k_ = 1, tried_ = 1, last_k_ = 1, next_k_ = 1;
  int equal_steps_ = 0;  // of the same order and size
  std::array<long, most_order + 1> by_order_{};
  OrderWatch watch_;
};

}  // namespace trammel
