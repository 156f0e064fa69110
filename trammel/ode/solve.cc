#include "trammel/ode/solve.h"

#include <limits>

#include "trammel/base/numbers.h"
#include "trammel/ode/control/error_norm.h"

namespace trammel {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

[[noreturn]] void refuse_call(const std::string& message, const std::string& hint) {
  throw Failure({Severity::error, "bad-solve-call", message, hint, {}}, ExitCode::bad_usage);
}

void check_call(const Vec& y0, int size, double t0, double end, const SolveOptions& o) {
  if (y0.size() != size) {
    refuse_call("the start has " + std::to_string(y0.size()) + " values, the problem " + std::to_string(size),
                "give one start value for each unknown");
  }
  if (!y0.allFinite()) refuse_call("a start value is infinite or not a number", "");
  if (!std::isfinite(t0) || !std::isfinite(end)) refuse_call("start or end time is not finite", "");
  if (!(o.tolerance >= 10 * eps && o.tolerance < 1)) {
    refuse_call("the tolerance is " + digits(o.tolerance), "valid are 2.3e-15 to 1, usual 1e-3 to 1e-12");
  }
  if (o.step && !(std::abs(*o.step) > 0 && std::isfinite(*o.step))) {
    refuse_call("the fixed step is " + digits(*o.step), "give a positive one");
  }
  const double sign = end >= t0 ? 1 : -1;
  double before = t0;
  for (const double t : o.output_times) {
    if (!(sign * (t - before) >= 0 && sign * (end - t) >= 0)) {
      refuse_call("the output time " + digits(t) + " is out of order or outside of the run",
                  "output times go from start to end without turning back");
    }
    before = t;
  }
}

OdeSettings settings_for(const OdeMethodInfo& method, const SolveOptions& o) {
  OdeSettings settings;
  settings.fixed_step = o.step.has_value();
  settings.tolerance = o.tolerance;
  settings.options = o.options;
  return resolve_settings(method, settings, {});
}

[[noreturn]] void refuse_kind(const OdeMethodInfo& method, const char* kind) {
  std::string can;
  for (const OdeMethodInfo& m : ode_method_registry()) {
    const bool able = std::string_view(kind) == "F(t, y, y') = 0" ? static_cast<bool>(m.make_implicit)
                                                                  : static_cast<bool>(m.make_first_order);
    if (able) can += (can.empty() ? "" : ", ") + m.key;
  }
  refuse_call("method '" + method.key + "' does not integrate " + kind, "methods that do: " + can);
}

// A step over which y' moves the state by a tenth of what an estimate of h^order would let pass; steps grow soon.
double choose_first_step(const OdeMethod& method, const Vec& scales, const SolveOptions& o, double span) {
  int unused = 0;
  const double speed = error_norm(method.dydt(), scales, 1, unused);
  const double part = 0.1 * std::pow(o.tolerance, 1.0 / std::max(2, method.error_order()));
  return speed > 0 ? std::min(part / speed, 0.1 * span) : 0.01 * part * span;
}

std::string causes(const OdeMethod& method, const Attempt& last) {
  std::string text;
  if (last.verdict == Verdict::evaluation_rejected) text += "the right side could not be evaluated";
  if (last.verdict == Verdict::not_finite) text += "the right side is infinite or not a number";
  if (last.verdict == Verdict::newton_diverged) text += "the corrector did not converge";
  if (last.verdict == Verdict::singular_matrix) text += "the matrix of the corrector is singular";
  if (last.verdict == Verdict::ok) {
    text += "the error estimate stays too large";
    if (last.worst_velocity >= 0) text += ", most of it in component " + std::to_string(last.worst_velocity);
  }
  if (method.stiff_steps() > 0) text += "; the problem looks stiff: take an implicit method";
  return text;
}

// The steps from t0 to the end, and what is known of them.
class SolveRun {
 public:
  SolveRun(OdeMethod& method, double t0, double end, const SolveOptions& o)
      : method_(method), o_(o), t0_(t0), end_(end), span_(std::abs(end - t0)), sign_(end >= t0 ? 1 : -1) {}
  SolveStatus run(const Vec& y0, const Vec& scales);
  SolveResult finish(SolveStatus status);

