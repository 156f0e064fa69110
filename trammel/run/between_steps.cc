#include "trammel/run/between_steps.h"

#include <algorithm>
#include <cmath>

namespace trammel {

BetweenSteps::BetweenSteps(const Equations& equations)
    : equations_(equations),
      matrix_(equations),
      partials_(equations.make_partials(Detail::newton)),
      scales_(equations.scales()),
      relaxed_(equations.initial_state()),
      near_(relaxed_),
      relaxed_rates_(equations.make_rates()),
      right_(Vec::Zero(matrix_.size())),
      solution_(right_) {}

bool BetweenSteps::find(const Integrator& integrator, const State& state, const Vec& a, Workspace& work) {
  const int nv = matrix_.velocities();
  const double h = integrator.last_step(), left = integrator.state().t - state.t;
  // Errors of interpolation vanish at both ends of the step; over about T the defect sums up to them.
  const double T = 0.5 * left * (1 - left / h);
  if (nv == 0 || !(T > 0)) return false;
  // w by differences of the interpolation, a polynomial: they miss 2e-7 of its third derivative times h^2.
  const double apart = 1e-3 * h, end = integrator.state().t, middle = std::clamp(state.t, end - h + apart, end - apart);
  integrator.interpolate(middle + apart, near_);
  w_ = near_.v;
  integrator.interpolate(middle - apart, near_);
  w_ = (w_ - near_.v) / (2 * apart);
  if (equations_.linearise(state, integrator.rates(), Detail::newton, partials_, work) != Eval::ok) return false;
  matrix_.combine(partials_, {1, T * T, T * T, T, T}, nullptr);
  if (!matrix_.factor()) return false;
  const Pattern& vv = equations_.vv();
  const auto solve_mass = [&](const Vec& x, double factor) {
    right_.setZero();
    vv.multiply_add(partials_.M, factor, x.data(), right_.data());
    matrix_.solve_refined(right_, solution_);
  };
  defect_ = a - w_;
  solve_mass(defect_, 1);
  defect_ -= solution_.head(nv);
  solve_mass(defect_, T);
  x1_ = solution_.head(nv);
  right_.setZero();
  vv.multiply_add(partials_.M, 1, x1_.data(), right_.data());
  vv.multiply_add(partials_.Ma_q, -T * T, x1_.data(), right_.data());
  vv.multiply_add(partials_.force_q, -T * T, x1_.data(), right_.data());
  matrix_.solve_refined(right_, solution_);
  if (!std::isfinite(solution_.sum())) return false;
  relaxed_.t = state.t;
  relaxed_.u = state.u;
  relaxed_.memory = state.memory;
  relaxed_.v = state.v + x1_ + solution_.head(nv);
  x1_ = T * (2 * x1_ + solution_.head(nv));
  equations_.retract(state.q, x1_, relaxed_.q);
  return true;
}

void BetweenSteps::relax(const Integrator& integrator, AccelerationSolver& accelerations, State& state, Rates& rates,
                         Workspace& work) {
  if (!find(integrator, state, rates.a, work) || !accelerations.project(relaxed_, work) ||
      !accelerations.solve(relaxed_, relaxed_rates_, work))
    return;
  defect_ = rates.a - w_;
  const double before = size(defect_);
  defect_ = relaxed_rates_.a - w_;
  if (!(size(defect_) < before)) return;
  std::swap(state, relaxed_);
  rates.a.swap(relaxed_rates_.a);
  rates.lambda.swap(relaxed_rates_.lambda);
}

}  // namespace trammel
