#include "trammel/run/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <new>

#include "trammel/analyse/statics.h"
#include "trammel/base/interruption.h"
#include "trammel/base/messages.h"
#include "trammel/base/numbers.h"
#include "trammel/check/check_model.h"
#include "trammel/formulate/named_coordinates.h"
#include "trammel/initial/given_state.h"
#include "trammel/run/checkpoint.h"
#include "trammel/run/drawing.h"
#include "trammel/run/output_step.h"
#include "trammel/run/run_loop.h"
#include "trammel/run/shapes.h"
#include "trammel/write/queued_sink.h"
#include "trammel/write/sha256.h"

namespace trammel {
namespace {

template <class Numbers>
std::string exact_list(const Numbers& values) {
  std::string text = "[";
  for (const double value : values) text += (text.size() > 1 ? ", " : "") + shortest(value);
  return text + "]";
}

std::string exact(const Value& value) {
  if (const auto* x = std::get_if<double>(&value)) return shortest(*x);
  if (const auto* x = std::get_if<bool>(&value)) return *x ? "true" : "false";
  if (const auto* x = std::get_if<std::string>(&value)) return *x;
  if (const auto* x = std::get_if<ExpressionText>(&value)) return x->text;
  if (const auto* x = std::get_if<Vec3>(&value)) return exact_list(*x);
  if (const auto* x = std::get_if<std::vector<double>>(&value)) return exact_list(*x);
  if (const auto* x = std::get_if<Mat6>(&value)) return exact_list(x->reshaped<Eigen::RowMajor>());
  std::string text = "[";
  if (const auto* x = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& word : *x) text += (text.size() > 1 ? ", " : "") + word;
  }
  return text + "]";
}

// Positions are known to 2.2e-16 of their size; an error test a hundred times above that sees little else.
constexpr double least_tolerance = 100 * std::numeric_limits<double>::epsilon();

void refuse_tolerance_below_round_off(const Equations& equations, const MethodSettings& settings) {
  if (settings.fixed_step || settings.tolerance >= least_tolerance) return;
  throw Failure({Severity::error, "tolerance-below-round-off",
                 "the tolerance " + digits(settings.tolerance) +
                     " is below the round-off of this model's positions, which is about " + digits(least_tolerance) +
                     " of its length scale",
                 "take a larger tolerance", equations.model().simulation.where});
}

}  // namespace

Simulation::Simulation(Model model, Pairs pairs) {
  for (const Problem& problem : check_model(model)) {
    if (problem.severity == Severity::error) throw Failure(problem);
  }
  equations_ = std::make_unique<Equations>(std::move(model), pairs);
  const Model& m = equations_->model();
  method_ = &find_method(m.simulation.method, m.simulation.where);
  if (!method_->make) {
    throw Failure({Severity::error, "method-without-mechanics",
                   "method '" + method_->key + "' integrates equations given in C++, not mechanisms",
                   "`trammel methods` lists the formulation of each", m.simulation.where});
  }
  settings_.fixed_step = m.simulation.step.has_value();
  settings_.tolerance = m.simulation.tolerance.value_or(settings_.fixed_step ? 1e-3 : 1e-5);
  settings_.options = m.simulation.options;
  settings_.formulation = m.simulation.formulation;
  settings_.independent = named_coordinates(*equations_, m.simulation.independent, m.simulation.where);
  settings_ = resolve_settings(*method_, settings_, m.simulation.where);
  work_ = equations_->make_workspace();
  events_ = std::make_unique<Events>(*equations_, m.simulation, m.simulation.end);
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
  p.set("formulation", settings_.formulation);
  if (settings_.fixed_step)
    p.set("step", shortest(*m.simulation.step));
  else
    p.set("tolerance", shortest(settings_.tolerance));
  for (const auto& option : settings_.options.all()) p.set("option." + option.first, exact(option.second));
  for (const Parameter& parameter : m.parameters) p.set("parameter." + parameter.name, shortest(parameter.value));
  const std::vector<std::string> shapes = shapes_as_json(m);
  for (std::size_t i = 0; i < shapes.size(); ++i) p.set("shapes." + std::to_string(i + 1), shapes[i]);
  for (const auto& [key, text] : drawing_as_json(*equations_)) p.set(key, text);
  p.set("length_scale", shortest(equations_->length()));
  p.set("date", utc_date());
  return p;
}

