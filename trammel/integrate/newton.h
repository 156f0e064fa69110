// Newton's corrections of one step: with the derivatives at hand, and where those are of an earlier step and do not
// serve, a second time with fresh ones. The matrix is combined anew, without an evaluation, when the weights of the
// step differ much from those it was made with.
#pragma once
#include <cmath>

#include "trammel/ode/attempt.h"
#include "trammel/ode/control/newton_monitor.h"

namespace trammel {

// What a method gives to the passes.
class NewtonStage {
 public:
  virtual ~NewtonStage() = default;

 protected:
  friend class NewtonPasses;
  virtual void predict() = 0;
  virtual Verdict prepare_matrix(bool anew) = 0;
  // One correction of the trial; not finite: it cannot be evaluated.
  struct Correction {
    double size = 0, reference = 0;  // weighted; what the error test would just allow
    bool closed = false;             // the constraints held to round-off before it
  };
  virtual Correction correct() = 0;
  // Whether corrections that have converged may be kept.
  virtual bool holds() { return true; }
  // Whether another pass is worth it after one that failed.
  virtual bool retries(int pass, bool anew) { return pass == 0 && !anew; }  // old derivatives may be to blame
  // What the last correction of a step that failed says of the cause.
  virtual void blame(Attempt& result) = 0;
};

class NewtonPasses {
 public:
  // `refresh_ratio`: of the weight by that of the matrix, either way, above which it is combined anew.
  NewtonPasses(const NewtonMonitor::Options& options, double refresh_ratio)
      : options_(options), monitor_(options), refresh_ratio_(refresh_ratio) {}

  // `weight` stands for the weights of the step: h, or c. `noise`: corrections below it are round-off. The verdict is
  // that of the result; false: it is not ok.
  bool solve(NewtonStage& stage, double weight, double noise, Attempt& result) {
    for (int pass = 0;; ++pass) {
      passes_ = pass + 1;
      stage.predict();
      const bool anew = linearise_next_ || pass > 0 || options_.exactly > 0;
      if (anew || !serves(weight)) {
        linearise_next_ = false;
        matrix_weight_ = weight;
        monitor_.forget_rate();
        result.verdict = stage.prepare_matrix(anew);
        if (result.verdict != Verdict::ok) break;
      }
      monitor_.begin(anew);
      result.verdict = iterate(stage, noise);
      result.newton_iterations += monitor_.iterations();
      result.newton_rate = monitor_.rate();
      if (result.verdict == Verdict::ok && stage.holds()) break;
      if (result.verdict == Verdict::ok) result.verdict = Verdict::newton_diverged;
      if (stage.retries(pass, anew)) continue;
      stage.blame(result);
      break;
    }
    linearise_next_ = result.verdict != Verdict::ok || monitor_.slow();
    return result.verdict == Verdict::ok;
  }

  const NewtonMonitor& monitor() const { return monitor_; }
  int passes() const { return passes_; }  // of the last step
  // The next step shall have derivatives of its own.
  void linearise_next() { linearise_next_ = true; }
  // The matrix belongs to other coordinates, or to none: it is combined anew.
  void forget_matrix() { matrix_weight_ = 0; }
  double matrix_weight() const { return matrix_weight_; }

  void visit(Archive& archive) { archive(monitor_, matrix_weight_, linearise_next_); }

 private:
  bool serves(double weight) const {
    const double ratio = weight / matrix_weight_;
    return ratio == 1 || (ratio < refresh_ratio_ && ratio * refresh_ratio_ > 1);
  }
  Verdict iterate(NewtonStage& stage, double noise) {
    for (;;) {
      const NewtonStage::Correction c = stage.correct();
      if (!std::isfinite(c.size)) return Verdict::evaluation_rejected;
      const NewtonMonitor::Decision decision = monitor_.next(c.size, c.reference, noise, c.closed);
      if (decision == NewtonMonitor::Decision::converged) return Verdict::ok;
      if (decision == NewtonMonitor::Decision::diverged) return Verdict::newton_diverged;
    }
  }

  NewtonMonitor::Options options_;
  NewtonMonitor monitor_;
  double refresh_ratio_, matrix_weight_ = 0;
  bool linearise_next_ = true;
  int passes_ = 0;
};

}  // namespace trammel
