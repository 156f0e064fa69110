// Explicit Runge-Kutta methods of any tableau (tableaus/butcher.h).
#pragma once
#include "trammel/ode/one_step.h"
#include "trammel/ode/registry.h"
#include "trammel/ode/runge_kutta/butcher.h"

namespace trammel {

struct RungeKuttaOptions {
  bool fixed_step = false;
  double tolerance = 1e-5;
  Norm norm = Norm::mean_square;
  bool ode45 = false;  // step rules of MATLAB's ode45: safety 0.8, growth 5, none after a failure, then halves
};

class RungeKutta final : public OneStepMethod {
 public:
  // An explicit tableau, else a Failure. Without b_hat steps are doubled where they are controlled.
  RungeKutta(FirstOrderProblem& problem, const ButcherTableau& tableau, const RungeKuttaOptions& options);

  int order() const override { return order_; }
  int error_order() const override { return error_order_; }
  bool interpolation_holds() const override { return interpolation_holds_; }
  void visit(Archive& archive) override;

 protected:
  Verdict advance(double t, const Vec& y, const Vec& f, double h, Vec& y_new) override;
  const double* end_slope() const override { return end_ >= 0 ? K_.col(end_).data() : nullptr; }
  double estimate(double h, int& worst) override;
  double unseen(double h, const Vec& f_end, int& worst) override;
  double next_step(double h, double error) override;
  void accepted() override;
  bool interpolate_own(double theta, Vec& y) const override;

 private:
  Verdict stage(int i, double t, const Vec& y, double h, Mat& K) const;

  ButcherTableau tableau_;
  RungeKuttaOptions options_;
  int order_, error_order_, end_;
  Mat K_;               // stages of the last attempt
  mutable Mat last_K_;  // of the last accepted step; those for dense output follow when asked for
  mutable bool extended_ = false;
  mutable Vec stage_y_, stage_f_;
  Vec difference_, difference_other_;
  int last_ = 0;         // the stage with the greatest node, the last of them that is not the end itself
  Vec last_y_, beyond_;  // its values; weights that continue the slopes of the stages to the end, where none is there
  int failures_ = 0;     // of the step under way
  bool interpolation_holds_ = false;
};

// The description of a method whose tableau is `tableau`.
OdeMethodInfo runge_kutta_info(const ButcherTableau& tableau);

}  // namespace trammel