 private:
  double choose_first_size(const Vec& scales) const;
  double greatest_size() const { return o_.greatest_step > 0 ? o_.greatest_step : span_; }
  // Times closer than this to the end are the end.
  double there() const { return 8 * eps * std::max({std::abs(t0_), std::abs(end_), span_}); }
  void accept(double size, bool to_the_end);
  void put_out(double t, const Vec& y);
  void put_out_step();

  OdeMethod& method_;
  const SolveOptions& o_;
  const double t0_, end_, span_, sign_;
  SolveResult result_;
  Attempt last_;
  std::size_t next_output_ = 0;
  Vec at_output_;
};

double SolveRun::choose_first_size(const Vec& scales) const {
  if (o_.step) return std::abs(*o_.step);
  const double size = o_.first_step > 0 ? o_.first_step : choose_first_step(method_, scales, o_, span_);
  return std::min(size, greatest_size());
}

void SolveRun::put_out(double t, const Vec& y) {
  result_.times.push_back(t);
  result_.outputs.push_back(y);
  ++next_output_;
}

// The outputs that lie in the accepted step.
void SolveRun::put_out_step() {
  while (next_output_ < o_.output_times.size()) {
    const double t = o_.output_times[next_output_];
    if (sign_ * (t - result_.t) > 0) break;
    if (t == result_.t) {
      put_out(t, method_.y());
    } else {
      method_.interpolate(t, at_output_);
      put_out(t, at_output_);
    }
  }
}

void SolveRun::accept(double size, bool to_the_end) {
  method_.accept();
  ++result_.steps;
  result_.least_step = result_.steps == 1 ? size : std::min(result_.least_step, size);
  result_.greatest_step = std::max(result_.greatest_step, size);
  result_.t = to_the_end || std::abs(end_ - method_.t()) <= there() ? end_ : method_.t();
}

SolveStatus SolveRun::run(const Vec& y0, const Vec& scales) {
  method_.start(t0_, y0);
  result_.t = t0_;
  if (!method_.dydt().allFinite()) {
    last_.verdict = Verdict::evaluation_rejected;
    return SolveStatus::bad_start;
  }
  while (next_output_ < o_.output_times.size() && o_.output_times[next_output_] == t0_) put_out(t0_, y0);

  StepRule rule({.controller = o_.controller,
                 .fixed = o_.step.has_value(),
                 .greatest = o_.step ? std::numeric_limits<double>::max() : greatest_size(),
                 .stretch = o_.step ? 1e-9 : o_.last_step_stretch},
                choose_first_size(scales));
  long attempts = 0;
  while (std::abs(end_ - result_.t) > 0) {
    const double left = std::abs(end_ - result_.t), size = rule.choose(left);
    if (attempts++ >= o_.most_attempts) return SolveStatus::too_many_attempts;
    last_ = method_.attempt(sign_ * size);
    if (last_.verdict == Verdict::ok && !std::isfinite(last_.error)) last_.verdict = Verdict::not_finite;
    if (!rule.good(last_)) {
      ++(last_.verdict == Verdict::ok ? result_.rejected : result_.failed);
      if (o_.step) return SolveStatus::fixed_step_failed;
      rule.refused(size, last_, method_.error_order());
      const double h = rule.next();
      if (!(h > 4 * eps * std::abs(result_.t)) || !(h > 1e-300) || h < 1e-14 * there())
        return SolveStatus::step_too_small;
      continue;
    }
    accept(size, size == left);
    put_out_step();
    rule.accepted(size, last_, method_.error_order());
    if (o_.after_step && !o_.after_step(method_)) return SolveStatus::stopped;
  }
  return SolveStatus::finished;
}

SolveResult SolveRun::finish(SolveStatus status) {
  SolveResult result = std::move(result_);
  result.status = status;
  result.y = method_.y();
  result.dydt = method_.dydt();
  result.counts = method_.counts();
  result.stiff_steps = method_.stiff_steps();
  const std::span<const long> orders = method_.steps_by_order();
  result.steps_by_order.assign(orders.begin(), orders.end());
  if (status == SolveStatus::finished) {
    if (result.stiff_steps > 0) {
      result.message = "stability limited " + std::to_string(result.stiff_steps) + " of " +
                       std::to_string(result.steps) +
                       " steps: the problem looks stiff, an implicit method would take fewer";
    }
  } else if (status != SolveStatus::stopped) {
    result.message = std::string(to_text(status)) + " at t = " + digits(result.t) + ": " + causes(method_, last_);
  }
  return result;
}

}  // namespace

