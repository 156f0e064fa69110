// Diagonally implicit Runge-Kutta methods with one diagonal element g (a first stage without it is explicit): stages
// one after the other, one real matrix for all,
//
//   (I/(h g) - J) dz = (known_i + h g f(t + c_i h, y + z) - z)/(h g),   known_i = h sum_{j<i} a_ij k_j,
//   k_i = (z - known_i)/(h g).
//
// The error estimate of a tableau with an embedded solution is e = (I - h g J)^-1 h sum (b_i - b^_i) k_i; the matrix
// keeps stiff parts out. Without one: with Hermite's cubic of the step, y_m in its middle and f_m = f(t + h/2, y_m),
//
//   e = (I - h g J)^-1 (y + h/6 (f_0 + 4 f_m + f_1) - y_new),
//
// Simpson's rule minus the new value. Simpson's rule errs by h^5, so for methods up to order 3 this is the local error
// itself.
#pragma once
#include "trammel/ode/implicit_one_step.h"
#include "trammel/ode/runge_kutta/implicit_tableau.h"

namespace trammel {

class DiagonallyImplicit final : public ImplicitOneStep {
 public:
  DiagonallyImplicit(FirstOrderProblem& problem, const ImplicitTableau& tableau, const ImplicitOptions& options);
  int order() const override { return table_.order; }
  void visit(Archive& archive) override;
  int error_order() const override { return (table_.b_hat.size() > 0 ? table_.embedded_order : table_.order) + 1; }

 private:
  Verdict solve_stages(double h) override;
  double estimate(double h, Attempt& result) override;
  double unseen(double h, Attempt& result) override;
  bool can_renew() const override { return true; }
  void matrix_changed() override { factored_h_ = 0; }

  ImplicitTableau table_;
  double gamma_;
  bool last_is_new_;
  ShiftedSolver<double> solver_;
  double factored_h_ = 0;
  std::vector<Vec> k_;
  Vec z_, known_, stage_, slope_, right_, correction_;
};

}  // namespace trammel
