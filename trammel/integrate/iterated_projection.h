// Velocities and accelerations brought onto the derivatives of the constraints by penalty and augmented Lagrangian, as
// TEXT 7.3 does after a step of the trapezoidal rule:
//
//   (M + G^T alpha G) v_{i+1} = M v* - G^T (sigma_i + alpha g_t),    sigma_{i+1} = sigma_i + alpha (G v_{i+1} + g_t)
//
// from v_0 = v*, sigma_0 = 0; the same for accelerations with -gamma in the place of g_t and, in that of sigma, the
// multipliers of the step. The first iterate is TEXT's mass-orthogonal projection; all of them move v by
// M^-1 G^T sigma, orthogonal by M to what the constraints allow. What is left of the constraints shrinks by
//
//   G v_{i+1} + g_t = (I + G M^-1 G^T alpha)^-1 (G v_i + g_t)
//
// and the limit is the exact projection. With both unknowns of an iteration there are no products of G to form:
//
//   [ M      G^T     ] [ dv     ]   [ 0               ]
//   [ G   -1/alpha   ] [ dsigma ] = [ -(G v_i + g_t)  ]    one factorisation serves velocities and accelerations.
//
// alpha is `penalty` times the largest mass, and length^2 for torque rows; TEXT writes (h^2/4) alpha for it.
#pragma once
#include "trammel/equations/saddle.h"
#include "trammel/integrate/integrator.h"

namespace trammel {

class IteratedProjection {
 public:
  IteratedProjection(const Equations& equations, double penalty, int iterations);
  // M and G of the state's positions. False: singular.
  bool factor(const State& state, Workspace& work, Counts& counts);
  // These use the factors. False: not finite, or forces that cannot be evaluated.
  bool project_velocities(State& state, Workspace& work);
  // a and lambda, of equations of motion that hold at the state.
  bool project_accelerations(const State& state, Rates& rates, Workspace& work);
  SaddleSystem& saddle() { return saddle_; }
  const SaddleSystem& saddle() const { return saddle_; }
  Vec alpha() const { return saddle_.E().cwiseInverse(); }

 private:
  const Equations& equations_;
  int iterations_;
  SaddleSystem saddle_;
  int nv_, ng_;
  Partials partials_;
  Residual residual_;
  Vec z_, rate_, gamma_;
};

}  // namespace trammel
