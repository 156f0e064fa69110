// Accelerations and multipliers of a state: the index-1 system
//
//   [ M  G^T ] [ a      ]   [ Q     ]
//   [ G   0  ] [ lambda ] = [ gamma ]
//
// solved with the regularised saddle matrix; multipliers that are not unique come out with least norm. Where forces see
// a and lambda, Q = Q(a, lambda), by Newton's method with damping, from the rates that are handed in:
//
//   [ M + force_a   G^T + force_lambda ] [ da      ]   [ Q - M a - G^T lambda ]
//   [ G             0                  ] [ dlambda ] = [ gamma - G a          ]
#pragma once
#include "trammel/equations/saddle.h"

namespace trammel {

class AccelerationSolver {
 public:
  explicit AccelerationSolver(const Equations& equations, SaddleSystem::Keep keep = SaddleSystem::Keep::factors_only);
  // False: the matrix is singular (a massless direction that nothing holds), the forces cannot be evaluated, or those
  // that see a and lambda allow no solution that Newton's method finds.
  bool solve(const State& state, Rates& out, Workspace& work);
  // Positions brought onto g = 0 (from nearby: one Newton step, if they are off by more than 1e-12 of the length scale)
  // and velocities onto G v + g_t = 0, both with the mass-weighted least change.
  bool project(State& state, Workspace& work);
  // What a unit impulse along a row does to the velocities, the joints holding: M dv + G^T p = row, G dv = 0.
  bool impulse(const State& state, const Vec& row, Vec& dv, Workspace& work);
  // Velocities brought onto the rows that are in force by impulses p of all of them: M dv + G^T p = 0, G (v + dv) + g_t
  // = 0.
  bool hold(State& state, Vec& p, Workspace& work);
  // G a - gamma of all rows after solve(), and the size of its terms: where it is not small, the row contradicts
  // others.
  void accelerations_of_rows(const Rates& rates, Vec& rows, Vec& sizes) const;
  // |M a + G^T lambda - Q|, largest entry, of the last solve.
  double force_residual() const { return force_residual_; }
  // Of the last solve: Newton's method ended without a solution.
  bool diverged() const { return diverged_; }
  SaddleSystem& saddle() { return saddle_; }

 private:
  bool solve_seen(const State& state, Rates& out, Workspace& work);
  bool find_missing(const State& state, const Rates& rates, Workspace& work, double& size);
  const Equations& equations_;
  SaddleSystem saddle_;
  Partials partials_;
  Residual residual_;
  Rates zero_;
  Vec b_, z_, gdot_, gamma_, q_;
  Vec reaction_;  // (Q - M a, 0)
  Vec weights_;   // one size for all bodies: m_max, and m_max L^2 for rotations
  double force_residual_ = 0;
  // Where forces see a and lambda:
  Partials seen_;
  Rates trial_;
  bool diverged_ = false;
};

}  // namespace trammel
