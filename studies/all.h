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

struct AllOptions {
  std::filesystem::path program;  // that is started with a study's name
  std::filesystem::path output;   // folder for rows, pictures and summary.json
  bool full = false, pictures = true;
  int jobs = 0;        // 0: as many as there are cores
  bool reuse = false;  // rows that an earlier run left in `output`; only what is not there is run
};

// In the order of the registry. A process that fails becomes a row that is not ok.
std::vector<StudyResult> run_all(const std::vector<const Study*>& studies, const AllOptions& options);

// {"studies": [{name, seconds, core_seconds, rows, demanded, met, missed_for_reason, missed, reason_gone, measured}],
// "all": {...},
//  "printed": {"rn": {...}, ..., "all": {...}}}
std::string summary_json(const std::vector<StudyResult>& results);
std::string summary_text(const std::vector<StudyResult>& results);  // the same as a table

}  // namespace trammel
