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
  const Vec& trial() const override { return trial_; }
  void interpolate(double t, Vec& state) const override;
  void restart() override { linearised_ = false; }
  void rebase(std::span<const Point> past) override;
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
  double trial_h_ = 0;
  Vec trial_, previous_, previous_rates_;             // (y, v) and (v, a)
  Vec q_, v_, a_, trial_a_, right_, error_, scales_;  // q_: the y of y'' = f
  Mat matrix_;
  Eigen::PartialPivLU<Mat> lu_;
  int age_ = 0;  // steps since the derivatives were made
  bool linearised_ = false, trial_known_ = false;
};

}  // namespace trammel
