#include "trammel/integrate/iterated_projection.h"

#include <cmath>
#include "trammel/integrate/count_factors.h"

namespace trammel {

IteratedProjection::IteratedProjection(const Equations& equations, double penalty, int iterations)
    : equations_(equations),
      iterations_(iterations),
      saddle_(equations, equations.mass_slots(), 1 / penalty),
      nv_(saddle_.velocities()),
      ng_(saddle_.multipliers()),
      partials_(equations.make_partials(Detail::projection)),
      residual_(equations.make_residual()),
      z_(Vec::Zero(nv_ + ng_)),
      rate_(Vec::Zero(ng_)),
      gamma_(rate_) {}

bool IteratedProjection::factor(const State& state, Workspace& work, Counts& counts) {
  equations_.jacobian(state, partials_, work);
  equations_.mass(state.q, partials_);
  saddle_.combine_mass(partials_);
  return count_factors(saddle_, counts);
}

bool IteratedProjection::project_velocities(State& state, Workspace& work) {
  for (int i = 0; i < iterations_; ++i) {
    equations_.velocity_residual(state, rate_, work);
    z_.head(nv_).setZero();
    z_.tail(ng_) = -rate_;
    saddle_.solve(z_);
    state.v += z_.head(nv_);
  }
  return std::isfinite(state.v.sum());
}

// The first iteration also takes up what projected velocities change of the forces; later ones find M a + G^T lambda =
// Q.
bool IteratedProjection::project_accelerations(const State& state, Rates& rates, Workspace& work) {
  if (equations_.residual(state, rates, everything, residual_, work) != Eval::ok) return false;
  equations_.jacobian_and_gamma(state, partials_, gamma_, work);
  for (int i = 0; i < iterations_; ++i) {
    rate_ = -gamma_;
    equations_.gv().multiply_add(partials_.G, 1, rates.a.data(), rate_.data());
    if (i == 0) {
      z_.head(nv_) = -(residual_.inertia + residual_.force);
    } else {
      z_.head(nv_).setZero();
    }
    z_.tail(ng_) = -rate_;
    saddle_.solve(z_);
    rates.a += z_.head(nv_);
    rates.lambda += z_.tail(ng_);
  }
  return std::isfinite(rates.a.sum()) && std::isfinite(rates.lambda.sum());
}

}  // namespace trammel
