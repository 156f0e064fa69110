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

// Of the interpolation, a polynomial: differences miss 2e-7 of its third derivative times h^2.
void BetweenSteps::differentiate(const Integrator& integrator, double t) {
  const double h = integrator.last_step(), apart = 1e-3 * h, end = integrator.state().t,
               middle = std::clamp(t, end - h + apart, end - apart);
  integrator.interpolate(middle + apart, near_);
  w_ = near_.v;
  integrator.interpolate(middle - apart, near_);
  w_ = (w_ - near_.v) / (2 * apart);
}

double BetweenSteps::defect_at_end(const Integrator& integrator, AccelerationSolver& accelerations, Workspace& work) {
  if (end_ == integrator.state().t) return end_defect_;
  end_ = integrator.state().t;
  end_defect_ = 0;
  relaxed_ = integrator.state();
  differentiate(integrator, end_);
  if (accelerations.project(relaxed_, work) && accelerations.solve(relaxed_, relaxed_rates_, work)) {
    defect_ = relaxed_rates_.a - w_;
    end_defect_ = size(defect_);
  }
  return end_defect_;
}

bool BetweenSteps::find(const Integrator& integrator, const State& state, const Vec& a, Workspace& work) {
  const int nv = matrix_.velocities();
  const double h = integrator.last_step(), left = integrator.state().t - state.t;
  // Errors of interpolation vanish at both ends of the step, and T with them. Half a step in its middle: forces of the
  // suite of outputs are 1 to 1.5 times as far off as at the ends of steps; with an eighth 2.5 times, with a whole step
  // directions that are hardly stiff are moved too.
  const double T = 2 * left * (1 - left / h);
  if (nv == 0 || !(T > 0)) return false;
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
  // Constraints that drift leave stiff parts off their slow motion at the ends of steps too.
  const double enough = 1.5 * defect_at_end(integrator, accelerations, work);
  differentiate(integrator, state.t);
  defect_ = rates.a - w_;
  const double before = size(defect_);
  if (before <= enough || !find(integrator, state, rates.a, work) || !accelerations.project(relaxed_, work) ||
      !accelerations.solve(relaxed_, relaxed_rates_, work))
    return;
  defect_ = relaxed_rates_.a - w_;
  if (!(size(defect_) < before)) return;
  std::swap(state, relaxed_);
  rates.a.swap(relaxed_rates_.a);
  rates.lambda.swap(relaxed_rates_.lambda);
}

void BetweenSteps::save(Bytes& out) const {
  std::vector<double> values;
  matrix_.save(values);
  put(out, values);
  put(out, end_);
  put(out, end_defect_);
}

void BetweenSteps::restore(std::span<const std::byte>& in) {
  std::vector<double> values;
  take(in, values);
  matrix_.restore(values.data());
  take(in, end_);
  take(in, end_defect_);
}

}  // namespace trammel
