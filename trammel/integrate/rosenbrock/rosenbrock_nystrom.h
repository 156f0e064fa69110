// Rosenbrock-Nystrom methods in all coordinates of a constrained mechanism, on one sparse saddle matrix.
//
// In a step the coordinates are z: positions, and for rotations the rotation vector from the step's start; z'' = a(t,
// z, z') is what the equations at index 1 say, on the constraints and off them:
//
//   [ M  G^T ] [ v'     ]   [ Q     ]
//   [ G  0   ] [ lambda ] = [ gamma ]
//
// With r = M v' + G^T lambda - Q and s = G v' - gamma, every stage (nystrom_step.h) solves with the matrix of the step:
//
//   [ M + h g r_v + h^2 g^2 r_q    G^T ] [ x ]   [ M rho - scale r_q p - time r_t ]
//   [ G + h g s_v + h^2 g^2 s_q    0   ] [ . ] = [ G rho - scale s_q p - time s_t ]
//
// Differentiated in the coordinates z, r_q and s_q gain r_v C - M D and s_v C - G D on the rotation columns of a body,
// C = w~/2, D = -w'~/2 + w~ w~/6 at the step's start. A step ends with a return to the constraints through the same
// matrix, which leaves stiff directions alone. States of first order, x' = f, are eliminated from each stage.
#pragma once
#include "trammel/equations/saddle.h"
#include "trammel/integrate/motion.h"
#include "trammel/integrate/state_coupling.h"
#include "trammel/ode/rosenbrock/nystrom_step.h"
#include "trammel/ode/rosenbrock/rosenbrock_options.h"

namespace trammel {

struct RosenbrockNystromOptions : RosenbrockOptions {
  double misfit = 0;                             // of loops that do not close, m
  std::vector<bool> forces_without_derivatives;  // by force; empty: none. Only for W-methods
  bool chart_terms = true;                       // C and D; without them the order is 1
  bool time_terms = true;  // r_t and s_t; without them the order is 1 where the equations depend on time
};

class RosenbrockNystrom final : public MotionIntegrator, private NystromEquations {
 public:
  RosenbrockNystrom(const Equations& equations, const RosenbrockNystromOptions& options);

  int error_order() const override { return step_.tableau().embedded_order + 1; }
  Attempt attempt(double h) override;
  void restart(std::string_view /*why*/) override { linearised_ = false; }
  long memory_bytes() const override;

 private:
  void started() override;
  void leaving() override;
  void arrived() override;
  void interpolate_inside(double t, double s, State& out) const override;
  void visit_method(Archive& archive) override;

  Verdict accelerate(int stage, double alpha, const Vec& z, const Vec& z_dot, Vec& f) override;
  void solve(int stage, const Vec& rho, const Vec& p, double scale, double time, Vec& x) override;
  void solve_states(int stage, const Vec& p, double scale, double time);

  void linearise();
  void linearise_states();
  bool prepare_matrix(double h);
  // Places the trial state at z, z' of the chart.
  void place(const Vec& z, const Vec& z_dot);
  // v' (and multipliers) at a state from the equations at index 1.
  bool accelerate(const State& state, Rates& out);
  bool turns_too_far(const Vec& z) const;
  // v' of the trial state as z'' of the chart.
  void to_chart(const Vec& z, const Vec& z_dot, const Vec& a, Vec& z_second) const;
  // scale * r_q x and scale * s_q x, chart terms included, added to the right side of a stage.
  void subtract_position_terms(const Vec& x, double scale, Vec& right);
  void finish_states();
  bool return_to_constraints();
  bool return_velocities(double small);
  double weighted(const Vec& e_y, const Vec& e_v, const Vec& e_x, int& worst) const;

  RosenbrockNystromOptions options_;
  NystromStep step_;
  Vec zero_z_, turned_, right_, solution_, gamma_, gdot_;
  Vec previous_a_, last_z_, end_rate_, end_second_;  // the last step, for interpolation
  Partials partials_, at_point_;
  Vec r_q_, s_q_, s_t_;
  Residual residual_;
  Rates zero_;
  SaddleSystem stage_matrix_, index1_;
  std::vector<Mat3> C_, D_;
  // States of first order: Rosenbrock stages with the same gamma,
  //   (I - h g f_x) k_i - h g (f_v x_i + f_q h (g x_i + p0)) = g (h f_i + sum c_ij k_j + gamma_i h^2 f_t)
  StatePartials state_partials_;
  Mat rate_z_;  // f_q in the chart
  StateCoupling coupling_;
  std::array<Vec, max_rosenbrock_stages> k_;
  Vec stage_rate_, state_right_, e_x_;
  int age_ = 0;  // steps since the derivatives were made
  bool linearised_ = false;
};

}  // namespace trammel
