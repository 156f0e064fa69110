// trammel run MODEL: simulate, record, summarise.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/verbs.h"
#include "trammel/check/check_model.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"
#include "trammel/write/csv_writer.h"
#include "trammel/write/hdf5_writer.h"

namespace trammel {
namespace {

std::atomic<bool> interrupted{false};
void on_signal(int) { interrupted = true; }

struct RunArguments {
  std::string model, method, output, csv;
  std::vector<std::string> set, option;
  double tolerance = 0, step = 0, end = 0, output_step = 0;
  bool json = false, quiet = false;
};

void apply(const RunArguments& a, const CLI::App& verb, Model& model) {
  if (verb.count("--method") > 0) model.simulation.method = a.method;
  if (verb.count("--tolerance") > 0) {
    model.simulation.tolerance = a.tolerance;
    if (verb.count("--step") == 0) model.simulation.step.reset();  // a tolerance asks for a controlled step
  }
  if (verb.count("--step") > 0) model.simulation.step = a.step;
  if (verb.count("--end") > 0) model.simulation.end = a.end;
  if (verb.count("--output-step") > 0) model.simulation.output_step = a.output_step;
  for (const std::string& text : a.option) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals), value = equals == std::string::npos ? "" : text.substr(equals + 1);
    std::size_t used = 0;
    double number = 0;
    try {
      number = std::stod(value, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (value == "true" || value == "false") {
      model.simulation.options.set(name, value == "true");
    } else if (used == value.size() && !value.empty()) {
      model.simulation.options.set(name, number);
    } else {
      throw Failure({Severity::error, "bad-option", "--option takes NAME=VALUE with a number or true/false, not '" + text + "'", "for example --option alpha=-0.1", {}},
                    ExitCode::bad_usage);
    }
  }
}

int run(const RunArguments& a, const CLI::App& verb) {
  ReadOptions read;
  for (const std::string& assignment : a.set) read.set(assignment);
  Model model = read_model(a.model, read);
  apply(a, verb, model);
  for (const Problem& warning : require_sound(model)) {
    if (!a.quiet) std::fprintf(stderr, "%s\n", to_text(warning).c_str());
  }
  const std::string stem = std::filesystem::path(a.model).stem().string();
  const std::string output = a.output.empty() ? stem + ".h5" : a.output;

  std::vector<std::unique_ptr<TrajectorySink>> sinks;
  sinks.push_back(std::make_unique<Hdf5Writer>(output));
  if (verb.count("--csv") > 0) sinks.push_back(std::make_unique<CsvWriter>(a.csv.empty() ? stem + ".csv" : a.csv));
  std::vector<TrajectorySink*> tees;
  for (const auto& sink : sinks) tees.push_back(sink.get());
  TeeSink sink(tees);

  Simulation simulation(std::move(model));
  RunOptions options;
  options.interrupted = &interrupted;
  options.state_file = output + ".state";
  if (!a.quiet && !a.json) {
    std::printf("%s: %s\n", a.model.c_str(), simulation.equations().model().title.c_str());
    options.note = [](const std::string& text) { std::printf("  %s\n", text.c_str()); };
    if (isatty(STDERR_FILENO) != 0) {
      options.progress = [](double t, double end, long steps) {
        std::fprintf(stderr, "\r  t = %.4g of %.4g s (%.0f %%), %ld steps ", t, end, 100 * t / end, steps);
      };
    }
  }
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  const RunResult result = simulation.run(sink, options);
  if (options.progress) std::fprintf(stderr, "\r%60s\r", "");
  if (a.json) {
    std::printf("%s\n", result.failure ? to_json(*result.failure).c_str() : to_json(result.summary).c_str());
  } else if (!a.quiet) {
    std::printf("%s  result          %s\n", to_text(result.summary).c_str(), output.c_str());
  }
  if (result.failure) std::fprintf(stderr, "error: %s", to_text(*result.failure).c_str());
  switch (result.status) {
    case RunStatus::failed: return static_cast<int>(ExitCode::failed_run);
    case RunStatus::interrupted: return static_cast<int>(ExitCode::interrupted);
    default: return 0;
  }
}

}  // namespace

Action add_run(CLI::App& app) {
  auto a = std::make_shared<RunArguments>();
  CLI::App* verb = app.add_subcommand("run", "Simulate a model file and record the result");
  verb->add_option("model", a->model, "Model file (YAML or JSON)")->required();
  verb->add_option("--method", a->method, "Method key, see `trammel methods`");
  verb->add_option("--tolerance", a->tolerance, "Error allowed per step, relative to the length scale and 1 rad; the step is controlled");
  verb->add_option("--step", a->step, "Fixed step size, s");
  verb->add_option("--end", a->end, "End time, s");
  verb->add_option("--output-step", a->output_step, "Output on a grid, s; otherwise at every accepted step");
  verb->add_option("--option", a->option, "Option of the method, NAME=VALUE; may be repeated");
  verb->add_option("--set", a->set, "Parameter of the model, NAME=VALUE; may be repeated");
  verb->add_option("-o,--output", a->output, "Result file (HDF5); default: the model's name with .h5");
  verb->add_option("--csv", a->csv, "Also write CSV, to this file or the model's name with .csv")->expected(0, 1);
  verb->add_flag("--json", a->json, "Print the summary as JSON");
  verb->add_flag("-q,--quiet", a->quiet, "Print errors only");
  verb->footer("Examples:\n  trammel run model.yaml --tolerance 1e-6\n  trammel run model.yaml --step 1e-3 --option alpha=-0.1 --csv\n  trammel run model.yaml --set L=0.5 -o long.h5");
  return [a, verb] { return run(*a, *verb); };
}

}  // namespace trammel
