#include "trammel/run/modes.h"

#include <algorithm>

#include "trammel/initial/consistent.h"

namespace trammel {

Modes::Modes(const Equations& equations)
    : equations_(equations), work_(equations.make_workspace()), rates_(equations.make_rates()) {
  if (!any()) return;
  solver_ = std::make_unique<AccelerationSolver>(equations, SaddleSystem::Keep::resumable);
  impulse_.setZero(equations.sizes().multipliers());
  for (int i = 0; i < equations.switch_count(); ++i)
    if (equations.switch_info(i).ends_mode) limits_.push_back(i);
}

std::string Modes::names() const {
  std::string text;
  for (const int force : equations_.forces_with_modes()) {
    text += (text.empty() ? "force '" : "; force '") + equations_.model().forces[force].name + "':";
    const std::vector<std::string> modes = equations_.force(force).modes();
    for (std::size_t i = 1; i < modes.size(); ++i) text += (i == 1 ? " " : ", ") + std::to_string(i) + " " + modes[i];
  }
  return text;
}

void Modes::begin(int force, State& state) { equations_.begin_mode(force, state, rest_, work_); }

void Modes::end(int which, State& state, const Rates& rates) { equations_.end_mode(which, state, rates, work_); }

void Modes::begin(State& state, Rates& rates, AccelerationSolver& accelerations) {
  if (!any()) return;
  // Velocities of one speed differ by round-off, and by what assembly leaves.
  constexpr double none = 1e-10;
  const double length = equations_.length(),
               fastest =
                   equations_.rate(state, rates) + state.v.cwiseQuotient(equations_.scales()).lpNorm<Eigen::Infinity>();
  rest_ = {none * length * fastest, none * fastest};
  for (const int force : equations_.forces_with_modes()) begin(force, state);
  if (!settle(state, rates, accelerations))
    throw Failure(no_accelerations(equations_, state, work_, "at the start"), ExitCode::failed_run);
}

// Of all modes that do not last the one that is farthest beyond its limit goes first: the others may hold without it.
bool Modes::settle(State& state, Rates& rates, AccelerationSolver& accelerations) {
  ended_.clear();
  if (!accelerations.hold(state, impulse_, work_)) return false;
  for (std::size_t round = 0; round <= limits_.size(); ++round) {
    equations_.accept(state, work_);  // angles remember their rates too
    if (!accelerations.solve(state, rates, work_)) return false;
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

double Modes::impulse(int force) const {
  const int row = equations_.held_row(force);
  return row < 0 ? 0.0 : impulse_[row];
}

bool Modes::holds_any(const State& state) const {
  const std::vector<int>& forces = equations_.forces_with_modes();
  return std::any_of(forces.begin(), forces.end(), [&](int f) { return equations_.rows_held(f, state) > 0; });
}

const Rates* Modes::multipliers(const State& state) {
  return any() && holds_any(state) && solver_->solve(state, rates_, work_) ? &rates_ : nullptr;
}

}  // namespace trammel
