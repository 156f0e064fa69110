// trammel-study: computes studies and compares with their demands. `trammel study ...` starts it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "studies/all.h"
#include "studies/pages.h"
#include "studies/stepping.h"
#include "studies/study.h"

namespace {

using namespace trammel;
using Json = nlohmann::ordered_json;

struct Arguments {
  std::vector<std::string> names;
  std::string output = "studies-out", rows, pages;
  int jobs = 0;
  bool all = false, list = false, json = false, no_pictures = false, tight = false, full = false, reuse = false;
};

void print_json(const Json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

int list_studies(bool json) {
  if (json) {
    Json list = Json::array();
    for (const Study& study : study_registry()) list.push_back({{"name", study.name}, {"summary", study.summary}});
    print_json(list);
    return 0;
  }
  for (const Study& study : study_registry()) std::printf("%-16s %s\n", study.name.c_str(), study.summary.c_str());
  std::printf("\n`trammel study NAME` computes one, `trammel study --all` every one.\n");
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

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text << "\n";
  if (!out.flush())
    throw Failure({Severity::error, "cannot-write", "'" + file.string() + "' cannot be written", "", {}},
                  ExitCode::cannot_write);
}

int all_studies(const Arguments& a, const std::vector<const Study*>& chosen) {
  const std::filesystem::path output = make_folder(a.output);
  const std::vector<StudyResult> results = run_all(chosen, {.program = std::filesystem::read_symlink("/proc/self/exe"),
                                                            .output = output,
                                                            .full = a.full,
                                                            .pictures = !a.no_pictures,
                                                            .jobs = a.jobs,
                                                            .reuse = a.reuse});
  const std::string summary = summary_json(results);
  write_file(output / "summary.json", summary);
  if (!a.pages.empty()) {
    const std::filesystem::path pages = a.pages;
    write_pages(results, pages, output, pages.parent_path() / "images" / "studies");
  }
  if (a.json)
    std::printf("%s\n", summary.c_str());
  else
    std::printf("%srows and pictures in %s, counts in %s\n", summary_text(results).c_str(), output.c_str(),
                (output / "summary.json").c_str());
  RowCounts counts;
  for (const StudyResult& r : results) counts += count_rows(r.rows);
  return static_cast<int>(counts.good() ? ExitCode::ok : ExitCode::study_missed);
}

int run_here(const Arguments& a, const std::vector<const Study*>& chosen) {
  StudyContext context;
  context.tight = a.tight;
  context.full = a.full;
  if (!a.no_pictures) context.output = make_folder(a.output);
  const bool talk = isatty(STDERR_FILENO) != 0;
  context.note = [talk](const std::string& text) {
    if (talk) std::fprintf(stderr, "  %s\n", text.c_str());
  };
  const auto begin = std::chrono::steady_clock::now();
  RowsStamp stamp;  // of what is there before the run, not of what may be there after it
  if (!a.rows.empty()) stamp = stamp_of_this_program(a.full, !a.no_pictures);
  StudyResult result;
  std::vector<Row>& rows = result.rows;
  for (const Study* study : chosen) {
    context.note("study " + study->name);
    const std::vector<Row> more = run_study(*study, context);
    rows.insert(rows.end(), more.begin(), more.end());
    result.name += (result.name.empty() ? "" : ", ") + study->name;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.core_seconds = cpu_seconds();
  const bool good = count_rows(rows).good();
  const ExitCode code = good ? ExitCode::ok : ExitCode::study_missed;
  if (!a.rows.empty()) write_file(a.rows, to_rows_file(result, stamp));
  if (a.json)
    print_json({{"exit_code", static_cast<int>(code)}, {"ok", good}, {"rows", Json::parse(to_json(rows))}});
  else
    std::fputs(to_text(rows).c_str(), stdout);
  if (context.output.empty()) return static_cast<int>(code);
  std::error_code none;
  if (std::filesystem::is_empty(context.output, none)) {
    std::filesystem::remove(context.output, none);  // no study drew anything
  } else if (!a.json) {
    std::printf("pictures in %s\n", context.output.string().c_str());
  }
  return static_cast<int>(code);
}

int study_main(const Arguments& a) {
  if (a.list || (a.names.empty() && !a.all)) return list_studies(a.json);
  std::vector<const Study*> chosen;
  for (const std::string& name : a.names) chosen.push_back(&find_study(name));
  if (!a.all) return run_here(a, chosen);
  if (chosen.empty()) {
    for (const Study& study : study_registry()) chosen.push_back(&study);
  }
  return all_studies(a, chosen);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  CLI::App app{"Compute studies and compare them with published or exact values", "trammel study"};
  app.add_option("NAME", a.names, "Studies to compute; none: list them");
  app.add_flag("--all", a.all,
               "Compute all studies, or those named, each a process, as many at once as there are cores");
  app.add_flag("--list", a.list, "List the studies");
  app.add_flag("--full", a.full, "The long columns too; without it every study takes at most 5 minutes");
  app.add_flag("--tight", a.tight, "`cases` only: the sharpest tolerances, each by two unrelated methods");
  app.add_flag("--json", a.json, "Print rows, list or summary as JSON");
  app.add_option("-o,--output", a.output,
                 "Folder for pictures, and with --all for rows and summary.json; default: ./studies-out")
      ->type_name("DIR");
  app.add_option("--rows", a.rows, "Write the rows as JSON to this file, with what made them")->type_name("FILE");
  app.add_option("--pages", a.pages, "With --all: write the pages of the studies anew in this folder")
      ->type_name("DIR");
  app.add_option("-j,--jobs", a.jobs, "With --all: how many at once; default: the number of cores")
      ->check(CLI::NonNegativeNumber);
  app.add_flag(
      "--reuse", a.reuse,
      "With --all: take rows that this very program left in the folder, of the same models and data; run the rest");
  app.add_flag("--no-pictures", a.no_pictures, "Draw nothing");
  app.footer(
      "Examples:\n"
      "  trammel study --list\n"
      "  trammel study cases\n"
      "  trammel study cases --tight\n"
      "  trammel study cases --json > cases.json\n"
      "  trammel study --all --pages docs/studies\n"
      "\n"
      "A row sets a number computed now (ours) beside what a source prints, what it should have printed (corrected) "
      "and\n"
      "what a prototype or another code gives (own), and says what is demanded and why.\n"
      "Exit code 6: a demand is missed and no reason is known, or a reason for a miss no longer holds.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // help
    std::fprintf(stderr, "error: %s [bad-usage]\n  see `trammel study --help`\n", e.what());
    return static_cast<int>(ExitCode::bad_usage);
  }
  try {
    return study_main(a);
  } catch (const Failure& failure) {
    for (const Problem& problem : failure.problems()) std::fprintf(stderr, "%s\n", to_text(problem).c_str());
    return static_cast<int>(failure.exit_code());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "internal error: %s\n", e.what());
    return static_cast<int>(ExitCode::internal);
  }
}
