// BDF of variable order 1 to 6 and quasi-constant step on the constrained equations, at index 3 (TEXT (7.54)-(7.56)) or
// in the stabilised form of index 2 (Gear, Gupta, Leimkuhler). In a chart z of the positions (rotation vectors from an
// origin that follows the motion), with backward differences of y = (z, v, x), predictions y^p and psi (bdf_memory.h),
// c = gamma_k / h:
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
#include "trammel/formulate/chart.h"
#include "trammel/integrate/corrector.h"
#include "trammel/integrate/motion.h"
#include "trammel/integrate/newton.h"
#include "trammel/integrate/registry.h"
#include "trammel/integrate/runge_kutta/constrained_runge_kutta.h"
#include "trammel/ode/control/predictor.h"
#include "trammel/ode/multistep/bdf_memory.h"

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

class ConstrainedBdf final : public MotionIntegrator, private NewtonStage {
 public:
  static constexpr int top = 6;

  ConstrainedBdf(const Equations& equations, const ConstrainedBdfOptions& options);

  int error_order() const override { return memory_.tried_order() + 1; }
  Attempt attempt(double h) override;
  void restart(std::string_view why) override;
  const Counts& counts() const override;
  long memory_bytes() const override;
  std::string remark() const override;

  int order() const { return memory_.order(); }
  std::span<const long> steps_by_order() const { return memory_.steps_by_order(); }
  const SaddleSystem& saddle() const { return corrector_.saddle(); }
  double matrix_c() const { return newton_.matrix_weight(); }

 private:
  void arrived() override;
  void interpolate_inside(double t, double s, State& out) const override;
  void visit_method(Archive& archive) override;

  void predict() override;
  Verdict prepare_matrix(bool anew) override;
  Correction correct() override;
  void blame(Attempt& result) override { corrector_.blame(result); }

  StageWeights weights() const { return {1, 1 / c_, 1 / (c_ * c_), 1 / c_, 1 / c_, c_, c_ * c_}; }
  void take_differences(double h);
  void place();             // trial q, v, v' from trial y
  void apply_correction();  // to trial y
  Attempt solve_step(double h);
  double size_of(const Vec& y, int* worst = nullptr) const;  // weighted, of what the error test looks at
  void set_scales(const Vec& y);
  void follow(double h);
  int locate_points(int count);
  // With fixed steps the first ones are made by smaller ones of Radau IIA, until the differences are there.
  bool starting() const { return starter_ && past_count_ <= options_.order; }
  Attempt attempt_by_starter(double h);
  void remember_point();

  ConstrainedBdfOptions options_;
  Chart chart_;
  BdfMemory memory_;
  double c_ = 1;        // of the step in hand
  double allowed_ = 0;  // error
  Vec y_, change_;      // (z, v, x) of the trial; its last correction
  Vec z_dot_, u_, du_, later_, later_rate_;
  std::array<Vec, top + 3> old_q_;  // of the points behind the differences, while the chart moves
  Vec y_scales_;
  int tested_;  // entries of y in the error test
  std::vector<Mat3> T_, S_;
  Predictor multipliers_;
  Vec multiplier_units_;
  Corrector corrector_;
  NewtonPasses newton_;
  Vec state_right_;
  int failures_ = 0;
  long cut_ = 0;  // how often older points could not be kept
  mutable Counts all_counts_;

  struct PastPoint {
    Vec q, v, x, xdot;
    void visit(Archive& archive) { archive(q, v, x, xdot); }
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
