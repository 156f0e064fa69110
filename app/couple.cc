// trammel couple FILE: simulate participants glued together by joints.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "app/common.h"
#include "app/mpi_line.h"
#include "app/verbs.h"
#include "trammel/base/printable.h"
#include "trammel/couple/coupling_file.h"
#include "trammel/couple/remote_participant.h"
#include "trammel/run/checkpoint.h"
#include "trammel/run/output_table.h"
#include "trammel/run/simulation.h"
#include "trammel/write/sha256.h"

namespace trammel {
namespace {

std::atomic<bool> couple_interrupted{false};
void on_couple_signal(int) { couple_interrupted = true; }

struct CoupleArguments {
  std::string file, output, resume;
  CouplingChanges changes;
  bool compare_whole = false, json = false, quiet = false;
};

// "glued.h5" -> "glued.first.h5"
std::string result_of(const std::string& result, const std::string& participant) {
  std::filesystem::path path(result);
  const std::string extension = path.extension().string();
  return path.replace_extension("").string() + "." + participant + extension;
}

Json summary_json(const CouplingSummary& s) {
  return {{"steps", s.steps},
          {"repeated", s.rejected},
          {"iterations", s.iterations},
          {"co_simulations", s.co_simulations},
          {"reached", s.reached},
          {"mean_error", s.mean_error},
          {"greatest_error", s.greatest_error},
          {"mean_rate_error", s.mean_rate_error},
          {"greatest_rate_error", s.greatest_rate_error},
          {"recorded", s.recorded},
          {"seconds", s.seconds},
          {"derivative_seconds", s.jacobian_seconds}};
}

// ---- glued against whole
// -----------------------------------------------------------------------------------------------

// Largest differences of the outputs that participants and the whole model have in common, and of the positions of
// bodies of the same name, at the times that both record.
Json compare_with_whole(const CouplingSpec& spec, const std::map<std::string, std::unique_ptr<MemoryTrajectory>>& parts,
                        double& seconds) {
  ModelChanges changes = spec.whole_changes;
  changes.end = spec.settings.end;
  changes.output_step = spec.settings.output_step.value_or(spec.settings.step);
  Simulation simulation(load_model(spec.whole, changes));
  MemoryTrajectory whole;
  const RunResult result = simulation.run(whole);
  seconds = result.summary.times.steps;
  Json out = Json::array();
  if (result.status != RunStatus::finished)
    throw Failure(
        {Severity::error, "run-failed", "the whole model does not run to its end", "try `trammel run` on it", {}},
        ExitCode::failed_run);
  const std::vector<double> time = whole.time(0);
  std::vector<Signal> compared;
  for (const OutputGroup& group : output_groups(simulation.equations())) {
    for (const OutputColumn& column : group.columns) {
      if (group.of == OutputOwner::output || (group.of == OutputOwner::body && column.quantity == "position"))
        add_signals(column, "", compared);
    }
  }
  for (const auto& [name, part] : parts) {
    const std::vector<double> own_time = part->time(0);
    for (const Signal& signal : compared) {
      if (!part->find(signal.name)) continue;
      const std::vector<double> x = part->column(signal.name), y = whole.column(signal.name);
      double difference = 0, size = 0;
      std::size_t k = 0, points = 0;
      for (std::size_t i = 0; i < own_time.size(); ++i) {
        while (k + 1 < time.size() && time[k] < own_time[i] - 1e-9) ++k;
        if (std::abs(time[k] - own_time[i]) > 1e-9) continue;
        ++points;
        difference = std::max(difference, std::abs(x[i] - y[k]));
        size = std::max(size, std::abs(y[k]));
      }
      out.push_back({{"participant", name},
                     {"signal", signal.name},
                     {"difference", difference},
                     {"size", size},
                     {"points", points}});
    }
  }
  return out;
}

Provenance provenance_of(const CouplingSpec& spec) {
  Provenance p;
  p.set("program", "trammel");
  p.set("version", TRAMMEL_VERSION);
  p.set("title", spec.title);
  p.set("coupling_file", spec.file);
  p.set("scheme", spec.settings.scheme.key);
  p.set("date", utc_date());
  return p;
}

// The state of everybody at one time, for `--resume`.
Checkpoint checkpoint_of(const CouplingSpec& spec, const std::string& result, const Coupling& coupling) {
  Checkpoint c;
  c.version = TRAMMEL_VERSION;
  c.model_file = std::filesystem::absolute(spec.file).lexically_normal().string();
  c.fingerprint = sha256_hex(spec.text);
  c.result = std::filesystem::absolute(result).lexically_normal().string();
  c.t = coupling.t();
  c.end = spec.settings.end;
  c.state = coupling.saved();
  return c;
}

Checkpoint state_to_resume(const CoupleArguments& a, const CouplingSpec& spec, const std::string& result) {
  Checkpoint from = read_checkpoint(a.resume);
  if (from.fingerprint != sha256_hex(spec.text))
    throw Failure({Severity::error,
                   "checkpoint-of-another-model",
                   "the state '" + a.resume + "' belongs to another coupling file",
                   "resume it with the file it was saved with",
                   {}},
                  ExitCode::bad_usage);
  std::error_code none;
  if (std::filesystem::equivalent(from.result, result, none))
    throw Failure({Severity::error,
                   "bad-usage",
                   "the result '" + result + "' holds what was computed before the break",
                   "choose another name with --output",
                   {}},
                  ExitCode::bad_usage);
  return from;
}

// Participants of this rank, made when they are asked for.
void serve_participants(MpiWorld& world, const CouplingSpec& spec, const MakeSink& sink_of) {
  CouplingSpec own = spec;
  std::vector<Model> models = participant_models(own);
  std::map<int, ParticipantServer> servers;
  world.serve(
      [&](int index, const std::string& request, std::string& reply) {
        const auto make = [&, index](const Greeting&) {
          return make_participant(own, index, models[static_cast<std::size_t>(index)], sink_of);
        };
        return servers.try_emplace(index, make).first->second.answer(request, reply);
      },
      &couple_interrupted);
}

void announce_coupling(const CoupleArguments& a, const CouplingSpec& spec) {
  std::printf("%s%s%s\n", a.file.c_str(), spec.title.empty() ? "" : ": ", spec.title.c_str());
  for (const ParticipantSpec& p : spec.participants) {
    if (p.command.empty()) continue;
    std::string words;
    for (const std::string& word : p.command) words += " " + printable(word);
    std::printf("  participant '%s' is the program%s\n", p.name.c_str(), words.c_str());
  }
  std::fflush(stdout);
}

// What is told when a coupled run has ended.
struct CoupleReport {
  std::string result;
  CouplingSummary summary;
  std::string state_file;  // of a run that did not finish; empty: none
  Json comparison;         // with the whole model
  double whole_seconds = 0;
};

void print_couple_json(const CoupleArguments& a, const CoupleReport& r) {
  Json j = {{"status", to_text(r.summary.status)}, {"result", r.result}, {"summary", summary_json(r.summary)}};
  j["failure"] = r.summary.failure.empty() ? Json() : Json(r.summary.failure);
  j["state"] = r.state_file.empty() ? Json() : Json(r.state_file);
  if (a.compare_whole) j["whole"] = {{"seconds", r.whole_seconds}, {"differences", r.comparison}};
  print_json(j);
}

void print_couple_text(const CoupleArguments& a, const CoupleReport& r) {
  std::printf("%s  result          %s\n", to_text(r.summary).c_str(), r.result.c_str());
  if (!a.compare_whole || r.summary.status != RunStatus::finished) return;
  std::vector<std::vector<std::string>> lines{{"participant", "signal", "largest difference", "largest value"}};
  for (const Json& row : r.comparison) {
    lines.push_back({row["participant"], row["signal"], digits(row["difference"].get<double>(), 3),
                     digits(row["size"].get<double>(), 4)});
  }
  std::printf("glued against whole (whole: %.3g s)\n%s", r.whole_seconds, aligned(lines, 2).c_str());
}

// On stderr: why the run did not reach its end, and how it goes on.
void print_couple_end(const CoupleArguments& a, const CoupleReport& r) {
  if (r.summary.status == RunStatus::failed) {
    const Problem problem{Severity::error,
                          "coupling-failed",
                          "t = " + digits(r.summary.reached) + " s: " + r.summary.failure,
                          "",
                          {intern(a.file), 0, 0}};
    std::fprintf(stderr, "%s\n", to_text(problem).c_str());
  }
  if (!r.state_file.empty())
    std::fprintf(stderr, "go on with: trammel couple %s --resume %s\n", a.file.c_str(), r.state_file.c_str());
}

// Participants of other ranks are reached by lines to them.
std::unique_ptr<Coupling> connect_ranks(MpiWorld& world, const CouplingSpec& spec, const MakeSink& sink_of) {
  const auto rank_of = [&](int participant) { return participant % world.size(); };
  return make_coupling(spec, sink_of, [&](int p) -> std::unique_ptr<Channel> {
    if (rank_of(p) == 0) return nullptr;
    return world.line(rank_of(p), p, spec.participants[static_cast<std::size_t>(p)].name, spec.settings.patience,
                      &couple_interrupted);
  });
}

void start_coupling(Coupling& coupling, const std::optional<Checkpoint>& from, bool talk) {
  coupling.start([&](const std::string& text) {
    if (talk) std::printf("  %s\n", text.c_str());
  });
  if (!from) return;
  coupling.restore(from->state);
  if (talk) std::printf("  continued from t = %g s\n", coupling.t());
}

int couple_on(MpiWorld& world, const CoupleArguments& a) {
  CouplingSpec spec = read_coupling(a.file, a.changes);
  spec.settings.stop = &couple_interrupted;
  // A resumed run has the rows behind the break alone: it must not take the place of those before it.
  const std::string ending = a.resume.empty() ? ".h5" : ".resumed.h5";
  const std::string main = a.output.empty() ? std::filesystem::path(a.file).stem().string() + ending : a.output;
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_couple_signal);
  std::map<std::string, std::unique_ptr<MemoryTrajectory>> kept;
  const MakeSink sink_of = [&](const std::string& name) -> std::unique_ptr<TrajectorySink> {
    if (!a.compare_whole) return make_sink(result_of(main, name));
    kept[name] = std::make_unique<MemoryTrajectory>();
    return std::make_unique<TeeSink>(std::vector<TrajectorySink*>{kept[name].get()});
  };
  if (world.rank() > 0) {
    serve_participants(world, spec, sink_of);
    return 0;
  }
  if (a.compare_whole && (spec.whole.empty() || world.size() > 1))
    throw Failure({Severity::error,
                   "bad-usage",
                   "--compare-whole needs a coupling file with `whole`, and one process",
                   "name the model in one piece: whole: MODEL.yaml",
                   {}},
                  ExitCode::bad_usage);

