// The `trammel` command.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "app/verbs.h"
#include "trammel/base/diagnosis.h"

int main(int argc, char** argv) {
  using namespace trammel;
  CLI::App app{"Trammel simulates mechanical systems: rigid bodies, joints, springs, motions.", "trammel"};
  app.set_version_flag("--version", std::string("trammel ") + TRAMMEL_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  trammel run models/slider_crank.yaml\n"
      "  trammel plot slider_crank.h5 body.slider.position.x -o slider.png\n"
      "\n"
      "Exit codes: 0 done, 1 the run failed, 2 bad usage, 3 bad model, 4 cannot write, 5 interrupted, 6 a study missed a target, 70 internal error");
  const std::vector<Action> actions{add_run(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : static_cast<int>(ExitCode::bad_usage);
  }
  try {
    const auto& verbs = app.get_subcommands([](CLI::App*) { return true; });
    for (std::size_t i = 0; i < verbs.size() && i < actions.size(); ++i) {
      if (verbs[i]->parsed()) return actions[i]();
    }
  } catch (const Failure& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return static_cast<int>(failure.exit_code());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "trammel: internal error: %s\n", e.what());
    return static_cast<int>(ExitCode::internal);
  }
  return 0;
}
