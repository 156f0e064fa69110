// BDF of variable order 1 to 6 and quasi-constant step on the constrained equations, at index 3 (TEXT (7.54)-(7.56)) or
// in the stabilised form of index 2 (Gear, Gupta, Leimkuhler). In a chart z of the positions (rotation vectors from an
// origin that follows the motion), with backward differences of y = (z, v, x), predictions y^p and
// psi = sum gamma_j D_j / gamma_k (bdf.h), c = gamma_k / h:
//
//   z' = c (psi_z + z - z^p),  u = T(z) z' + b    q = retract(origin, z), the velocity that positions have; b: chart.h
//   v' = c (psi_v + v - v^p),  x' = c (psi_x + x - x^p) = f
//   M v' + G^T lambda + K^T mu = Q
//   index 3:  v = u,                    g = 0,                k = 0
//   index 2:  M (u - v) + G^T eta = 0,  g = 0,  G v + g_t = 0, k = 0
//
// Newton for increments of v' and lambda: dv = dv'/c, and because du = (c T + C) dz, C = d(T z' + b)/dz,
//
//   dq = T dz = S du / c,   S = c T (c T + C)^-1 on the rotation columns
//
//   index 3  [ M + force_v/c + (Ma_q + force_q) S/c^2   G^T ]      index 2: the same with rows G + (G v + g_t)_q S/c,
//            [ G S                                      -E  ]      and then for u - v  [ M    G^T ]
//                                                                                      [ G S  -E  ]
//
// At index 2 the two systems are solved one after the other. What the second does to the first is left to the next
// iteration: it contracts like h |(G v)_q|, stiff forces or not, because rows at velocity level keep dv from following.
#pragma once
#include "trammel/equations/saddle.h"
#include "trammel/formulate/chart.h"
#include "trammel/integrate/integrator.h"
#include "trammel/integrate/position_slack.h"
#include "trammel/integrate/registry.h"
#include "trammel/integrate/runge_kutta/constrained_runge_kutta.h"
#include "trammel/integrate/state_coupling.h"
#include "trammel/ode/control/backward_differences.h"
#include "trammel/ode/control/newton_monitor.h"
#include "trammel/ode/control/order_watch.h"
#include "trammel/ode/control/predictor.h"

namespace trammel {

struct ConstrainedBdfOptions {
  bool stabilised = false;  // index 2
  bool fixed_step = false;
  double tolerance = 1e-5;
  int most_order = 6;           // KMAX
  int order = 2;                // of fixed steps
  double misfit = 0;            // of loops that do not close, m
  double refresh_ratio = 1.25;  // as in alpha.h, of c
  NewtonMonitor::Options newton;
};

class ConstrainedBdf final : public Integrator {
 public:
  static constexpr int top = 6;
  static constexpr int columns = top + 3;

  ConstrainedBdf(const Equations& equations, const ConstrainedBdfOptions& options);

  int error_order() const override { return tried_ + 1; }
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
  const Counts& counts() const override;
  void visit(Archive& archive) override;
  long memory_bytes() const override;
  std::string remark() const override;

  int order() const { return k_; }
  const std::array<long, top + 1>& steps_by_order() const { return by_order_; }
  const SaddleSystem& saddle() const { return saddle_; }
  double matrix_c() const { return matrix_c_; }

 private:
  void take_differences(double h);
  void place(double c);  // trial q, v, v' from trial y
  Verdict prepare_matrix(double c, bool anew);
  void couple_states(double c);
  bool residual(double c);
  // Corrects the trial; the size of the correction, not finite if it is none.
  double correct(double c);
  Attempt solve_step(double h);
  double size_of(const Vec& y, int* worst = nullptr) const;  // weighted, of what the error test looks at
  void set_scales(const Vec& y);
  void choose_next(double h, Attempt& result);
  void follow(double h);
  int locate_points(int count);
  // With fixed steps the first ones are made by smaller ones of Radau IIA, until the differences are there.
  bool starting() const { return starter_ && past_count_ <= options_.order; }
  Attempt attempt_by_starter(double h);
  void remember_point();

  const Equations& equations_;
  ConstrainedBdfOptions options_;
  int nv_, ng_, nx_;
  Chart chart_;
  State now_, trial_;
  Rates rates_, trial_rates_;
  Mat D_, try_D_;
  Vec predicted_, psi_, y_, d_, work_;  // y_ = (z, v, x), trial
  Vec z_dot_, u_, a_, later_, later_rate_;
  std::array<Vec, columns> old_q_;  // of the points behind the differences, while the chart moves
  Vec scales_, y_scales_;
  double rate_ = 1;  // rate scale of the model
  int tested_;       // entries of y in the error test
  std::array<double, top + 2> gamma_{};
  std::vector<Mat3> T_, S_;
  Predictor multipliers_;
  Vec multiplier_units_;
  NewtonMonitor monitor_;
  OrderWatch watch_;
  SaddleSystem saddle_;
  std::unique_ptr<PositionSlack> slack_;  // at index 2
  Partials partials_;
  Residual residual_;
  Workspace work_space_;
  Vec right_, unregularised_, gdot_;
  StatePartials state_partials_;
  StateCoupling coupling_;
  Vec state_right_;

  double h_ = 0, trial_h_ = 0, last_step_ = 0, matrix_c_ = 0;  // h_: of the differences, 0: none yet
  int k_ = 1, tried_ = 1, last_k_ = 1, next_k_ = 1, equal_steps_ = 0, failures_ = 0;
  bool linearise_next_ = true;
  std::array<long, top + 1> by_order_{};
  long cut_ = 0;  // how often older points could not be kept
  Counts counts_;
  mutable Counts all_counts_;

  struct PastPoint {
    Vec q, v, x, xdot;
  };
  std::unique_ptr<ConstrainedRungeKutta> starter_;
  std::vector<PastPoint> past_;  // newest first
  int past_count_ = 0;
  double past_h_ = 0;
};

namespace methods {
// What bdf-i3 and bdf-si2 share.
MethodInfo constrained_bdf(bool stabilised);
}  // namespace methods

}  // namespace trammel
