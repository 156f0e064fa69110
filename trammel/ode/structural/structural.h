// The methods of structural dynamics on y'' = f(t, y, v): Newmark's finite differences (7.28), (7.29) with H = theta h,
//
//   Y = y + H v + H^2 ((1/2 - beta) a + beta x),    V = v + H ((1 - gamma) a + gamma x),
//
// and one of three balances for the unknown acceleration x:
//
//   weighted     (1 - alpha_m) x + alpha_m a = (1 - alpha_f) f(t + h, Y, V) + alpha_f f(t, y, v);   theta = 1
//                Newmark (7.34), HHT (7.36), generalized-alpha; x is the new a
//   collocation  x = f(t + H, Y, V), then a_new = a + (x - a)/theta and Newmark with h (7.37)-(7.41)
//   midpoint     x = f at the mean of old and new positions and velocities (7.35)
//
// a is the method's own acceleration, of first order only where alpha or theta damp; reported are those of f. Newton
// solves for x or for the positions Y (7.33):
//
//   [(1 - alpha_m) I - (1 - alpha_f) (gamma H J2 + beta H^2 J1)] dx = -residual,   dY = beta H^2 dx.
//
// The error estimate is Simpson's rule on (y, v) minus the new values, as in diagonally_implicit.h, through the matrix
// I - h/2 J2 - h^2/4 J1 that keeps fast parts out.
#pragma once
#include <Eigen/LU>

#include "trammel/ode/implicit_one_step.h"
#include "trammel/ode/jacobian_source.h"
#include "trammel/ode/structural/alpha_parameters.h"

namespace trammel {

struct StructuralParameters : AlphaParameters {
  enum class Balance { weighted, collocation, midpoint };
  Balance balance = Balance::weighted;
  double theta = 1;
  int order = 2;

  static StructuralParameters newmark(double beta, double gamma);
  static StructuralParameters hht(double alpha);
  static StructuralParameters generalized_alpha(double rho_infinity);
  static StructuralParameters collocation(double theta, double beta, double gamma);
  static StructuralParameters midpoint();
};

struct StructuralOptions {
  StructuralParameters parameters;
  ImplicitOptions common;
  bool positions_as_unknowns = false;
  bool full_newton = false;               // derivatives at every correction
  bool predict_with_acceleration = true;  // x = a; else Y = y

  static StructuralOptions from(const StructuralParameters& parameters, const OdeSettings& settings);
};
// Gives a description its maker, and what its stability follows from.
void make_structural(OdeMethodInfo& m, StructuralParameters (*parameters)(const OdeSettings&));
std::vector<Field> with_structural_options(std::vector<Field> own);
std::string refuse_structural(const OdeSettings& settings, double beta);

class StructuralMethod final : public OdeMethod {
 public:
  StructuralMethod(SecondOrderProblem& problem, const StructuralOptions& options);

  int order() const override { return options_.parameters.order; }
  int error_order() const override { return options_.parameters.order + 1; }
  void start(double t, const Vec& state) override;
  Attempt attempt(double h) override;
  void accept() override;
  const Vec& trial() const override { return trial_; }
  void interpolate(double t, Vec& state) const override;
  void restart() override;
  void rebase(std::span<const Point> past) override;
  void visit(Archive& archive) override;

 private:
  Verdict solve(double h);
  Verdict accelerate(double t, const Vec& y, const Vec& v, Vec& a);
  Verdict linearise(double t, const Vec& y, const Vec& v, const Vec& a, double h);
  Verdict factor(double h, double cy, double cv);
  double estimate(double h, Attempt& result);

  SecondOrderProblem& problem_;
  StructuralOptions options_;
  int n_;
  SecondOrderDerivatives derivatives_;
  SimplifiedNewton newton_;
  SecantUpdates secant_;
  double trial_h_ = 0, factored_h_ = 0, noise_ = 0;
  double a_h_ = 0;                                       // size of the step that made a_; 0: it is f
  Vec trial_, trial_rates_, previous_, previous_rates_;  // (y, v) and (v, f)
  Vec q_, v_, f_, a_, start_a_, trial_a_;                // q_: the y of y'' = f
  Vec Y_, V_, F_, x_, base_y_, base_v_, right_, correction_, scales_, error_, middle_, slope_, e_v_;
  Mat matrix_, filter_;
  Eigen::PartialPivLU<Mat> lu_, filter_lu_;
  bool J_valid_ = false, J_current_ = false, end_known_ = false;
};

}  // namespace trammel
