// How long the next step is, for every time loop: what the controller asks for, bounded, and stretched or cut where the
// end is near; and what an attempt makes of it.
#pragma once
#include <algorithm>
#include <limits>

#include "trammel/ode/control/step_controller.h"

namespace trammel {

class StepRule {
 public:
  struct Options {
    StepController::Options controller;
    bool fixed = false;  // all steps have one size, and are accepted whatever their error
    double greatest = std::numeric_limits<double>::max();
    double stretch = 1e-9;  // the last step may be longer by this part: it leaves no sliver that only round-off makes
  };
  StepRule() = default;
  StepRule(const Options& options, double h) : options_(options), controller_(options.controller), h_(h) {}

  bool fixed() const { return options_.fixed; }
  double next() const { return h_; }  // what the controller asks for
  void set_next(double h) { h_ = h; }
  void shrink_to(double h) { h_ = options_.fixed ? h_ : std::min(h_, h); }
  void set_greatest(double greatest) { options_.greatest = greatest; }
  void set_stretch(double stretch) { options_.stretch = stretch; }

  // The size to try with `left` to go.
  double choose(double left) {
    const double h = bounded();
    const bool last = left <= h * (1 + options_.stretch);
    cut_by_end_ = last && left < h;
    return last ? left : h;
  }
  // Something else than the end cut it: how far one may go behind that is not known.
  void cut() { cut_by_end_ = false; }

  bool good(const Attempt& attempt) const {
    return attempt.verdict == Verdict::ok && (options_.fixed || attempt.error <= 1);
  }
  // A step that only the end has cut short says nothing against a longer one.
  void accepted(double h, const Attempt& attempt, int order) {
    if (options_.fixed) return;
    const double next = controller_.next(h, attempt, true, order);
    h_ = cut_by_end_ ? std::max(next, bounded()) : next;
  }
  void refused(double h, const Attempt& attempt, int order) {
    if (!options_.fixed) h_ = controller_.next(h, attempt, false, order);
  }
  // A good attempt that does not hold for another reason.
  void distrusted(double h) {
    if (!options_.fixed) h_ = controller_.after_failure(h);
  }

  void visit(Archive& archive) { archive(h_, controller_); }

 private:
  double bounded() const { return std::min(h_, options_.greatest); }

  Options options_;
  StepController controller_;
  double h_ = 0;
  bool cut_by_end_ = false;
};

}  // namespace trammel
