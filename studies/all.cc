#include "studies/all.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "studies/printed.h"

namespace trammel {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::filesystem::path rows_file(const AllOptions& options, const std::string& name) {
  return options.output / (name + ".json");
}

// Starts `program NAME --rows FILE ...`; what it prints is dropped, the rows say it all.
pid_t start_study(const Study& study, const AllOptions& options) {
  std::vector<std::string> words{options.program.string(), study.name, "--rows",
                                 rows_file(options, study.name).string()};
  if (options.full) words.emplace_back("--full");
  if (options.pictures) {
    words.emplace_back("--output");
    words.push_back(options.output.string());
  } else {
    words.emplace_back("--no-pictures");
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  execv(arguments[0], arguments.data());
  _exit(127);
}

StudyResult collect(const Study& study, const AllOptions& options, int status, double seconds, double core_seconds) {
  StudyResult result{study.name, {}, seconds, core_seconds};
  try {
    std::ifstream in(rows_file(options, study.name));
    std::stringstream text;
    text << in.rdbuf();
    result.rows = rows_from_json(text.str());
  } catch (const std::exception& e) {
    result.rows = {Row::failed(study.name, "the study",
                               WIFSIGNALED(status) ? fmt::format("its process ended by signal {}", WTERMSIG(status))
                                                   : std::string("it left no rows: ") + e.what())};
    result.rows[0].study = study.name;
  }
  return result;
}

nlohmann::ordered_json to_object(const RowCounts& c) {
  return {{"rows", c.rows},        {"demanded", c.demanded},
          {"met", c.met},          {"missed_for_reason", c.missed_for_reason},
          {"missed", c.missed},    {"reason_gone", c.reason_gone},
          {"measured", c.measured}};
}

nlohmann::ordered_json to_object(const PrintedCounts& c) {
  return {{"printed", c.printed},           {"met", c.met},         {"run_with", c.run_with},   {"missed", c.missed},
          {"not_demanded", c.not_demanded}, {"missing", c.missing}, {"only_full", c.only_full}, {"open", c.open},
          {"corrected", c.corrected}};
}

std::vector<Row> rows_of_all(const std::vector<StudyResult>& results) {
  std::vector<Row> rows;
  for (const StudyResult& r : results) rows.insert(rows.end(), r.rows.begin(), r.rows.end());
  return rows;
}

}  // namespace

std::vector<StudyResult> run_all(const std::vector<const Study*>& studies, const AllOptions& options) {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int jobs = options.jobs > 0 ? options.jobs : cores;
  std::vector<const Study*> waiting = studies;  // the longest first, so that none is left over at the end
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const Study* a, const Study* b) { return a->minutes > b->minutes; });
  struct Running {
    const Study* study;
    Clock::time_point begin;
  };
  std::map<pid_t, Running> running;
  std::map<std::string, StudyResult> done;
  std::size_t next = 0;
  while (next < waiting.size() || !running.empty()) {
    while (next < waiting.size() && static_cast<int>(running.size()) < jobs) {
      const Study& study = *waiting[next++];
      std::error_code none;
      if (options.reuse && std::filesystem::exists(rows_file(options, study.name), none)) {
        done[study.name] = collect(study, options, 0, 0, 0);
        continue;
      }
      std::filesystem::remove(rows_file(options, study.name), none);
      const pid_t child = start_study(study, options);
      if (child < 0) {
        done[study.name] = collect(study, options, 0, 0, 0);
        continue;
      }
      running[child] = {&study, Clock::now()};
    }
    if (running.empty()) break;
    int status = 0;
    rusage used{};
    const pid_t child = wait4(-1, &status, 0, &used);
    const auto found = running.find(child);
    if (found == running.end()) continue;
    const Study& study = *found->second.study;
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    done[study.name] = collect(study, options, status, seconds_since(found->second.begin),
                               seconds(used.ru_utime) + seconds(used.ru_stime));
    std::fprintf(stderr, "%-16s %4.0f s, %4.0f s of a core  %s\n", study.name.c_str(), done[study.name].seconds,
                 done[study.name].core_seconds, to_text(count_rows(done[study.name].rows)).c_str());
    running.erase(found);
  }
  std::vector<StudyResult> results;
  for (const Study* study : studies) results.push_back(std::move(done[study->name]));
  return results;
}

std::string summary_json(const std::vector<StudyResult>& results) {
  nlohmann::ordered_json summary;
  RowCounts all;
  for (const StudyResult& r : results) {
    const RowCounts counts = count_rows(r.rows);
    all += counts;
    nlohmann::ordered_json entry{{"name", r.name},
                                 {"seconds", std::round(r.seconds * 10) / 10},
                                 {"core_seconds", std::round(r.core_seconds * 10) / 10}};
    entry.update(to_object(counts));
    summary["studies"].push_back(entry);
  }
  summary["all"] = to_object(all);
  const std::vector<Row> rows = rows_of_all(results);
  for (const char* source : printed_sources) summary["printed"][source] = to_object(count_printed(rows, source));
  summary["printed"]["all"] = to_object(count_printed(rows, ""));
  return summary.dump(1);
}

std::string summary_text(const std::vector<StudyResult>& results) {
  std::string out = fmt::format("{:<16} {:>6} {:>9} {:>6} {:>18} {:>7} {:>11} {:>8}\n", "study", "rows", "demanded",
                                "met", "missed for reason", "MISSED", "reason gone", "seconds");
  RowCounts all;
  double seconds = 0;
  const auto line = [&](const std::string& name, const RowCounts& c, double time) {
    out += fmt::format("{:<16} {:>6} {:>9} {:>6} {:>18} {:>7} {:>11} {:>8.0f}\n", name, c.rows, c.demanded, c.met,
                       c.missed_for_reason, c.missed, c.reason_gone, time);
  };
  for (const StudyResult& r : results) {
    line(r.name, count_rows(r.rows), r.seconds);
    all += count_rows(r.rows);
    seconds += r.seconds;
  }
  line("all", all, seconds);
  const PrintedCounts p = count_printed(rows_of_all(results), "");
  out += fmt::format(
      "printed numbers: {} ({} corrected); {} met, {} run with, {} missed for a reason, {} compared without a demand, "
      "{} "
      "missing for a reason, {} with --full only, {} open\n",
      p.printed, p.corrected, p.met, p.run_with, p.missed, p.not_demanded, p.missing, p.only_full, p.open);
  return out;
}

}  // namespace trammel