void Simulation::start(const RunOptions& options) {
  if (started_) return;
  const auto& m = equations_->model();
  const bool near_only = equations_->lists_pairs(), settles = options.from_equilibrium || m.start_in_equilibrium;
  if (options.for_statics || settles) equations_->take_all_pairs();
  accelerations_ = std::make_unique<AccelerationSolver>(*equations_, SaddleSystem::Keep::resumable);
  output_state_ = equations_->initial_state();
  output_rates_ = equations_->make_rates();
  equations_->start(output_state_, work_);
  try {
    initial_ = make_consistent(*equations_, output_state_, output_rates_, *accelerations_, work_,
                               {.analyse_rank = options.analyse_rank, .accelerations = !options.for_statics});
  } catch (const Failure& failure) {
    // If an element gives no value, that is why, and it is named.
    const std::optional<Culprit> culprit = find_culprit(*equations_, output_state_, output_rates_, work_);
    if (!culprit) throw;
    std::vector<Problem> problems{
        {Severity::error, culprit->not_finite ? "value-not-finite" : "cannot-evaluate",
         culprit->part + " " + culprit->what + ", at the start (t = 0)",
         std::string(find_message(culprit->not_finite ? "value-not-finite" : "cannot-evaluate")->remedy),
         culprit->where}};
    problems.insert(problems.end(), failure.problems().begin(), failure.problems().end());
    throw Failure(std::move(problems), failure.exit_code());
  }
  if (options.for_statics) return;
  if (settles) {
    start_from_equilibrium(options);
    if (near_only) list_pairs(output_state_, Equations::first_margin * equations_->length());
  } else {
    if (near_only && equations_->approached(output_state_, work_) > 0) {
      list_pairs(output_state_, Equations::first_margin * equations_->length());
      accelerations_->solve(output_state_, output_rates_, work_);
    }
    warn_of_overlaps();
  }
  if (options.note) {
    for (const StageReport& stage : initial_.stages) options.note(stage.text());
    for (const Problem& warning : initial_.warnings) options.note(to_text(warning));
    const std::string caveat = method_->warning(settings_);
    if (!caveat.empty()) options.note("note: " + caveat);
  }
  refuse_tolerance_below_round_off(*equations_, settings_);
  progress_.reach = equations_->reach(output_state_.q);
  settings_.misfit = initial_.misfit;
  settings_.freedoms = options.analyse_rank ? initial_.rank.freedoms_by_rank : -1;
  const bool chosen = settings_.formulation.empty();
  settings_.formulation = chosen_formulation(*method_, *equations_, settings_);
  if (options.note && chosen && method_->formulations.size() > 1)
    options.note("formulation: " + settings_.formulation + " (" + std::to_string(settings_.freedoms) +
                 (settings_.freedoms == 1 ? " degree" : " degrees") + " of freedom)");
  integrator_ = method_->make(*equations_, settings_);
  events_->start(output_state_, output_rates_, *accelerations_);
  if (options.note)
    for (const int force : equations_->forces_with_modes())
      options.note(equations_->name_of_mode(force, output_state_) + " at the start");
  integrator_->start(output_state_, output_rates_);
  stepper_ = std::make_unique<Stepper>(*equations_, settings_, *integrator_, *accelerations_, *events_);
  constraints_ =
      std::make_unique<ConstraintWatch>(*equations_, settings_, equations_->rate(output_state_, output_rates_));
  energy_guard_ = std::make_unique<EnergyGuard>(*equations_, settings_.tolerance);
  stress_ = std::make_unique<StressWatch>(*equations_);
  stress_->look(output_state_);
  if (method_->steps_to_outputs && m.simulation.output_step)
    output_step_ = std::make_unique<OutputStep>(*method_, *equations_, settings_, output_state_, output_rates_);
  started_ = true;
}

