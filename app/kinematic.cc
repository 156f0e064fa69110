// trammel kinematic MODEL: positions, velocities, accelerations and forces of a mechanism that motions drive
// completely.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/follow.h"
#include "app/verbs.h"

namespace trammel {
namespace {

int kinematic_verb(const AnalysisArguments& a) {
  Prepared p = prepare(a);
  const SimulationSettings& s = p.equations().model().simulation;
  KinematicOptions options;
  options.end = s.end;
  options.output_step = s.output_step.value_or(s.end / 100);
  std::string stuck;  // at which constraint
  const auto follow = [&](const auto& record) {
    const KinematicReport report = run_kinematics(p.equations(), p.state, p.rates, *p.accelerations,
                                                  p.simulation->initial(), p.work, options, record);
    stuck = report.constraint;
    return report;
  };
  const int code = follow_analysis(a, p, "kinematic", follow, [&](const KinematicReport& report) {
    std::printf("  time            %.6g of %.6g s, %ld outputs, %ld positions, %.3g iterations each\n", report.reached,
                options.end, report.outputs, report.steps,
                report.steps > 0 ? static_cast<double>(report.iterations) / static_cast<double>(report.steps) : 0.0);
    std::printf("  constraints     smallest pivot %.3g, at t = %.6g s\n", report.worst_pivot, report.worst_time);
    for (std::size_t i = 0; i < report.singular.size() && i < 5; ++i) {
      const SingularPosition& at = report.singular[i];
      std::printf("  singular        at t = %.6g s: %s can move\n", at.t, at.parts.empty() ? "" : at.parts[0].c_str());
    }
  });
  if (code != 0) {
    if (!stuck.empty()) std::fprintf(stderr, "  constraint: %s\n", stuck.c_str());
    std::fprintf(stderr, "  hint: check the motions against the mechanism's reach\n");
  }
  return code;
}

}  // namespace

Verb add_kinematic(CLI::App& app) {
  auto a = std::make_shared<AnalysisArguments>();
  CLI::App* verb =
      app.add_subcommand("kinematic", "Move a mechanism that motions drive completely, without integration");
  add_analysis_arguments(*verb, *a,
                         "Result: HDF5, or CSV if it ends in .csv; default: the model's name with .kinematic.h5");
  verb->add_option("--end", a->changes.end, "End time; default: that of the model")->type_name("SECONDS");
  verb->add_option("--output-step", a->changes.output_step,
                   "Grid of times; default: that of the model, or 1 % of the end")
      ->type_name("SECONDS");
  verb->footer(
      "Example:\n"
      "  trammel kinematic model.yaml --end 2 --output-step 0.01\n"
      "\n"
      "The motions must take all degrees of freedom; otherwise those left are named (exit code 3). Reactions and the\n"
      "forces of the motions are recorded as in a run. A position that cannot be reached ends the analysis (exit code "
      "1).");
  return {verb, [a] { return kinematic_verb(*a); }};
}

}  // namespace trammel
