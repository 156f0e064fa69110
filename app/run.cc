// trammel run MODEL: simulate, record, summarise.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/common.h"
#include "app/live_view.h"
#include "app/verbs.h"
#include "trammel/base/printable.h"
#include "trammel/formulate/formulation_keys.h"
#include "trammel/run/checkpoint.h"
#include "trammel/run/simulation.h"
#include "trammel/write/csv_writer.h"
#include "trammel/write/output_path.h"
#include "trammel/write/read_trajectory.h"

namespace trammel {
namespace {

std::atomic<bool> interrupted{false};
void on_signal(int) { interrupted = true; }

// The first Ctrl-C ends the run in good order, the second one the program. A reader of our output that goes away (as
// `head` does) must not end the run at all.
void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

struct RunArguments : ModelArguments {
  std::string output, csv, checkpoint, checkpoint_every, resume;
  bool csv_wanted = false, checkpoint_wanted = false;
  bool json = false, quiet = false, from_static = false, real_time = false;
  bool view = false;
  std::optional<double> speed;  // of a run that is watched
  bool talks() const { return !quiet && !json; }
};

[[noreturn]] void misused(const std::string& message, const std::string& hint) {
  throw Failure({Severity::error, "bad-usage", message, hint, {}}, ExitCode::bad_usage);
}

// The files a run writes.
struct RunFiles {
  std::string main;  // HDF5, or CSV if its name says so
  std::string csv;   // besides; empty: none
};

RunFiles run_files(const RunArguments& a) {
  const std::string stem = std::filesystem::path(a.file).stem().string();
  RunFiles files;
  files.main = a.output.empty() ? stem + ".h5" : a.output;
  if (a.csv_wanted) files.csv = a.csv.empty() ? stem + ".csv" : a.csv;
  std::error_code none;
  if (a.csv_wanted && (files.csv == files.main || std::filesystem::equivalent(files.csv, files.main, none))) {
    misused("--output and --csv name the same file '" + files.csv + "'",
            "--output FILE.csv alone writes CSV instead of HDF5");
  }
  return files;
}

ExitCode exit_code(RunStatus status) {
  if (status == RunStatus::failed) return ExitCode::failed_run;
  return status == RunStatus::interrupted ? ExitCode::interrupted : ExitCode::ok;
}

// "0.5" seconds of simulated time, or "1000steps".
CheckpointPlan checkpoint_plan(const std::string& every) {
  CheckpointPlan plan;
  if (every.empty()) {
    plan.every_wall_seconds = 10;
    return plan;
  }
  const auto wrong = [&] {
    misused("--checkpoint-every is a time in seconds or a number of steps, not '" + every + "'",
            "for example 0.5 or 1000steps");
  };
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(every, &used);
  } catch (const std::exception&) {
    wrong();
  }
  const std::string unit = every.substr(used);
  if (!(value > 0) || !std::isfinite(value)) wrong();
  if (unit == "steps" || unit == " steps") {
    plan.every_steps = std::max(1L, std::lround(value));
  } else if (unit.empty() || unit == "s" || unit == " s") {
    plan.every_seconds = value;
  } else {
    wrong();
  }
  return plan;
}

// What a run is made of, whether it begins or goes on.
struct RunJob {
  std::string model_file;
  ModelChanges changes;
  RunFiles files;
  std::string checkpoint;  // empty: none are written
  std::string checkpoint_every;
  std::optional<Checkpoint> from;
};

RunJob new_run(const RunArguments& a) {
  if (a.file.empty()) misused("MODEL is required", "see `trammel run --help`");
  RunJob job{a.file, a.changes, run_files(a), "", a.checkpoint_every, {}};
  if (a.checkpoint_wanted) job.checkpoint = a.checkpoint.empty() ? job.files.main + ".checkpoint" : a.checkpoint;
  if (!a.checkpoint_every.empty() && !a.checkpoint_wanted)
    misused("--checkpoint-every needs --checkpoint", "add --checkpoint FILE");
  if (a.view && a.checkpoint_wanted)
    misused("--view cannot be combined with --checkpoint: what people do to a run is not in its model",
            "leave one of them out");
  return job;
}

// A resumed run makes the rows behind its checkpoint anew: an end before the last of them would lose the rest.
void refuse_to_cut(const std::string& result, double end) {
  std::vector<double> times;
  try {
    times = read_trajectory(result, {{"output/time"}}).time(0);
  } catch (const Failure&) {  // what is wrong with it is told when it is continued
  }
  if (times.empty() || end >= times.back() * (1 - 1e-9)) return;
  misused("the result '" + result + "' goes to t = " + Json(times.back()).dump() +
              " s, and would be cut at the end asked for",
          "take a later end, or run the model again with another --output");
}

RunJob continued_run(const RunArguments& a) {
  const ModelChanges& c = a.changes;
  if (!a.file.empty() || !a.output.empty() || a.csv_wanted || !c.set.empty() || c.method || c.formulation ||
      c.tolerance || c.step || c.output_step || c.greatest_step || !c.options.empty()) {
    misused("--resume goes on with the model, the settings and the files of its checkpoint; only --end may change",
            "leave the others out, or start a new run");
  }
  if (a.view) misused("--view cannot be combined with --resume", "start a new run");
  RunJob job;
  job.from = read_checkpoint(a.resume);
  job.model_file = job.from->model_file;
  job.changes = job.from->changes;
  if (c.end) {
    job.changes.end = c.end;
    if (!(*c.end > job.from->t))
      misused("the checkpoint is at t = " + std::to_string(job.from->t) + " s, behind the end asked for",
              "take a later end");
    refuse_to_cut(job.from->result, *c.end);
  }
  job.files = {job.from->result, job.from->csv};
  // Saved as before: to the same place, as often.
  job.checkpoint = a.checkpoint_wanted && !a.checkpoint.empty() ? a.checkpoint
                   : job.from->checkpoint.empty()               ? a.resume
                                                                : job.from->checkpoint;
  job.checkpoint_every = a.checkpoint_every.empty() ? job.from->checkpoint_every : a.checkpoint_every;
  return job;
}

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

void restore_run(Simulation& simulation, const RunArguments& a, const RunJob& job) {
  if (simulation.fingerprint() != job.from->fingerprint) {
    throw Failure({Severity::error,
                   "checkpoint-of-another-model",
                   "the checkpoint '" + a.resume + "' does not fit the model '" + job.model_file +
                       "': it, or what it includes, has changed since",
                   "undo the change, or run the model again",
                   {}},
                  ExitCode::bad_usage);
  }
  simulation.restore(job.from->state);
}

// A fixed step, and corrections whose number does not depend on how they go.
void prepare_for_real_time(Model& model) {
  SimulationSettings& s = model.simulation;
  if (!s.step) misused("real time needs steps of a fixed size", "add --step SECONDS, for example --step 1e-3");
  const MethodInfo& method = find_method(s.method, s.where);
  const auto counts = [&](const char* name) {
    const bool has = std::any_of(method.options.begin(), method.options.end(),
                                 [&](const Field& option) { return option.name == name; });
    if (has && !s.options.has(name)) s.options.set(name, 2.0);
    return has;
  };
  if (counts("iterations")) return;
  const bool recovers = s.formulation.empty() || s.formulation == formulation::state_space;
  if (!recovers && (method.is_explicit || counts("corrections"))) return;
  if (s.formulation == formulation::all_coordinates) return;
  misused("method '" + method.key + "' iterates until it converges: its steps have no fixed cost",
          "methods with an option `iterations` have one; so have explicit methods and those with an option "
          "`corrections` with --formulation index-1 and its kin, and rosenbrock-nystrom-4 with --formulation "
          "all-coordinates");
}

// How far the run is from the same steps with Newton converged.
void compare_with_converged(const Model& model, const RunArguments& a, const Path& path, RealTimeReport& report) {
  Model same = model;
  for (const char* count : {"iterations", "corrections"})
    if (same.simulation.options.has(count)) same.simulation.options.set(count, 0.0);
  same.simulation.output_step = same.simulation.end;
  Simulation simulation(std::move(same));
  MemoryTrajectory ignored;
  Path converged;
  RunOptions options;
  options.from_equilibrium = a.from_static;
  options.path = &converged;
  if (simulation.run(ignored, options).status == RunStatus::finished)
    compare_paths(simulation.equations(), path, converged, report);
}

// Rows and columns are known before a run with a grid of outputs, and so is about how large the result becomes.
void warn_of_little_room(const Model& model, const std::string& result, std::vector<Problem>& warnings, bool talk) {
  const SimulationSettings& s = model.simulation;
  if (!s.output_step) return;
  const double columns =
      9 + static_cast<double>(model.outputs.size() + 19 * model.bodies.size() + model.states.size() +
                              model.variables.size() + 7 * (model.joints.size() + model.motions.size()) +
                              8 * model.forces.size());
  const double bytes = sizeof(double) * columns * s.end / *s.output_step;
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::absolute(result).parent_path();
  const std::filesystem::space_info room = std::filesystem::space(folder, none);
  if (none || bytes < static_cast<double>(room.available)) return;
  if (std::filesystem::exists(result, none) && !std::filesystem::is_regular_file(result, none)) return;  // a pipe
  warnings.push_back({Severity::warning,
                      "little-room",
                      "the result will hold " + digits(s.end / *s.output_step, 3) + " rows, about " +
                          digits(1e-9 * bytes, 3) + " GB, and its disk has " +
                          digits(1e-9 * static_cast<double>(room.available), 3) + " GB left",
                      "take a larger output step, or another disk",
                      {}});
  if (talk) std::fprintf(stderr, "%s\n", to_text(warnings.back()).c_str());
}

// The model as this run needs it. Arguments that do not fit it are refused before any file is opened.
Model load_for_run(const RunArguments& a, const RunJob& job, std::vector<Problem>& warnings) {
  Model model = load_model(job.model_file, job.changes, &warnings);
  for (const Problem& warning : warnings) {
    if (a.talks()) std::fprintf(stderr, "%s\n", to_text(warning).c_str());
  }
  if (a.real_time) {
    if (job.from) misused("--real-time cannot be combined with --resume", "start a new run");
    prepare_for_real_time(model);
  }
  if (!job.checkpoint.empty()) {
    (void)checkpoint_plan(job.checkpoint_every);
    refuse_other_kinds(job.checkpoint, OutputKind::checkpoint);
  }
  return model;
}

// A run as its user sees it: progress and notes, checkpoints, the report at the end.
class ShownRun {
 public:
  ShownRun(const RunArguments& a, const RunJob& job, Simulation& simulation, std::vector<Problem> warnings,
           LiveView* live)
      : a_(a), job_(job), simulation_(simulation), warnings_(std::move(warnings)), live_(live) {}
  void announce() const;
  RunResult run(TrajectorySink& sink);
  void report(const RunResult& result);