void Simulation::list_pairs(const State& state, double margin) {
  equations_->list_pairs(state.q, margin);
  ++progress_.pair_lists;
}

void Simulation::start_from_equilibrium(const RunOptions& options) {
  const Vec asked = equations_->initial_state().v;
  const StaticReport report = find_equilibrium(*equations_, output_state_, output_rates_, work_);
  if (!report.found) {
    throw Failure(
        {Severity::error,
         "no-equilibrium",
         "there is no static equilibrium to start from: " + report.why,
         "`trammel static` says more; without --from-static or `initial: {equilibrium: true}` the run starts as "
         "drawn",
         {}},
        ExitCode::failed_run);
  }
  if (options.note)
    options.note(std::string("static equilibrium: ") + to_text(report.stability) + ", largest change " +
                 digits(report.moved) + (report.moved_unit.empty() ? "" : " " + report.moved_unit) + " (" +
                 report.moved_most + ")");
  // Velocities are those that the model asks for, as far as joints and motions allow.
  output_state_.v = asked;
  initial_.stages.push_back(assemble_kept_velocities(*equations_, output_state_, accelerations_->saddle(), work_));
  equations_->accept(output_state_, work_);  // angles remember their rates too
  accelerations_->solve(output_state_, output_rates_, work_);
}

// Made when something is recorded: names and texts of all signals weigh more than the equations.
void Simulation::make_recorder() {
  recorder_ = std::make_unique<Recorder>(*equations_, initial_, method_->doubts_reactions(settings_));
  if (events_->any()) recorder_->record_events(events_->names(), events_->modes());
}

void Simulation::record_start() {
  if (recorder_) return;
  make_recorder();
  recorder_->note_step(integrator_->state(), integrator_->rates());
}

const std::vector<Signal>& Simulation::output_signals() {
  record_start();
  return recorder_->tables()[0].signals;
}

const std::vector<double>& Simulation::output_row() {
  record_start();
  if (!find_output_state(integrator_->state().t)) output_rates_ = integrator_->rates();
  return recorder_->output_row(output_state_, output_rates_);
}

void Simulation::write_row(TrajectorySink& sink, std::size_t table, const std::vector<double>& row) {
  if (sink.append(table, row)) return;
  sink.flush();  // throws the reason
  throw Failure({Severity::error,
                 "write-failed",
                 "a row of the result was not taken",
                 "what was written before is kept; look at the place the result goes to",
                 {}},
                ExitCode::cannot_write);
}

// `output_state_` at t, with the accelerations and multipliers that belong to it.
bool Simulation::find_output_state(double t) {
  const bool inside = output_step_ && t != integrator_->state().t && integrator_->last_step() > 0 &&
                      !integrator_->interpolation_holds();
  if (const State* stepped = inside ? output_step_->at(t, *integrator_, progress_.output_work) : nullptr) {
    output_state_ = *stepped;
  } else {
    if (inside) ++progress_.outputs_interpolated;
    if (integrator_->complete_at(t, output_state_, output_rates_)) return true;
    integrator_->interpolate(t, output_state_);
  }
  return accelerations_->project(output_state_, work_) && accelerations_->solve(output_state_, output_rates_, work_);
}

void Simulation::write_output(double t, TrajectorySink& sink) {
  if (!find_output_state(t)) {
    output_rates_ = integrator_->rates();  // what the method itself says; the residual column shows how far it is off
    ++progress_.outputs_as_stepped;
  }
  write_row(sink, 0, recorder_->output_row(output_state_, output_rates_));
  progress_.values_missing += recorder_->values_missing();
  progress_.position_residual = std::max(progress_.position_residual, recorder_->position_residual());
  progress_.velocity_residual = std::max(progress_.velocity_residual, recorder_->velocity_residual());
  ++progress_.outputs;
}

