#include "studies/all.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
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
#include <stdexcept>
#include <thread>

#include "studies/printed.h"
#include "trammel/base/data_directory.h"
#include "trammel/write/sha256.h"

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

std::string text_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The program, and the library that it was loaded with: almost all code is there.
std::string build_of_this_program() {
  std::string sums = sha256_hex(text_of_file("/proc/self/exe"));
  const auto each = [](dl_phdr_info* loaded, std::size_t, void* out) {
    const std::string path = loaded->dlpi_name != nullptr ? loaded->dlpi_name : "";
    if (path.find("libtrammel") != std::string::npos) *static_cast<std::string*>(out) += sha256_hex(text_of_file(path));
    return 0;
  };
  dl_iterate_phdr(each, &sums);
  return sha256_hex(sums);
}

std::string data_of_studies() {
  const std::filesystem::path root = data_directory();
  std::map<std::string, std::string> sums;  // in the order of their paths
  for (const char* folder : {"studies/data", "studies/elements", "models", "couplings"}) {
    if (!std::filesystem::is_directory(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file())
        sums[std::filesystem::relative(entry.path(), root).generic_string()] = sha256_hex(text_of_file(entry.path()));
    }
  }
  std::string all;
  for (const auto& [path, sum] : sums) all += path + " " + sum + "\n";
  return sha256_hex(all);
}

// What keeps rows of one stamp from standing for another; empty: nothing. Rows that were made with pictures do without.
std::string why_refused(const RowsStamp& theirs, const RowsStamp& ours) {
  if (theirs.build != ours.build) return "another build of the program made them";
  if (theirs.data != ours.data) return "models or data have changed since";
  if (theirs.full != ours.full) return theirs.full ? "they were made with --full" : "they were made without --full";
  if (ours.pictures && !theirs.pictures) return "they were made without pictures";
  return "";
}

std::runtime_error old_rows(const std::filesystem::path& file, const std::string& why) {
  return std::runtime_error("rows in '" + file.string() + "' cannot be taken: " + why);
}

StudyResult failed_study(const Study& study, const std::string& why) {
  StudyResult result{study.name, {Row::failed(study.name, "the study", why)}, 0, 0};
  result.rows[0].study = study.name;
  return result;
}

// What a process that has ended left behind.
StudyResult collect(const Study& study, const AllOptions& options, int status) {
  if (WIFSIGNALED(status)) return failed_study(study, fmt::format("its process ended by signal {}", WTERMSIG(status)));
  try {
    return from_rows_file(rows_file(options, study.name), study.name, nullptr);
  } catch (const std::exception& e) {
    return failed_study(study, std::string("it left no rows: ") + e.what());
  }
}

// Rows of an earlier run, if they may stand for those of this one.
std::optional<StudyResult> reuse(const Study& study, const AllOptions& options, const RowsStamp& stamp) {
  std::error_code none;
  if (!std::filesystem::exists(rows_file(options, study.name), none)) return std::nullopt;
  try {
    return from_rows_file(rows_file(options, study.name), study.name, &stamp);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%-16s run anew: %s\n", study.name.c_str(), e.what());
    return std::nullopt;
  }
}

void demand_time(StudyResult& result, const AllOptions& options) {
  if (options.full) return;
  Row row =
      Row::at_most("the time of the study", "by the clock, beside the others", "seconds", most_seconds, result.seconds)
          .because("a goal of the project: five minutes for each study, without --full");
  row.study = result.name;
  result.rows.push_back(std::move(row));
}

nlohmann::ordered_json to_object(const RowCounts& c) {
  return {{"rows", c.rows},        {"demanded", c.demanded},
          {"met", c.met},          {"missed_for_reason", c.missed_for_reason},
          {"missed", c.missed},    {"reason_gone", c.reason_gone},
          {"measured", c.measured}};
}

nlohmann::ordered_json to_object(const PrintedCounts& c) {
  return {{"printed", c.printed},     {"met", c.met},
          {"met_by_tuning", c.tuned}, {"run_with", c.run_with},
          {"missed", c.missed},       {"not_demanded", c.not_demanded},
          {"missing", c.missing},     {"only_full", c.only_full},
          {"open", c.open},           {"corrected", c.corrected}};
}

std::vector<Row> rows_of_all(const std::vector<StudyResult>& results) {
  std::vector<Row> rows;
  for (const StudyResult& r : results) rows.insert(rows.end(), r.rows.begin(), r.rows.end());
  return rows;
}

}  // namespace

