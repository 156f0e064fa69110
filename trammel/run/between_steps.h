// The state of a mechanism between two steps of a stiff method.
//
// A method's interpolation is off by some e, of which a part of stiffness K makes a force K e, while at the ends of
// steps stiff parts follow their slow motion far better than the tolerance asks. So the interpolated state (q, v) is
// brought back to that motion: in stiff directions the accelerations a(q, v) must be those of the interpolated
// velocities, w = v'. S is the inverse of the matrix of an implicit Euler step of length T, times M:
//
//   [ M + T C + T^2 K   G^T ]
//   [ G                 0   ],   C, K: derivatives of G^T lambda - Q by v and q
//
// S is 1 in soft directions and 0 in stiff ones, so that of the defect d = a - w stiffness explains d - S d. Two steps
// of the iteration to v as interpolated and a = w, the second one linear in the first,
//
//   x1 = T S (d - S d),   x2 = S (x1 - T^2 M^-1 K x1),   v += x1 + x2,   q += T (2 x1 + x2)
//
// leave M e' of the force K e: springs are relaxed by positions, dampers by velocities. See docs/decisions/0019.
#pragma once
#include "trammel/initial/accelerations.h"
#include "trammel/integrate/archive.h"
#include "trammel/integrate/integrator.h"

namespace trammel {

class BetweenSteps {
 public:
  explicit BetweenSteps(const Equations& equations);
  // `state` as interpolated, projected, and `rates` that belong to it, brought to the slow motion of stiff parts. Both
  // stay as they are where the defect is hardly greater than at the end of the step, or does not become smaller.
  void relax(const Integrator& integrator, AccelerationSolver& accelerations, State& state, Rates& rates,
             Workspace& work);
  void save(Bytes& out) const;
  void restore(std::span<const std::byte>& in);

 private:
  // w_ at t, or at the nearest time at which differences reach no further than the step.
  void differentiate(const Integrator& integrator, double t);
  double defect_at_end(const Integrator& integrator, AccelerationSolver& accelerations, Workspace& work);
  // The relaxed state from `state`; false: there is none.
  bool find(const Integrator& integrator, const State& state, const Vec& a, Workspace& work);
  double size(const Vec& defect) const { return defect.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>(); }

  const Equations& equations_;
  SaddleSystem matrix_;
  Partials partials_;
  Vec scales_;
  State relaxed_, near_;
  Rates relaxed_rates_;
  Vec w_, defect_, x1_, right_, solution_;
  double end_ = -1, end_defect_ = 0;  // of the step last asked for
};

}  // namespace trammel
