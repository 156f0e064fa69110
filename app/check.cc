// trammel check MODEL: read, check, compile, assemble; say what is wrong or doubtful and what the start did.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/run/simulation.h"

namespace trammel {
namespace {

struct CheckArguments : ModelArguments {
  bool json = false;
};

int check_verb(const CheckArguments& a) {
  std::vector<Problem> problems;
  Simulation simulation(load_model(a.file, a.changes, &problems));
  std::vector<std::string> notes;
  RunOptions options;
  options.note = [&notes](const std::string& text) { notes.push_back(text); };
  simulation.start(options);
  const InitialReport& report = simulation.initial();
  problems.insert(problems.end(), report.warnings.begin(), report.warnings.end());
  const std::vector<std::string> names = item_names(simulation.equations());
  if (a.json) {
    print_json({{"exit_code", 0},
                {"model", a.file},
                {"problems", to_json(problems)},
                {"start", start_json(report)},
                {"rank", rank_json(report, names)},
                {"notes", notes}});
    return 0;
  }
  for (const Problem& problem : problems) std::fprintf(stderr, "%s\n", to_text(problem).c_str());
  const std::string& title = simulation.equations().model().title;
  std::printf("%s%s%s\n", a.file.c_str(), title.empty() ? "" : ": ", title.c_str());
  for (const StageReport& stage : report.stages) std::printf("  %s\n", stage.text().c_str());
  for (const std::string& line : rank_lines(report, names)) std::printf("  %s\n", line.c_str());
  long doubtful = 0;
  for (const Problem& problem : problems) doubtful += problem.severity == Severity::warning ? 1 : 0;
  std::printf("  can be run with %s; %s\n", simulation.method().key.c_str(), counted(doubtful, "warning").c_str());
  return 0;
}

}  // namespace

Verb add_check(CLI::App& app) {
  auto a = std::make_shared<CheckArguments>();
  CLI::App* verb = app.add_subcommand("check", "Check a model file and assemble the mechanism, without running it");
  add_model_arguments(*verb, *a);
  verb->add_flag("--json", a->json, "Print the findings as JSON");
  verb->footer(
      "Example:\n"
      "  trammel check model.yaml --set L=0.5\n"
      "\n"
      "Errors and warnings name file, line and column. Exit code 0: the model can be run; 3: it cannot.");
  return {verb, [a] { return check_verb(*a); }};
}

}  // namespace trammel
