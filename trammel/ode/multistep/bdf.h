// Backward differentiation of variable order 1 to 5 and variable step in quasi-constant form, with the numerical
// differentiation formulas of Shampine and Reichelt (The MATLAB ODE suite, 1997). With backward differences D_j of the
// solution at the present step size, gamma_k = 1 + 1/2 + ... + 1/k and alpha_k = (1 - kappa_k) gamma_k:
//
//   predict   y^p = sum_{j<=k} D_j,   psi = sum_{1<=j<=k} gamma_j D_j / alpha_k
//   solve     y = y^p + d,  y' = (alpha_k / h) (psi + d):   F(t, y, y') = 0,  or y' = f(t, y)
//   error     (kappa_k gamma_k + 1/(k+1)) d
//
// A new step size turns the differences by a small matrix: D <- D (R U), R and U of the ratio of the sizes.
#pragma once
#include <array>
#include <memory>

#include "trammel/ode/control/backward_differences.h"
#include "trammel/ode/control/error_norm.h"
#include "trammel/ode/control/order_watch.h"
#include "trammel/ode/control/simplified_newton.h"
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
  static constexpr int columns = top + 3;

  BdfMethod(std::unique_ptr<BdfEquations> equations, const BdfOptions& options);

  int order() const override { return k_; }
  int error_order() const override { return tried_ + 1; }
  void start(double t, const Vec& y) override;
  Attempt attempt(double h) override;
  void accept() override;
  double t() const override { return t_; }
  const Vec& y() const override { return y_; }
  const Vec& dydt() const override { return dydt_; }
  const Vec& trial() const override { return new_y_; }
  void interpolate(double t, Vec& y) const override;
  double last_step() const override { return steps_ > 0 ? h_ : 0; }
  void restart() override;
  int memory() const override { return columns; }
  void rebase(std::span<const Point> past) override;
  std::span<const long> steps_by_order() const override { return by_order_; }
  std::string remark_on_orders() const override { return watch_.remark(); }
  const Counts& counts() const override { return counts_; }
  void visit(Archive& archive) override;

 private:
  Verdict correct(double c, Attempt& result);
  void choose_next(double error, Attempt& result);
  double size_of(const Vec& v, int& worst) const { return error_norm(v, scales_, options_.tolerance, worst); }

  std::unique_ptr<BdfEquations> equations_;
  BdfOptions options_;
  int n_;
  Counts counts_;
  std::array<long, top + 1> by_order_{};
  std::array<double, top + 2> kappa_{}, gamma_{}, alpha_{}, error_constant_{};
  SimplifiedNewton monitor_;
  OrderWatch watch_;

  double t_ = 0, h_ = 0;  // h_: of the differences, 0 before the first step
  Vec y_, dydt_;
  Mat D_;
  int k_ = 1, last_k_ = 1, equal_steps_ = 0;
  long steps_ = 0;  // since the start
  bool have_matrix_ = false, derivatives_stale_ = true;
  double matrix_c_ = 0;

  double try_h_ = 0;
  int tried_ = 1, next_k_ = 1;
  Mat try_D_;
  Vec new_y_, new_dydt_, predicted_, psi_, d_, F_, work_, scales_;
};

}  // namespace trammel
