// trammel quasi-static MODEL: equilibrium along time-dependent motions and loads.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "app/follow.h"
#include "app/verbs.h"

namespace trammel {
namespace {

struct QuasiStaticArguments : AnalysisArguments {
  QuasiStaticOptions options;
};

int quasi_static_verb(const QuasiStaticArguments& a) {
  Prepared p = prepare(a, Needs::positions);
  QuasiStaticOptions options = a.options;
  options.end = p.equations().model().simulation.end;
  const auto follow = [&](const auto& record) {
    return run_quasi_static(p.equations(), p.state, p.rates, p.work, options, record);
  };
  return follow_analysis(a, p, "quasi-static", follow, [&](const QuasiStaticReport& report) {
    std::printf("  time            %.6g of %.6g s, %ld outputs, %ld steps, %ld given up, %ld iterations\n",
                report.reached, options.end, report.outputs, report.steps, report.rejected, report.iterations);
    std::printf("  unbalanced      %.3g N at most\n", report.largest_residual);
    std::printf("  stability       %s at the start, %s at the end\n", to_text(report.first.stability),
                to_text(report.last.stability));
    for (const auto& jump : report.jumps)
      std::printf("  jump            at t = %.6g s by %.3g: the equilibrium was lost, the next one is %s\n", jump.first,
                  jump.second, "recorded");
  });
}

}  // namespace

Verb add_quasi_static(CLI::App& app) {
  auto a = std::make_shared<QuasiStaticArguments>();
  CLI::App* verb = app.add_subcommand("quasi-static", "Follow the static equilibrium while motions and loads change");
  add_analysis_arguments(*verb, *a,
                         "Result: HDF5, or CSV if it ends in .csv; default: the model's name with .quasi-static.h5");
  verb->add_option("--end", a->changes.end, "End time; default: that of the model")->type_name("SECONDS");
  verb->add_option("--steps", a->options.outputs, "Intervals between recorded times; steps between them adapt")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  verb->footer(
      "Example:\n"
      "  trammel quasi-static model.yaml --end 2 --steps 200\n"
      "\n"
      "Inertia plays no part: the result holds the equilibrium at each time. Where one ends (a snap-through) the next\n"
      "is sought and the jump is named; if there is none, exit code 1.");
  return {verb, [a] { return quasi_static_verb(*a); }};
}

}  // namespace trammel
