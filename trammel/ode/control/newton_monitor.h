// When to stop Newton's corrections, and when to give up. HHT equations (43), (45), (47b):
//
//   xi_k = |dx_k| / |dx_{k-1}|,   stop when  xi/(1-xi) |dx_k| <= c * reference,   c = 0.001
//
// where `reference` is the norm of the acceleration change that the error test would just allow (sqrt(psi)/h^2), or,
// when the step is not limited by the error test, the change itself, so that the corrector error stays a small part of
// the actual local error.
#pragma once
#include <algorithm>

#include "trammel/base/archive.h"

namespace trammel {

class NewtonMonitor {
 public:
  struct Options {
    double c = 0.001;
    int most_iterations = 10;
    // Derivatives of an earlier step are kept while the corrections contract by this factor or better.
    double keep_rate = 0.1;
    // Stop when the error left, as the rate foretells it, is small; otherwise only when a correction itself is.
    bool trust_rate = true;
    // After most_iterations that contract, with fresh derivatives, a hundredth of the reference may be left.
    bool slow_will_do = false;
    int exactly = 0;  // so many corrections whatever they are, for steps of the same cost; 0: until they are small
  };
  enum class Decision { go_on, converged, diverged };

  explicit NewtonMonitor(const Options& options) : options_(options) {}

  // Before the first correction of a step; `fresh` if the derivatives are of this very step.
  void begin(bool fresh = true) {
    iterations_ = stalled_ = 0;
    in_noise_ = false;
    last_ = least_ = 0;
    fresh_ = fresh;
  }
  // After a fresh factorisation nothing is known of its rate.
  void forget_rate() { rate_ = unknown; }
  double rate() const { return rate_; }
  void visit(Archive& archive) { archive(rate_); }  // the rest begins anew with each step
  int iterations() const { return iterations_; }
  // Corrections ended because they did not fall any more; the last of them is what they know of the solution.
  bool in_noise() const { return in_noise_; }
  double last() const { return last_; }
  bool slow() const { return rate_ != unknown && rate_ > options_.keep_rate; }

  // `noise`: corrections at or below it are round-off of the constraints divided by beta h^2; nothing is gained by
  // going on. `closed`: constraints hold to round-off before the correction.
  Decision next(double correction, double reference, double noise, bool closed = false) {
    ++iterations_;
    if (options_.exactly > 0) {
      rate_ = iterations_ > 1 && last_ > 0 ? correction / last_ : rate_;
      last_ = correction;
      return iterations_ >= options_.exactly ? Decision::converged : Decision::go_on;
    }
    const double goal = options_.c * reference;
    if (iterations_ > 1 && last_ > noise) {
      const double seen = correction / last_;
      if (correction > noise) rate_ = iterations_ == 2 ? seen : (seen > rate_ ? seen : rate_);
      stalled_ = correction > 0.7 * least_ ? stalled_ + 1 : 0;
      // Corrections that no longer fall, with fresh derivatives, have reached the noise of this model: near singular
      // positions 2e-3 of the reference was seen (40 four-bar windows, h = 5e-4, as the multipliers pass their pole),
      // or 1e4 times the plain round-off; as positions both are below 1e-10 of the length scale.
      // Where a row of the Jacobian vanishes, positions are a double root of the constraints: their round-off eps
      // leaves sqrt(eps) of the length scale open, whatever the step size.
      const double harmless = std::max({1e-2 * reference, 1e5 * noise, closed ? 1.5e-8 : 0.0});
      if (stalled_ >= 2 && correction > goal && correction > noise) {
        if (!fresh_) return Decision::diverged;
        if (correction <= harmless) {
          in_noise_ = true;
          last_ = correction;
          return Decision::converged;
        }
      }
      if (seen >= 2 && correction > harmless) return Decision::diverged;
    }
    last_ = correction;
    least_ = iterations_ == 1 || correction < least_ ? correction : least_;
    // Whatever the rate: with positions of 100 m and h = 1e-4 round-off alone keeps xi near 1.
    if (correction <= noise || correction <= goal) return Decision::converged;
    if (options_.trust_rate && iterations_ > 1 && rate_ < 0.9 && rate_ / (1 - rate_) * correction <= goal)
      return Decision::converged;
    if (iterations_ < options_.most_iterations) return Decision::go_on;
    const double left = correction * std::max(1.0, rate_ / (1 - rate_));
    return options_.slow_will_do && fresh_ && rate_ < 1 && left <= 1e-2 * reference ? Decision::converged
                                                                                    : Decision::diverged;
  }

 private:
  static constexpr double unknown = 2;
  Options options_;
  double rate_ = unknown, last_ = 0, least_ = 0;
  int iterations_ = 0, stalled_ = 0;
  bool fresh_ = false, in_noise_ = false;
};

}  // namespace trammel
