// trammel study [NAME...]: computes studies and compares with their targets.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "studies/study.h"

namespace trammel {
namespace {

struct StudyArguments {
  std::vector<std::string> names;
  std::string output = "studies-out";
  bool all = false, list = false, json = false, no_pictures = false, tight = false;
};

int list_studies(bool json) {
  if (json) {
    Json list = Json::array();
    for (const Study& study : study_registry()) list.push_back({{"name", study.name}, {"summary", study.summary}});
    print_json(list);
    return 0;
  }
  std::vector<std::vector<std::string>> lines;
  for (const Study& study : study_registry()) lines.push_back({study.name, study.summary});
  std::printf("%s\n`trammel study NAME` computes one, `trammel study --all` every one.\n", aligned(lines, 0).c_str());
  return 0;
}

std::filesystem::path make_folder(const std::string& path) {
  std::error_code trouble;
  std::filesystem::create_directories(path, trouble);
  if (std::filesystem::is_directory(path)) return path;
  throw Failure({Severity::error,
                 "cannot-write",
                 "the folder '" + path + "' cannot be made" + (trouble ? ": " + trouble.message() : ""),
                 "choose another one with --output, or draw nothing with --no-pictures",
                 {}},
                ExitCode::cannot_write);
}

int study_verb(const StudyArguments& a) {
  if (a.list || (a.names.empty() && !a.all)) return list_studies(a.json);
  std::vector<const Study*> chosen;
  for (const std::string& name : a.names) chosen.push_back(&find_study(name));
  if (a.all) {
    chosen.clear();
    for (const Study& study : study_registry()) chosen.push_back(&study);
  }
  StudyContext context;
  context.tight = a.tight;
  if (!a.no_pictures) context.output = make_folder(a.output);
  const bool talk = isatty(STDERR_FILENO) != 0;
  context.note = [talk](const std::string& text) {
    if (talk) std::fprintf(stderr, "  %s\n", text.c_str());
  };
  std::vector<Row> rows;
  for (const Study* study : chosen) {
    context.note("study " + study->name);
    const std::vector<Row> more = run_study(*study, context);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  const bool ok = std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.ok; });
  const ExitCode code = ok ? ExitCode::ok : ExitCode::study_missed;
  if (a.json) {
    print_json({{"exit_code", static_cast<int>(code)}, {"ok", ok}, {"rows", Json::parse(to_json(rows))}});
  } else {
    std::fputs(to_text(rows).c_str(), stdout);
  }
  if (context.output.empty()) return static_cast<int>(code);
  std::error_code none;
  if (std::filesystem::is_empty(context.output, none)) {
    std::filesystem::remove(context.output, none);  // no study drew anything
  } else if (!a.json) {
    std::printf("pictures in %s\n", context.output.string().c_str());
  }
  return static_cast<int>(code);
}

}  // namespace

Verb add_study(CLI::App& app) {
  auto a = std::make_shared<StudyArguments>();
  CLI::App* verb = app.add_subcommand("study", "Compute studies and compare them with published or exact values");
  verb->add_option("NAME", a->names, "Studies to compute; none: list them");
  verb->add_flag("--all", a->all, "Compute every study");
  verb->add_flag("--list", a->list, "List the studies");
  verb->add_flag("--tight", a->tight, "`cases` only: the sharpest tolerances, each by two unrelated methods");
  verb->add_flag("--json", a->json, "Print rows or list as JSON");
  verb->add_option("-o,--output", a->output, "Folder for pictures; default: ./studies-out")->type_name("DIR");
  verb->add_flag("--no-pictures", a->no_pictures, "Draw nothing");
  verb->footer(
      "Examples:\n"
      "  trammel study --list\n"
      "  trammel study cases\n"
      "  trammel study cases --tight\n"
      "  trammel study cases --json > cases.json\n"
      "\n"
      "Every row sets a number computed now (ours) beside its target, and beside what the source prints.\n"
      "Exit code 6: a row is outside its tolerance.");
  return {verb, [a] { return study_verb(*a); }};
}

}  // namespace trammel