 private:
  RunOptions options();
  void note(const std::string& text);
  bool save(const std::string& path, const Bytes& state);
  void print_json_report(const RunResult& result) const;
  void print_text_report(const RunResult& result) const;
  void print_end(const RunResult& result) const;

  const RunArguments& a_;
  const RunJob& job_;
  Simulation& simulation_;
  std::vector<Problem> warnings_;
  std::vector<std::string> notes_;
  LiveView* live_;  // null: nobody watches
  long checkpoints_ = 0;
};

void ShownRun::announce() const {
  if (!a_.talks()) return;
  const std::string& title = simulation_.equations().model().title;
  std::printf("%s%s%s\n", printable(job_.model_file).c_str(), title.empty() ? "" : ": ", title.c_str());
}

void ShownRun::note(const std::string& text) {
  notes_.push_back(text);
  if (a_.talks()) std::printf("  %s\n", text.c_str());
}

// A checkpoint that cannot be written ends no run, but is told.
bool ShownRun::save(const std::string& path, const Bytes& state) {
  try {
    write_checkpoint(
        path, {TRAMMEL_VERSION, absolute(job_.model_file), simulation_.fingerprint(), job_.changes,
               absolute(job_.files.main), absolute(job_.files.csv), absolute(job_.checkpoint), job_.checkpoint_every,
               simulation_.integrator().state().t, simulation_.equations().model().simulation.end, state});
    return true;
  } catch (const Failure& failure) {
    Problem problem = failure.problems().front();
    problem.severity = Severity::warning;
    notes_.push_back(to_text(problem));
    std::fprintf(stderr, "%s\n", to_text(problem).c_str());
    return false;
  }
}

RunOptions ShownRun::options() {
  RunOptions options;
  options.interrupted = &interrupted;
  options.from_equilibrium = a_.from_static;
  options.real_time = a_.real_time;
  options.continue_result = job_.from.has_value();
  options.note = [this](const std::string& text) { note(text); };
  if (!job_.checkpoint.empty()) {
    options.checkpoint = checkpoint_plan(job_.checkpoint_every);
    options.checkpoint.write = [this] { checkpoints_ += save(job_.checkpoint, simulation_.save()) ? 1 : 0; };
  }
  if (live_ != nullptr) {
    options.steer = [this](const State& state) { return live_->steer(state); };
    options.inputs_refused = [this](double t) { live_->refused(t); };
    return options;
  }
  options.save_failed = [this](const Bytes& state) {
    const std::string name = job_.files.main + ".state";
    return save(name, state) ? name : std::string();
  };
  return options;
}

RunResult ShownRun::run(TrajectorySink& sink) {
  if (job_.from) {
    restore_run(simulation_, a_, job_);
    note("continued from t = " + Json(job_.from->t).dump() + " s");
  }
  RunOptions settings = options();
  Path travelled;
  if (a_.real_time && live_ == nullptr) settings.path = &travelled;  // what was done to it cannot be done again
  const bool progress = a_.talks() && isatty(STDERR_FILENO) != 0;
  if (progress) {
    settings.progress = [](double t, double end, long steps) {
      std::fprintf(stderr, "\r  t = %-8.4g of %.4g s (%.0f %%), %ld steps ", t, end, 100 * t / end, steps);
    };
  }
  catch_signals();
  RunResult result = simulation_.run(sink, settings);
  if (settings.path != nullptr && result.summary.real_time && result.status == RunStatus::finished)
    compare_with_converged(simulation_.equations().model(), a_, travelled, *result.summary.real_time);
  if (progress) std::fprintf(stderr, "\r%70s\r", "");
  for (Problem& doubt : result.warnings) doubt.where = {intern(job_.model_file), 0, 0};
  return result;
}

void ShownRun::print_json_report(const RunResult& result) const {
  const auto code = static_cast<int>(exit_code(result.status));
  Json j = {{"status", to_text(result.status)}, {"exit_code", code}, {"model", job_.model_file}};
  j["result"] = job_.files.main;
  j["csv"] = job_.files.csv.empty() ? Json() : Json(job_.files.csv);
  j["checkpoint"] = checkpoints_ == 0 ? Json() : Json(job_.checkpoint);
  j["warnings"] = to_json(warnings_);
  j["start"] = start_json(simulation_.initial());
  j["notes"] = notes_;
  j["summary"] = Json::parse(to_json(result.summary));
  j["failure"] = result.failure ? Json::parse(to_json(*result.failure)) : Json();
  print_json(j);
}

void ShownRun::print_text_report(const RunResult& result) const {
  std::printf("%s  result          %s\n", to_text(result.summary).c_str(), job_.files.main.c_str());
  if (!job_.files.csv.empty()) std::printf("  CSV             %s\n", job_.files.csv.c_str());
  if (checkpoints_ > 0) std::printf("  checkpoint      %s (%ld times)\n", job_.checkpoint.c_str(), checkpoints_);
  std::fflush(stdout);
}

// On stderr: doubts about the result, and why the run did not reach its end.
void ShownRun::print_end(const RunResult& result) const {
  for (const Problem& doubt : result.warnings) std::fprintf(stderr, "%s\n", to_text(doubt).c_str());
  if (result.failure) std::fprintf(stderr, "%s: error: %s", job_.model_file.c_str(), to_text(*result.failure).c_str());
  if (result.status == RunStatus::finished) return;
  std::fprintf(stderr, "%s at t = %.6g s; what was computed until then is in %s\n",
               result.status == RunStatus::interrupted ? "interrupted" : "stopped", result.summary.reached,
               job_.files.main.c_str());
  if (result.status == RunStatus::interrupted && checkpoints_ > 0)
    std::fprintf(stderr, "go on with: trammel run --resume %s\n", job_.checkpoint.c_str());
}

void ShownRun::report(const RunResult& result) {
  warnings_.insert(warnings_.end(), result.warnings.begin(), result.warnings.end());
  if (a_.json) {
    print_json_report(result);
  } else if (!a_.quiet) {
    print_text_report(result);
  }
  print_end(result);
}

// One run of the model, from opening its files to its report.
RunResult run_once(const RunArguments& a, const RunJob& job, Model model, std::vector<Problem> warnings,
                   LiveView* live) {
  // Files are opened before any work, so that a bad name costs no time.
  std::vector<std::unique_ptr<TrajectorySink>> sinks;
  sinks.push_back(make_sink(job.files.main));
  if (!job.files.csv.empty()) sinks.push_back(std::make_unique<CsvWriter>(job.files.csv));
  std::vector<TrajectorySink*> all;
  all.reserve(sinks.size());
  for (const auto& sink : sinks) all.push_back(sink.get());
  TeeSink files(all);
  std::unique_ptr<TrajectorySink> watched;

  warn_of_little_room(model, job.files.main, warnings, a.talks());
  if (live != nullptr) {
    model = live->prepare(std::move(model));
    watched = live->sink(files);
  }
  Simulation simulation(std::move(model));
  if (live != nullptr) live->attach(simulation);
  ShownRun run(a, job, simulation, std::move(warnings), live);
  run.announce();
  RunResult result = run.run(watched ? *watched : files);
  if (live == nullptr || !live->stopped_for_next()) run.report(result);
  return result;
}

LiveView::Options live_options(const RunArguments& a, const RunJob& job) {
  if (a.real_time && a.speed)
    misused("--speed cannot be combined with --real-time, which follows the clock", "leave one of them out");
  LiveView::Options options{a.speed, a.real_time, &interrupted, {}};
  options.reload = [&a, &job](const std::vector<std::string>& set) {
    RunJob changed = job;
    changed.changes.set.insert(changed.changes.set.end(), set.begin(), set.end());
    std::vector<Problem> warnings;
    Model model = load_for_run(a, changed, warnings);
    RunOptions start;
    start.from_equilibrium = a.from_static;
    Simulation(model).start(start);  // what cannot start is told while the old run still goes on
    return model;
  };
  return options;
}

// Runs, and runs again whenever a page asks for it, until the user ends it.
int watched_run(const RunArguments& a, const RunJob& job, Model model, std::vector<Problem> warnings) {
  LiveView live(live_options(a, job));
  catch_signals();
  std::fprintf(stderr, "Watch it at %s\n", live.address().c_str());
  for (;;) {
    const RunResult result = run_once(a, job, std::move(model), std::move(warnings), &live);
    const int code = static_cast<int>(exit_code(result.status));
    if (interrupted) return code;
    if (!live.stopped_for_next()) std::fprintf(stderr, "The run is over, its page stays open; Ctrl-C ends it.\n");
    std::optional<Model> next = live.next();
    if (!next) return code;
    std::fprintf(stderr, "Started anew\n");
    model = std::move(*next);
    warnings.clear();
  }
}

int run_verb(const RunArguments& a) {
  const RunJob job = a.resume.empty() ? new_run(a) : continued_run(a);
  if (a.speed && !a.view) misused("--speed needs --view", "add --view");
  std::vector<Problem> warnings;
  Model model = load_for_run(a, job, warnings);
  if (a.view) return watched_run(a, job, std::move(model), std::move(warnings));
  const RunResult result = run_once(a, job, std::move(model), std::move(warnings), nullptr);
  return static_cast<int>(exit_code(result.status));
}

}  // namespace

