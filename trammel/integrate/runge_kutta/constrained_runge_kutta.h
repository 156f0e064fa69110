// Stiffly accurate Runge-Kutta methods directly on the constrained equations, TEXT (7.58)-(7.60): at index 3, or in the
// stabilised form of index 2 (Gear, Gupta, Leimkuhler). In a chart z from the start of the step, stages as columns:
//
//   Z' = Z A^-T / h,   U_i = T(Z_i) Z'_i,   V' = (V - v_n) A^-T / h,   X' = (X - x_n) A^-T / h = f at each stage
//   M V'_i + G^T Lambda_i = Q at each stage;   index 3: V = U, g = 0;   index 2: M (U - V) + G^T Eta = 0, g = 0, G V +
//   g_t = 0
//
// Newton's increments of V' and Lambda, with derivatives of one point and A^-1 = X diag(mu) X^-1
// (implicit_runge_kutta.h), fall apart into systems with c = mu / h, one real, the others complex:
//
//   [ M + r_v / c + r_q / c^2     G^T ]      index 2: G + (G v + g_t)_q / c in the second row,
//   [ G                           -E  ]      and for U - V a real system for each stage (position_slack.h)
//
// Error: the embedded formula of order s with f at the step's start, through the real matrix (Hairer, Wanner II, IV.8);
// at index 3 of positions only.
#pragma once
#include "trammel/equations/saddle.h"
#include "trammel/integrate/integrator.h"
#include "trammel/integrate/position_slack.h"
#include "trammel/integrate/state_coupling.h"
#include "trammel/ode/control/newton_monitor.h"
#include "trammel/ode/runge_kutta/implicit_tableau.h"
#include "trammel/ode/shifted_solver.h"

namespace trammel {

struct ConstrainedRungeKuttaOptions {
  bool stabilised = false, fixed_step = false;
  double tolerance = 1e-5;
  double misfit = 0;
  bool redundant = false;  // rows that depend on others
  NewtonMonitor::Options newton;
};

class ConstrainedRungeKutta final : public Integrator {
 public:
  ConstrainedRungeKutta(const Equations& equations, const ImplicitTableau& tableau,
                        const ConstrainedRungeKuttaOptions& options);

  int error_order() const override { return s_ + 1; }
  void start(const State& state, const Rates& rates) override;
  Attempt attempt(double h) override;
  void accept() override;
  void restart(std::string_view why) override;
  const State& state() const override { return now_; }
  const Rates& rates() const override { return rates_; }
  void interpolate(double t, State& out) const override;
  double last_step() const override { return last_step_; }
  const State& trial_state() const override { return trial_; }
  const Rates& trial_rates() const override { return trial_rates_; }
  const Counts& counts() const override { return counts_; }
  void visit(Archive& archive) override;
  long memory_bytes() const override;

 private:
  struct Pair {
    int k;  // and k + 1
    Complex mu;
    ShiftedSolver<Complex> solver;
    StateCouplingOf<Complex> states;
  };

  void predict(double h);
  void place(double h);             // U, V, V' of all stages from Z and, at index 2, V
  bool set_stage(int i, double h);  // trial state and rates of stage i; false: cannot be evaluated
  Verdict prepare_matrices(double h, bool anew);
  bool couple_states(double h);  // at the factored matrices
  double correct(double h);      // the size of the correction
  double estimate(double h, Attempt& result);
  double size_of(const Mat& z, const Mat& v, const Mat& x) const;
  double greatest_g();                              // in the stages
  void lagrange(double theta, Vec& weights) const;  // through the stages

  const Equations& equations_;
  ConstrainedRungeKuttaOptions options_;
  ImplicitTableau table_;
  int s_, nv_, ng_, nx_;
  Mat A_, inverse_, X_, X_inverse_;
  Vec error_weights_;
  int real_ = -1;  // column of X of the real eigenvalue; -1: there is none
  double mu_ = 0;
  std::vector<Pair> pairs_;

  State now_, trial_;
  Rates rates_, trial_rates_;
  Vec scales_, v_scales_, x_scales_;
  double rate_ = 1;  // rate scale of the model
  NewtonMonitor monitor_;
  SaddleSystem saddle_;
  std::unique_ptr<PositionSlack> slack_;
  Partials partials_;
  Residual residual_;
  Workspace work_;
  Mat Z_, U_, V_, Vdot_, Lambda_, R_, hat_, dZ_, dV_, last_Vdot_, last_Lambda_, last_Z_, last_V_, G_rows_, Gdot_rows_,
      Eta_, once_, twice_, first_, X_stages_, Xdot_, dX_, last_X_;
  Vec r_z_, r_v_, r_x_, g_;
  StatePartials state_partials_;
  StateCoupling states_;  // of the real eigenvalue
  CVec complex_states_;
  CVec complex_right_, complex_solution_, complex_values_;
  Vec right_, work_vec_, weights_, previous_q_, previous_v_, previous_x_, identity_values_, real_values_;
  std::vector<Mat3> T_;
  double factored_h_ = 0, trial_h_ = 0, last_step_ = 0, failed_h_ = 0;
  bool linearise_next_ = true, history_ = false;
  bool projecting_ = false;  // right sides of the rows, onto the range of the matrix's
  Counts counts_;
};

}  // namespace trammel
