// trammel sweep MODEL: many runs with different parameters, one table of results.
#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/run/sweep.h"

namespace trammel {
namespace {

std::atomic<bool> sweep_interrupted{false};
void on_sweep_signal(int) { sweep_interrupted = true; }

struct SweepArguments : ModelArguments {
  std::vector<std::string> grid, latin, measures;
  std::string csv, table;
  int count = 0, threads = 0;
  unsigned seed = 1;
  bool resume = false, json = false, quiet = false;
};

int sweep_verb(const SweepArguments& a) {
  if ((!a.grid.empty()) + (!a.latin.empty()) + (!a.csv.empty()) != 1) {
    throw Failure({Severity::error,
                   "bad-usage",
                   "a sweep needs one of --grid, --latin and --csv",
                   "see `trammel sweep --help`",
                   {}},
                  ExitCode::bad_usage);
  }
  const SweepPlan plan = !a.csv.empty()    ? csv_plan(a.csv)
                         : !a.grid.empty() ? grid_plan(a.grid)
                                           : latin_plan(a.latin, a.count, a.seed);
  SweepOptions options;
  options.model = a.file;
  options.changes = a.changes;
  for (const std::string& m : a.measures) options.measures.push_back(sweep_measure(m));
  options.table = a.table.empty() ? std::filesystem::path(a.file).stem().string() + ".sweep.csv" : a.table;
  options.resume = a.resume;
  options.threads = a.threads > 0 ? a.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.interrupted = &sweep_interrupted;
  const bool talk = !a.quiet && !a.json;
  options.progress = [&](const SweepRow& row, long done, long all) {
    if (talk && row.status != "finished")
      std::fprintf(stderr, "run %ld: %s: %s\n", row.run, row.status.c_str(), row.message.c_str());
    if (talk && (done == all || done % 50 == 0)) std::printf("  %ld of %ld runs\n", done, all);
  };
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_sweep_signal);
  const SweepSummary s = run_sweep(options, plan);
  if (a.json) {
    print_json({{"runs", s.runs},
                {"finished", s.finished},
                {"failed", s.failed},
                {"taken_over", s.taken_over},
                {"complete", s.complete},
                {"seconds", s.seconds},
                {"table", options.table}});
  } else if (talk) {
    std::printf("%ld runs: %ld finished, %ld failed; %.3g s on %d threads\n  table           %s\n", s.runs, s.finished,
                s.failed, s.seconds, options.threads, options.table.c_str());
  }
  if (!s.complete) {
    std::fprintf(stderr, "interrupted; go on with the same command and --resume\n");
    return static_cast<int>(ExitCode::interrupted);
  }
  return static_cast<int>(s.finished == 0 ? ExitCode::failed_run : ExitCode::ok);
}

}  // namespace

Verb add_sweep(CLI::App& app) {
  auto a = std::make_shared<SweepArguments>();
  CLI::App* verb = app.add_subcommand("sweep", "Run a model many times with different parameters");
  add_model_arguments(*verb, *a);
  verb->add_option("--end", a->changes.end, "End time")->type_name("SECONDS");
  verb->add_option("--grid", a->grid, "Every value with every one of the others")
      ->type_name("NAME=FROM:TO:COUNT|NAME=V,V,...");
  verb->add_option("--latin", a->latin, "Ranges of a Latin hypercube of --count runs")->type_name("NAME=FROM:TO");
  verb->add_option("--count", a->count, "Runs of a Latin hypercube");
  verb->add_option("--seed", a->seed, "Of the Latin hypercube; 1");
  verb->add_option("--csv", a->csv, "A table of runs: names in the first line")->type_name("FILE");
  verb->add_option(
          "--measure", a->measures,
          "What to put into the table: a signal and .last, .max, .min or .mean; default: the last value of every "
          "output of the model")
      ->type_name("SIGNAL.HOW");
  verb->add_option("-o,--output", a->table, "The table; default: the model's name with .sweep.csv")->type_name("FILE");
  verb->add_option("--threads", a->threads, "Runs side by side; default: as many as the machine has processors");
  verb->add_flag("--resume", a->resume, "Go on with a table that is not complete");
  verb->add_flag("--json", a->json, "Print the summary as JSON");
  verb->add_flag("-q,--quiet", a->quiet, "Print errors only");
  verb->footer(
      "Examples:\n"
      "  trammel sweep models/pendulum.yaml --grid L=0.5:1.5:11 --grid m=1,2,4 --measure swing.max\n"
      "  trammel sweep models/pendulum.yaml --latin L=0.5:1.5 --latin m=1:4 --count 200\n"
      "\n"
      "A run that fails has its row with status and message, and ends nothing. Exit code 1 if every run failed.");
  return {verb, [a] { return sweep_verb(*a); }};
}

}  // namespace trammel
