// trammel static MODEL: static equilibrium, its stability, positions and reactions.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/analysis.h"
#include "app/analysis_json.h"
#include "app/choice.h"
#include "app/verbs.h"
#include "trammel/analyse/statics.h"

namespace trammel {
namespace {

struct StaticArguments : AnalysisArguments {
  StaticOptions options;
};

int static_verb(const StaticArguments& a) {
  Prepared p = prepare(a, Needs::positions);
  const std::string path = a.output.empty() ? default_output(a.file, ".static.h5") : a.output;
  AnalysisResult result(p, path, "static");
  const StaticReport report = find_equilibrium(p.equations(), p.state, p.rates, p.work, a.options);
  result.add(p.state, p.rates);
  const Json summary = to_json(report);
  result.finish(report.found ? RunStatus::finished : RunStatus::failed, summary.dump(),
                report.found ? "" : Json({{"what", report.why}}).dump());
  const ExitCode code = report.found ? ExitCode::ok : ExitCode::failed_run;
  if (a.json) {
    Json j = {{"exit_code", static_cast<int>(code)}, {"model", a.file}, {"result", path}};
    j["warnings"] = to_json(p.warnings);
    j["static"] = summary;
    j["values"] = row_json(result.table(), result.last());
    print_json(j);
  } else if (!a.quiet && report.found) {
    print_title(a, p.equations());
    std::fputs(to_text(report).c_str(), stdout);
    std::printf("  result          %s\n", path.c_str());
    std::fputs(row_text(p.equations(), result.table(), result.last(), a.all).c_str(), stdout);
    std::fflush(stdout);
  }
  if (!report.found) {
    std::fprintf(stderr, "%s: error: no static equilibrium: %s\n", a.file.c_str(), report.why.c_str());
    if (!report.advice.empty()) std::fprintf(stderr, "  hint: %s\n", report.advice.c_str());
    std::fputs(to_text(report).c_str(), stderr);
  }
  return static_cast<int>(code);
}

}  // namespace

Verb add_static(CLI::App& app) {
  auto a = std::make_shared<StaticArguments>();
  CLI::App* verb = app.add_subcommand("static", "Find the static equilibrium and say whether it is stable");
  add_analysis_arguments(
      *verb, *a, "Result of one row: HDF5, or CSV if it ends in .csv; default: the model's name with .static.h5");
  add_choice<StaticWay>(*verb, "--way", a->options.way, "How; automatic tries the others one after the other",
                        {{"automatic", StaticWay::automatic},
                         {"newton", StaticWay::newton},
                         {"load-steps", StaticWay::load_steps},
                         {"relaxation", StaticWay::relaxation}});
  verb->add_option("--tolerance", a->options.tolerance, "Unbalanced force allowed, as a part of the forces that act")
      ->check(CLI::PositiveNumber)
      ->type_name("NUMBER");
  verb->add_flag("--all", a->all, "List every body, joint and force of a large model");
  verb->footer(
      "Examples:\n"
      "  trammel static model.yaml\n"
      "  trammel static model.yaml --way relaxation --json\n"
      "  trammel run model.yaml --from-static        start a run from the equilibrium\n"
      "\n"
      "Motions stand at their values of t = 0; velocities play no part. If there is no equilibrium (exit code 1), the\n"
      "bodies that are free to move and the force that moves them are named.");
  return {verb, [a] { return static_verb(*a); }};
}

}  // namespace trammel
