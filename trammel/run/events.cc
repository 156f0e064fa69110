#include "trammel/run/events.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "trammel/base/literal.h"

namespace trammel {
namespace {

constexpr double sharpness = 1e-12;       // of the run's length: how near to an event a step must end
constexpr std::size_t most_recent = 100;  // events of one switch ...
constexpr double too_short = 1e-6;        // ... within this part of the run are chatter
constexpr int most_in_vain = 200;         // steps cut short for nothing ...
constexpr double too_slow = 1e-4;         // ... within this part of the run: it slides along a corner

// Where the cubic with values a, b and slopes a', b' at 0 and 1 is largest or smallest inside, in order.
struct Extrema {
  int count = 0;
  std::array<double, 2> at{}, value{};
};
Extrema extrema_of_cubic(double a, double slope_a, double b, double slope_b) {
  // p(s) = a + s (a' + s (c + s d)),   p' = a' + 2 c s + 3 d s^2
  const double c = 3 * (b - a) - 2 * slope_a - slope_b, d = 2 * (a - b) + slope_a + slope_b;
  Extrema found;
  const double root = c * c - 3 * d * slope_a;
  if (!(root > 0)) return found;
  // The two zeros without cancellation.
  const double sum = -(c + std::copysign(std::sqrt(root), c));
  std::array<double, 2> zeros = {sum / (3 * d), slope_a / sum};
  if (zeros[1] < zeros[0]) std::swap(zeros[0], zeros[1]);
  for (const double s : zeros) {
    if (!(s > 1e-6 && s < 1 - 1e-6)) continue;  // also what is not a number
    found.at[found.count] = s;
    found.value[found.count++] = a + s * (slope_a + s * (c + s * d));
  }
  return found;
}

// Of a switch over time alone: at zero a comparison may already be on either branch, and what stays zero for a while is
// on neither side.
double side_of(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

}  // namespace

Events::Events(const Equations& equations, const SimulationSettings& settings, double end)
    : equations_(equations),
      work_(equations.make_workspace()),
      modes_(equations),
      end_(end),
      at_steps_(settings.events_at_steps),
      moved_(equations.initial_state()) {
  for (int i = 0; i < equations.switch_count(); ++i) {
    const SwitchInfo& info = equations.switch_info(i);
    if (!settings.locate_events && !info.timed && !info.strikes && !info.ends_mode) continue;
    watched_.push_back({i, info.timed, info.strikes, info.ends_mode});
    (info.timed ? timed_ : untimed_) = true;
  }
  side_.assign(watched_.size(), 1);
  recent_.resize(watched_.size());
  vain_.resize(static_cast<std::size_t>(equations.switch_count()));
}

double Events::resolution() const { return sharpness * end_; }

std::vector<std::string> Events::names() const {
  std::vector<std::string> names;
  for (int i = 0; i < equations_.switch_count(); ++i) names.push_back(equations_.name_of_switch(i));
  return names;
}

void Events::start(State& state, Rates& rates, AccelerationSolver& accelerations) {
  if (!any()) return;
  modes_.begin(state, rates, accelerations);
  moving_ = 1e-12 * std::min(1.0, equations_.length()) * equations_.rate(state, rates);
  look(state, rates, here_);
  const double round_off = 16 * std::numeric_limits<double>::epsilon() * equations_.reach(state.q);
  open_ = 1e-12 * equations_.length() + round_off;
  const double overlap = 1e-9 * equations_.length() + round_off;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const int which = watched_[i].which;
    const double value = here_.values[which], rate = here_.rates[which];
    if (watched_[i].strikes && value < -overlap) {
      throw Failure(
          {Severity::error, "overlap-at-start",
           equations_.name_of_switch(which) + ": its bodies overlap at the start by " + shortest(-value) + " m",
           "move one of them, or mind the direction of the plane: its z axis points out of it",
           equations_.place_of_switch(which)});
    }
    if (watched_[i].strikes)
      side_[i] = value > open_ || rate < 0 ? 1 : 0;
    else if (watched_[i].ends_mode)
      side_[i] = value > 0 ? 1 : 0;  // 0: has not set off yet
    else if (watched_[i].timed && value == 0 && rate == 0)
      side_[i] = 0;
    else
      side_[i] = (value != 0 ? value : rate) < 0 ? -1 : 1;  // on a corner: the side it is moving to
  }
}

// Rates by a difference over a time in which nothing else changes.
void Events::look(const State& state, const Rates& rates, Seen& seen) {
  const double dt = 1e-8 * end_;
  equations_.switch_values(state, seen.values, work_, false, modes_.multipliers(state));
  moved_ = state;
  moved_.t = state.t + dt;
  equations_.retract(state.q, dt * state.v, moved_.q);
  moved_.v = state.v + dt * rates.a;
  equations_.switch_values(moved_, moved_values_, work_, false, modes_.multipliers(moved_));
  seen.rates = (moved_values_ - seen.values) / dt;
}

// Whether a switch is off its side: a gap that was open is closed; one that was closed is closing further.
bool Events::changed(std::size_t i, const Seen& seen) const {
  const double value = seen.values[watched_[i].which];
  if (watched_[i].timed) return side_of(value) != side_[i];
  return side_[i] != 0 ? value * side_[i] < 0 : value < 0 && seen.rates[watched_[i].which] < 0;
}

double Events::first_change(const Integrator& integrator, double h) {
  look(integrator.trial_state(), integrator.trial_rates(), end_of_step_);
  double first = 2;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    if (watched_[i].timed) continue;
    const int which = watched_[i].which;
    const double before = first;
    if (changed(i, end_of_step_)) first = std::min(first, 1.0);
    const Extrema inside = extrema_of_cubic(start_.values[which], h * start_.rates[which], end_of_step_.values[which],
                                            h * end_of_step_.rates[which]);
    double side = side_[i];
    for (int k = 0; k < inside.count; ++k) {
      if (side == 0 && inside.value[k] > least_of(i)) side = 1;
      if (inside.value[k] * side < 0) first = std::min(first, inside.at[k]);
    }
    if (side != side_[i] && end_of_step_.values[which] < 0) first = std::min(first, 1.0);
    if (first < before) expected_ = which;
  }
  return first;
}

