// A method for differential equations on a mechanism in joint coordinates (formulate/joint_space.h). Where constraints
// stand beside the tree, each step ends with a return to them, and the method goes on from there with its past.
#pragma once
#include <functional>

#include "trammel/formulate/joint_space.h"
#include "trammel/integrate/motion.h"
#include "trammel/ode/ode_method.h"

namespace trammel {

class JointIntegrator final : public MotionIntegrator {
 public:
  using MakeMethod = std::function<std::unique_ptr<OdeMethod>(JointSpace&)>;
  JointIntegrator(const Equations& equations, const JointSpaceOptions& options, bool fixed_step,
                  const MakeMethod& make);

  int error_order() const override { return method_ ? method_->error_order() : 3; }
  Attempt attempt(double h) override;
  void restart(std::string_view why) override;
  void interpolate_cheaply(double t, State& out) const override;
  bool complete_at(double t, State& out, Rates& rates) override;
  bool rates_complete() const override { return complete_; }
  bool interpolation_holds() const override { return !method_ || method_->interpolation_holds(); }
  const Counts& counts() const override;
  long memory_bytes() const override { return space_.memory_bytes(); }
  std::string remark() const override;

  const JointSpace& space() const { return space_; }

 private:
  struct Point {
    double t = 0;
    Vec y, dydt;
    void visit(Archive& archive) { archive(t, y, dydt); }
  };
  void started() override;
  void leaving() override;
  void arrived() override;
  void interpolate_inside(double t, double s, State& out) const override;
  void visit_method(Archive& archive) override;
  void follow();  // the method to where the last step has ended
  void blame_stuck(Attempt& result) const;

  bool fixed_step_;
  mutable JointSpace space_;
  std::unique_ptr<OdeMethod> method_;  // null: nothing can move
  // The accepted points that the method may ask for, the newest first.
  std::vector<Point> past_;
  std::size_t past_count_ = 0;
  Point trial_point_;
  std::vector<OdeMethod::Point> points_;
  bool pending_ = true;  // an accepted step has not yet become the base
  bool complete_ = false, trial_complete_ = false;
  mutable Vec y_;
  Vec complete_dydt_;
  mutable Counts all_counts_;
};

}  // namespace trammel