RowsStamp stamp_of_this_program(bool full, bool pictures) {
  return {build_of_this_program(), data_of_studies(), full, pictures};
}

std::string to_rows_file(const StudyResult& result, const RowsStamp& stamp) {
  const nlohmann::ordered_json file{
      {"study", result.name},
      {"stamp", {{"build", stamp.build}, {"data", stamp.data}, {"full", stamp.full}, {"pictures", stamp.pictures}}},
      {"seconds", result.seconds},
      {"core_seconds", result.core_seconds},
      {"rows", nlohmann::ordered_json::parse(to_json(result.rows))}};
  return file.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

StudyResult from_rows_file(const std::filesystem::path& file, const std::string& name, const RowsStamp* stamp) {
  try {
    const nlohmann::json j = nlohmann::json::parse(text_of_file(file));
    if (!j.is_object() || !j.contains("stamp")) throw old_rows(file, "they do not say which program made them");
    const nlohmann::json& made = j.at("stamp");
    if (stamp != nullptr) {
      const std::string why = why_refused({made.at("build").get<std::string>(), made.at("data").get<std::string>(),
                                           made.at("full").get<bool>(), made.at("pictures").get<bool>()},
                                          *stamp);
      if (!why.empty()) throw old_rows(file, why);
    }
    if (j.at("study") != name) throw old_rows(file, "they are of the study " + j.at("study").get<std::string>());
    return {name, rows_from_json(j.at("rows").dump()), j.at("seconds").get<double>(),
            j.at("core_seconds").get<double>()};
  } catch (const nlohmann::json::exception& e) {
    throw old_rows(file, std::string("they cannot be read: ") + e.what());
  }
}

int cores_of_this_machine() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

std::vector<StudyResult> run_all(const std::vector<const Study*>& studies, const AllOptions& options) {
  const int jobs = options.jobs > 0 ? options.jobs : cores_of_this_machine();
  std::vector<const Study*> waiting = studies;  // the longest first, so that none is left over at the end
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const Study* a, const Study* b) { return a->minutes > b->minutes; });
  struct Running {
    const Study* study;
    Clock::time_point begin;
  };
  std::map<pid_t, Running> running;
  std::map<std::string, StudyResult> done;
  RowsStamp stamp;
  if (options.reuse) stamp = stamp_of_this_program(options.full, options.pictures);
  std::size_t next = 0;
  while (next < waiting.size() || !running.empty()) {
    while (next < waiting.size() && static_cast<int>(running.size()) < jobs) {
      const Study& study = *waiting[next++];
      if (options.reuse) {
        if (std::optional<StudyResult> earlier = reuse(study, options, stamp)) {
          done[study.name] = std::move(*earlier);
          continue;
        }
      }
      std::error_code none;
      std::filesystem::remove(rows_file(options, study.name), none);
      const pid_t child = start_study(study, options);
      if (child < 0)
        done[study.name] = failed_study(study, "its process could not be started");
      else
        running[child] = {&study, Clock::now()};
    }
    if (running.empty()) break;
    int status = 0;
    rusage used{};
    const pid_t child = wait4(-1, &status, 0, &used);
    const auto found = running.find(child);
    if (found == running.end()) continue;
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    StudyResult result = collect(*found->second.study, options, status);
    result.seconds = seconds_since(found->second.begin);
    result.core_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
    std::fprintf(stderr, "%-16s %4.0f s, %4.0f s of a core  %s\n", result.name.c_str(), result.seconds,
                 result.core_seconds, to_text(count_rows(result.rows)).c_str());
    done[result.name] = std::move(result);
    running.erase(found);
  }
  std::vector<StudyResult> results;
  for (const Study* study : studies) {
    results.push_back(std::move(done[study->name]));
    demand_time(results.back(), options);
  }
  return results;
}

std::string summary_json(const std::vector<StudyResult>& results) {
  nlohmann::ordered_json summary;
  summary["cores"] = cores_of_this_machine();
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
      "printed numbers: {} ({} corrected); {} met, {} met by tuning, {} run with, {} missed for a reason, "
      "{} compared without a demand, {} missing for a reason, {} with --full only, {} open\n",
      p.printed, p.corrected, p.met, p.tuned, p.run_with, p.missed, p.not_demanded, p.missing, p.only_full, p.open);
  return out;
}

}  // namespace trammel