double Events::side_at(std::size_t i, double t) {
  moved_.t = t;
  equations_.switch_values(moved_, moved_values_, work_, true);
  return side_of(moved_values_[watched_[i].which]);
}

// Seen at so many times within the step, which a pulse that is shorter slips through.
std::optional<Events::Corner> Events::corner(std::size_t i, double t, double h) {
  constexpr int looks = 4;
  double before = t;
  for (int k = 1; k <= looks; ++k) {
    double behind = t + h * k / looks;
    if (side_at(i, behind) == side_[i]) {
      before = behind;
      continue;
    }
    for (;;) {  // to neighbouring numbers
      const double middle = 0.5 * (before + behind);
      if (!(middle > before && middle < behind)) break;
      (side_at(i, middle) == side_[i] ? before : behind) = middle;
    }
    for (int n = 0; n < 8 && side_at(i, behind) == 0; ++n) behind = std::nextafter(behind, HUGE_VAL);
    return Corner{before, behind};
  }
  return std::nullopt;
}

double Events::limit(const State& state, double h) {
  behind_ = 0;
  if (!timed_) return h;
  moved_ = state;
  double first = state.t + h;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    if (!watched_[i].timed) continue;
    const std::optional<Corner> found = corner(i, state.t, h);
    if (!found) continue;
    first = found->before;
    behind_ = found->behind;
    h = std::max(first - state.t, sharpness * end_);
  }
  if (behind_ == 0) return h;
  const bool here = first - state.t < sharpness * end_;
  if (here) first = state.t;
  // No step has room between corners that are nearer than that: they are one place.
  for (std::size_t i = 0; i < watched_.size(); ++i)
    if (watched_[i].timed)
      if (const std::optional<Corner> found = corner(i, first, sharpness * end_))
        behind_ = std::max(behind_, found->behind);
  return here ? 0 : h;
}

