// trammel run MODEL: simulate, record, summarise.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/run/simulation.h"
#include "trammel/write/csv_writer.h"
#include "trammel/write/hdf5_writer.h"

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
  std::string output, csv;
  bool json = false, quiet = false, from_static = false;
};

// The files a run writes.
struct RunFiles {
  std::string main;  // HDF5, or CSV if its name says so
  std::string csv;   // besides; empty: none
};

bool ends_in_csv(const std::string& path) { return std::filesystem::path(path).extension() == ".csv"; }

RunFiles run_files(const RunArguments& a, bool csv_wanted) {
  const std::string stem = std::filesystem::path(a.file).stem().string();
  RunFiles files;
  files.main = a.output.empty() ? stem + ".h5" : a.output;
  if (csv_wanted) files.csv = a.csv.empty() ? stem + ".csv" : a.csv;
  std::error_code none;
  if (csv_wanted && (files.csv == files.main || std::filesystem::equivalent(files.csv, files.main, none))) {
    throw Failure({Severity::error,
                   "bad-usage",
                   "--output and --csv name the same file '" + files.csv + "'",
                   "--output FILE.csv alone writes CSV instead of HDF5",
                   {}},
                  ExitCode::bad_usage);
  }
  return files;
}

std::unique_ptr<TrajectorySink> make_sink(const std::string& path) {
  if (ends_in_csv(path)) return std::make_unique<CsvWriter>(path);
  return std::make_unique<Hdf5Writer>(path);
}

ExitCode exit_code(RunStatus status) {
  if (status == RunStatus::failed) return ExitCode::failed_run;
  return status == RunStatus::interrupted ? ExitCode::interrupted : ExitCode::ok;
}

int run_verb(const RunArguments& a, bool csv_wanted) {
  std::vector<Problem> warnings;
  Model model = load_model(a.file, a.changes, &warnings);
  const bool talk = !a.quiet && !a.json;
  for (const Problem& warning : warnings) {
    if (talk) std::fprintf(stderr, "%s\n", to_text(warning).c_str());
  }
  // Files are opened before any work, so that a bad name costs no time.
  const RunFiles files = run_files(a, csv_wanted);
  std::vector<std::unique_ptr<TrajectorySink>> sinks;
  sinks.push_back(make_sink(files.main));
  if (!files.csv.empty()) sinks.push_back(std::make_unique<CsvWriter>(files.csv));
  std::vector<TrajectorySink*> all;
  for (const auto& sink : sinks) all.push_back(sink.get());
  TeeSink sink(all);

  Simulation simulation(std::move(model));
  RunOptions options;
  options.interrupted = &interrupted;
  options.state_file = files.main + ".state";
  options.from_equilibrium = a.from_static;
  const bool progress = talk && isatty(STDERR_FILENO) != 0;
  std::vector<std::string> notes;
  options.note = [&](const std::string& text) {
    notes.push_back(text);
    if (talk) std::printf("  %s\n", text.c_str());
  };
  if (talk) {
    const std::string& title = simulation.equations().model().title;
    std::printf("%s%s%s\n", a.file.c_str(), title.empty() ? "" : ": ", title.c_str());
  }
  if (progress) {
    options.progress = [](double t, double end, long steps) {
      std::fprintf(stderr, "\r  t = %-8.4g of %.4g s (%.0f %%), %ld steps ", t, end, 100 * t / end, steps);
    };
  }
  catch_signals();
  const RunResult result = simulation.run(sink, options);
  if (progress) std::fprintf(stderr, "\r%70s\r", "");

  const ExitCode code = exit_code(result.status);
  if (a.json) {
    Json j = {{"status", to_text(result.status)}, {"exit_code", static_cast<int>(code)}, {"model", a.file}};
    j["result"] = files.main;
    j["csv"] = files.csv.empty() ? Json() : Json(files.csv);
    j["warnings"] = to_json(warnings);
    j["start"] = start_json(simulation.initial());
    j["notes"] = notes;
    j["summary"] = Json::parse(to_json(result.summary));
    j["failure"] = result.failure ? Json::parse(to_json(*result.failure)) : Json();
    print_json(j);
  } else if (!a.quiet) {
    std::printf("%s  result          %s\n", to_text(result.summary).c_str(), files.main.c_str());
    if (!files.csv.empty()) std::printf("  CSV             %s\n", files.csv.c_str());
    std::fflush(stdout);
  }
  if (result.failure) std::fprintf(stderr, "%s: error: %s", a.file.c_str(), to_text(*result.failure).c_str());
  if (result.status != RunStatus::finished) {
    std::fprintf(stderr, "%s at t = %.6g s; what was computed until then is in %s\n",
                 result.status == RunStatus::interrupted ? "interrupted" : "stopped", result.summary.reached,
                 files.main.c_str());
  }
  return static_cast<int>(code);
}

}  // namespace

Verb add_run(CLI::App& app) {
  auto a = std::make_shared<RunArguments>();
  CLI::App* verb = app.add_subcommand("run", "Simulate a model file and record the result");
  add_model_arguments(*verb, *a);
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
  verb->add_flag("--from-static", a->from_static, "Start at rest in the static equilibrium near the drawn position");
  verb->add_flag("--json", a->json, "Print summary or failure as JSON");
  verb->add_flag("-q,--quiet", a->quiet, "Print errors only");
  verb->footer(
      "Examples:\n"
      "  trammel run model.yaml                                      with the settings of the file\n"
      "  trammel run model.yaml --tolerance 1e-7 -o fine.h5          step size under control\n"
      "  trammel run model.yaml --step 1e-3 --option alpha=-0.1      fixed step, an option of the method\n"
      "  trammel run model.yaml --set L=0.5 --set 'k=20 N/mm' --csv  other parameters; CSV besides HDF5\n"
      "\n"
      "Without --step the step size is controlled, unless the model fixes it; --tolerance lifts a fixed step of the "
      "model.\n"
      "Ctrl-C ends the run in good order and keeps what was computed (exit code 5). If a run fails (exit code 1), the "
      "report\n"
      "names the parts of the model it points to, and the last good state is saved beside the result as RESULT.state.");
  return {verb, [a, csv] { return run_verb(*a, csv->count() > 0); }};
}

}  // namespace trammel
