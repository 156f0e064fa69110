// Rosenbrock methods on y' = f(t, y): no Newton iterations, one LU and exact derivatives a step,
//
//   (I/(h g) - J) u_i = f(t + alpha_i h, y + sum a_ij u_j) + sum c_ij/h u_j + gamma_i h f_t,
//   y_new = y + sum m_i u_i
//
// with a, c, m of NystromTableau (u = Gamma k).
#pragma once
#include "trammel/ode/implicit_one_step.h"
#include "trammel/ode/rosenbrock/rosenbrock_options.h"

namespace trammel {

class RosenbrockMethod final : public ImplicitOneStep {
 public:
  RosenbrockMethod(FirstOrderProblem& problem, const RosenbrockOptions& options);
  int order() const override { return table_.order; }
  void visit(Archive& archive) override;
  int error_order() const override { return table_.embedded_order + 1; }

 private:
  bool iterates() const override { return false; }
  Verdict solve_stages(double h) override;
  double estimate(double h, Attempt& result) override;
  void accepted() override { ++age_; }
  void forget() override { age_ = own_.keep_derivatives; }

  RosenbrockOptions own_;
  NystromTableau table_;
  ShiftedSolver<double> solver_;
  std::array<Vec, max_rosenbrock_stages> u_;
  Vec stage_, slope_, right_, error_;
  int age_ = 0;  // steps since the derivatives were made
};

}  // namespace trammel