  const bool talk = !a.quiet && !a.json;
  std::optional<Checkpoint> from;
  if (!a.resume.empty()) from = state_to_resume(a, spec, main);
  const std::unique_ptr<TrajectorySink> sink = make_sink(main);
  if (talk) announce_coupling(a, spec);
  const std::unique_ptr<Coupling> coupling = connect_ranks(world, spec, sink_of);
  start_coupling(*coupling, from, talk);
  CoupleReport report{main, coupling->run(*sink, provenance_of(spec), &couple_interrupted), "", {}, 0};
  const RunStatus status = report.summary.status;
  if (status != RunStatus::finished && !coupling->saved().empty()) {
    report.state_file = main + ".state";
    write_checkpoint(report.state_file, checkpoint_of(spec, main, *coupling));
  }
  if (a.compare_whole && status == RunStatus::finished)
    report.comparison = compare_with_whole(spec, kept, report.whole_seconds);
  if (a.json) {
    print_couple_json(a, report);
  } else if (talk) {
    print_couple_text(a, report);
  }
  std::fflush(stdout);
  print_couple_end(a, report);
  if (status != RunStatus::failed) world.end_all();
  if (status == RunStatus::failed && world.size() > 1) world.abort(static_cast<int>(ExitCode::failed_run));
  if (status == RunStatus::failed) return static_cast<int>(ExitCode::failed_run);
  return static_cast<int>(status == RunStatus::interrupted ? ExitCode::interrupted : ExitCode::ok);
}

int couple_verb(const CoupleArguments& a) {
  MpiWorld world;
  return world.run([&] { return couple_on(world, a); });
}

}  // namespace

