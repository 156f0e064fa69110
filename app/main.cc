// The `trammel` command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "app/common.h"
#include "app/verbs.h"

namespace {

using namespace trammel;

constexpr const char* footer =
    "Examples:\n"
    "  trammel run models/slider_crank.yaml            simulate; the result is slider_crank.h5\n"
    "  trammel plot slider_crank.h5 slider_x -o x.png  draw a signal of the result\n"
    "  trammel info models/slider_crank.yaml           degrees of freedom, redundant joints, sizes\n"
    "  trammel static models/slider_crank.yaml         static equilibrium; also quasi-static, kinematic, inverse,\n"
    "                                                  linearise, modes\n"
    "  trammel VERB --help                             options and examples of a verb\n"
    "  trammel help ID                                 what a message means, and what to do about it\n"
    "\n"
    "Exit codes:\n"
    "  0   done\n"
    "  1   the run failed; what was computed is kept, and the report says why\n"
    "  2   the command was not understood, or a result could not be read\n"
    "  3   the model cannot be run: see the messages\n"
    "  4   a file could not be written, or a picture not be drawn\n"
    "  5   interrupted; what was computed is kept\n"
    "  6   a study missed a demand without a known reason\n"
    "  70  an error inside trammel: please report it";

int report(const std::vector<Problem>& problems, ExitCode code, bool json) {
  for (const Problem& problem : problems) std::fprintf(stderr, "%s\n", to_text(problem).c_str());
  if (json) print_json(failure_json(problems, code));
  return static_cast<int>(code);
}

// What is wrong with the words of the command.
Problem misuse(int argc, char** argv, const std::vector<Verb>& verbs, const std::string& message) {
  Problem problem{Severity::error, "bad-usage", message, "see `trammel --help`", {}};
  if (argc < 2 || argv[1][0] == '-') return problem;
  const std::string first = argv[1];
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.command->get_name());
  if (std::find(names.begin(), names.end(), first) != names.end()) {
    problem.hint = "see `trammel " + first + " --help`";
    return problem;
  }
  problem.message = "there is no verb '" + first + "'";
  const std::string near = nearest_name(first, names);
  if (!near.empty()) problem.hint = "did you mean `trammel " + near + "`?";
  return problem;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Trammel simulates mechanical systems: bodies, joints, motions and forces.", "trammel"};
  app.set_version_flag("--version", std::string("trammel ") + TRAMMEL_VERSION);
  app.require_subcommand(1);
  app.footer(footer);
  const std::vector<Verb> verbs{
      add_run(app),     add_check(app),     add_info(app),        add_plot(app),         add_compare(app),
      add_methods(app), add_elements(app),  add_study(app),       add_new(app),          add_fmt(app),
      add_schema(app),  add_help(app),      add_static(app),      add_quasi_static(app), add_kinematic(app),
      add_inverse(app), add_linearise(app), add_modes(app),       add_stability(app),    add_make(app),
      add_couple(app),  add_sweep(app),     add_participate(app), add_cut(app),          add_view(app)};
  const bool json = std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // help or version
    return report({misuse(argc, argv, verbs, e.what())}, ExitCode::bad_usage, json);
  }
  try {
    for (const Verb& verb : verbs) {
      if (!verb.command->parsed()) continue;
      const int code = verb.run();
      // long outputs may have failed before the last flush
      if ((std::fflush(stdout) == 0 && std::ferror(stdout) == 0) || errno == EPIPE)
        return code;  // a reader may go away, as `head` does
      std::fprintf(stderr, "error: standard output cannot be written: %s\n", std::strerror(errno));
      return code == 0 ? static_cast<int>(ExitCode::cannot_write) : code;
    }
  } catch (const Failure& failure) {
    return report(failure.problems(), failure.exit_code(), json);
  } catch (const std::bad_alloc&) {
    return report(
        {{Severity::error, "memory-used-up", "the memory is used up", "take a smaller model or a part of it", {}}},
        ExitCode::failed_run, json);
  } catch (const std::exception& e) {
    return report({{Severity::error,
                    "internal",
                    std::string("internal error: ") + e.what(),
                    "please report it, with the model file if you can",
                    {}}},
                  ExitCode::internal, json);
  }
  return 0;
}
