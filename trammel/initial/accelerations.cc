#include "trammel/initial/accelerations.h"

#include <cmath>
#include <limits>

namespace trammel {

AccelerationSolver::AccelerationSolver(const Equations& equations, SaddleSystem::Keep keep)
    : equations_(equations),
      saddle_(equations, equations.mass_slots(), 1e-8, keep),
      partials_(equations.make_partials(Detail::projection)),
      residual_(equations.make_residual()),
      zero_(equations.make_rates()),
      b_(Vec::Zero(saddle_.size())),
      z_(Vec::Zero(saddle_.size())),
      gdot_(Vec::Zero(equations.sizes().multipliers())),
      gamma_(gdot_),
      reaction_(Vec::Zero(saddle_.size())),
      weights_(equations.scales()) {
  const double length = equations.length();
  for (double& w : weights_) w = equations.greatest_mass() * (length / w) * (length / w);
  if (equations.sees_rates()) seen_ = equations.make_partials(Detail::newton);
}

// b_ = what the equations lack, in the units of S its size. False: it cannot be evaluated.
bool AccelerationSolver::find_missing(const State& state, const Rates& rates, Workspace& work, double& size) {
  const int nv = saddle_.velocities(), ng = saddle_.multipliers();
  if (equations_.residual(state, rates, everything, residual_, work) != Eval::ok) return false;
  b_.head(nv) = -(residual_.inertia + residual_.force);
  b_.tail(ng) = gamma_;
  equations_.gv().multiply_add(seen_.G, -1, rates.a.data(), b_.data() + nv);
  size = b_.cwiseProduct(saddle_.scale()).lpNorm<Eigen::Infinity>();
  return std::isfinite(size);
}

// Corrections that no longer make the residual smaller are round-off, or the end of the attempt.
bool AccelerationSolver::solve_seen(const State& state, Rates& out, Workspace& work) {
  const int nv = saddle_.velocities(), ng = saddle_.multipliers();
  constexpr int most = 60;
  constexpr double round_off = 1e-13, enough = 1e-9, least_part = 1e-4;
  if (out.a.size() != nv || !out.a.allFinite()) out.a.setZero(nv);
  if (out.lambda.size() != ng || !out.lambda.allFinite()) out.lambda.setZero(ng);
  equations_.jacobian_and_gamma(state, seen_, gamma_, work);
  partials_.G = seen_.G;
  double missing = 0;
  if (!find_missing(state, out, work, missing)) return false;
  trial_ = out;
  for (int i = 0; i < most; ++i) {
    if (equations_.linearise(state, out, Detail::newton, seen_, work) != Eval::ok) return false;
    saddle_.combine_mass(seen_, Level::velocity, true);
    if (!saddle_.factor()) return false;
    const Vec& S = saddle_.scale();
    // Forces and inertia that cancel: their size is that of round-off.
    const double size = residual_.inertia.cwiseProduct(S.head(nv)).lpNorm<Eigen::Infinity>() +
                        residual_.force.cwiseProduct(S.head(nv)).lpNorm<Eigen::Infinity>() +
                        gamma_.cwiseProduct(S.tail(ng)).lpNorm<Eigen::Infinity>();
    if (missing <= round_off * size) return true;
    saddle_.solve_refined(b_, z_);
    if (!std::isfinite(z_.sum())) return false;
    double part = 1, left = 0;
    bool better = false;
    for (; part > least_part && !better; part *= 0.5) {
      trial_.a = out.a + part * z_.head(nv);
      trial_.lambda = out.lambda + part * z_.tail(ng);
      better = find_missing(state, trial_, work, left) && left < (1 - 0.1 * part) * missing;
    }
    if (!better) {
      diverged_ = !(missing <= enough * size);
      return !diverged_;
    }
    out.a = trial_.a;
    out.lambda = trial_.lambda;
    missing = left;
  }
  diverged_ = true;
  return false;
}

bool AccelerationSolver::solve(const State& state, Rates& out, Workspace& work) {
  const int nv = saddle_.velocities(), ng = saddle_.multipliers();
  diverged_ = false;
  if (equations_.sees_rates()) {
    if (!solve_seen(state, out, work)) return false;
    // From here as for forces that do not see them: b_ = Q and gamma.
    trial_.a = out.a;
    trial_.lambda = out.lambda;
    if (equations_.residual(state, trial_, everything, residual_, work) != Eval::ok) return false;
    b_.head(nv) = -residual_.force;
    equations_.gv().transpose_multiply_add(partials_.G, 1, out.lambda.data(), b_.data());
    b_.tail(ng) = gamma_;
    equations_.mass(state.q, partials_);
    saddle_.combine_mass(partials_);
    z_.head(nv) = out.a;
  } else {
    if (equations_.residual(state, zero_, everything, residual_, work) != Eval::ok) return false;
    equations_.jacobian_and_gamma(state, partials_, gamma_, work);
    equations_.mass(state.q, partials_);
    saddle_.combine_mass(partials_);
    if (!saddle_.factor()) return false;
    b_.head(nv) = -residual_.force;
    b_.tail(ng) = gamma_;
    saddle_.solve_refined(b_, z_);
    if (!std::isfinite(z_.sum())) return false;
  }
  out.a = z_.head(nv);
  reaction_.setZero();
  if (ng > 0) {
    // Least-norm multipliers with G^T lambda = c = Q - M a, from the system (c, 0). Any upper left block serves;
    // weights of one size for all bodies keep light bodies from spoiling them (mass ratio 1e6: 1e-5 of the reactions
    // with M, see the redundancy study).
    z_.tail(ng).setZero();
    saddle_.residual(b_, z_, reaction_);
    reaction_.tail(ng).setZero();
    saddle_.combine_projection(weights_, partials_.G, Level::velocity);
    if (!saddle_.factor()) return false;
    saddle_.solve_refined(reaction_, z_);
    if (!std::isfinite(z_.sum())) return false;
  }
  out.lambda = z_.tail(ng);
  // What G^T lambda leaves of c.
  b_ = reaction_;
  equations_.gv().transpose_multiply_add(partials_.G, -1, out.lambda.data(), b_.data());
  force_residual_ = nv > 0 ? b_.head(nv).lpNorm<Eigen::Infinity>() : 0;
  return true;
}

bool AccelerationSolver::impulse(const State& state, const Vec& row, Vec& dv, Workspace& work) {
  const int nv = saddle_.velocities(), ng = saddle_.multipliers();
  equations_.jacobian(state, partials_, work);
  equations_.mass(state.q, partials_);
  saddle_.combine_mass(partials_);
  if (!saddle_.factor()) return false;
  b_.head(nv) = row;
  b_.tail(ng).setZero();
  saddle_.solve_refined(b_, z_);
  dv = z_.head(nv);
  return dv.allFinite();
}

bool AccelerationSolver::hold(State& state, Vec& p, Workspace& work) {
  const int nv = saddle_.velocities(), ng = saddle_.multipliers();
  p.setZero(ng);
  if (ng == 0) return true;
  equations_.jacobian(state, partials_, work);
  equations_.mass(state.q, partials_);
  saddle_.combine_mass(partials_);
  if (!saddle_.factor()) return false;
  b_.head(nv).setZero();
  for (int pass = 0; pass < 2; ++pass) {  // the second takes what rounding left
    equations_.velocity_residual(state, gdot_, work);
    b_.tail(ng) = -gdot_;
    saddle_.solve_refined(b_, z_);
    if (!std::isfinite(z_.sum())) return false;
    state.v += z_.head(nv);
    p += z_.tail(ng);
  }
  return true;
}

void AccelerationSolver::accelerations_of_rows(const Rates& rates, Vec& rows, Vec& sizes) const {
  const Pattern& gv = equations_.gv();
  rows = -gamma_;
  sizes = gamma_.cwiseAbs();
  for (int j = 0; j < gv.columns(); ++j) {
    for (int p = gv.start()[j]; p < gv.start()[j + 1]; ++p) {
      const double part = partials_.G[p] * rates.a[j];
      rows[gv.row()[p]] += part;
      sizes[gv.row()[p]] += std::abs(part);
    }
  }
}

bool AccelerationSolver::project(State& state, Workspace& work) {
  const int nv = saddle_.velocities(), ng = saddle_.multipliers();
  if (ng == 0) return true;
  if (equations_.residual(state, zero_, joints, residual_, work) != Eval::ok) return false;
  equations_.jacobian(state, partials_, work);
  equations_.mass(state.q, partials_);
  b_.head(nv).setZero();
  for (const int row : equations_.velocity_rows()) residual_.g[row] = 0;  // nothing to be mended in positions
  const double round_off = std::numeric_limits<double>::epsilon() * equations_.reach(state.q);
  const bool apart = equations_.size_of_rows(residual_.g) > std::max(1e-12 * equations_.length(), 8 * round_off);
  // Rows at velocity level do not bind a change of positions: with them a sphere that rolls between bodies of a closed
  // loop could not be put back on its plane.
  const bool alone = apart && !equations_.velocity_rows().empty();
  saddle_.combine_mass(partials_, alone ? Level::position : Level::velocity);
  if (!saddle_.factor()) return false;
  if (apart) {
    b_.tail(ng) = -residual_.g;
    saddle_.solve_refined(b_, z_);
    if (!std::isfinite(z_.sum())) return false;
    q_ = state.q;
    equations_.retract(q_, z_.head(nv), state.q);
  }
  if (alone) {
    saddle_.combine_mass(partials_, Level::velocity);
    if (!saddle_.factor()) return false;
  }
  // The matrix of the old positions is off by the size of their correction, so two passes leave round-off.
  for (int pass = 0; pass < 2; ++pass) {
    equations_.velocity_residual(state, gdot_, work);
    b_.tail(ng) = -gdot_;
    saddle_.solve_refined(b_, z_, 2);
    if (!std::isfinite(z_.sum())) return false;
    state.v += z_.head(nv);
  }
  return true;
}

}  // namespace trammel
