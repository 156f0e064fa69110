// trammel inverse MODEL: the forces and torques that the motions of a model need.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "app/analysis.h"
#include "app/analysis_json.h"
#include "app/find_drives.h"
#include "app/verbs.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

double greatest_of(const std::vector<double>& series) {
  double most = 0;
  for (const double value : series) most = std::max(most, std::abs(value));
  return most;
}

Json drives_json(const DriveHistory& history) {
  Json drives = Json::array();
  for (std::size_t i = 0; i < history.drives.size(); ++i) {
    drives.push_back({{"motion", history.drives[i].motion},
                      {"component", component_name(history.drives[i])},
                      {"unit", history.drives[i].unit()},
                      {"greatest", greatest_of(history.values[i])},
                      {"values", history.values[i]}});
  }
  return drives;
}

void print_inverse(const AnalysisArguments& a, const Equations& equations, const InverseResult& found,
                   const std::string& path) {
  const DriveHistory& history = found.history;
  print_title(a, equations);
  std::printf("  by              %s\n", found.driven ? "kinematics: the motions take all degrees of freedom"
                                                     : "simulation: the mechanism keeps degrees of freedom of its own");
  std::printf("  time            %.6g of %.6g s, %zu values\n", found.reached, equations.model().simulation.end,
              history.time.size());
  for (std::size_t i = 0; i < history.drives.size(); ++i)
    std::printf("  %-15s %.6g %s at most\n", history.drives[i].column.c_str(), greatest_of(history.values[i]),
                history.drives[i].unit());
  std::printf("  drives          %s\n\nin place of the motions, a forward model takes\n%s", path.c_str(),
              forward_yaml(equations, history, path).c_str());
  std::fflush(stdout);
}

int inverse_verb(const AnalysisArguments& a) {
  Prepared p = prepare(a);
  const std::string path = a.output.empty() ? default_output(a.file, ".drives.csv") : a.output;
  check_output_path(path, OutputKind::drives);
  const InverseResult found = find_drives(p);
  write_whole_file(path, std::string(drives_magic) + "1\n" + to_csv(found.history), OutputKind::drives);
  const ExitCode code = found.trouble.empty() ? ExitCode::ok : ExitCode::failed_run;
  if (a.json) {
    print_json({{"exit_code", static_cast<int>(code)},
                {"model", a.file},
                {"by", found.driven ? "kinematics" : "simulation"},
                {"reached", found.reached},
                {"csv", path},
                {"time", found.history.time},
                {"drives", drives_json(found.history)},
                {"forward", forward_yaml(p.equations(), found.history, path)}});
  } else if (!a.quiet) {
    print_inverse(a, p.equations(), found, path);
  }
  if (!found.trouble.empty()) std::fprintf(stderr, "%s: error: %s\n", a.file.c_str(), found.trouble.c_str());
  return static_cast<int>(code);
}

}  // namespace

Verb add_inverse(CLI::App& app) {
  auto a = std::make_shared<AnalysisArguments>();
  CLI::App* verb = app.add_subcommand("inverse", "Find the forces and torques that the model's motions need");
  add_analysis_arguments(*verb, *a, "CSV of the forces over time; default: the model's name with .drives.csv");
  verb->add_option("--end", a->changes.end, "End time; default: that of the model")->type_name("SECONDS");
  verb->add_option("--output-step", a->changes.output_step,
                   "Grid of times; default: that of the model, or 1 % of the end")
      ->type_name("SECONDS");
  verb->footer(
      "Example:\n"
      "  trammel inverse arm.yaml --output-step 0.001 -o torques.csv\n"
      "\n"
      "A mechanism that motions drive completely is solved without integration; otherwise it is simulated. The "
      "printed\n"
      "lines of a model replace its motions by forces that follow the file, so that `trammel run` gives the same "
      "motion.");
  return {verb, [a] { return inverse_verb(*a); }};
}

}  // namespace trammel
