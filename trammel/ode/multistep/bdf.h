// Backward differentiation of variable order 1 to 5 and variable step in quasi-constant form, with the numerical
// differentiation formulas of Shampine and Reichelt (The MATLAB ODE suite, 1997). With the memory of bdf_memory.h:
//
//   solve     y = y^p + d,  y' = (alpha_k / h) (psi + d):   F(t, y, y') = 0,  or y' = f(t, y)
//   error     (kappa_k gamma_k + 1/(k+1)) d
#pragma once
#include <memory>

#include "trammel/ode/control/error_norm.h"
#include "trammel/ode/control/simplified_newton.h"
#include "trammel/ode/multistep/bdf_memory.h"
#include "trammel/ode/ode_method.h"
#include "trammel/ode/shifted_solver.h"

namespace trammel {

// What the corrector solves: F(t, y, y') = 0 with the matrix F_y + c F_y'. For y' = f it is y' - f and c I - f_y.
class BdfEquations {
 public:
  virtual ~BdfEquations() = default;
  virtual int size() const = 0;
  virtual Verdict residual(double t, const Vec& y, const Vec& dydt, Vec& F, Counts& counts) = 0;
  // Factors the matrix; `fresh`: with derivatives of this point, else, where that can be, with the last ones.
  virtual Verdict factor(double t, const Vec& y, const Vec& dydt, double c, bool fresh, Counts& counts) = 0;
  virtual void solve(const Vec& b, Vec& x) = 0;
  virtual void error_scales(const Vec& before, const Vec& after, Vec& scales) const = 0;
  // y' at the start where it can be told; zero where not.
  virtual Verdict start_slope(double t, const Vec& y, Vec& dydt, Counts& counts) = 0;
  virtual void visit(Archive& archive) = 0;
};
std::unique_ptr<BdfEquations> bdf_equations(FirstOrderProblem& problem);
std::unique_ptr<BdfEquations> bdf_equations(ImplicitProblem& problem);

struct BdfOptions {
  bool fixed_step = false;
  double tolerance = 1e-5;
  int most_order = 5;
  bool plain = false;  // kappa = 0: the classical BDF
};

class BdfMethod final : public OdeMethod {
 public:
  static constexpr int top = 5;

  BdfMethod(std::unique_ptr<BdfEquations> equations, const BdfOptions& options);

  int order() const override { return memory_.order(); }
  int error_order() const override { return memory_.tried_order() + 1; }
  void start(double t, const Vec& y) override;
  Attempt attempt(double h) override;
  void accept() override;
  const Vec& trial() const override { return new_y_; }
  void interpolate(double t, Vec& y) const override;
  void restart() override;
  int memory() const override { return memory_.columns(); }
  void rebase(std::span<const Point> past) override;
  void moved(std::span<const Point> past) override;
  std::span<const long> steps_by_order() const override { return memory_.steps_by_order(); }
  std::string remark_on_orders() const override { return memory_.remark(); }
  void visit(Archive& archive) override;

 private:
  Verdict correct(double c, Attempt& result);
  double size_of(const Vec& v, int& worst) const { return error_norm(v, scales_, options_.tolerance, worst); }

  std::unique_ptr<BdfEquations> equations_;
  BdfOptions options_;
  int n_;
  BdfMemory memory_;
  BdfMemory::ByOrder error_constant_{};
  SimplifiedNewton monitor_;
  double trial_h_ = 0;
  Vec new_y_, new_dydt_, F_, work_, scales_;
  Mat newton_;  // divided differences of past points
  bool have_matrix_ = false, derivatives_stale_ = true;
  double matrix_c_ = 0;
};

}  // namespace trammel
