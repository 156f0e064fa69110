// Fully implicit Runge-Kutta methods with the transformed system of Hairer and Wanner (II, section IV.8). With the
// increments Z = Y - y and A^-1 = X diag(mu) X^-1 (stage_transform.h), W = X^-1 Z, a Newton correction falls apart into
// one system for each real eigenvalue g of A^-1 and one complex system for each pair a +- i b:
//
//   (g/h I - J) dW_k = -g/h W_k + (X^-1 F)_k
//   ((a - i b)/h I - J) (dW_k + i dW_k+1) = right_k + i right_k+1
//
// The corrections start from the polynomial of the last step, continued. Where there is none, they start from the
// solution of the equations linearised at the step's start: f there is known, so these start values cost no evaluation,
// and the first one is made near the solution and not at the start.
//
// The error estimate is the difference to an embedded quadrature that also uses f at the step's start, with weight g0
// (1/g where A^-1 has a real eigenvalue):  e = (I - h g0 J)^-1 (g0 h f_0 + sum e_i Z_i).
#pragma once
#include "trammel/ode/implicit_one_step.h"
#include "trammel/ode/runge_kutta/stage_transform.h"

namespace trammel {

class ImplicitRungeKutta final : public ImplicitOneStep {
 public:
  ImplicitRungeKutta(FirstOrderProblem& problem, const ImplicitTableau& tableau, const ImplicitOptions& options);
  int order() const override { return table_.order; }
  void visit(Archive& archive) override;
  int error_order() const override { return table_.stages() + 1; }

 private:
  struct RealPart : StageTransform::RealValue {
    ShiftedSolver<double> solver;
  };
  struct ComplexPart : StageTransform::Pair {
    ShiftedSolver<Complex> solver;
  };

  Verdict solve_stages(double h) override;
  double estimate(double h, Attempt& result) override;
  double suggest(double h, double error) override;
  double unseen(double h, Attempt& result) override;
  void accepted() override;
  void forget() override { history_ = false; }
  void matrix_changed() override { factored_h_ = 0; }
  bool interpolate_own(double theta, Vec& y) const override;

  enum class Start { continued, linearised, flat };
  void place(Start start, double h);
  Verdict iterate(double h);
  double correct(double h);  // dW_ from F_ and W_, added to W_ and Z_; its size by tolerance
  bool factor_all(double h);
  bool has_polynomial() const;

  ImplicitTableau table_;
  StageTransform transform_;
  int s_;
  bool stiffly_accurate_, start_is_node_;
  Vec update_;  // y_new = y + sum update_i Z_i
  // The slope that the stages give the end: end_start_ f_0 + sum end_weights_i Z_i / h. Only the part end_share_ of
  // what f at the end differs from it, sent through the matrix, is an error: of the time behind the last stage.
  Vec end_weights_;
  double end_start_ = 0, end_share_ = 1;
  double gamma0_;  // g0
  std::vector<RealPart> real_;
  std::vector<ComplexPart> complex_;
  ShiftedSolver<double> error_solver_;  // where A^-1 has no real eigenvalue
  double factored_h_ = 0, history_h_ = 0;
  bool history_ = false;
  Mat Z_, W_, F_, R_, dW_, last_Z_;
  Vec stage_, slope_, right_, correction_, weights_;
  CVec complex_right_, complex_correction_;
};

}  // namespace trammel
