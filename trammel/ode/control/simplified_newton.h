// When to stop the corrections of a simplified Newton iteration in an implicit method for y' = f, and when to give up
// (Hairer, Wanner II, section IV.8). With |d_k| the weighted size of a correction (1: the tolerance)
//
//   theta = |d_k| / |d_k-1|,   stop when  theta/(1 - theta) |d_k| <= kappa
//
// and give up if theta >= 1 or if the corrections left cannot reach the goal. The rate of the last step serves the
// first correction of the next one. No first correction larger than the tolerance is accepted: f has been evaluated
// where it begins, not where it ends, and a force that sets in on the way would never be seen. From the second one on f
// has been evaluated twice in this step, and |d_k| <= sqrt(kappa |d_k-1|). Corrections at round-off of the unknowns end
// the iteration whatever the rate, and so do corrections a hundred-thousandth of the tolerance that no longer shrink:
// then it is the right side that is not smoother.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/base/archive.h"

namespace trammel {

class SimplifiedNewton {
 public:
  struct Options {
    double kappa = 0.03;  // part of the tolerance that may be left
    int most_iterations = 10;
    double keep_rate = 1e-3;  // J is kept for the next step if the corrections contract at least like this
    bool patient = false;     // a new matrix for each correction: the first ones may grow before they vanish
    double reach = 1;         // of a first correction that may be accepted, by tolerance
    int exactly = 0;          // corrections, however they go: every step costs the same; 0: as many as it takes
  };
  enum class Decision { go_on, converged, diverged };

  SimplifiedNewton() = default;
  explicit SimplifiedNewton(const Options& options) : options_(options) {}

  void begin() {
    iterations_ = before_ = 0;
    rate_ = last_ = 0;
    eta_ = std::pow(std::max(eta_, std::numeric_limits<double>::epsilon()), 0.8);
  }
  // After begin(): the start values come from a correction that cost no evaluation. A rate can be seen from its size.
  void start_behind(double correction, double noise) {
    if (!(correction > noise)) return;
    before_ = 1;
    last_ = correction;
  }
  void set_patient(bool patient) { options_.patient = patient; }
  // A new matrix: nothing is known of its rate.
  void forget() { eta_ = 1; }

  // `noise`: the size of a correction that is round-off only.
  Decision next(double correction, double noise) {
    ++iterations_;
    if (!std::isfinite(correction)) return Decision::diverged;
    if (options_.exactly > 0) return iterations_ < options_.exactly ? Decision::go_on : Decision::converged;
    if (correction <= noise) return Decision::converged;
    if (iterations_ == 1 && correction >= 0.1 * last_) before_ = 0;  // f has changed since: nothing is seen of a rate
    if (iterations_ + before_ > 1) {
      const double seen = correction / last_;
      rate_ = iterations_ + before_ == 2 ? seen : std::sqrt(seen * previous_);
      previous_ = seen;
      // Corrections stuck near round-off have converged; far above it they diverge.
      const double enough = std::max(100 * noise, 1e-5);
      if (rate_ >= 0.99 && (correction <= enough || !options_.patient))
        return correction <= enough ? Decision::converged : Decision::diverged;
      eta_ = rate_ < 0.99 ? rate_ / (1 - rate_) : 100;
      const int left = options_.most_iterations - iterations_;
      if (!options_.patient && std::pow(rate_, left) * eta_ * correction > std::max({options_.kappa, noise, 1e-5}))
        return Decision::diverged;
    }
    last_ = correction;
    const bool rate_holds = iterations_ > 1 || correction <= options_.reach;
    if (rate_holds && eta_ * correction <= options_.kappa) return Decision::converged;
    if (iterations_ < options_.most_iterations) return Decision::go_on;
    return correction <= 1e-5 ? Decision::converged : Decision::diverged;
  }
  int iterations() const { return iterations_; }
  double rate() const { return rate_; }
  // Whether J is kept for the next step. With a fixed number of corrections every step has its own.
  bool good_rate() const {
    return options_.exactly == 0 && (iterations_ + before_ <= 1 || rate_ <= options_.keep_rate);
  }
  const Options& options() const { return options_; }

  void visit(Archive& archive) { archive(eta_); }

 private:
  Options options_;
  double eta_ = 1, rate_ = 0, previous_ = 0, last_ = 0;
  int iterations_ = 0, before_ = 0;  // before_: 1 behind a correction without evaluation
};

}  // namespace trammel
