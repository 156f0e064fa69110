// A method for ordinary differential equations on a mechanism: it integrates the mechanism's state-space form. The
// chart follows the motion (from the start of each step for one-step methods, after half a radian for methods with a
// memory; it turns with bodies that turn far within what the method sees), the coordinates change when others determine
// the rest better; then the method's past is carried over.
#pragma once
#include <functional>

#include "trammel/formulate/state_space.h"
#include "trammel/initial/accelerations.h"
#include "trammel/integrate/integrator.h"
#include "trammel/ode/ode_method.h"

namespace trammel {

class OdeIntegrator final : public Integrator {
 public:
  using MakeMethod = std::function<std::unique_ptr<OdeMethod>(StateSpace&)>;
  struct Options {
    StateSpaceOptions form;
    bool fixed_step = false;
    bool project = false;  // after each step, positions and velocities back onto the constraints
  };
  OdeIntegrator(const Equations& equations, const Options& options, MakeMethod make);

  int error_order() const override { return method_ ? method_->error_order() : 3; }
  void start(const State& state, const Rates& rates) override;
  void forget() override;
  Attempt attempt(double h) override;
  void accept() override;
  void restart(std::string_view why) override;
  const State& state() const override { return now_; }
  const Rates& rates() const override { return rates_; }
  void interpolate(double t, State& out) const override { interpolate(t, out, false); }
  void interpolate_cheaply(double t, State& out) const override { interpolate(t, out, true); }
  bool interpolation_holds() const override { return method_ && method_->interpolation_holds(); }
  double last_step() const override { return last_step_; }
  const State& trial_state() const override { return trial_; }
  const Rates& trial_rates() const override { return trial_rates_; }
  const Counts& counts() const override;
  void visit(Archive& archive) override;
  long memory_bytes() const override { return space_.memory_bytes(); }

  std::string remark() const override;

  const StateSpace& space() const { return space_; }
  OdeMethod* method() { return method_.get(); }
  int repartitions() const { return repartitions_; }

 private:
  void interpolate(double t, State& out, bool cheaply) const;
  void follow(double h);           // base, chart and coordinates for the step to come
  bool choose_anew(double least);  // of the coordinates; true if they changed
  void make_method();
  void drop_method();  // its counts are kept
  double window(double h) const;
  void rebase();
  Attempt try_step(double h);

  const Equations& equations_;
  double tolerance_;
  bool fixed_step_, all_coordinates_;
  std::unique_ptr<AccelerationSolver> projector_;  // null: no projection
  MakeMethod make_;
  mutable StateSpace space_;
  std::unique_ptr<OdeMethod> method_;  // null without freedoms
  State now_, trial_;
  Rates rates_, trial_rates_;
  // The accepted past, newest last, for methods with a memory.
  struct Past {
    double t = 0;
    Vec q, v, u, a, xdot;

    void visit(Archive& archive) { archive(t, q, v, u, a, xdot); }
  };
  std::vector<Past> past_;
  std::vector<OdeMethod::Point> points_;
  std::size_t past_count_ = 0, past_next_ = 0;
  mutable Vec y_;
  Vec dydt_, later_, later_rate_;
  double good_strain_ = 0;  // when the coordinates were chosen, or the least since then
  int repartitions_ = 0;
  bool locked_ = false;  // freedoms vanished that the motion needs
  bool pending_ = true;  // an accepted step has not yet become the base
  double trial_h_ = 0, last_step_ = 0;
  mutable Workspace work_;
  mutable Counts counts_;
  Counts dropped_;  // of methods before this one
  long steps_ = 0, projections_ = 0;
  long cut_ = 0;  // how often older points of the past could not be kept
};

}  // namespace trammel
