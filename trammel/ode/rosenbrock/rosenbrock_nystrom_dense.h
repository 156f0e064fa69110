// Rosenbrock-Nystrom methods on y'' = f(t, y, y') with dense J1 = f_y, J2 = f_v: one LU of I - h g J2 - h^2 g^2 J1 a
// step (nystrom_step.h). For a user's own equations and for a mechanism in independent coordinates.
#pragma once
#include <Eigen/LU>

#include "trammel/ode/jacobian_source.h"
#include "trammel/ode/ode_method.h"
#include "trammel/ode/rosenbrock/nystrom_step.h"
#include "trammel/ode/rosenbrock/rosenbrock_options.h"

namespace trammel {

class RosenbrockNystromDense final : public OdeMethod, private NystromEquations {
 public:
  RosenbrockNystromDense(SecondOrderProblem& problem, const RosenbrockOptions& options);

  int error_order() const override { return step_.tableau().embedded_order + 1; }
  int order() const override { return step_.tableau().order; }
  void start(double t, const Vec& state) override;
  Attempt attempt(double h) override;
  void accept() override;
  double t() const override { return t_; }
  const Vec& y() const override { return state_; }
  const Vec& dydt() const override { return rates_; }
  const Vec& trial() const override { return trial_; }
  void interpolate(double t, Vec& state) const override;
  double last_step() const override { return last_step_; }
  void restart() override { linearised_ = false; }
  void rebase(std::span<const Point> past) override;
  const Counts& counts() const override { return counts_; }
  void visit(Archive& archive) override;

 private:
  Verdict accelerate(int stage, double alpha, const Vec& z, const Vec& z_dot, Vec& f) override;
  void solve(int stage, const Vec& rho, const Vec& p, double scale, double time, Vec& x) override;
  Eval linearise(double h);
  Verdict factor(double h);
  bool evaluate(double t, const Vec& y, const Vec& v, Vec& a);

  SecondOrderProblem& problem_;
  RosenbrockOptions options_;
  int n_;
  NystromStep step_;
  SecondOrderDerivatives derivatives_;
  double t_ = 0, trial_h_ = 0, last_step_ = 0;
  Vec state_, rates_, trial_, previous_, previous_rates_;  // (y, v) and (v, a)
  Vec y_, v_, a_, trial_a_, right_, error_, scales_;
  Mat matrix_;
  Eigen::PartialPivLU<Mat> lu_;
  int age_ = 0;  // steps since the derivatives were made
  bool linearised_ = false, trial_known_ = false;
  Counts counts_;
};

}  // namespace trammel
