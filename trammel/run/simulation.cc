#include "trammel/run/simulation.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>

#include "trammel/analyse/statics.h"
#include "trammel/check/check_model.h"
#include "trammel/write/sha256.h"

namespace trammel {
namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

Simulation::Simulation(Model model) {
  for (const Problem& problem : check_model(model)) {
    if (problem.severity == Severity::error) throw Failure(problem);
  }
  equations_ = std::make_unique<Equations>(std::move(model));
  const Model& m = equations_->model();
  method_ = &find_method(m.simulation.method, m.simulation.where);
  settings_.fixed_step = m.simulation.step.has_value();
  settings_.tolerance = m.simulation.tolerance.value_or(settings_.fixed_step ? 1e-3 : 1e-5);
  settings_.options = m.simulation.options;
  settings_ = resolve_settings(*method_, settings_, m.simulation.where);
  work_ = equations_->make_workspace();
}

Simulation::~Simulation() = default;

Provenance Simulation::provenance() const {
  const Model& m = equations_->model();
  Provenance p;
  p.set("program", "trammel");
  p.set("version", TRAMMEL_VERSION);
  p.set("title", m.title);
  p.set("model_file", m.file);
  p.set("model_sha256", sha256_hex(m.text));
  p.set("method", method_->key);
  p.set("formulation", method_->formulation);
  if (settings_.fixed_step)
    p.set("step", number(*m.simulation.step));
  else
    p.set("tolerance", number(settings_.tolerance));
  for (const auto& option : settings_.options.all()) {
    if (const double* value = std::get_if<double>(&option.second)) p.set("option." + option.first, number(*value));
    if (const bool* value = std::get_if<bool>(&option.second))
      p.set("option." + option.first, *value ? "true" : "false");
  }
  for (const Parameter& parameter : m.parameters) p.set("parameter." + parameter.name, number(parameter.value));
  p.set("length_scale", number(equations_->length()));
  p.set("date", utc_date());
  return p;
}

double Simulation::first_step() const {
  const auto& s = equations_->model().simulation;
  if (s.step) return *s.step;
  if (s.first_step) return *s.first_step;
  // A step over which the accelerations at the start move things by a small part of what the tolerance would allow in
  // cubic growth; the controller corrects it within a few steps.
  const Vec scales = equations_->scales();
  const double a = output_rates_.a.size() > 0 ? output_rates_.a.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() : 0;
  const double v = output_state_.v.size() > 0 ? output_state_.v.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() : 0;
  double h = 1e-3 * s.end;
  const double small = std::cbrt(settings_.tolerance);
  if (a > 0) h = std::min(h, 0.1 * small / std::sqrt(a));
  if (v > 0) h = std::min(h, 0.1 * small / v);
  return std::max(h, 1e-9 * s.end);
}

void Simulation::start(const RunOptions& options) {
  if (started_) return;
  const auto& m = equations_->model();
  accelerations_ = std::make_unique<AccelerationSolver>(*equations_);
  output_state_ = equations_->initial_state();
  output_rates_ = equations_->make_rates();
  equations_->start(output_state_, work_);
  initial_ = make_consistent(*equations_, output_state_, output_rates_, *accelerations_, work_, {options.analyse_rank});
  if (options.from_equilibrium) start_from_equilibrium(options);
  if (options.note) {
    for (const StageReport& stage : initial_.stages) options.note(stage.text());
    for (const Problem& warning : initial_.warnings) options.note(to_text(warning));
    const std::string caveat = method_->caveat(settings_);
    if (!caveat.empty()) options.note("note: " + caveat);
  }
  settings_.misfit = initial_.misfit;
  integrator_ = method_->make(*equations_, settings_);
  integrator_->start(output_state_, output_rates_);
  StepController::Options control;
  control.gain = settings_.options.has("step_gain") ? settings_.options.number("step_gain") : 1;
  controller_ = StepController(control);
  h_ = first_step();
  if (m.simulation.greatest_step) h_ = std::min(h_, *m.simulation.greatest_step);
  started_ = true;
}

void Simulation::start_from_equilibrium(const RunOptions& options) {
  StaticSolver solver(*equations_);
  const StaticReport report = solver.solve(output_state_, output_rates_, work_);
  if (!report.found) {
    throw Failure({Severity::error,
                   "no-equilibrium",
                   "there is no static equilibrium to start from: " + report.why,
                   "`trammel static` says more; without --from-static the run starts as drawn",
                   {}},
                  ExitCode::failed_run);
  }
  if (options.note)
    options.note(std::string("static equilibrium: ") + to_text(report.stability) + ", largest change " +
                 number(report.moved) + " (" + report.moved_most + ")");
  // Velocities are those that motions demand, otherwise zero.
  initial_.stages.push_back(assemble_velocities(*equations_, output_state_, accelerations_->saddle(), work_,
                                                std::vector<bool>(static_cast<std::size_t>(equations_->sizes().nv))));
  accelerations_->solve(output_state_, output_rates_, work_);
}

void Simulation::write_output(double t, TrajectorySink& sink, RunSummary& summary) {
  integrator_->interpolate(t, output_state_);
  if (!accelerations_->project(output_state_, work_) || !accelerations_->solve(output_state_, output_rates_, work_)) {
    output_rates_ = integrator_->rates();  // what the method itself says; the residual column shows how far it is off
  }
  if (!sink.append(0, recorder_->output_row(output_state_, output_rates_))) sink.flush();  // throws the reason
  summary.position_residual = std::max(summary.position_residual, recorder_->position_residual());
  summary.velocity_residual = std::max(summary.velocity_residual, recorder_->velocity_residual());
  ++summary.outputs;
}

// Made when something is recorded: names and texts of all signals weigh more than the equations.
void Simulation::make_recorder() {
  recorder_ = std::make_unique<Recorder>(*equations_, initial_, method_->reactions_doubtful(settings_));
}

RunResult Simulation::run(TrajectorySink& sink, const RunOptions& options) {
  const double clock_start = seconds();
  RunResult result;
  RunSummary& summary = result.summary;
  start(options);
  const auto& m = equations_->model();
  const double end = m.simulation.end;
  const double least = m.simulation.least_step.value_or(0), greatest = m.simulation.greatest_step.value_or(end);
  const bool fixed = settings_.fixed_step;
  summary.method = method_->key;
  summary.title = m.title;
  summary.end = end;
  summary.sizes = equations_->sizes();
  summary.freedoms = initial_.rank.freedoms_by_rank;
  summary.redundant = initial_.rank.redundant;
  summary.length = equations_->length();
  summary.least_step = std::numeric_limits<double>::infinity();
  if (!recorder_) {
    make_recorder();
    recorder_->note_step(integrator_->state(), integrator_->rates());
  }
  sink.begin(recorder_->tables(), provenance());
  const bool on_grid = m.simulation.output_step.has_value();
  const double grid = m.simulation.output_step.value_or(0);
  // A continued run takes up the grid where it stands.
  long next_output = on_grid ? static_cast<long>(std::floor(integrator_->state().t / grid + 1e-9)) : 0;
  const double clock_first = seconds();
  if (integrator_->counts().steps == 0) write_output(integrator_->state().t, sink, summary);
  ++next_output;
  double output_seconds = seconds() - clock_first;
  summary.times.start = clock_first - clock_start;
  double last_progress = clock_first;

  std::vector<long> limited(static_cast<std::size_t>(equations_->sizes().nv), 0);
  long rejected_here = 0, error_here = 0, newton_here = 0;
  double t = integrator_->state().t;
  while (t < end) {
    if (options.interrupted != nullptr && *options.interrupted) {
      result.status = RunStatus::interrupted;
      break;
    }
    // The last step ends at the end; a sliver behind it would be round-off.
    double h = std::min(h_, greatest);
    if (t + h * (1 + 1e-10) >= end || end - (t + h) < 1e-9 * h) h = end - t;
    const double floor = std::max(least, 16 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t), end));
    const Attempt attempt = integrator_->attempt(h);
    const bool solved = attempt.verdict == Verdict::ok;
    if (solved && (fixed || attempt.error <= 1)) {
      integrator_->accept();
      t = integrator_->state().t;
      if (std::abs(end - t) < 1e-12 * end) t = end;
      ++summary.steps;
      summary.least_step = std::min(summary.least_step, h);
      summary.greatest_step = std::max(summary.greatest_step, h);
      if (attempt.worst_velocity >= 0) ++limited[static_cast<std::size_t>(attempt.worst_velocity)];
      if (!fixed) h_ = controller_.after_accept(h, attempt.error, integrator_->error_order());
      const double before = seconds();
      recorder_->note_step(integrator_->state(), integrator_->rates());
      const Recorder::Step step{t, h, attempt.error, attempt.newton_iterations, static_cast<int>(rejected_here)};
      if (!sink.append(1, recorder_->step_row(step))) sink.flush();
      if (on_grid) {
        while (static_cast<double>(next_output) * grid <= t + 1e-9 * h &&
               static_cast<double>(next_output) * grid <= end * (1 + 1e-12)) {
          const double at = static_cast<double>(next_output++) * grid;
          write_output(std::abs(at - integrator_->state().t) < 1e-9 * h ? integrator_->state().t : at, sink, summary);
        }
      } else {
        write_output(integrator_->state().t, sink, summary);
      }
      const double after = seconds();
      output_seconds += after - before;
      if (options.progress && after - last_progress > 0.2) {
        options.progress(t, end, summary.steps);
        last_progress = after;
      }
      rejected_here = error_here = newton_here = 0;
      continue;
    }
    ++rejected_here;
    if (solved) {
      ++summary.rejected_error;
      ++error_here;
      h_ = controller_.after_reject(h, attempt.error, integrator_->error_order());
    } else {
      if (attempt.verdict == Verdict::angle_too_large)
        ++summary.rejected_angle;
      else if (attempt.verdict == Verdict::newton_diverged)
        ++summary.rejected_newton;
      else
        ++summary.rejected_evaluation;
      ++newton_here;
      h_ = controller_.after_failure(h);
    }
    if (fixed || h_ < floor) {
      result.status = RunStatus::failed;
      result.failure = explain(attempt, h, error_here, newton_here);
      break;
    }
  }
  summary.reached = t;
  summary.counts = integrator_->counts();
  summary.energy = recorder_->energy();
  std::map<int, long> by_body;
  for (std::size_t i = 0; i < limited.size(); ++i) {
    if (limited[i] > 0) by_body[equations_->body_of_velocity(static_cast<int>(i))] += limited[i];
  }
  for (const auto& entry : by_body) {
    if (entry.second <= summary.limiting_steps) continue;
    summary.limiting_steps = entry.second;
    summary.limiting = "body '" + m.bodies[static_cast<std::size_t>(entry.first)].name + "'";
  }
  summary.times.output = output_seconds;
  summary.times.steps = seconds() - clock_first - output_seconds;
  if (result.failure && !options.state_file.empty()) {
    const Bytes bytes = save();
    std::ofstream file(options.state_file, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (file) result.failure->state_file = options.state_file;
  }
  sink.finish(result.status, to_json(summary), result.failure ? to_json(*result.failure) : "");
  return result;
}

