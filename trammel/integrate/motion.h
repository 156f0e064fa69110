// The frame of a method that integrates a mechanism in all its coordinates: the accepted state with its rates, the
// trial, the last step, scales, counts. A method adds its formulas.
#pragma once
#include "trammel/integrate/integrator.h"

namespace trammel {

class MotionIntegrator : public Integrator {
 public:
  void start(const State& state, const Rates& rates) final;
  void accept() final;
  const State& state() const final { return now_; }
  const Rates& rates() const final { return rates_; }
  const State& trial_state() const final { return trial_; }
  const Rates& trial_rates() const final { return trial_rates_; }
  void interpolate(double t, State& out) const final;
  double last_step() const final { return last_step_; }
  const Counts& counts() const override { return counts_; }
  void visit(Archive& archive) final;

 protected:
  MotionIntegrator(const Equations& equations, double tolerance);

  // What the method sets up at a start, before it is restarted.
  virtual void started() {}
  // Before the trial becomes the accepted state, and after.
  virtual void leaving() {}
  virtual void arrived() {}
  // Inside the last step, at its part s; out holds the accepted state. Hermite's cubic, unless the method has better.
  virtual void interpolate_inside(double t, double s, State& out) const;
  // The method's own fields.
  virtual void visit_method(Archive& archive) = 0;

  // Turns of joints could be miscounted at the end of the trial, a step h long.
  bool turns_in_doubt(double h) const { return equations_.turned(trial_, h, work_) > 1.57; }

  const Equations& equations_;
  const int nv_, ng_, nx_;
  const double tolerance_;
  State now_, trial_;
  Rates rates_, trial_rates_;
  Vec scales_;                                                // of positions, for errors of the tolerance
  double rate_ = 1;                                           // rate scale of the model
  Vec previous_q_, previous_v_, previous_x_, previous_xdot_;  // start of the last accepted step
  double trial_h_ = 0, last_step_ = 0;
  mutable Workspace work_;
  Counts counts_;
};

}  // namespace trammel
