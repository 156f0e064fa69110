// The alpha family at index 3: Newmark, HHT, generalized-alpha, on the rotation manifold, accelerations and multipliers
// as unknowns (HHT paper, option (c)). With a the method's acceleration variable and v' the acceleration of the
// equations of motion:
//
//   delta   = h v_n + h^2 ((1/2 - beta) a_n + beta a_{n+1})         q_{n+1} = retract(q_n, delta)
//   v_{n+1} = v_n + h ((1 - gamma) a_n + gamma a_{n+1})
//   (1 - alpha_m) a_{n+1} + alpha_m a_n = (1 - alpha_f) v'_{n+1} + alpha_f v'_n
//   (M v' + G^T lambda - Q)_{n+1} = 0,      g(t_{n+1}, q_{n+1}) / (beta h^2) = 0,   k(...)_{n+1} / (gamma h) = 0
//
// States of first order, x' = f, follow the third line with a variable w in place of a and f in place of v': of second
// order, damped as the motion is. As published (HHT (9), (33), (36), (38), (48)) they follow
//
//   x_{n+1} = x_n + h x'_n + rho h y,   y = x'_{n+1} - x'_n,   error (rho - 1/2) h y,   step by its square root
//
// of first order unless rho = 1/2, where the estimate vanishes. With Z' = x, Newmark's formulas for Z are the same line
// with rho = gamma, and the error is that of Z, (beta - 1/6) h^2 y.
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
#include "trammel/initial/accelerations.h"
#include "trammel/integrate/corrector.h"
#include "trammel/integrate/iterated_projection.h"
#include "trammel/integrate/motion.h"
#include "trammel/integrate/newton.h"
#include "trammel/ode/control/predictor.h"
#include "trammel/ode/structural/alpha_parameters.h"

namespace trammel {

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
  // How states of first order are integrated: by the recursion of v', by (9), or as rates of Z.
  enum class States { recursion, published, integral } states = States::recursion;
  double rho = 0.6;  // of (9)
  int predictor_degree = Predictor::most;
  double misfit = 0;  // of loops that do not close, m: above 1e-10 L right sides are projected
  double refresh_ratio =
      1.25;  // step size by that of the factorisation, either way, above which the matrix is combined anew
  NewtonMonitor::Options newton;
};

class AlphaMethod final : public MotionIntegrator, private NewtonStage {
 public:
  AlphaMethod(const Equations& equations, const AlphaOptions& options);

  int error_order() const override { return 3; }
  Attempt attempt(double h) override;
  void restart(std::string_view why) override;
  long memory_bytes() const override;
  std::string remark() const override;
  const SaddleSystem& saddle() const { return corrector_.saddle(); }

 private:
  void started() override;
  void leaving() override;
  void arrived() override;
  void visit_method(Archive& archive) override;

  void predict() override;
  Verdict prepare_matrix(bool anew) override;
  Correction correct() override;
  void blame(Attempt& result) override { corrector_.blame(result); }

  StageWeights weights() const;
  void place();                 // trial q, v, v' from trial a
  void start_states(double h);  // w at the start of a step of this size
  void miss_states();           // trial w from x', and what the states lack
  bool by_rho() const { return options_.states != AlphaOptions::States::recursion; }
  double allowed_state_change() const;  // of x' in a step, (36); of Z likewise
  double state_correction() const;      // of x in the last correction, as one of a counts, (48b)
  double state_error();                 // after miss_states(), as an error of third order counts
  double solve_for_correction();        // its norm
  void estimate(Attempt& result);
  double allowed_change() const;          // of a in a step, for the tolerance
  double norm(const Vec& x) const;        // weighted as in (34), without 1/sqrt(p)
  double state_norm(const Vec& x) const;  // of states, by 1 + |x|
  bool project_rates();
  bool project_velocities(State& state);
  bool balance_energy(double h);

  AlphaOptions options_;
  Vec a_, a_start_, trial_a_, delta_;  // a of Rates is v'; this is the method's own
  Vec s_;                              // slack, at index 2
  Vec z_;                              // predicted (a, lambda)
  std::vector<Mat3> T_;
  Predictor predictor_;
  Corrector corrector_;
  NewtonPasses newton_;
  std::unique_ptr<AccelerationSolver> projector_;  // exact
  std::unique_ptr<IteratedProjection> iterated_;
  State imposed_;  // v_0 of the balance of energy
  double energy_ = 0, power_ = 0, trial_energy_ = 0, trial_power_ = 0;
  long unbalanced_ = 0;
  Vec w_, w_start_, trial_w_, state_right_;  // of the states, as a_ of the velocities
  bool states_begin_ = true;                 // no step since a start
};

}  // namespace trammel
