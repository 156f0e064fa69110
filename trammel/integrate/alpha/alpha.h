// The alpha family at index 3: Newmark, HHT, generalized-alpha, on the rotation manifold, accelerations and multipliers
// as unknowns (HHT paper, option (c)). With a the method's acceleration variable and v' the acceleration of the
// equations of motion:
//
//   delta   = h v_n + h^2 ((1/2 - beta) a_n + beta a_{n+1})         q_{n+1} = retract(q_n, delta)
//   v_{n+1} = v_n + h ((1 - gamma) a_n + gamma a_{n+1})
//   (1 - alpha_m) a_{n+1} + alpha_m a_n = (1 - alpha_f) v'_{n+1} + alpha_f v'_n
//   (M v' + G^T lambda - Q)_{n+1} = 0,      g(t_{n+1}, q_{n+1}) / (beta h^2) = 0,   k(...)_{n+1} / (gamma h) = 0
//
// States of first order, x' = f, follow the third line with a variable w in place of a and f in place of v'.
//
// In the stabilised form of index 2 delta has a term h s beside it, M s + G^T eta = 0, and G v + g_t = 0 stands beside
// g = 0 (Jay, Negrut 2007; Arnold, Bruels, Cardona 2015). With a projection velocities and accelerations go onto the
// derivatives of the constraints after each step of index 3, with `energy` onto the balance of energy too: v = v_0 + p,
// where v_0 is the least velocity (by M) that motions impose, becomes v_0 + sigma p so that
//
//   T(v) + V(q_{n+1}) = E_n + h/2 (P_n + P_{n+1}),   P the power of forces and motions less the heat.
//
// HHT: alpha_m = 0, alpha_f = -alpha. Because M v' = -(G^T lambda - Q), the third line times M is HHT's (11a); written
// with v' it keeps its order for M(q) too, and v' satisfies the equations of motion at the end of the step.
#pragma once
#include "trammel/equations/saddle.h"
#include "trammel/initial/accelerations.h"
#include "trammel/integrate/integrator.h"
#include "trammel/integrate/iterated_projection.h"
#include "trammel/integrate/position_slack.h"
#include "trammel/integrate/state_coupling.h"
#include "trammel/ode/control/newton_monitor.h"
#include "trammel/ode/control/predictor.h"

namespace trammel {

struct AlphaParameters {
  double alpha_m = 0, alpha_f = 0, beta = 0.25, gamma = 0.5;
  static AlphaParameters hht(double alpha);            // (6): alpha in [-1/3, 0]
  static AlphaParameters generalized(double rho_inf);  // Chung and Hulbert 1993; rho_inf in [0, 1)
  static AlphaParameters newmark(double gamma, double beta);
  // (25): local position error = factor * h^2 (a_{n+1} - a_n)
  double error_factor() const { return beta - (1 - alpha_m) / (6 * (1 - alpha_f)); }
};

struct AlphaOptions {
  AlphaParameters parameters = AlphaParameters::hht(-0.3);
  double tolerance = 1e-5;  // epsilon of (34)
  bool fixed_step = false;
  bool stabilised = false;  // index 2
  // Of velocities and accelerations, at index 3.
  enum class Projection { none, exact, iterated } projection = Projection::none;
  double penalty = 1e7;  // of the iterated one
  int sweeps = 4;
  bool energy = false;  // and the balance of energy
  int predictor_degree = Predictor::most;
  double misfit = 0;  // of loops that do not close, m: above 1e-10 L right sides are projected
  double refresh_ratio =
      1.25;  // step size by that of the factorisation, either way, above which the matrix is combined anew
  NewtonMonitor::Options newton;
};

class AlphaMethod final : public Integrator {
 public:
  AlphaMethod(const Equations& equations, const AlphaOptions& options);

  int error_order() const override { return 3; }
  void start(const State& state, const Rates& rates) override;
  Attempt attempt(double h) override;
  void accept() override;
  void restart(std::string_view why) override;
  const State& state() const override { return now_; }
  const Rates& rates() const override { return rates_; }
  void interpolate(double t, State& out) const override;
  const State& trial_state() const override { return trial_; }
  const Rates& trial_rates() const override { return trial_rates_; }
  double last_step() const override { return last_step_; }
  const Counts& counts() const override { return counts_; }
  void visit(Archive& archive) override;
  long memory_bytes() const override;

  std::string remark() const override;
  const SaddleSystem& saddle() const { return saddle_; }

 private:
  void predict(double h);
  void place(double h);  // trial q, v, v' from trial a
  Verdict correct(double h);
  double solve_for_correction(double h);
  void estimate(double h, Attempt& result);
  double allowed_change(double h) const;  // of a in a step, for the tolerance
  Verdict prepare_matrix(double h, bool anew);
  bool project_rates();
  bool project_velocities(State& state);
  bool balance_energy(double h);
  void couple_states(double h);
  // Right side of the states' equations at the trial state; false if they cannot be evaluated.
  bool state_residual(double h);
  double norm(const Vec& x) const;  // weighted as in (34), without 1/sqrt(p)

  const Equations& equations_;
  AlphaOptions options_;
  int nv_, ng_;
  State now_, trial_;
  Rates rates_, trial_rates_;  // a of Rates is v'; the method's own a is below
  Vec a_, a_start_, trial_a_, delta_;
  Vec previous_q_, previous_v_;  // start of the last accepted step, for interpolation
  Vec scales_;
  Predictor predictor_;
  NewtonMonitor monitor_;
  SaddleSystem saddle_;
  std::unique_ptr<PositionSlack> slack_;
  std::unique_ptr<AccelerationSolver> projector_;  // exact
  std::unique_ptr<IteratedProjection> iterated_;
  Vec s_, gdot_;                  // at index 2
  Vec unregularised_, softness_;  // right side without E; E lambda
  State imposed_;                 // v_0 of the balance of energy
  double energy_ = 0, power_ = 0, trial_energy_ = 0, trial_power_ = 0;
  long unbalanced_ = 0;
  Partials partials_;
  Residual residual_;
  Workspace work_;
  std::vector<Mat3> T_;
  Vec z_;                                 // right side and solution; also the predicted (a, lambda)
  double state_norm(const Vec& x) const;  // of states, by 1 + |x|
  int nx_;
  bool history_of_states_ = false;
  StatePartials state_partials_;
  StateCoupling coupling_;
  Vec w_, trial_w_, previous_w_;                  // of the states, as a_ of the velocities
  Vec state_right_, previous_x_, previous_xdot_;  // the last two for interpolation
  double trial_h_ = 0, last_step_ = 0, matrix_h_ = 0;
  bool linearise_next_ = true;
  Counts counts_;
};

}  // namespace trammel
