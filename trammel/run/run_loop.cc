#include "trammel/run/run_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "trammel/base/interruption.h"
#include "trammel/run/output_step.h"

namespace trammel {
namespace {

// A run that moves by less than a billionth of its end in so many attempts would need more than 1e13 of them.
constexpr long patience = 50000;
// So often within so many steps: the run goes around a place that it cannot pass.
constexpr long most_unexplained = 5, calm = 100;
// A list of near pairs shall last for so many steps as the one at hand: 14 s of an excavator's track with 630 pairs
// took 10.7 s with 40 of them (329 pairs in the mean), 6.1 s with 12 (134). Its margin is not below a share of the
// length scale, or what hardly moves would ask for a list again and again.
constexpr double steps_of_list = 12, least_margin = 1e-6;
// A step that went further than was expected of it is tried again with a list made for it, so often.
constexpr int most_lists = 3;

}  // namespace

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Simulation::Loop::Loop(Simulation& simulation, TrajectorySink& sink, const RunOptions& options)
    : s_(simulation), sink_(sink), options_(options), clock_start_(clock_seconds()) {}

RunResult Simulation::Loop::run() {
  begin();
  const long most = options_.leg ? options_.leg->most_steps : 0;
  while (!over_ && t_ < stop_ && (most == 0 || s_.progress_.steps - steps_before_ < most)) step();
  finish();
  return std::move(result_);
}

void Simulation::Loop::begin() {
  s_.start(options_);
  settings_ = &s_.equations_->model().simulation;
  end_ = settings_->end;
  least_ = settings_->least_step.value_or(0);
  greatest_ = settings_->greatest_step.value_or(end_);
  fixed_ = s_.settings_.fixed_step;
  own_step_ = s_.h_;
  no_outputs_ = options_.leg && options_.leg->no_outputs;
  stop_ = options_.leg ? std::min(end_, options_.leg->until.value_or(end_)) : end_;
  if (fixed_ && options_.leg && options_.leg->step) s_.h_ = *options_.leg->step;
  steps_before_ = s_.progress_.steps;
  Progress& progress = s_.progress_;
  s_.limited_.resize(s_.equations_->sizes().nv, 0.0);
  s_.record_start();
  if (options_.continue_result) {
    std::vector<std::uint64_t> rows{static_cast<std::uint64_t>(progress.outputs),
                                    static_cast<std::uint64_t>(progress.steps)};
    if (s_.events_->any()) rows.push_back(static_cast<std::uint64_t>(s_.events_->count()));
    sink_.resume(s_.recorder_->tables(), rows);
  } else {
    sink_.begin(s_.recorder_->tables(), s_.provenance());
  }
  clock_first_ = last_progress_ = clock_seconds();
  t_ = watched_t_ = s_.integrator_->state().t;
  if (progress.outputs == 0 || no_outputs_) {
    if (s_.integrator_->counts().steps == 0 && !no_outputs_) s_.write_output(t_, sink_);
    pass_outputs();
  }
  output_seconds_ = clock_seconds() - clock_first_;
  progress.times.start += clock_first_ - clock_start_;
  s_.last_checkpoint_ = {t_, clock_first_, progress.steps};
  if (!options_.real_time) return;
  const auto steps = static_cast<std::size_t>(std::clamp((end_ - t_) / s_.h_ + 16, 16.0, 1e7));
  if (options_.path != nullptr) options_.path->reserve(steps, static_cast<std::size_t>(s_.equations_->sizes().nq));
  clock_.begin(t_, s_.h_, steps);
}

void Simulation::Loop::step() {
  if (options_.interrupted != nullptr && *options_.interrupted) {
    result_.status = RunStatus::interrupted;
    if (options_.checkpoint.write && rejected_here_ == 0) s_.write_checkpoint(options_.checkpoint, sink_);
    over_ = true;
    return;
  }
  if (options_.steer && rejected_here_ == 0) take_orders();
  if (over_) return;
  Integrator& integrator = *s_.integrator_;
  // The last step ends at the end; a sliver behind it would be round-off.
  const double wanted = std::min({s_.h_, greatest_, fixed_ ? s_.h_ : longest_});
  double h = StepController::within(t_, wanted, stop_);
  uncut_ = stop_ < end_ && h < wanted ? wanted : 0;
  if (!fixed_ && s_.contacts_->any()) h = s_.contacts_->limit(integrator.state(), integrator.rates(), h, s_.work_);
  if (s_.events_->any()) h = s_.events_->limit(integrator.state(), h);
  if (h == 0) {
    if (!handle_events()) give_up(StopReason::time_stalled, wanted);
    if (!over_ && s_.events_->chattering() >= 0) give_up(StopReason::chatter, wanted);
    return;
  }
  if (s_.output_step_ && !no_outputs_ && rejected_here_ == 0 &&
      static_cast<double>(s_.progress_.next_output) * *settings_->output_step < t_ + h * (1 - 1e-9))
    s_.output_step_->note_start(integrator);
  if (options_.real_time) clock_.step_starts();
  if (s_.equations_->lists_pairs()) follow_pairs(h);
  h = try_and_locate(h);
  const bool accepted =
      passed_ && s_.energy_guard_->explains(integrator.state(), integrator.rates(), integrator.trial_state(),
                                            integrator.trial_rates(), s_.recorder_->energy());
  s_.log_.add({integrator.state().t, h, attempt_.error, attempt_.newton_rate, attempt_.verdict,
               attempt_.newton_iterations, attempt_.worst_velocity, attempt_.worst_row, accepted});
  ++attempts_;
  if (accepted)
    keep(h);
  else
    refuse(h);
}

void Simulation::Loop::take_orders() {
  const Orders orders = options_.steer(s_.integrator_->state());
  if (options_.real_time) clock_.postpone(orders.waited);
  longest_ = orders.longest_step;
  if (!orders.inputs.empty()) change_inputs(orders.inputs);
  if (!orders.stop) return;
  result_.status = RunStatus::interrupted;
  over_ = true;
}

void Simulation::Loop::change_inputs(std::span<const std::pair<int, double>> inputs) {
  State state = s_.integrator_->state();
  for (const auto& [input, value] : inputs) state.u[input] = value;
  try {
    s_.change_state(std::move(state), false);
  } catch (const Failure&) {
    if (options_.inputs_refused) options_.inputs_refused(t_);
    if (options_.note) options_.note("inputs are left as they were: the mechanism has no accelerations with these");
  }
}

bool Simulation::Loop::try_step(double h) {
  for (int lists = 0;; ++lists) {
    attempt_ = s_.integrator_->attempt(h);
    const bool passed = attempt_.verdict == Verdict::ok && (fixed_ || attempt_.error <= 1);
    if (!passed || list_holds()) return passed;
    if (lists == most_lists) {
      attempt_.verdict = Verdict::evaluation_rejected;
      return false;
    }
  }
}

// Before a step: pairs that may come to touch in it are in the list.
void Simulation::Loop::follow_pairs(double h) {
  const Integrator& integrator = *s_.integrator_;
  const Equations& equations = *s_.equations_;
  const double next = equations.approach_within(h, integrator.state(), integrator.rates(), s_.work_);
  if (equations.approached(integrator.state(), s_.work_) + next <= equations.pair_list().margin) return;
  s_.list_pairs(integrator.state(), std::max(steps_of_list * next, least_margin * equations.length()));
}

// Behind it: none was missing. Otherwise the list is made for where it went.
bool Simulation::Loop::list_holds() {
  const Equations& equations = *s_.equations_;
  if (!equations.lists_pairs()) return true;
  const Integrator& integrator = *s_.integrator_;
  if (equations.approached(integrator.trial_state(), s_.work_) <= equations.pair_list().margin) return true;
  s_.list_pairs(integrator.state(), 0);
  s_.list_pairs(integrator.state(), 2 * equations.approached(integrator.trial_state(), s_.work_));
  return false;
}

double Simulation::Loop::try_and_locate(double h) {
  passed_ = try_step(h);
  if (!passed_ || !s_.events_->any() || !s_.events_->passed(*s_.integrator_, h)) return h;
  const std::optional<double> found =
      s_.events_->locate(*s_.integrator_, h, [this](double size) { return try_step(size); });
  passed_ = found.has_value();
  return found.value_or(h);
}

void Simulation::Loop::keep(double h) {
  Integrator& integrator = *s_.integrator_;
  // In the sum over many steps, what one of them may leave does not grow with its shortness.
  const double noise = s_.energy_guard_->noise_of(h, integrator.state(), integrator.rates()),
               noise_of_sum = s_.energy_guard_->noise_of(end_, integrator.state(), integrator.rates());
  integrator.accept();
  if (options_.real_time) clock_.step_ends();
  if (options_.path != nullptr) {
    options_.path->t.push_back(integrator.state().t);
    const Vec& q = integrator.state().q;
    options_.path->q.insert(options_.path->q.end(), q.data(), q.data() + q.size());
  }
  const double before_step = t_;
  t_ = integrator.state().t;
  if (std::abs(stop_ - t_) < 1e-12 * end_) t_ = stop_;
  count(h);
  if (!fixed_) s_.h_ = s_.controller_.next(h, attempt_, true, integrator.error_order());
  const double output_began = clock_seconds();
  const bool explained = book(before_step, noise);
  record(h);
  if (over_) return;
  rejected_here_ = 0;
  culprit_.reset();
  judge(h, before_step, explained, noise_of_sum);
  if (over_) return;
  if (s_.checkpoint_due(options_.checkpoint, output_began)) s_.write_checkpoint(options_.checkpoint, sink_);
  report_progress(output_began);
}

void Simulation::Loop::count(double h) {
  Progress& progress = s_.progress_;
  ++progress.steps;
  progress.reach = std::max(progress.reach, s_.equations_->reach(s_.integrator_->state().q));
  progress.least_step = progress.steps == 1 ? h : std::min(progress.least_step, h);
  progress.greatest_step = std::max(progress.greatest_step, h);
  progress.pair_steps += s_.equations_->pairs_in_play();
  progress.most_pairs = std::max(progress.most_pairs, s_.equations_->pairs_in_play());
  if (attempt_.worst_velocity >= 0) s_.limited_[attempt_.worst_velocity] += 1;
}

// Energy and constraints of the step; false: its energies do not add up.
bool Simulation::Loop::book(double before_step, double noise) {
  Integrator& integrator = *s_.integrator_;
  const bool booked = s_.recorder_->needs_middle();
  if (booked) integrator.interpolate_cheaply(0.5 * (before_step + integrator.state().t), s_.output_state_);
  const EnergyBook before = s_.recorder_->energy();
  s_.recorder_->note_step(integrator.state(), s_.rates_to_book(), booked ? &s_.output_state_ : nullptr);
  const bool explained = s_.energy_guard_->explains(before, s_.recorder_->energy(), noise);
  s_.constraints_->look(before_step, integrator.state(), without_multipliers_, s_.work_);
  s_.stress_->look(integrator.state());
  if (s_.progress_.energy_doubted < 0 && s_.energy_in_doubt(t_)) {
    s_.progress_.energy_doubted = t_;
    if (options_.note) options_.note(to_text(s_.energy_warning()));
  }
  return explained;
}

void Simulation::Loop::record(double h) {
  const Recorder::Step step{t_, h, attempt_.error, attempt_.newton_iterations, static_cast<int>(rejected_here_)};
  s_.write_row(sink_, 1, s_.recorder_->step_row(step));
  if (no_outputs_)
    pass_outputs();
  else
    s_.write_outputs_of_step(t_, h, sink_);
  // Asked to stop among many outputs of one step: without those that are missing there is no checkpoint.
  if (settings_->output_step && interruption_asked() &&
      static_cast<double>(s_.progress_.next_output) * *settings_->output_step < t_) {
    result_.status = RunStatus::interrupted;
    over_ = true;
  }
}

// The next output is the first one behind t.
void Simulation::Loop::pass_outputs() {
  const double grid = settings_->output_step.value_or(0);
  s_.progress_.next_output = grid > 0 ? static_cast<long>(std::floor(t_ / grid + 1e-9)) + 1 : 0;
}

// Whether the run may go on behind a step that was kept.
void Simulation::Loop::judge(double h, double before_step, bool explained, double noise_of_sum) {
  Progress& progress = s_.progress_;
  if (progress.steps - progress.last_unexplained > calm) progress.unexplained = 0;
  if (s_.constraints_->gave_way() || (t_ >= end_ && s_.constraints_->beyond() && !s_.constraints_->soft())) {
    violation_ = s_.constraints_->now();
    return give_up(StopReason::constraints_violated, h);
  }
  energy_.reset();
  if (!explained || s_.energy_guard_->beyond_belief(s_.recorder_->energy(), noise_of_sum))
    accuse(s_.recorder_->before_worst_step(), s_.recorder_->after_worst_step());
  if (progress.unexplained > most_unexplained) return give_up(StopReason::energy_unexplained, h);
  if (s_.events_->any()) handle_events();
  if (s_.events_->chattering() >= 0) return give_up(StopReason::chatter, h);
  if (t_ - watched_t_ > 1e-9 * end_) {
    watched_t_ = t_;
    watched_from_ = attempts_;
  }
  if (!(t_ > before_step) || attempts_ - watched_from_ > patience) give_up(StopReason::time_stalled, h);
}

// If the step ended at an event, the method starts anew behind it; false: it did not.
bool Simulation::Loop::handle_events() {
  State state = s_.integrator_->state();
  Rates rates = s_.integrator_->rates();
  const std::vector<Event> events = s_.events_->handle(state, rates, *s_.accelerations_);
  if (events.empty()) return false;
  if (!no_outputs_) s_.write_outputs_until(state.t, sink_);
  if (std::any_of(events.begin(), events.end(), [](const Event& event) { return event.mode >= 0; }))
    s_.integrator_->forget();
  s_.integrator_->start(state, rates);
  s_.recorder_->note_jump(state, rates);
  for (const Event& event : events)
    s_.write_row(sink_, 2, s_.recorder_->event_row(event.t, event.which, event.rises, event.impulse, event.mode));
  if (!fixed_) s_.h_ = std::min(s_.h_, s_.careful_step(state, rates));
  t_ = state.t;
  if (std::abs(stop_ - t_) < 1e-12 * end_) t_ = stop_;
  return true;
}

void Simulation::Loop::report_progress(double output_began) {
  const double now = clock_seconds();
  output_seconds_ += now - output_began;
  if (options_.real_time) clock_.wait_until(t_);
  if (!options_.progress || now - last_progress_ <= 0.2) return;
  options_.progress(t_, end_, s_.progress_.steps);
  last_progress_ = now;
}

void Simulation::Loop::refuse(double h) {
  Integrator& integrator = *s_.integrator_;
  Progress& progress = s_.progress_;
  ++rejected_here_;
  if (passed_) {
    ++progress.rejected_energy;
    accuse(integrator.state(), integrator.trial_state());
    s_.h_ = s_.controller_.after_failure(h);
  } else {
    switch (attempt_.verdict) {
      case Verdict::ok: ++progress.rejected_error; break;
      case Verdict::angle_too_large: ++progress.rejected_angle; break;
      case Verdict::newton_diverged: ++progress.rejected_newton; break;
      default: ++progress.rejected_evaluation;
    }
    if (!culprit_ && (attempt_.verdict == Verdict::not_finite || attempt_.verdict == Verdict::evaluation_rejected))
      culprit_ = find_culprit(*s_.equations_, integrator.trial_state(), integrator.trial_rates(), s_.work_);
    s_.h_ = s_.controller_.next(h, attempt_, false, integrator.error_order());
    s_.events_->refused(integrator, h);
    if (s_.events_->chattering() >= 0) return give_up(StopReason::chatter, h);
  }
  const double round_off = 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t_), end_);
  const bool in_vain = progress.unexplained > most_unexplained;
  if (!fixed_ && !in_vain && s_.h_ >= std::max(least_, round_off)) return;
  give_up(fixed_              ? StopReason::attempt_failed
          : in_vain           ? StopReason::energy_unexplained
          : s_.h_ < round_off ? StopReason::step_at_round_off
                              : StopReason::step_below_least,
          h);
}