// What a saved state belongs to: the model's text (or names, if built in C++), its sizes and the method.
std::string Simulation::fingerprint() const {
  const Model& m = equations_->model();
  std::string text = m.text;
  for (const Body& body : m.bodies) text += body.name + ";";
  for (const std::vector<Item>* items : {&m.joints, &m.motions, &m.forces}) {
    for (const Item& item : *items) text += item.type + " " + item.name + ";";
  }
  const Sizes s = equations_->sizes();
  for (const int n : {s.nq, s.nv, s.ng, s.nk, s.nu}) text += std::to_string(n) + ";";
  return sha256_hex(text + method_->key);
}

Bytes Simulation::save() const {
  Bytes bytes;
  const std::string belongs_to = fingerprint();
  put_bytes(bytes, belongs_to.data(), belongs_to.size());
  put(bytes, h_);
  controller_.save(bytes);
  integrator_->save(bytes);
  put(bytes, recorder_ != nullptr);
  if (recorder_) recorder_->save(bytes);
  return bytes;
}

void Simulation::restore(std::span<const std::byte> bytes) {
  start();
  std::string belongs_to(fingerprint().size(), ' ');
  take_bytes(bytes, belongs_to.data(), belongs_to.size());
  if (belongs_to != fingerprint()) {
    throw Failure({Severity::error,
                   "state-of-another-model",
                   "the saved state belongs to another model or method",
                   "restore it with the model file and the method it was saved with",
                   {}},
                  ExitCode::failed_run);
  }
  take(bytes, h_);
  controller_.restore(bytes);
  integrator_->restore(bytes);
  bool recorded = false;
  take(bytes, recorded);
  if (recorded) {
    make_recorder();
    recorder_->restore(bytes);
  }
}

