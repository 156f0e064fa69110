// The state-space form of a constrained mechanism: in a chart z of its coordinates some, z_I, determine the others, and
// the mechanism is an ordinary differential equation in them.
//
//   state  (z_I, z'_J, x)    g(t, z) = 0 gives the other z by Newton's method, z_I held
//                            G T z' + g_t = 0, k = 0 give the other z', z'_J held
//   f      (z'_I, z''_J, x') z'' from  [ M G^T; G 0 ] [ v'; lambda ] = [ Q; gamma ]  and the chart
//
// Without nonholonomic rows J = I, and the form is y'' = f(t, y, y'). Redundant constraints need no care: held columns
// of the projection's saddle matrix are zero, its -E block takes up dependent rows.
//
// With `all_coordinates` the same class is the index-1 form, plain, with Baumgarte's terms, or by penalty.
//
// Derivatives, exact, at any point of the chart (RN, section 2; facts of the chart in chart.h): with dz from the
// linearised g, dz' from the linearised velocity constraints,
//
//   dq = T dz,  dv = T dz' + C dz:   K [ dv'; . ] = -[ r_q dq + r_v dv + r_t dt;  s_q dq + s_v dv + s_t dt ]
//   dz'' = T^-1 (dv' - B dz - A dz')
#pragma once
#include <memory>

#include "trammel/equations/saddle.h"
#include "trammel/formulate/chart.h"
#include "trammel/formulate/partition.h"
#include "trammel/ode/attempt.h"
#include "trammel/ode/problem.h"

namespace trammel {

struct StateSpaceOptions {
  double tolerance = 1e-5;  // of the integration; the recovery of dependent coordinates is tied to it
  double misfit = 0;        // of loops that do not close, m
  std::vector<int> named;   // velocity columns the user wants as independent coordinates

  // Without a partition the state holds all coordinates, and the constraints enter through their second derivatives:
  //   G v' - gamma + 2 damping frequency (G v + g_t) + frequency^2 g = E lambda
  bool all_coordinates = false;
  bool project = false;               // after each step, positions and velocities back onto the constraints
  double frequency = 0, damping = 1;  // Baumgarte's; of rows at velocity level: frequency k
  // E = 1/penalty, relative to mass and length; 0: true constraints. Each sweep beyond the first is an iteration of the
  // augmented Lagrangian, which takes E away again.
  double penalty = 0;
  int sweeps = SaddleSystem::most_sweeps;
  // Joints as springs k = (2 pi joint_frequency)^2 times the mass a row moves, with dampers c = joint_time k, instead
  // of constraints; 0: not so.
  double joint_frequency = 0, joint_time = 0;
  std::vector<bool> forces_without_derivatives;  // by force; empty: none
  bool greater_counts = false;  // errors by the greater of scale and value, not by their sum: the norm of ode45
};

class StateSpace final : public FirstOrderProblem {
 public:
  StateSpace(const Equations& equations, const StateSpaceOptions& options);

  // ---- where a step starts: an accepted state with its accelerations, in the present chart and partition
  void set_base(const State& state, const Rates& rates);
  void set_step(double h);  // size of the step to come: recovery is tighter in small steps
  // A new origin of the chart at the base; it turns with bodies that turn far within the time `window`.
  void move_chart(double window = 0);
  // Chooses coordinates anew at the base; true if they changed. Named ones stay or come back while their pivots are at
  // least `least`. There may be fewer than before: the problem is then another one.
  bool repartition(double least = 0.05);
  // Other rows are in force than before: the next base chooses chart and coordinates as if it were the first.
  void forget();
  bool named_in_use() const;
  // How strongly dependent positions and velocities follow independent ones at the base, in units of their scales: the
  // largest norm of their derivatives, estimated.
  double strain();
  // Do the constraints allow what the velocities at the base say? Not where a mechanism locks.
  bool moves_on();
  double base_turn() const { return chart_.turn(at_base_.z); }  // from the chart's origin
  double turn_ahead(double h) const { return chart_.turn_ahead(at_base_.z, at_base_.z_dot, h); }
  double point_turn() const { return chart_.turn(point_.z); }  // of the point evaluated last
  const Chart& chart() const { return chart_; }
  const std::vector<int>& positions() const { return positions_; }    // I
  const std::vector<int>& velocities() const { return velocities_; }  // J