void Simulation::Loop::accuse(const State& from, const State& to) {
  ++s_.progress_.unexplained;
  s_.progress_.last_unexplained = s_.progress_.steps;
  energy_ = s_.energy_guard_->blame(from, to);
  if (energy_->by_force)
    suspect_ = energy_->part;
  else if (!suspect_.empty())
    energy_->part = suspect_;
}

void Simulation::Loop::give_up(StopReason reason, double h) {
  over_ = true;
  result_.status = RunStatus::failed;
  try {
    if (options_.save_failed) last_good_ = s_.save();  // questions may ask the integrator for more attempts
  } catch (const Failure&) {                           // a method whose state cannot be saved: nothing is
    last_good_.clear();
  }
  result_.failure = diagnose({*s_.equations_, *s_.integrator_, *s_.accelerations_, s_.settings_, s_.initial_, s_.log_,
                              reason, attempt_, h, least_, culprit_, violation_, energy_, s_.events_->chattering(),
                              s_.events_->chatters_in_vain()});
}

void Simulation::Loop::finish() {
  if (fixed_ && options_.leg) s_.h_ = own_step_;
  if (!fixed_ && rejected_here_ == 0) s_.h_ = std::max(s_.h_, uncut_);
  s_.progress_.times.output += output_seconds_;
  s_.progress_.times.steps += clock_seconds() - clock_first_ - output_seconds_;
  s_.describe_run(result_.summary);
  if (options_.real_time) result_.summary.real_time = clock_.report();
  result_.summary.reached = t_;
  if (s_.energy_in_doubt(t_)) result_.warnings.push_back(s_.energy_warning());
  if (s_.constraints_->ever_beyond() && !violation_) result_.warnings.push_back(s_.constraint_warning());
  s_.doubt_coordinates(result_);
  if (const auto doubt = s_.contacts_->doubt(*s_.method_)) result_.warnings.push_back(*doubt);
  if (result_.failure && !last_good_.empty()) result_.failure->state_file = options_.save_failed(last_good_);
  sink_.finish(result_.status, to_json(result_.summary), result_.failure ? to_json(*result_.failure) : "");
}

}  // namespace trammel
