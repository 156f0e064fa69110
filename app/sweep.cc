// trammel sweep MODEL: many runs with different parameters, one table of results.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <thread>

#include "app/common.h"
#include "app/mpi_line.h"
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

// A row as it travels between ranks; what is not a number is null.
std::string row_text(const SweepRow& row) {
  return Json{{"run", row.run}, {"status", row.status}, {"message", row.message}, {"values", row.values}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

SweepRow row_of(const std::string& text) {
  const Json json = Json::parse(text);
  SweepRow row{json["run"], json["status"], json["message"], {}};
  for (const Json& value : json["values"]) row.values.push_back(value.is_null() ? std::nan("") : value.get<double>());
  return row;
}

SweepPlan plan_of(const SweepArguments& a) {
  if ((!a.grid.empty()) + (!a.latin.empty()) + (!a.csv.empty()) != 1) {
    throw Failure({Severity::error,
                   "bad-usage",
                   "a sweep needs one of --grid, --latin and --csv",
                   "see `trammel sweep --help`",
                   {}},
                  ExitCode::bad_usage);
  }
  return !a.csv.empty() ? csv_plan(a.csv) : !a.grid.empty() ? grid_plan(a.grid) : latin_plan(a.latin, a.count, a.seed);
}

SweepOptions sweep_options(const SweepArguments& a, int ranks) {
  SweepOptions options;
  options.model = a.file;
  options.changes = a.changes;
  for (const std::string& m : a.measures) options.measures.push_back(sweep_measure(m));
  options.table = a.table.empty() ? std::filesystem::path(a.file).stem().string() + ".sweep.csv" : a.table;
  options.resume = a.resume;
  options.threads = a.threads > 0 ? a.threads
                    : ranks > 1   ? 1
                                  : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.interrupted = &sweep_interrupted;
  return options;
}

void serve_runs(MpiWorld& world, const SweepOptions& options, const SweepPlan& plan) {
  world.serve(
      [&](int, const std::string& request, std::string& reply) {
        reply = row_text(sweep_run(options, plan, std::stol(request)));
        return true;
      },
      &sweep_interrupted);
}

void print_sweep(const SweepArguments& a, const SweepOptions& options, const SweepSummary& s, int ranks) {
  if (a.json) {
    print_json({{"runs", s.runs},
                {"finished", s.finished},
                {"failed", s.failed},
                {"taken_over", s.taken_over},
                {"complete", s.complete},
                {"seconds", s.seconds},
                {"table", options.table}});
  } else if (!a.quiet) {
    std::printf("%ld runs: %ld finished, %ld failed; %.3g s on %d %s\n  table           %s\n", s.runs, s.finished,
                s.failed, s.seconds, std::max(options.threads, ranks), ranks > 1 ? "ranks" : "threads",
                options.table.c_str());
  }
}

int sweep_on(MpiWorld& world, const SweepArguments& a) {
  const SweepPlan plan = plan_of(a);
  SweepOptions options = sweep_options(a, world.size());
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_sweep_signal);
  if (world.size() > 1) {
    if (options.threads > 1) {
      throw Failure({Severity::error,
                     "bad-usage",
                     "under mpirun every rank makes one run at a time",
                     "leave --threads out and start more ranks",
                     {}},
                    ExitCode::bad_usage);
    }
    options.measures = measures_of(options);
  }
  if (world.rank() > 0) {
    serve_runs(world, options, plan);
    return 0;
  }
  // Runs go to whoever is free.
  std::vector<std::unique_ptr<Channel>> lines;
  for (int rank = 1; rank < world.size(); ++rank) {
    lines.push_back(world.line(rank, 0, "sweep", std::numeric_limits<double>::infinity(), &sweep_interrupted));
    options.helpers.emplace_back([line = lines.back().get()](long run) {
      line->send(std::to_string(run));
      return row_of(line->receive());
    });
  }
  options.lost = [&](const Failure& failure) {
    if (!sweep_interrupted) std::fprintf(stderr, "%s\n", to_text(failure.problems().front()).c_str());
  };
  const bool talk = !a.quiet && !a.json;
  options.progress = [&](const SweepRow& row, long done, long all) {
    if (talk && row.status != "finished")
      std::fprintf(stderr, "run %ld: %s: %s\n", row.run, row.status.c_str(), row.message.c_str());
    if (talk && (done == all || done % 50 == 0)) std::printf("  %ld of %ld runs\n", done, all);
  };
  const SweepSummary s = run_sweep(options, plan);
  print_sweep(a, options, s, world.size());
  if (!s.complete) {
    std::fprintf(stderr, "interrupted; go on with the same command and --resume\n");
    std::fflush(nullptr);
    if (world.size() > 1) world.abort(static_cast<int>(ExitCode::interrupted));
    return static_cast<int>(ExitCode::interrupted);
  }
  world.end_all();
  return static_cast<int>(s.finished == 0 ? ExitCode::failed_run : ExitCode::ok);
}

int sweep_verb(const SweepArguments& a) {
  MpiWorld world;
  return world.run([&] { return sweep_on(world, a); });
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
  verb->add_option("--count", a->count, "Runs of a Latin hypercube")->check(CLI::Range(1, 1000000));
  verb->add_option("--seed", a->seed, "Of the Latin hypercube; 1");
  verb->add_option("--csv", a->csv, "A table of runs: names in the first line")->type_name("FILE");
  verb->add_option(
          "--measure", a->measures,
          "What to put into the table: a signal and .last, .max, .min or .mean; default: the last value of every "
          "output of the model")
      ->type_name("SIGNAL.HOW");
  verb->add_option("-o,--output", a->table, "The table; default: the model's name with .sweep.csv")->type_name("FILE");
  verb->add_option("--threads", a->threads, "Runs side by side; default: as many as the machine has processors")
      ->check(CLI::Range(1, 1024));
  verb->add_flag("--resume", a->resume, "Go on with a table that is not complete");
  verb->add_flag("--json", a->json, "Print the summary as JSON");
  verb->add_flag("-q,--quiet", a->quiet, "Print errors only");
  verb->footer(
      "Examples:\n"
      "  trammel sweep models/pendulum.yaml --grid L=0.5:1.5:11 --grid m=1,2,4 --measure swing.max\n"
      "  trammel sweep models/pendulum.yaml --latin L=0.5:1.5 --latin m=1:4 --count 200\n"
      "  mpirun -n 4 trammel sweep models/pendulum.yaml --grid L=0.5:1.5:200        runs on four processes\n"
      "\n"
      "A run that fails has its row with status and message, and ends nothing. Exit code 1 if every run failed.");
  return {verb, [a] { return sweep_verb(*a); }};
}

}  // namespace trammel
