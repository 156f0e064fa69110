// A method for ordinary differential equations on a mechanism: it integrates the mechanism's state-space form. The
// chart follows the motion (from the start of each step for one-step methods, after half a radian for methods with a
// memory; it turns with bodies that turn far within what the method sees), the coordinates change when others determine
// the rest better; then the method's past is carried over.
#pragma once
#include <functional>

#include "trammel/formulate/state_space.h"
#include "trammel/initial/accelerations.h"
#include "trammel/integrate/motion.h"
#include "trammel/ode/ode_method.h"

namespace trammel {

class OdeIntegrator final : public MotionIntegrator {
 public:
  using MakeMethod = std::function<std::unique_ptr<OdeMethod>(StateSpace&)>;
  struct Options {
    StateSpaceOptions form;
    bool fixed_step = false;
  };
  OdeIntegrator(const Equations& equations, const Options& options, MakeMethod make);

  int error_order() const override { return method_ ? method_->error_order() : 3; }
  void forget() override;
  Attempt attempt(double h) override;
  void restart(std::string_view why) override;
  void interpolate_cheaply(double t, State& out) const override;
  bool interpolation_holds() const override { return method_ && method_->interpolation_holds(); }
  const Counts& counts() const override;
  long memory_bytes() const override { return space_.memory_bytes(); }
  std::string remark() const override;

  const StateSpace& space() const { return space_; }
  OdeMethod* method() { return method_.get(); }
  int repartitions() const { return repartitions_; }

 private:
  void started() override;
  void leaving() override;
  void arrived() override { pending_ = true; }
  void interpolate_inside(double t, double s, State& out) const override;
  void visit_method(Archive& archive) override;
  void recover(double t, State& out) const;  // from y_ at a time inside the last step
  void follow(double h);                     // base, chart and coordinates for the step to come
  bool choose_anew(double least);            // of the coordinates; true if they changed
  void make_method();
  void drop_method();  // its counts are kept
  double window(double h) const;
  void rebase(bool same_coordinates = false);
  Attempt try_step(double h);

  bool fixed_step_, all_coordinates_;
  std::unique_ptr<AccelerationSolver> projector_;  // null: no projection
  MakeMethod make_;
  mutable StateSpace space_;
  std::unique_ptr<OdeMethod> method_;  // null without freedoms
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
  mutable Counts all_counts_;
  Counts dropped_;  // of methods before this one
  long projections_ = 0;
  long cut_ = 0;  // how often older points of the past could not be kept
};

}  // namespace trammel
