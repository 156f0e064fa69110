// trammel study ...: starts trammel-study, the program of the studies, with the same words. It stands beside this
// command; building it is no part of building the command.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "app/verbs.h"
#include "trammel/base/diagnosis.h"

namespace trammel {
namespace {

int start_studies(std::vector<std::string> words) {
  std::error_code none;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / "trammel-study";
  words.insert(words.begin(), program.string());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(stdout);
  execv(arguments[0], arguments.data());
  throw Failure({Severity::error,
                 "no-studies",
                 "the studies are a program of their own, and '" + program.string() +
                     "' cannot be started: " + std::strerror(errno),
                 "`make studies` builds it",
                 {}},
                ExitCode::bad_usage);
}

}  // namespace

Verb add_study(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("study", "Compute studies and compare them with published or exact values");
  verb->prefix_command();  // all words that follow are for the other program, --help too
  verb->set_help_flag();
  return {verb, [verb] { return start_studies(verb->remaining()); }};
}

}  // namespace trammel