bool Events::passed(const Integrator& integrator, double h) {
  at_event_ = false;
  if (!untimed_) return false;
  look(integrator.state(), integrator.rates(), start_);
  return first_change(integrator, h) <= 1;
}

std::optional<double> Events::locate(const Integrator& integrator, double h, const std::function<bool(double)>& again) {
  const double enough = std::max(sharpness * end_, 4 * std::numeric_limits<double>::epsilon() * integrator.state().t);
  double first = first_change(integrator, h);
  if (at_steps_) {
    at_event_ = first == 1;
    return h;
  }
  const int expected = expected_;
  // A change that the cubic has seen inside is real if a step that ends there has it.
  while (first < 1 && h * first > enough) {
    h *= first;
    if (!again(h)) return std::nullopt;
    first = first_change(integrator, h);
  }
  if (first != 1) {
    note_in_vain(integrator.state().t, expected);
    return h;
  }
  double before = 0, behind = h;
  Vec at_before = start_.values, at_behind = end_of_step_.values;
  int half = 0;
  while (behind - before > enough) {
    // The first zero of those that changed, by the secant; now and then a halving, for what it misjudges.
    double next = 0.5 * (before + behind);
    if (half++ % 3 != 2) {
      double zero = 1;
      for (const Watched& w : watched_) {
        const double a = at_before[w.which], b = at_behind[w.which];
        if (!w.timed && a * b < 0) zero = std::min(zero, a / (a - b));
      }
      if (zero < 1) next = before + std::clamp(zero, 1e-3, 1 - 1e-3) * (behind - before);
      // From the other side of the zero, once it is known well.
      if (zero < 1 && behind - before < 1e-3 * h) next += (half % 2 == 0 ? 0.4 : -0.4) * enough;
      next = std::clamp(next, before + 0.25 * enough, behind - 0.25 * enough);
    }
    if (!again(next)) return std::nullopt;
    const bool has = first_change(integrator, next) <= 1;
    (has ? behind : before) = next;
    (has ? at_behind : at_before) = end_of_step_.values;
  }
  if (!again(behind)) return std::nullopt;
  at_event_ = true;
  behind_ = 0;
  return behind;
}

void Events::refused(const Integrator& integrator, double h) {
  if (!untimed_) return;
  look(integrator.state(), integrator.rates(), start_);
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    const int which = watched_[i].which;
    if (watched_[i].timed || !((start_.values[which] + h * start_.rates[which]) * side_[i] < 0)) continue;
    note_in_vain(integrator.state().t, which);
    return;
  }
}

void Events::note(double t, int which) {
  const auto i = static_cast<std::size_t>(
      std::find_if(watched_.begin(), watched_.end(), [which](const Watched& w) { return w.which == which; }) -
      watched_.begin());
  std::vector<double>& times = recent_[i];
  times.push_back(t);
  if (times.size() > most_recent) times.erase(times.begin());
  if (times.size() == most_recent && times.back() - times.front() < too_short * end_) chattering_ = which;
  vain_[static_cast<std::size_t>(which)] = {};
  ++count_;
}

void Events::note_in_vain(double t, int which) {
  InVain& vain = vain_[static_cast<std::size_t>(which)];
  if (vain.steps == 0 || t - vain.from > too_slow * end_) vain = {0, t};
  if (++vain.steps < most_in_vain) return;
  chattering_ = which;
  in_vain_ = true;
}

std::optional<double> Events::strike(int which, State& state, AccelerationSolver& accelerations) {
  const Equations::StrikeRow struck = equations_.strike(which, state, work_);
  const double speed = struck.row.dot(state.v);
  if (!(speed < 0)) return 0;
  Vec dv;
  if (!accelerations.impulse(state, struck.row, dv, work_)) return std::nullopt;
  const double softness = struck.row.dot(dv);
  if (!(softness > 0)) return std::nullopt;
  const double size = -(1 + struck.restitution) * speed / softness;
  state.v += size * dv;
  return size;
}

