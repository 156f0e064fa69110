// trammel fmt FILE...: lays model files out the same way everywhere; with --check only says which ones it would change.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/read/format.h"
#include "trammel/read/read_model.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

struct FmtArguments {
  std::vector<std::string> files;
  bool check = false, print = false;
};

int fmt_verb(const FmtArguments& a) {
  int changed = 0;
  for (const std::string& file : a.files) {
    const std::string before = read_file_text(file);
    const std::string after = format_model_text(before, file);
    if (a.print) {
      std::fputs(after.c_str(), stdout);
    } else if (after != before) {
      ++changed;
      std::printf("%s%s\n", file.c_str(), a.check ? ": would be changed" : "");
      if (!a.check) write_whole_file(file, after, OutputKind::itself);
    }
  }
  return a.check && changed > 0 ? static_cast<int>(ExitCode::failed_run) : 0;
}

}  // namespace

Verb add_fmt(CLI::App& app) {
  auto a = std::make_shared<FmtArguments>();
  CLI::App* verb =
      app.add_subcommand("fmt", "Lay out model files: order of sections, indentation, spelling of numbers");
  verb->add_option("FILE", a->files, "Model files; rewritten in place")->required();
  auto* check = verb->add_flag("--check", a->check, "Change nothing; exit code 1 if a file would change");
  verb->add_flag("--print", a->print, "Print the result instead of rewriting the files")->excludes(check);
  verb->footer(
      "Examples:\n"
      "  trammel fmt model.yaml\n"
      "  trammel fmt --check models/*.yaml\n"
      "\n"
      "Comments and line breaks stay. The files mean the same afterwards; this is checked, and a file that could not "
      "be\n"
      "laid out without changing its meaning is left alone.");
  return {verb, [a] { return fmt_verb(*a); }};
}

}  // namespace trammel