FailureReport Simulation::explain(const Attempt& attempt, double h, long error_rejections,
                                  long newton_rejections) const {
  FailureReport report;
  report.t = integrator_->state().t;
  report.h = h;
  const Equations& e = *equations_;
  if (attempt.worst_velocity >= 0) report.body = e.name_of_velocity(attempt.worst_velocity);
  if (attempt.worst_row >= 0) report.constraint = e.name_of_row(attempt.worst_row);
  report.what = attempt.verdict == Verdict::ok ? "the error test fails at every step size" : to_text(attempt.verdict);
  if (settings_.fixed_step) report.what += " with the fixed step";
  if (attempt.verdict == Verdict::not_finite) {
    report.causes.push_back("a force or expression gives infinity or not-a-number near " + report.body);
    report.try_next.push_back("look at expressions that divide, take roots or logarithms of measures");
  }
  if (attempt.verdict == Verdict::evaluation_rejected) {
    report.causes.push_back(
        "an element cannot be evaluated: a spring or rod whose ends coincide, a bushing turned by half a turn");
    report.try_next.push_back("check the distances of spring ends near this time in the result");
  }
  if (attempt.verdict == Verdict::singular_matrix) {
    report.causes.push_back("a direction without mass or inertia that no joint or force holds");
    report.try_next.push_back("give every body mass and inertia, or hold its free directions");
  }
  if (attempt.verdict == Verdict::angle_too_large) {
    report.causes.push_back("a multi-turn angle moves more than a quarter turn in one step");
    report.try_next.push_back("take a smaller step");
  }
  if (newton_rejections > error_rejections || attempt.verdict == Verdict::newton_diverged) {
    report.causes.push_back(
        "the motion is locked or jumps: two stiff parts meet, a motion demands what the joints forbid, or a dead point "
        "is passed");
    report.causes.push_back("a force jumps or is far stiffer than the masses allow at this step size");
    report.try_next.push_back("plot the solution just before this time");
    report.try_next.push_back("smooth expressions with step(); check motions against the mechanism's reach");
  }
  if (error_rejections > 0 && attempt.verdict == Verdict::ok) {
    report.causes.push_back("a discontinuity: a force or motion that jumps in time or position");
    report.causes.push_back("a tolerance below the round-off of the constraints (" + number(settings_.tolerance) + ")");
    report.try_next.push_back("smooth jumps with step(), or loosen the tolerance");
  }
  if (settings_.fixed_step) report.try_next.push_back("take a smaller step, or drop `step` to let it be controlled");
  return report;
}

}  // namespace trammel