  // ---- the problem
  int size() const override { return static_cast<int>(positions_.size() + velocities_.size()) + nx_; }
  Eval f(double t, const Vec& y, Vec& dydt) override;
  bool has_jacobian() const override { return true; }
  Eval jacobian(double t, const Vec& y, Jacobian& J, Vec& f_t) override;
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override;
  // Null with nonholonomic rows, whose velocities are fewer than their positions, and with states of first order.
  SecondOrderProblem* second_order();

  // ---- a point of the mechanism
  // Full state, accelerations and multipliers at a point of the problem.
  Eval evaluate(double t, const Vec& y, State& state, Rates& rates);
  // Positions and velocities only.
  bool recover(double t, const Vec& y, State& state);
  // A state of the mechanism in the problem's coordinates.
  void project(double t, const Vec& q, const Vec& v, const Vec& u, const Vec& a, const Vec& xdot, Vec& y, Vec& dydt);
  void project(const State& state, const Rates& rates, Vec& y, Vec& dydt) {
    project(state.t, state.q, state.v, state.u, rates.a, rates.xdot, y, dydt);
  }
  // Of the point projected last.
  const Vec& projected() const { return dz_; }
  const Vec& projected_rate() const { return dz_dot_; }
  // How far the last point is from its extrapolation, by the scales of the coordinates.
  double surprise();
  bool recovery_failed() const { return recovery_failed_; }
  int worst_row() const { return worst_row_; }

  const Counts& counts() const { return counts_; }
  void visit(Archive& archive);
  long memory_bytes() const;

 private:
  class SecondOrder;
  struct Point {  // of the chart
    Vec z, z_dot, z_second;
  };
  bool recover_positions();
  bool recover_velocities();
  bool refresh_recovery(const State& at, const Vec& z);
  bool accelerate();
  // Of the constraints at acceleration level: what frequency and damping add to a right side.
  void add_stabilisation(const Vec& velocity_level, const Vec& position_level, double scale, double* out) const;
  bool sprung() const { return options_.joint_frequency > 0 && rows_ > 0; }
  // lambda = k g + c g' of springs in the place of the rows, from the changes (or values) of g and g'.
  void spring_forces(const Vec& value, const Vec& rate, Vec& lambda) const;
  void predict(double t);
  void project_base();
  bool is_current(double t, const Vec& y) const;
  Eval compute(double t, const Vec& y);
  bool factor(SaddleSystem& saddle);
  // The Jacobian, a column for an increment of 1 in one of these; of time, dt.
  struct Variation {
    int position = -1, velocity = -1, state = -1;
    double dt = 0;
  };
  bool factor_for_jacobian(bool at_base);
  void vary(const Variation& by, Eigen::Ref<Vec> out);
  void vary_positions(const Variation& by);
  void vary_velocities(const Variation& by);
  void vary_forces(const Variation& by);
  void vary_softness(const Variation& by);
  // out += scale d(G v + g_t)/dq dq
  void add_rates_by_position(const Vec& dq, double scale, double* out);
  double strain_of(SaddleSystem& saddle, const std::vector<int>& independent);
  void choose(double least);
  void set_weights();

  const Equations& equations_;
  StateSpaceOptions options_;
  int nv_, rows_, nx_;
  Chart chart_;
  std::vector<int> positions_, velocities_;
  Vec position_weights_, velocity_weights_;  // infinite: held
  Vec scales_;
  double rate_ = 1;  // rate scale of the model
  // the base
  State base_;
  Rates base_rates_;
  Point at_base_;
  Vec base_y_;
  double h_ = 0;
  // the last point evaluated
  State state_;
  Rates rates_;
  Point point_;
  double current_t_ = 0;
  Vec current_y_;
  bool current_ = false, recovery_failed_ = false, recovery_stale_ = true;
  int worst_row_ = -1;

  Partials partials_, at_point_;
  StatePartials state_partials_;
  Residual residual_;
  Rates zero_, spring_;  // spring_: multipliers of springs in the place of the rows
  Workspace work_;
  SaddleSystem index1_, recovery_;
  std::unique_ptr<SaddleSystem> velocity_recovery_;          // with nonholonomic rows only
  bool index1_is_base_ = false, index1_is_current_ = false;  // where index1_ was factored
  Vec row_stiffness_;
  Vec GT_, gamma_, gdot_, right_, solution_, dz_, dz_dot_, dq_, dv_, probe_, turned_, rate_change_, value_change_;
  Chart::Derivatives chart_derivatives_;
  std::vector<Mat3> T_;
  std::unique_ptr<SecondOrderProblem> second_;
  Counts counts_;
};

}  // namespace trammel
