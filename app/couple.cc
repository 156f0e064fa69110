// trammel couple FILE: simulate participants glued together by joints.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/couple/coupling_file.h"
#include "trammel/run/simulation.h"
#include "trammel/write/csv_writer.h"
#include "trammel/write/hdf5_writer.h"

namespace trammel {
namespace {

std::atomic<bool> couple_interrupted{false};
void on_couple_signal(int) { couple_interrupted = true; }

struct CoupleArguments {
  std::string file, output;
  CouplingChanges changes;
  bool compare_whole = false, json = false, quiet = false;
};

std::unique_ptr<TrajectorySink> couple_sink(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".csv") return std::make_unique<CsvWriter>(path);
  return std::make_unique<Hdf5Writer>(path);
}

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

int couple_verb(const CoupleArguments& a) {
  const CouplingSpec spec = read_coupling(a.file, a.changes);
  const std::string main = a.output.empty() ? std::filesystem::path(a.file).stem().string() + ".h5" : a.output;
  const bool talk = !a.quiet && !a.json;
  const std::unique_ptr<TrajectorySink> sink = couple_sink(main);
  const std::unique_ptr<Coupling> coupling =
      make_coupling(spec, [&](const std::string& name) { return couple_sink(result_of(main, name)); });
  if (talk) std::printf("%s%s%s\n", a.file.c_str(), spec.title.empty() ? "" : ": ", spec.title.c_str());
  coupling->start([&](const std::string& text) {
    if (talk) std::printf("  %s\n", text.c_str());
  });
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, on_couple_signal);
  Provenance provenance;
  provenance.set("program", "trammel");
  provenance.set("version", TRAMMEL_VERSION);
  provenance.set("title", spec.title);
  provenance.set("coupling_file", spec.file);
  provenance.set("scheme", spec.settings.scheme.key);
  provenance.set("date", utc_date());
  const CouplingSummary summary = coupling->run(*sink, provenance, &couple_interrupted);
  if (a.json) {
    Json j = {{"status", to_text(summary.status)}, {"result", main}, {"summary", summary_json(summary)}};
    j["failure"] = summary.failure.empty() ? Json() : Json(summary.failure);
    print_json(j);
  } else if (talk) {
    std::printf("%s  result          %s\n", to_text(summary).c_str(), main.c_str());
  }
  if (summary.status == RunStatus::failed) {
    std::fprintf(stderr, "%s: error: %s [coupling-failed]\n", a.file.c_str(), summary.failure.c_str());
    return static_cast<int>(ExitCode::failed_run);
  }
  return static_cast<int>(summary.status == RunStatus::interrupted ? ExitCode::interrupted : ExitCode::ok);
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
  verb->add_flag("--json", a->json, "Print the summary as JSON");
  verb->add_flag("-q,--quiet", a->quiet, "Print errors only");
  verb->footer(
      "Examples:\n"
      "  trammel couple couplings/double_pendulum.yaml\n"
      "  trammel couple couplings/double_pendulum.yaml --option scheme=displacement --set torque=200");
  return {verb, [a] { return couple_verb(*a); }};
}

}  // namespace trammel