void Events::change_mode(int which, State& state, Rates& rates, AccelerationSolver& accelerations, bool jumped,
                         std::vector<Event>& events) {
  const int force = equations_.force_of_switch(which);
  const Rates* known = modes_.multipliers(state);
  if (jumped && equations_.rows_held(force, state) == 0)
    modes_.begin(force, state);
  else
    modes_.end(which, state, known != nullptr ? *known : rates);
  if (!modes_.settle(state, rates, accelerations)) chattering_ = which;
  look(state, rates, here_);
  const auto add = [&](int ended, int of) {
    for (std::size_t i = 0; i < watched_.size(); ++i)
      if (watched_[i].ends_mode && equations_.force_of_switch(watched_[i].which) == of)
        side_[i] = here_.values[watched_[i].which] > 0 ? 1 : 0;
    note(state.t, ended);
    events.push_back({state.t, ended, false, modes_.impulse(of), 0});
  };
  add(which, force);
  for (const int ended : modes_.ended())
    if (const int of = equations_.force_of_switch(ended); of != force) add(ended, of);
}

std::vector<Event> Events::handle(State& state, Rates& rates, AccelerationSolver& accelerations) {
  std::vector<Event> events;
  const bool at_corner = behind_ > 0 && std::abs(behind_ - state.t) < 2 * sharpness * end_;
  if (!at_event_ && !at_corner) {
    for (std::size_t i = 0; i < watched_.size() && untimed_; ++i)
      if (!watched_[i].timed && side_[i] == 0 && end_of_step_.values[watched_[i].which] > least_of(i)) side_[i] = 1;
    return events;
  }
  if (at_corner) {
    // Many numbers ahead, what moves in that time is moved with it: motions would be violated otherwise.
    const double dt = behind_ - state.t;
    if (dt > 16 * std::numeric_limits<double>::epsilon() * std::abs(state.t)) {
      moved_.q = state.q;
      equations_.retract(moved_.q, dt * state.v, state.q);
      state.v += dt * rates.a;
    }
    state.t = behind_;
  }
  // One impact may bring about another, as in a row of balls.
  constexpr int most_rounds = 100;
  bool jumped = false;
  for (int round = 0; round < most_rounds && chattering_ < 0; ++round) {
    look(state, rates, here_);
    bool again = false;
    for (std::size_t i = 0; i < watched_.size() && !again; ++i) {
      if (!changed(i, here_)) continue;
      const int which = watched_[i].which;
      const double side = watched_[i].timed ? side_of(here_.values[which]) : -side_[i];
      Event event{state.t, which, side > side_[i], 0};
      if (watched_[i].ends_mode) {
        change_mode(which, state, rates, accelerations, jumped, events);
        again = true;
        continue;
      }
      if (watched_[i].strikes) {
        side_[i] = 0;
        const std::optional<double> impulse = strike(which, state, accelerations);
        if (!impulse) chattering_ = which;
        if (!impulse || *impulse == 0) continue;
        event.impulse = *impulse;
        again = jumped = true;  // the others see the new velocities
      } else {
        side_[i] = side;
      }
      note(state.t, which);
      events.push_back(event);
    }
    if (!again) break;
  }
  if (at_event_ && events.empty()) note_in_vain(state.t, expected_);  // the accepted state lies before it after all
  for (Event& event : events)
    if (event.mode >= 0) event.mode = equations_.mode(equations_.force_of_switch(event.which), state);
  at_event_ = false;
  behind_ = 0;
  equations_.accept(state, work_);  // angles remember their rates too
  accelerations.solve(state, rates, work_);
  return events;
}

void Events::visit(Archive& archive) { archive(side_, recent_, chattering_, in_vain_, vain_, count_, modes_); }

}  // namespace trammel
