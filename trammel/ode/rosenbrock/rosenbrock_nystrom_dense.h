// Rosenbrock-Nystrom methods on y'' = f(t, y, y') with dense J1 = f_y, J2 = f_v: one LU of I - h g J2 - h^2 g^2 J1 a
// step, formulas in rosenbrock_tableau.h. For a user's own equations and for a mechanism in independent coordinates.
#pragma once
#include <Eigen/LU>

#include "trammel/ode/jacobian_source.h"
#include "trammel/ode/ode_method.h"
#include "trammel/ode/rosenbrock/rosenbrock_options.h"

namespace trammel {

class RosenbrockNystromDense final : public OdeMethod {
 public:
  RosenbrockNystromDense(SecondOrderProblem& problem, const RosenbrockOptions& options);

  int error_order() const override { return table_.embedded_order + 1; }
  int order() const override { return table_.order; }
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
  Eval linearise(double h);
  bool accelerate(double t, const Vec& y, const Vec& v, Vec& a);

  SecondOrderProblem& problem_;
  RosenbrockOptions options_;
  NystromTableau table_;
  int n_;
  SecondOrderDerivatives derivatives_;
  double t_ = 0, trial_h_ = 0, last_step_ = 0;
  Vec state_, rates_, trial_, previous_, previous_rates_;  // (y, v) and (v, a)
  Vec y_, v_, a_, z_, w_, stage_a_, trial_a_, right_, p0_, e_y_, e_v_, error_, scales_;
  std::array<Vec, max_rosenbrock_stages> l_;
  Mat matrix_;
  Eigen::PartialPivLU<Mat> lu_;
  int age_ = 0;  // steps since the derivatives were made
  bool linearised_ = false, trial_known_ = false;
  Counts counts_;
};

}  // namespace trammel
