#include "trammel/run/events.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trammel {
namespace {

constexpr double sharpness = 1e-12;       // of the run's length: how near to an event a step must end
constexpr std::size_t most_recent = 100;  // events of one switch ...
constexpr double too_short = 1e-6;        // ... within this part of the run are chatter

}  // namespace

Events::Events(const Equations& equations, bool all, double end)
    : equations_(equations), work_(equations.make_workspace()), end_(end), moved_(equations.initial_state()) {
  for (int i = 0; i < equations.switch_count(); ++i) {
    const SwitchInfo& info = equations.switch_info(i);
    if (!all && !info.timed && !info.strikes) continue;
    watched_.push_back({i, info.timed, info.strikes});
    (info.timed ? timed_ : untimed_) = true;
  }
  side_.assign(watched_.size(), 1);
  recent_.resize(watched_.size());
}

std::vector<std::string> Events::names() const {
  std::vector<std::string> names;
  for (int i = 0; i < equations_.switch_count(); ++i) names.push_back(equations_.name_of_switch(i));
  return names;
}

void Events::start(const State& state, const Rates& rates) {
  if (!any()) return;
  evaluate(state, values_);
  evaluate_rates(state, rates, values_, rates_);
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const double value = values_[watched_[i].which];
    if (watched_[i].strikes && value < -1e-9 * equations_.length()) {
      throw Failure({Severity::error, "overlap-at-start",
                     equations_.name_of_switch(watched_[i].which) + ": its bodies overlap at the start by " +
                         std::to_string(-value) + " m",
                     "move one of them, or mind the direction of the plane: its z axis points out of it",
                     equations_.place_of_switch(watched_[i].which)});
    }
    // On a corner: the side it is moving to.
    const double sign = value != 0 ? value : rates_[watched_[i].which];
    side_[i] = sign < 0 ? -1 : 1;
  }
}

// By a difference over a time in which nothing else changes.
void Events::evaluate_rates(const State& state, const Rates& rates, const Vec& values, Vec& out) {
  const double dt = 1e-8 * end_;
  moved_ = state;
  moved_.t = state.t + dt;
  equations_.retract(state.q, dt * state.v, moved_.q);
  moved_.v = state.v + dt * rates.a;
  evaluate(moved_, moved_values_);
  out = (moved_values_ - values) / dt;
}

// A gap that strikes counts where it is closed and closing; other switches where they have left their side.
bool Events::changed(std::size_t i, const Vec& values, const Vec& rates) const {
  const Watched& w = watched_[i];
  if (w.strikes) return values[w.which] < 0 && rates[w.which] < 0;
  return values[w.which] * side_[i] < 0;
}

bool Events::any_changed(const State& state, const Rates& rates) {
  evaluate(state, values_);
  evaluate_rates(state, rates, values_, rates_);
  for (std::size_t i = 0; i < watched_.size(); ++i)
    if (!watched_[i].timed && changed(i, values_, rates_)) return true;
  return false;
}

double Events::limit(const State& state, double h) {
  behind_ = 0;
  if (!timed_) return h;
  moved_ = state;
  // Seen at so many times within the step, which a pulse that is shorter slips through.
  constexpr int looks = 4;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    if (!watched_[i].timed) continue;
    // Positive before the corner, negative behind it; at zero a comparison may already be on either branch.
    const auto side_at = [&](double t) {
      moved_.t = t;
      equations_.switch_values(moved_, moved_values_, work_, true);
      return moved_values_[watched_[i].which] * side_[i];
    };
    double before = state.t;
    for (int k = 1; k <= looks; ++k) {
      double behind = state.t + h * k / looks;
      if (side_at(behind) > 0) {
        before = behind;
        continue;
      }
      for (;;) {  // to neighbouring numbers
        const double middle = 0.5 * (before + behind);
        if (!(middle > before && middle < behind)) break;
        (side_at(middle) > 0 ? before : behind) = middle;
      }
      for (int n = 0; n < 8 && !(side_at(behind) < 0); ++n) behind = std::nextafter(behind, HUGE_VAL);
      if (before - state.t < sharpness * end_) {  // the step begins there
        side_[i] = -side_[i];
      } else {
        h = before - state.t;
        behind_ = behind;
      }
      break;
    }
  }
  return h;
}