const char* to_text(SolveStatus status) {
  switch (status) {
    case SolveStatus::finished: return "finished";
    case SolveStatus::stopped: return "stopped";
    case SolveStatus::bad_start: return "the right side cannot be evaluated at the start";
    case SolveStatus::step_too_small: return "the step size fell below round-off";
    case SolveStatus::too_many_attempts: return "too many steps";
    case SolveStatus::fixed_step_failed: return "a step of the given size cannot be taken";
  }
  return "";
}

SolveOptions SolveOptions::like_ode45(double span, double tolerance) {
  SolveOptions o;
  o.tolerance = tolerance;
  o.greatest_step = 0.1 * std::abs(span);
  o.last_step_stretch = 0.1;
  o.options.set("ode45", true);
  return o;
}

SolveResult solve(OdeMethod& method, double t0, const Vec& y0, double end, const Vec& scales, const SolveOptions& o) {
  check_call(y0, static_cast<int>(scales.size()), t0, end, o);
  SolveRun run(method, t0, end, o);
  const SolveStatus status = run.run(y0, scales);
  return run.finish(status);
}

SolveResult solve(FirstOrderProblem& problem, std::string_view key, double t0, const Vec& y0, double end,
                  const SolveOptions& o) {
  const OdeMethodInfo& info = find_ode_method(key, {});
  if (!info.make_first_order) refuse_kind(info, "y' = f(t, y)");
  check_call(y0, problem.size(), t0, end, o);
  const std::unique_ptr<OdeMethod> method = info.make_first_order(problem, settings_for(info, o));
  Vec scales(problem.size());
  problem.error_scales(y0, y0, scales);
  return solve(*method, t0, y0, end, scales, o);
}

SolveResult solve(SecondOrderProblem& problem, std::string_view key, double t0, const Vec& y0, double end,
                  const SolveOptions& o) {
  const OdeMethodInfo& info = find_ode_method(key, {});
  if (!info.make_second_order) return solve(static_cast<FirstOrderProblem&>(problem), key, t0, y0, end, o);
  check_call(y0, problem.size(), t0, end, o);
  const std::unique_ptr<OdeMethod> method = info.make_second_order(problem, settings_for(info, o));
  Vec scales(problem.size());
  problem.error_scales(y0, y0, scales);
  return solve(*method, t0, y0, end, scales, o);
}

SolveResult solve(ImplicitProblem& problem, std::string_view key, double t0, const Vec& y0, double end,
                  const SolveOptions& o) {
  const OdeMethodInfo& info = find_ode_method(key, {});
  if (!info.make_implicit) refuse_kind(info, "F(t, y, y') = 0");
  check_call(y0, problem.size(), t0, end, o);
  const std::unique_ptr<OdeMethod> method = info.make_implicit(problem, settings_for(info, o));
  Vec scales(problem.size());
  problem.error_scales(y0, y0, scales);
  return solve(*method, t0, y0, end, scales, o);
}

}  // namespace trammel
