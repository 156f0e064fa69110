// Stiffly accurate Runge-Kutta methods directly on the constrained equations, TEXT (7.58)-(7.60): at index 3, or in the
// stabilised form of index 2 (Gear, Gupta, Leimkuhler). In a chart z from the start of the step, stages as columns:
//
//   Z' = Z A^-T / h,   U_i = T(Z_i) Z'_i,   V' = (V - v_n) A^-T / h,   X' = (X - x_n) A^-T / h = f at each stage
//   M V'_i + G^T Lambda_i = Q at each stage;   index 3: V = U, g = 0;   index 2: M (U - V) + G^T Eta = 0, g = 0, G V +
//   g_t = 0
//
// Newton's increments of V' and Lambda, with derivatives of one point and A^-1 = X diag(mu) X^-1
// (stage_transform.h), fall apart into systems with c = mu / h, one real, the others complex:
//
//   [ M + r_v / c + r_q / c^2     G^T ]      index 2: G + (G v + g_t)_q / c in the second row,
//   [ G                           -E  ]      and for U - V a real system for each stage (position_slack.h)
//
// Error: the embedded formula of order s with f at the step's start, through the real matrix (Hairer, Wanner II, IV.8);
// at index 3 of positions only.
#pragma once
#include "trammel/integrate/corrector.h"
#include "trammel/integrate/motion.h"
#include "trammel/integrate/newton.h"
#include "trammel/ode/runge_kutta/stage_transform.h"

namespace trammel {

struct ConstrainedRungeKuttaOptions {
  bool stabilised = false, fixed_step = false;
  double tolerance = 1e-5;
  double misfit = 0;
  bool redundant = false;  // rows that depend on others
  NewtonMonitor::Options newton;
};

class ConstrainedRungeKutta final : public MotionIntegrator, private NewtonStage {
 public:
  ConstrainedRungeKutta(const Equations& equations, const ImplicitTableau& tableau,
                        const ConstrainedRungeKuttaOptions& options);

  int error_order() const override { return s_ + 1; }
  Attempt attempt(double h) override;
  void restart(std::string_view why) override;
  long memory_bytes() const override;

 private:
  struct Pair : StageTransform::Pair {
    ShiftedSolver<Complex> solver;
    StateCouplingOf<Complex> states;
  };

  void arrived() override;
  void interpolate_inside(double t, double s, State& out) const override;
  void visit_method(Archive& archive) override;

  void predict() override;
  Verdict prepare_matrix(bool anew) override;
  void follow_pattern();
  Correction correct() override;
  bool holds() override;
  bool retries(int pass, bool anew) override;
  void blame(Attempt& result) override;

  void place();                // U, V, V' of all stages from Z and, at index 2, V
  bool evaluate_stage(int i);  // of R, rows and states; false: it cannot be
  Verdict factor_pairs(double h);
  bool couple_states(double h);  // at the factored matrices of the pairs
  void set_right_sides();
  void solve_systems();
  void apply_correction();
  double estimate(Attempt& result);
  void suggest(Attempt& result);
  double size_of(const Mat& z, const Mat& v, const Mat& x) const;
  double greatest_g();  // in the stages

  ConstrainedRungeKuttaOptions options_;
  ImplicitTableau table_;
  StageTransform transform_;
  int s_;
  std::vector<Pair> pairs_;
  Corrector corrector_;  // with the real eigenvalue
  NewtonPasses newton_;
  Pattern pattern_;  // of the pairs' matrices: that of the saddle matrix, until it has another one
  Vec v_scales_, x_scales_;
  Mat Z_, U_, V_, Vdot_, Lambda_, R_, hat_, dZ_, dV_, last_Vdot_, last_Lambda_, last_Z_, last_V_, G_rows_, Gdot_rows_,
      Eta_, once_, twice_, first_, X_stages_, Xdot_, dX_, last_X_;
  Vec r_z_, r_v_, r_x_, g_;
  CVec complex_states_, complex_right_, complex_solution_, complex_values_;
  Vec right_, work_vec_, weights_, constant_values_, real_values_;
  double factored_h_ = 0, failed_h_ = 0;
  bool history_ = false;
  bool projecting_ = false;  // right sides of the rows, onto the range of the matrix's
  bool other_way_ = false;   // projecting was changed in this step
};

}  // namespace trammel
