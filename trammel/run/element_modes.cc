#include "trammel/run/element_modes.h"

#include <algorithm>
#include <cmath>

#include "trammel/initial/consistent.h"

namespace trammel {

ElementModes::ElementModes(const Equations& equations)
    : equations_(equations), work_(equations.make_workspace()), rates_(equations.make_rates()) {
  if (!any()) return;
  solver_ = std::make_unique<AccelerationSolver>(equations, SaddleSystem::Keep::resumable);
  impulse_.setZero(equations.sizes().multipliers());
  gdot_ = impulse_;
  for (int i = 0; i < equations.switch_count(); ++i)
    if (equations.switch_info(i).ends_mode) limits_.push_back(i);
}

std::string ElementModes::names() const {
  std::string text;
  for (const int force : equations_.forces_with_modes()) {
    text += (text.empty() ? "force '" : "; force '") + equations_.model().forces[force].name + "':";
    const std::vector<std::string> modes = equations_.force(force).modes();
    for (std::size_t i = 1; i < modes.size(); ++i) text += (i == 1 ? " " : ", ") + std::to_string(i) + " " + modes[i];
  }
  return text;
}

void ElementModes::begin(int force, State& state) { equations_.begin_mode(force, state, rest_, work_); }

void ElementModes::end(int which, State& state, const Rates& rates) { equations_.end_mode(which, state, rates, work_); }

void ElementModes::begin(State& state, Rates& rates, AccelerationSolver& accelerations) {
  if (!any()) return;
  // Velocities of one speed differ by round-off, and by what assembly leaves.
  constexpr double none = 1e-10;
  rate_ = equations_.rate(state, rates);
  const double length = equations_.length(),
               fastest = rate_ + state.v.cwiseQuotient(equations_.scales()).lpNorm<Eigen::Infinity>();
  rest_ = {none * length * fastest, none * fastest};
  for (const int force : equations_.forces_with_modes()) begin(force, state);
  if (!settle(state, rates, accelerations))
    throw Failure(no_accelerations(equations_, state, work_, "at the start"), ExitCode::failed_run);
}

void ElementModes::give_up_contradictions(const State& state, const AccelerationSolver& solver, bool velocities,
                                          Rates& rates) {
  // Round-off is 1e-12 of the accelerations that forces alone would make.
  constexpr double much = 1e-5, little = 1e-8;
  solver.accelerations_of_rows(rates, left_, sizes_);
  if (velocities) equations_.velocity_residual(state, gdot_, work_);
  const double speed = rate_ + state.v.cwiseQuotient(equations_.scales()).lpNorm<Eigen::Infinity>();
  for (const int force : equations_.forces_with_modes()) {
    if (equations_.rows_held(force, state) == 0) continue;
    const int row = equations_.held_row(force);
    const double unit = equations_.row_unit(row) == RowUnit::torque ? 1.0 : equations_.length();
    const bool moves = velocities && std::abs(gdot_[row]) > much * unit * speed,
               sets_off = std::abs(left_[row]) > std::max(much * sizes_[row], little * unit * rate_ * rate_);
    constexpr double beyond_all = 1e300;
    if (moves || sets_off) rates.lambda[row] = std::copysign(beyond_all, moves ? gdot_[row] : left_[row]);
  }
}

// Of all modes that do not last the one that is farthest beyond its limit goes first: the others may hold without it.
// Impulses are those of the modes that remain.
bool ElementModes::settle(State& state, Rates& rates, AccelerationSolver& accelerations) {
  ended_.clear();
  v_ = state.v;
  for (std::size_t round = 0; round <= limits_.size(); ++round) {
    state.v = v_;
    if (!accelerations.hold(state, impulse_, work_)) return false;
    equations_.accept(state, work_);  // angles remember their rates too
    if (!accelerations.solve(state, rates, work_)) return false;
    give_up_contradictions(state, accelerations, true, rates);
    equations_.switch_values(state, values_, work_, false, &rates);
    int worst = -1;
    for (const int i : limits_) {
      if (equations_.rows_held(equations_.force_of_switch(i), state) == 0) continue;
      if (values_[i] < 0 && (worst < 0 || values_[i] < values_[worst])) worst = i;
    }
    if (worst < 0) break;
    end(worst, state, rates);
    ended_.push_back(worst);
  }
  return true;
}

double ElementModes::impulse(int force) const {
  const int row = equations_.held_row(force);
  return row < 0 ? 0.0 : impulse_[row];
}

bool ElementModes::holds_any(const State& state) const {
  const std::vector<int>& forces = equations_.forces_with_modes();
  return std::any_of(forces.begin(), forces.end(), [&](int f) { return equations_.rows_held(f, state) > 0; });
}

const Rates* ElementModes::multipliers(const State& state) {
  if (!any() || !holds_any(state) || !solver_->solve(state, rates_, work_)) return nullptr;
  give_up_contradictions(state, *solver_, false, rates_);
  return &rates_;
}

}  // namespace trammel