// The multipliers of index 3 are of first order when the step changes, and of redundant rows they wander while old
// derivatives are kept: 3 % of the work of a motion at tolerance 1e-7, or all of it (seeds 1281 and 1338 of the
// corpus). The motion does not need them, the books do.
const Rates& Simulation::rates_to_book() {
  const bool doubtful = !settings_.fixed_step || initial_.rank.redundant > 0;
  if (!doubtful || !recorder_->books_multipliers() || integrator_->rates_complete() ||
      !accelerations_->solve(integrator_->state(), output_rates_, work_)) {
    return integrator_->rates();
  }
  return output_rates_;
}

void Simulation::write_outputs_of_step(double t, double h, TrajectorySink& sink) {
  const SimulationSettings& s = equations_->model().simulation;
  if (!s.output_step) {
    write_output(integrator_->state().t, sink);
    return;
  }
  const double grid = *s.output_step;
  // Who asks to stop waits for the rows of this step, without which the run cannot go on later; not for any number.
  constexpr int most_awaited = 1000;
  int rows = 0;
  while (static_cast<double>(progress_.next_output) * grid <= t + 1e-9 * h &&
         static_cast<double>(progress_.next_output) * grid <= s.end * (1 + 1e-12)) {
    if (rows++ >= most_awaited && interruption_asked()) return;
    const double at = static_cast<double>(progress_.next_output++) * grid;
    write_output(std::abs(at - integrator_->state().t) < 1e-9 * h ? integrator_->state().t : at, sink);
  }
}

void Simulation::write_outputs_until(double t, TrajectorySink& sink) {
  const SimulationSettings& s = equations_->model().simulation;
  if (!s.output_step) return;
  for (; static_cast<double>(progress_.next_output) * *s.output_step <= std::min(t, s.end); ++progress_.next_output)
    write_output(integrator_->state().t, sink);
}

bool Simulation::checkpoint_due(const CheckpointPlan& plan, double now) const {
  if (!plan.write) return false;
  const double t = integrator_->state().t;
  return (plan.every_seconds > 0 && t - last_checkpoint_.t >= plan.every_seconds * (1 - 1e-9)) ||
         (plan.every_steps > 0 && progress_.steps - last_checkpoint_.steps >= plan.every_steps) ||
         (plan.every_wall_seconds > 0 && now - last_checkpoint_.wall >= plan.every_wall_seconds);
}

// The result first: whoever continues from the checkpoint must find all rows that were written before it.
void Simulation::write_checkpoint(const CheckpointPlan& plan, TrajectorySink& sink) {
  sink.flush();
  plan.write();
  last_checkpoint_ = {integrator_->state().t, clock_seconds(), progress_.steps};
}

void Simulation::describe_run(RunSummary& summary) const {
  const Model& m = equations_->model();
  const Progress& p = progress_;
  summary.method = method_->key;
  summary.formulation = settings_.formulation;
  summary.remark = integrator_->remark();
  summary.title = m.title;
  summary.end = m.simulation.end;
  summary.sizes = equations_->sizes();
  summary.freedoms = initial_.rank.freedoms_by_rank;
  summary.redundant = initial_.rank.redundant;
  summary.length = equations_->length();
  summary.steps = p.steps;
  summary.outputs = p.outputs;
  summary.rejected_error = p.rejected_error;
  summary.rejected_newton = p.rejected_newton;
  summary.rejected_evaluation = p.rejected_evaluation;
  summary.rejected_angle = p.rejected_angle;
  summary.rejected_energy = p.rejected_energy;
  summary.values_missing = p.values_missing;
  summary.outputs_as_stepped = p.outputs_as_stepped;
  summary.least_step = p.least_step;
  summary.greatest_step = p.greatest_step;
  summary.position_residual = p.position_residual;
  summary.velocity_residual = p.velocity_residual;
  summary.times = p.times;
  summary.counts = integrator_->counts();
  summary.counts.unrefined += accelerations_->saddle().unrefined();
  summary.output_work = p.output_work;
  summary.outputs_interpolated = p.outputs_interpolated;
  summary.energy = recorder_->energy();
  summary.hot_spots = stress_->hot_spots();
  summary.pairs = equations_->pairs_in_sets();
  summary.pair_lists = p.pair_lists + stepper_->pair_lists();
  summary.most_pairs_near = p.most_pairs;
  summary.mean_pairs_near = p.steps > 0 ? static_cast<double>(p.pair_steps) / static_cast<double>(p.steps) : 0;
  summary.events = events_->count();
  std::map<int, double> by_body;
  for (std::size_t i = 0; i < limited_.size(); ++i) {
    if (limited_[i] > 0) by_body[equations_->body_of_velocity(static_cast<int>(i))] += limited_[i];
  }
  for (const auto& entry : by_body) {
    if (static_cast<long>(entry.second) <= summary.limiting_steps) continue;
    summary.limiting_steps = static_cast<long>(entry.second);
    summary.limiting = "body '" + m.bodies[entry.first].name + "'";
  }
}

