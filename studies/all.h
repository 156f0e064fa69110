// All studies at once, each a process of its own, as many together as there are cores; the summary of what they found.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "studies/study.h"

namespace trammel {

struct StudyResult {
  std::string name;
  std::vector<Row> rows;
  double seconds = 0, core_seconds = 0;  // by the clock, and of one core
};

// What rows were made by, and of: rows of another program or of other data say nothing about this one.
struct RowsStamp {
  std::string build;  // SHA-256 of the program and of the library that it runs with
  std::string data;   // SHA-256 of all files that studies read
  bool full = false, pictures = false;
};
RowsStamp stamp_of_this_program(bool full, bool pictures);

// {"stamp": {...}, "seconds": ..., "core_seconds": ..., "rows": [...]}
std::string to_rows_file(const StudyResult& result, const RowsStamp& stamp);
// Rows of a file that was written so, of the study that it is asked for. Without a `stamp` any rows are good; otherwise
// those of another stamp, or of none, are refused: a std::runtime_error that says what differs.
StudyResult from_rows_file(const std::filesystem::path& file, const std::string& name, const RowsStamp* stamp);

struct AllOptions {
  std::filesystem::path program;  // that is started with a study's name
  std::filesystem::path output;   // folder for rows, pictures and summary.json
  bool full = false, pictures = true;
  int jobs = 0;        // 0: as many as there are cores
  bool reuse = false;  // rows that an earlier run of the same program left in `output`; only the others are run
};

constexpr double most_seconds = 300;  // that a study may take by default

int cores_of_this_machine();
// In the order of the registry. A process that fails becomes a row that is not ok; so does one that takes too long.
std::vector<StudyResult> run_all(const std::vector<const Study*>& studies, const AllOptions& options);

// {"cores": ..., "studies": [{name, seconds, core_seconds, rows, demanded, met, missed_for_reason, missed, reason_gone,
// measured}], "all": {...}, "printed": {"rn": {...}, ..., "all": {...}}}
std::string summary_json(const std::vector<StudyResult>& results);
std::string summary_text(const std::vector<StudyResult>& results);  // the same as a table

}  // namespace trammel
