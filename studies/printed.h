// The printed list: every number of a result, a datum or a setting that the five sources print in a table, a figure, a
// caption, an example or a problem, in studies/data/printed/SOURCE.json. Each entry is
//
//   {"id": "rn.table5.k-2.steps", "kind": "result", "place": "Table 5", "line": 291, "what": "...", "unit": "",
//    "printed": "29", "value": 29}            as printed, and as a number; `line` is that of the transcript it was read
//    in
//   "value": null                             if it prints a word, such as "No conv."
//   "corrected": 30, "correction": "why"      if the print contradicts itself or what it prints elsewhere
//   "by": "rn"                                the study whose rows are about it
//   "full": true                              only with --full
//   "missing": "why"                          no row is about it, and why
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace trammel {

// A file of studies/data. Throws Failure.
nlohmann::json read_data(const std::string& file);

struct PrintedNumber {
  std::string id, source, kind, place, what, unit, text;
  double value = 0;  // not a number if a word is printed
  std::optional<double> corrected;
  std::string correction;
  std::string by, missing;
  bool full = false;

  double target() const { return corrected.value_or(value); }
};

inline constexpr const char* printed_sources[] = {"rn", "hht", "split", "glue", "text"};

const std::vector<PrintedNumber>& printed_list();            // read once; throws Failure
const PrintedNumber& printed_number(const std::string& id);  // throws Failure if there is none
double printed_value(const std::string& id);                 // what it prints, or its correction
struct Row;
std::string printed_word(const Row& row);  // that stands in place of a printed number, as "No conv."; empty: none

// What became of the list, for a page. A number that several rows demand is what the worst of them says; it is met by
// tuning if all rows that meet it are tuned.
struct PrintedCounts {
  int printed = 0, met = 0, tuned = 0, run_with = 0, missed = 0, not_demanded = 0, missing = 0, only_full = 0, open = 0,
      corrected = 0;
};
// Of one source, or of all if it is empty; rows are those of all studies.
PrintedCounts count_printed(const std::vector<Row>& rows, const std::string& source);
// Rows that are not ok, for entries that the list gives to `study` and that no row is about.
std::vector<Row> printed_without_rows(const std::string& study, const std::vector<Row>& rows, bool full);

}  // namespace trammel