bool Events::passed(const Integrator& integrator) {
  at_event_ = false;
  return untimed_ && any_changed(integrator.trial_state(), integrator.trial_rates());
}

std::optional<double> Events::locate(const Integrator& integrator, double h, const std::function<bool(double)>& again) {
  double before = 0, behind = h;
  evaluate(integrator.state(), values_);
  Vec at_before = values_, at_behind = values_;
  evaluate(integrator.trial_state(), at_behind);
  const double enough = std::max(sharpness * end_, 4 * std::numeric_limits<double>::epsilon() * integrator.state().t);
  int half = 0;
  while (behind - before > enough) {
    // The first zero of those that changed, by the secant; now and then a halving, for what it misjudges.
    double next = 0.5 * (before + behind);
    if (half++ % 3 != 2) {
      double first = 1;
      for (const Watched& w : watched_) {
        const double a = at_before[w.which], b = at_behind[w.which];
        if (!w.timed && a * b < 0) first = std::min(first, a / (a - b));
      }
      if (first < 1) next = before + std::clamp(first, 1e-3, 1 - 1e-3) * (behind - before);
      // From the other side of the zero, once it is known well.
      if (first < 1 && behind - before < 1e-3 * h) next += (half % 2 == 0 ? 0.4 : -0.4) * enough;
      next = std::clamp(next, before + 0.25 * enough, behind - 0.25 * enough);
    }
    if (!again(next)) return std::nullopt;
    const bool has = any_changed(integrator.trial_state(), integrator.trial_rates());
    (has ? behind : before) = next;
    (has ? at_behind : at_before) = values_;
  }
  if (!again(behind)) return std::nullopt;
  at_event_ = true;
  behind_ = 0;
  return behind;
}

void Events::note(double t, int which) {
  const auto i = static_cast<std::size_t>(
      std::find_if(watched_.begin(), watched_.end(), [which](const Watched& w) { return w.which == which; }) -
      watched_.begin());
  std::vector<double>& times = recent_[i];
  times.push_back(t);
  if (times.size() > most_recent) times.erase(times.begin());
  if (times.size() == most_recent && times.back() - times.front() < too_short * end_) chattering_ = which;
  ++count_;
}

double Events::strike(int which, State& state, AccelerationSolver& accelerations) {
  const Equations::StrikeRow struck = equations_.strike(which, state, work_);
  const double speed = struck.row.dot(state.v);
  if (!(speed < 0)) return 0;
  Vec dv;
  if (!accelerations.impulse(state, struck.row, dv, work_)) return 0;
  const double softness = struck.row.dot(dv);
  if (!(softness > 0)) return 0;
  const double size = -(1 + struck.restitution) * speed / softness;
  state.v += size * dv;
  return size;
}

std::vector<Event> Events::handle(State& state, Rates& rates, AccelerationSolver& accelerations) {
  std::vector<Event> events;
  const bool corner = behind_ > 0 && std::abs(behind_ - state.t) < sharpness * end_;
  if (!at_event_ && !corner) return events;
  if (corner) state.t = behind_;
  // One impact may bring about another, as in a row of balls.
  constexpr int most_rounds = 100;
  for (int round = 0; round < most_rounds; ++round) {
    evaluate(state, values_);
    evaluate_rates(state, rates, values_, rates_);
    bool struck = false;
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      const int which = watched_[i].which;
      if (!changed(i, values_, rates_)) continue;
      Event event{state.t, which, side_[i] < 0, 0};
      if (watched_[i].strikes) {
        event.impulse = strike(which, state, accelerations);
        if (event.impulse == 0) {  // nothing there can move
          chattering_ = which;
          continue;
        }
        struck = true;
      } else {
        side_[i] = -side_[i];
      }
      note(state.t, which);
      events.push_back(event);
      if (struck) break;  // the others see the new velocities
    }
    if (!struck) break;
  }
  at_event_ = false;
  behind_ = 0;
  equations_.accept(state, work_);  // angles remember their rates too
  accelerations.solve(state, rates, work_);
  return events;
}

void Events::visit(Archive& archive) { archive(side_, recent_, chattering_, count_); }

}  // namespace trammel
