// One implicit stage of the constrained equations, at index 3 or in the stabilised form of index 2, for methods of any
// family: the residual of a trial point, Newton's matrix, and its corrections. States of first order are in it.
//
// A method says by weights how its point moves with an increment da of its acceleration variable,
//
//   dv' = w_a da,   dv = w_v da,   dq = w_q T da,   dx = w_x dx'
//
// T being the derivative of its coordinates on the rotation columns. The corrections of da, lambda and x solve
//
//             da                                            lambda   dx
//   [ w_a M + w_v force_v + w_q (Ma_q + force_q) T           G^T    force_x       ]   [ -(M v' + G^T lambda - Q) ]
//   [ G T                                                    -E                   ] = [ -g / w_q, or -k / w_v    ]
//   [ -w_x (w_v f_v + w_q f_q T)                                    I - w_x f_x   ]   [ what x lacks             ]
//
// Where forces see accelerations and reactions, M + force_a stands for M and G^T + force_lambda for G^T; where rates of
// states do, the last row has -w_x w_a f_a beside f_v and -w_x f_lambda in the middle.
//
// At index 2 the rows are those of velocities, G + (w_q / w_v) (G v + g_t)_q T, with the right side -(G v + g_t) / w_v,
// and a slack between the velocity of positions and v keeps g = 0 (position_slack.h).
#pragma once
#include <memory>

#include "trammel/equations/saddle.h"
#include "trammel/integrate/position_slack.h"
#include "trammel/integrate/state_coupling.h"
#include "trammel/ode/attempt.h"
#include "trammel/ode/shifted_solver.h"

namespace trammel {

// The quotients too are given by the method, which knows them without round-off.
template <class Scalar>
struct StageWeightsOf {
  Scalar acceleration = 1, velocity = 0, position = 0, state = 0;  // w_a, w_v, w_q, w_x
  Scalar position_by_velocity = 0;                                 // w_q / w_v
  Scalar velocity_rows = 0, position_rows = 0;                     // 1 / w_v and 1 / w_q
};
using StageWeights = StageWeightsOf<double>;

class Corrector {
 public:
  struct Options {
    bool stabilised = false;  // index 2
    double tolerance = 1e-5;
    double misfit = 0;  // of loops that do not close, m: above 1e-10 L right sides are projected
  };
  Corrector(const Equations& equations, const Options& options, Counts& counts);
  Corrector(const Corrector&) = delete;
  Corrector& operator=(const Corrector&) = delete;

  bool stabilised() const { return slack_ != nullptr; }
  bool misfits() const { return options_.misfit > 1e-10 * equations_.length(); }

  // ---- the matrix
  // The derivatives at a point.
  Verdict linearise(const State& state, const Rates& rates, Workspace& work);
  // Combines and factors them. That costs no evaluation. T may be null for the identity.
  Verdict factor(const StageWeights& weights, const std::vector<Mat3>* T);
  const Partials& partials() const { return partials_; }
  const StatePartials& state_partials() const { return state_partials_; }
  SaddleSystem& saddle() { return saddle_; }
  const SaddleSystem& saddle() const { return saddle_; }

  // ---- the right side
  // Residuals of a trial point; x' goes to its rates. False: it cannot be evaluated.
  bool evaluate(const State& state, Rates& rates, Workspace& work);
  const Residual& residual() const { return residual_; }
  const Vec& velocity_residual() const { return gdot_; }  // at index 2

  // ---- corrections
  // increment() from the residual and the multipliers of the trial point, with the matrix as it is and the weights of
  // this step; `states` holds what the equations of the states lack, and becomes dx.
  void solve(const StageWeights& weights, const Vec& lambda, Vec& states);
  const Vec& increment() const { return z_; }  // (da, dlambda)
  // The same for a right side of the method's own, in place.
  void solve(Vec& z, Vec& states);
  PositionSlack& slack() { return *slack_; }  // at index 2

  // Of a step whose corrections failed: what the last of them says.
  void blame(Attempt& result) const;

  void visit(Archive& archive);
  long memory_bytes() const;

 private:
  void couple_states(const StageWeights& weights, const std::vector<Mat3>* T);

  const Equations& equations_;
  Options options_;
  Counts& counts_;
  const int nv_, ng_, nx_;
  SaddleSystem saddle_;
  std::unique_ptr<PositionSlack> slack_;
  Partials partials_;
  StatePartials state_partials_;
  StateCoupling coupling_;
  Residual residual_;
  Vec gdot_, z_, unregularised_, softness_;
};

}  // namespace trammel