Verb add_couple(CLI::App& app) {
  auto a = std::make_shared<CoupleArguments>();
  CLI::App* verb = app.add_subcommand("couple", "Simulate models glued together by joints");
  verb->add_option("FILE", a->file, "Coupling file")->required();
  verb->add_option("--set", a->changes.set, "Parameter of the participants that have it, or of one")
      ->type_name("[PARTICIPANT.]NAME=VALUE");
  verb->add_option("--option", a->changes.options, "Key of the section `coupling`")->type_name("NAME=VALUE");
  verb->add_option("-o,--output", a->output,
                   "Result file: HDF5, or CSV if it ends in .csv; those of the participants have their names in it")
      ->type_name("FILE");
  verb->add_option("--resume", a->resume, "Go on from a state that a failed or interrupted run left")
      ->type_name("FILE");
  verb->add_flag(
      "--compare-whole", a->compare_whole,
      "Run the model in one piece as well and print the differences; the participants' results are not kept");
  verb->add_flag("--json", a->json, "Print the summary as JSON");
  verb->add_flag("-q,--quiet", a->quiet, "Print errors only");
  verb->footer(
      "Examples:\n"
      "  trammel couple couplings/double_pendulum.yaml\n"
      "  trammel couple couplings/double_pendulum.yaml --option scheme=displacement --set torque=200\n"
      "  trammel couple couplings/double_pendulum.yaml --compare-whole\n"
      "  mpirun -n 2 trammel couple couplings/double_pendulum.yaml      participants on two processes, same numbers");
  return {verb, [a] { return couple_verb(*a); }};
}

}  // namespace trammel
