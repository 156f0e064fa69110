// Splitting of the accelerations into A, expensive and taken explicitly, and B, stiff and taken implicitly; SPLIT (5)
// on the rotation manifold:
//
//   M a = F_A(q_n (+) h alpha v_n, v_n, t_n + alpha h) + F_B(z_{n+beta})
//   delta = h v_n + w h^2 a,   q_{n+1} = q_n (+) delta,   v_{n+1} = v_n + h a,   w = 1/2
//   z_{n+beta} = (q_n (+) beta delta, v_n + beta h a, t_n + beta h)
//
// One evaluation of A a step; Newton's method for a and the multipliers with the exact derivatives of B alone. A:
// weight, gyroscopic torques, forces that are not told otherwise; B: forces with `part: implicit`, and the constraints
// as F_B = -G^T lambda with
//
//   g + tau g' - lambda / k = 0 at z_{n+beta}        (rows at velocity level: without g)
//
// that is springs k and dampers c = tau k (penalty-joints), or with 1/k = 0 true constraints (index-2-relaxed). For k
// to infinity the step has the eigenvalues -(1 - beta)/beta and (2 r - 1)/(2 r + 1) in the constrained directions, tau
// = r h: without damping -1, an oscillation of period 2 h that nothing damps; hence tau = h/2, which forgets at once.
//
// With w = beta = theta and everything in B it is the one-leg theta method. The compositions that SPLIT warns of are
// here for comparison: a kick v <- v + h M^-1 F_A and a step (5) of B alone, one after the other.
#pragma once
#include "trammel/equations/saddle.h"
#include "trammel/integrate/motion.h"
#include "trammel/ode/control/newton_monitor.h"

namespace trammel {

enum class Composition { none, ab, bab };  // kick after the step of B; between two half steps of B
// Of the step: its error; SPLIT (14) with the stiffness of A, ours or as printed; (14) with a scaling of the user's
// own, as it is or by a rule that runs backwards too.
enum class SplitControl { error, stability, printed, scaling, reversible };

struct SplitOptions {
  double alpha = 0.5, beta = 0.8, bend = 0.5;  // bend: w
  bool extrapolate_velocity = false;           // that A sees: v_n + alpha h a_{n-1}
  bool all_implicit = false;                   // everything in B
  Composition composition = Composition::none;
  bool penalty = true;      // constraints are springs and dampers
  double frequency = 0;     // of the springs, Hz; 0: ten periods a step
  double time = 0;          // tau; 0: h/2
  double tolerance = 1e-5;  // of the step size
  bool fixed_step = false;
  SplitControl control = SplitControl::error;
  double epsilon = 0.1;      // h = epsilon / sqrt(stiffness of A by mass)
  double greatest_step = 0;  // with control by stability
  int scaling = -1;          // the variable s(q, v) of h = epsilon s
  double corrector = 1e-10;  // Newton stops at corrections of this part of the length scale
  double keep_rate = 0;      // Newton's matrix is kept while corrections contract so; 0: a new one for each
  int threads = 1;
};

class SplitMethod final : public MotionIntegrator {
 public:
  SplitMethod(const Equations& equations, const SplitOptions& options);

  int error_order() const override { return options_.bend == 0.5 ? 3 : 2; }
  Attempt attempt(double h) override;
  void restart(std::string_view /*why*/) override { history_ = false; }
  long memory_bytes() const override;
  std::string remark() const override;

 private:
  void started() override;
  void leaving() override;
  void arrived() override;
  void interpolate_inside(double t, double s, State& out) const override;
  void visit_method(Archive& archive) override;

  void set_rows(double h);
  Verdict evaluate_explicit(double t, const Vec& q, const Vec& v);
  Verdict kick(double h);
  // A step of B, with force_a_ beside it, from the given state to trial_.
  Verdict step_implicit(double t, const Vec& q, const Vec& v, double h, Attempt& result);
  Verdict prepare_matrix(double h);
  Verdict take_step(double h, Attempt& result);
  void judge_error(double h, Attempt& result) const;
  Verdict judge_end(double h, Attempt& result);
  void judge_stability(double h, Attempt& result);
  Verdict judge_printed(double h, Attempt& result);
  Verdict judge_scaling(double h, Attempt& result);
  bool scales_steps() const;
  double scaled_step(const State& state);

  SplitOptions options_;
  State part_;  // where A or B is evaluated
  Rates still_;
  Vec force_a_, delta_, part_delta_, z_, gdot_, Ma_;
  Vec row_mass_, softness_;      // of the rows: mass moved, 1/(k s)
  Vec middle_q_, middle_v_;      // between the parts of a composition
  Vec explicit_q_, explicit_a_;  // of the last accepted step: where A was, M^-1 F_A
  Vec trial_explicit_q_, trial_explicit_a_;
  double tau_ = 0, row_scale_ = 1;
  NewtonMonitor monitor_;
  SaddleSystem saddle_;
  std::unique_ptr<SaddleSystem> mass_;  // of kicks
  Partials partials_, mass_partials_;
  Residual residual_;
  Workspace explicit_work_;
  std::vector<Mat3> T_;
  double matrix_h_ = 0;
  double wanted_ = 0, trial_wanted_ = 0;  // the next step by a scaling, from the accepted state and from the trial
  bool history_ = false;                  // of a step before, smoothly continued
  bool sets_in_ = false;                  // a force may set in within a step
};

}  // namespace trammel