// The one thing that is known of every result without a reference: energy is kept. Where little moves, a thousandth of
// what the weights do over the length of the mechanism is no reason for doubt.
bool Simulation::energy_in_doubt(double t) const {
  const EnergyBook& book = recorder_->energy();
  const double length = equations_->length(), speed = length / std::max(t, 1e-300),
               small = equations_->greatest_mass() * (equations_->model().gravity.norm() * length + speed * speed) +
                       std::abs(book.first);
  return book.largest_imbalance > 0.1 * book.exchanged() + 1e-3 * small;
}

Problem Simulation::energy_warning() const {
  const EnergyBook& book = recorder_->energy();
  const State &from = recorder_->before_worst_step(), &to = recorder_->after_worst_step();
  Workspace work = equations_->make_workspace();
  const std::string part = blame_for_energy(*equations_, from, to, book.worst_step, work).part;
  const double share = 100 * book.largest_imbalance / std::max(book.exchanged(), 1e-300);
  const std::string text = fmt::format(
      "energy is out of balance by {:.3g} J, {:.0f} % of all that was exchanged, since t = {:.6g} s; most of it, "
      "{:.3g} J, arose in the step from {:.6g} to {:.6g} s",
      book.largest_imbalance, share, progress_.energy_doubted, book.worst_step, from.t, to.t);
  return {Severity::warning,
          "energy-imbalance",
          text + (part.empty() ? "" : ", at " + part),
          settings_.fixed_step ? "take a smaller step, or a method that is stable at this one and does not damp"
                               : "take a smaller tolerance, or a method that damps less; compare the two results",
          {}};
}

// Bodies that begin inside each other are thrown apart. What rests in contact, begun at its depth, is none of them.
void Simulation::warn_of_overlaps() {
  constexpr double much = 0.01;  // of the smaller shape: far beyond elastic depths
  equations_->update(output_state_, work_);
  for (int i = 0; i < equations_->force_count(); ++i) {
    const Force::Overlap overlap = equations_->overlap(i, output_state_, work_);
    if (!(overlap.share > much)) continue;
    const Item& item = equations_->model().forces[i];
    initial_.warnings.push_back({Severity::warning, "overlap-at-start",
                                 "force '" + item.name + "': its shapes overlap by " + digits(overlap.depth, 3) +
                                     " m at the start and press each other with " + digits(overlap.force, 3) + " N",
                                 "move them apart, or start in equilibrium (initial: {equilibrium: true})",
                                 item.where});
  }
}

Problem Simulation::constraint_warning() const {
  const ConstraintViolation worst = constraints_->worst();
  std::string parts;
  for (std::size_t i = 0; i < worst.parts.size(); ++i)
    parts += (i == 0 ? "" : ", ") + worst.parts[i] + " (" + worst.values[i] + ")";
  return {Severity::warning,
          "constraints-loose",
          "joints or motions are violated by more than " + digits(constraints_->promised()) +
              " of the length scale or 1 rad, first at t = " + digits(worst.since) + " s; at most: " + parts,
          constraints_->soft() ? "the formulation '" + settings_.formulation +
                                     "' holds constraints nearly: stiffen it, take smaller steps, or a formulation "
                                     "that holds them; joints and motions may also contradict one another"
                               : "take a smaller step or tolerance there",
          {}};
}

