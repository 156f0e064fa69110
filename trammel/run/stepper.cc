#include "trammel/run/stepper.h"

#include <algorithm>
#include <cmath>

namespace trammel {
namespace {

// A list of near pairs shall last for so many steps as the one at hand: 14 s of an excavator's track with 630 pairs
// have 329 pairs in the mean with 40 of them, 134 with 12. Its margin is not below a share of the length scale, or what
// hardly moves would ask for a list again and again.
constexpr double steps_of_list = 12, least_margin = 1e-6;
// A step that went further than was expected of it is tried again with a list made for it, so often.
constexpr int most_lists = 3;

StepRule::Options rule_options(const SimulationSettings& simulation, const MethodSettings& settings) {
  StepRule::Options rule;
  const auto option = [&](const char* key, double otherwise) {
    return settings.options.has(key) ? settings.options.number(key) : otherwise;
  };
  rule.controller.gain = option("step_gain", 1);
  rule.controller.safety = option("safety", rule.controller.safety);
  rule.controller.least_shrink = option("least_factor", rule.controller.least_shrink);
  rule.controller.greatest_growth = option("greatest_factor", rule.controller.greatest_growth);
  rule.fixed = settings.fixed_step;
  rule.greatest = simulation.greatest_step.value_or(simulation.end);
  return rule;
}

}  // namespace

Stepper::Stepper(Equations& equations, const MethodSettings& settings, Integrator& integrator,
                 AccelerationSolver& accelerations, Events& events)
    : equations_(equations),
      tolerance_(settings.tolerance),
      integrator_(integrator),
      accelerations_(accelerations),
      events_(events),
      contacts_(equations, settings.tolerance),
      work_(equations.make_workspace()),
      state_behind_(integrator.state()),
      rates_behind_(integrator.rates()) {
  const SimulationSettings& s = equations.model().simulation;
  const double h = s.step         ? *s.step
                   : s.first_step ? *s.first_step
                                  : careful_step(integrator.state(), integrator.rates());
  rule_ = StepRule(rule_options(s, settings), std::min(h, s.greatest_step.value_or(h)));
}

// A step over which the accelerations move things by a small part of what the tolerance would allow in cubic growth;
// the controller corrects it within a few steps.
double Stepper::careful_step(const State& state, const Rates& rates) const {
  const double end = equations_.model().simulation.end, small = std::cbrt(tolerance_);
  const Vec scales = equations_.scales();
  const double a = rates.a.size() > 0 ? rates.a.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() : 0;
  const double v = state.v.size() > 0 ? state.v.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() : 0;
  double h = 1e-3 * end;
  if (a > 0) h = std::min(h, 0.1 * small / std::sqrt(a));
  if (v > 0) h = std::min(h, 0.1 * small / v);
  return std::max(h, 1e-9 * end);
}

double Stepper::plan(double end) {
  left_ = end - t();
  const double wanted = rule_.choose(left_);
  size_ = limit_by_contacts(wanted);
  if (equations_.lists_pairs() && follow_pairs(size_)) size_ = limit_by_contacts(size_);
  if (events_.any()) size_ = events_.limit(integrator_.state(), size_);
  if (size_ < wanted) rule_.cut();
  return size_;
}

double Stepper::limit_by_contacts(double h) {
  return rule_.fixed() || !contacts_.any() ? h : contacts_.limit(integrator_.state(), integrator_.rates(), h, work_);
}

// Before a step: pairs that may come to touch in it are in the list.
bool Stepper::follow_pairs(double h) {
  const double next = equations_.approach_within(h, integrator_.state(), integrator_.rates(), work_);
  if (equations_.approached(integrator_.state(), work_) + next <= equations_.pair_list().margin) return false;
  list_pairs(std::max(steps_of_list * next, least_margin * equations_.length()));
  return true;
}

// Behind it: none was missing. Otherwise the list is made for where it went.
bool Stepper::list_holds() {
  if (!equations_.lists_pairs()) return true;
  if (equations_.approached(integrator_.trial_state(), work_) <= equations_.pair_list().margin) return true;
  list_pairs(0);
  list_pairs(2 * equations_.approached(integrator_.trial_state(), work_));
  return false;
}

void Stepper::list_pairs(double margin) {
  equations_.list_pairs(integrator_.state().q, margin);
  ++pair_lists_;
}

bool Stepper::try_step(double h) {
  for (int lists = 0;; ++lists) {
    attempt_ = integrator_.attempt(h);
    const bool good = rule_.good(attempt_);
    if (!good || list_holds()) return good;
    if (lists == most_lists) {
      attempt_.verdict = Verdict::evaluation_rejected;
      return false;
    }
  }
}

bool Stepper::attempt() {
  const auto good = [this](double h) { return try_step(h); };
  if (!good(size_)) return false;
  if (!events_.any() || !events_.passed(integrator_, size_)) return true;
  const std::optional<double> found = events_.locate(integrator_, size_, good);
  if (!found) return false;
  if (*found < size_) rule_.cut();
  size_ = *found;
  return true;
}

void Stepper::accept() {
  integrator_.accept();
  rule_.accepted(size_, attempt_, integrator_.error_order());
}

void Stepper::refuse() {
  rule_.refused(size_, attempt_, integrator_.error_order());
  events_.refused(integrator_, size_);
}

void Stepper::distrust() { rule_.distrusted(size_); }

const std::vector<Event>& Stepper::events_here() {
  here_.clear();
  if (!events_.any()) return here_;
  state_behind_ = integrator_.state();
  rates_behind_ = integrator_.rates();
  here_ = events_.handle(state_behind_, rates_behind_, accelerations_);
  return here_;
}

void Stepper::go_behind_events() {
  if (std::any_of(here_.begin(), here_.end(), [](const Event& event) { return event.mode >= 0; })) integrator_.forget();
  restart(state_behind_, rates_behind_);
}

void Stepper::restart(const State& state, const Rates& rates) {
  integrator_.start(state, rates);
  rule_.shrink_to(careful_step(state, rates));
}

void Stepper::visit(Archive& archive) {
  archive(rule_, contacts_, pair_lists_);
  if (events_.any()) archive(events_);
}

}  // namespace trammel
