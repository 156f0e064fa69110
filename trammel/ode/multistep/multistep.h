// Linear multistep methods with the fixed coefficients of any pair of formulas (tableaus/multistep.h), TEXT 7.1.3:
//
//   explicit   y_{n+1} by the predictor alone, its error from the corrector with f_{n+1}
//   PECE       predict, evaluate, correct, evaluate
//   P(EC)^k    Algorithm 7-1: corrections by fixed point iteration until they are small
//   Newton     the corrector's equation by Newton's method; with c = -alpha_0/(h beta_0)
//              (c I - f_y) dy = -(c y - f(y) - r/(h beta_0)),  r = sum_{i>0} alpha_i y_{n+1-i} + h beta_i f_{n+1-i}
//
// Errors by Milne's device (7.27). The formulas need past values one step h apart: after a start, and after each change
// of the step size, steps of a one-step method of matching order lead in: Dormand-Prince where the method is not for
// stiff problems, else the linearly implicit Euler method extrapolated to the order needed.
#pragma once
#include <optional>

#include "trammel/ode/control/error_norm.h"
#include "trammel/ode/control/simplified_newton.h"
#include "trammel/ode/control/slope_interpolation.h"
#include "trammel/ode/multistep/multistep_formula.h"
#include "trammel/ode/registry.h"
#include "trammel/ode/runge_kutta/butcher.h"
#include "trammel/ode/shifted_solver.h"

namespace trammel {

struct MultistepOptions {
  enum class Corrector { none, once, iterated, newton };
  MultistepFormula predictor, corrector;
  Corrector mode = Corrector::once;
  bool fixed_step = false;
  double tolerance = 1e-5;
};

class MultistepMethod final : public OdeMethod {
 public:
  MultistepMethod(FirstOrderProblem& problem, const MultistepOptions& options);

  int order() const override { return order_; }
  int error_order() const override { return order_ + 1; }
  void start(double t, const Vec& y) override;
  Attempt attempt(double h) override;
  void accept() override;
  const Vec& trial() const override { return new_y_; }
  void interpolate(double t, Vec& y) const override;
  void interpolate_cheaply(double t, Vec& y) const override;
  void restart() override;
  int memory() const override { return needed_; }
  void rebase(std::span<const Point> past) override;
  void moved(std::span<const Point> past) override;
  void visit(Archive& archive) override;

 private:
  // y = -(sum_{i>0} alpha_i y_{n+1-i} + h beta_i f_{n+1-i}) / alpha_0: all of an explicit formula.
  void past_sum(const MultistepFormula& formula, double h, Vec& y) const;
  Verdict explicit_step(double h);
  Verdict iterate(double h, Attempt& result);
  Verdict newton(double h, Attempt& result);
  Verdict lead_in(double h, Attempt& result);
  Verdict lead_in_stiff(double h);
  void check_end(Attempt& result);
  bool factor(double c);
  double noise() const;
  double size_of(const Vec& v) const;  // by tolerance

  FirstOrderProblem& problem_;
  MultistepOptions options_;
  int n_, order_, needed_;
  bool stiff_;
  double milne_;
  JacobianSource source_;
  ShiftedSolver<double> solver_;
  SimplifiedNewton monitor_;
  bool have_matrix_ = false;
  double matrix_c_ = 0;

  Vec last_y_, last_dydt_;
  Mat past_y_, past_f_;  // column i: i steps before the newest, column 0
  int points_ = 1;       // columns filled, last_step_ apart
  int regular_ = 0;      // steps by the formula since the lead-in

  double h_ = 0;
  bool led_in_ = false;
  Vec new_y_, new_dydt_, predicted_, sum_, f_, work_, scales_;
  Mat K_, table_, slopes_;  // slopes_: of the ends, extrapolated as table_ is
  Vec slope_;
  mutable std::optional<SlopeInterpolation> refined_;  // of Adams formulas of order 4 and more
  mutable Vec inside_;
};

// What the families' descriptions share.
std::unique_ptr<OdeMethod> make_multistep(FirstOrderProblem& problem, const OdeSettings& settings,
                                          MultistepOptions options);

}  // namespace trammel