// Errors of positions are measured by the length scale wherever the mechanism is, but not below their round-off.
void Simulation::doubt_coordinates(RunResult& result) const {
  const double asked = settings_.tolerance * equations_->length(), possible = least_tolerance * progress_.reach;
  if (settings_.fixed_step || asked >= possible) return;
  result.warnings.push_back({Severity::warning,
                             "far-from-origin",
                             "coordinates of up to " + digits(progress_.reach) + " m are known to " +
                                 digits(std::numeric_limits<double>::epsilon() * progress_.reach) +
                                 " m: errors of positions were held below " + digits(possible) + " m, not " +
                                 digits(asked) + " m",
                             "put the origin nearer to the mechanism, or take a larger tolerance",
                             {}});
}

RunResult Simulation::run(TrajectorySink& sink, const RunOptions& options) {
  const InterruptionScope scope(options.interrupted);
  try {
    if (!options.real_time) return Loop(*this, sink, options).run();
    // no step waits for a disk
    QueuedSink queue(sink);
    return Loop(*this, queue, options).run();
  } catch (const std::bad_alloc&) {
    const Problem problem{Severity::error, "memory-used-up", "the memory was used up during the run",
                          "take a smaller model, or a machine with more; what was recorded until then is kept",
                          equations_->model().simulation.where};
    sink.finish(RunStatus::failed, "", "{\"id\": \"memory-used-up\", \"what\": \"" + problem.message + "\"}");
    throw Failure(problem, ExitCode::failed_run);
  }
}

std::string Simulation::fingerprint() const {
  Model same = equations_->model();
  same.simulation.end = 0;
  return sha256_hex(model_digest(same) + method_->key);
}

void Simulation::visit(Archive& archive) {
  if (equations_->pairs_in_sets() > 0) {
    Equations::PairList list = equations_->pair_list();
    archive(list);
    archive.expect(list.margin < 0 || list.q.size() == equations_->sizes().nq);
    if (archive.reading()) equations_->list_pairs(list.q, list.margin);
  }
  archive(*integrator_, *stepper_);
  // The pivots of the solver at output times: without them the rows of a continued run differ in their last bits.
  archive(accelerations_->saddle(), progress_, limited_, *constraints_);
  if (stress_->any()) archive(*stress_);
  bool recorded = recorder_ != nullptr;
  archive(recorded);
  if (archive.reading()) recorder_.reset();  // of a state from before the first step: it is made anew then
  if (archive.reading() && recorded) make_recorder();
  if (recorded) archive(*recorder_);
}

std::vector<StageReport> Simulation::change_state(State state, bool consistent) {
  start();
  check_given_state(*equations_, state);
  const State& now = integrator_->state();
  const bool moved = consistent || state.q != now.q || state.v != now.v;
  std::vector<StageReport> stages;
  if (consistent) stages = bring_onto_constraints(*equations_, state, accelerations_->saddle(), work_).stages;
  equations_->accept(state, work_);
  if (equations_->lists_pairs()) list_pairs(state, Equations::first_margin * equations_->length());
  Rates rates = equations_->make_rates();
  if (!accelerations_->solve(state, rates, work_))
    throw Failure(no_accelerations(*equations_, state, work_, "in the state that was set"), ExitCode::failed_run);
  if (moved) events_->start(state, rates, *accelerations_);  // otherwise gaps and modes are what they were
  stepper_->restart(state, rates);
  stress_->look(state);
  if (recorder_) recorder_->note_jump(state, rates);
  return stages;
}

Bytes Simulation::save() const {
  Bytes bytes;
  write_state(fingerprint(), bytes);
  write_state(*this, bytes);
  return bytes;
}

void Simulation::restore(std::span<const std::byte> bytes) {
  start();
  std::string belongs_to;
  read_state(belongs_to, bytes);
  if (belongs_to != fingerprint()) {
    throw Failure({Severity::error,
                   "state-of-another-model",
                   "the saved state belongs to another model or method",
                   "restore it with the model file and the method it was saved with",
                   {}},
                  ExitCode::failed_run);
  }
  read_state(*this, bytes);
}

}  // namespace trammel