Verb add_run(CLI::App& app) {
  auto a = std::make_shared<RunArguments>();
  CLI::App* verb = app.add_subcommand("run", "Simulate a model file and record the result");
  add_model_arguments(*verb, *a);
  verb->get_option("MODEL")->required(false);  // not with --resume
  verb->add_option("--end", a->changes.end, "End time")->type_name("SECONDS");
  verb->add_option("--output-step", a->changes.output_step, "Record on a grid of times; 0: at every accepted step")
      ->type_name("SECONDS");
  verb->add_option("--greatest-step", a->changes.greatest_step, "Bound of a controlled step size")
      ->type_name("SECONDS");
  verb->add_option("-o,--output", a->output,
                   "Result file: HDF5, or CSV if it ends in .csv; default: the model's name with .h5")
      ->type_name("FILE");
  CLI::Option* csv = verb->add_option("--csv", a->csv, "Write CSV as well; default: the model's name with .csv")
                         ->type_name("[FILE]")
                         ->expected(0, 1);
  CLI::Option* checkpoint =
      verb->add_option("--checkpoint", a->checkpoint,
                       "Save the whole state of the run now and then; default: the result's name with .checkpoint")
          ->type_name("[FILE]")
          ->expected(0, 1);
  verb->add_option("--checkpoint-every", a->checkpoint_every,
                   "Simulated time between checkpoints, or steps: 0.5, 1000steps; default: 10 s by the clock")
      ->type_name("SECONDS|Nsteps");
  verb->add_option("--resume", a->resume, "Go on from a checkpoint, to the same bits as without the break; no MODEL")
      ->type_name("FILE");
  verb->add_flag("--from-static", a->from_static,
                 "Start in the static equilibrium near the drawn position, with the velocities of the model");
  verb->add_flag("--real-time", a->real_time,
                 "Steps of fixed size and cost, each held back until the clock is at its time; reports what they took");
  verb->add_flag("--view", a->view,
                 "Show the run in the browser while it goes on: hold it, change its inputs, push bodies, start anew");
  verb->add_option("--speed", a->speed,
                   "With --view: so many times the clock; 0: held until a page lets it go; default: as fast as it can")
      ->type_name("FACTOR")
      ->check(CLI::Range(0.0, 1000.0));
  verb->add_flag("--json", a->json, "Print summary or failure as JSON");
  verb->add_flag("-q,--quiet", a->quiet, "Print errors only");
  verb->footer(
      "Examples:\n"
      "  trammel run model.yaml                                      with the settings of the file\n"
      "  trammel run model.yaml --tolerance 1e-7 -o fine.h5          step size under control\n"
      "  trammel run model.yaml --step 1e-3 --option alpha=-0.1      fixed step, an option of the method\n"
      "  trammel run model.yaml --set L=0.5 --set 'k=20 N/mm' --csv  other parameters; CSV besides HDF5\n"
      "  trammel run model.yaml --checkpoint save.ck                 may be killed at any time, and\n"
      "  trammel run --resume save.ck                                goes on as if nothing had happened\n"
      "  trammel run model.yaml --real-time --step 1e-3              in time with the clock, two corrections a step\n"
      "  trammel run model.yaml --view --speed 1                     in the browser, in time with the clock\n"
      "\n"
      "Without --step the step size is controlled, unless the model fixes it; --tolerance lifts a fixed step of the "
      "model.\n"
      "Ctrl-C ends the run in good order and keeps what was computed (exit code 5). If a run fails (exit code 1), the "
      "report\n"
      "names the parts of the model it points to, and the last good state is saved beside the result as RESULT.state,\n"
      "a checkpoint. `trammel help ID` explains the identifiers in reports.");
  return {verb, [a, csv, checkpoint] {
            a->csv_wanted = csv->count() > 0;
            a->checkpoint_wanted = checkpoint->count() > 0;
            return run_verb(*a);
          }};
}

}  // namespace trammel
