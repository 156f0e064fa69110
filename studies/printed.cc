#include "studies/printed.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "studies/study.h"

namespace trammel {

nlohmann::json read_data(const std::string& file) {
  const std::string path = study_file("data/" + file).string();
  std::ifstream in(path);
  try {
    if (in) return nlohmann::json::parse(in);
  } catch (const nlohmann::json::exception& e) {
    throw Failure({Severity::error,
                   "bad-reference",
                   std::string("the numbers cannot be read: ") + e.what(),
                   "",
                   {intern(path), 0, 0}});
  }
  throw Failure({Severity::error,
                 "bad-reference",
                 "the file cannot be read",
                 "is TRAMMEL_DATA set to another folder?",
                 {intern(path), 0, 0}});
}

const std::vector<PrintedNumber>& printed_list() {
  static const std::vector<PrintedNumber> list = [] {
    std::vector<PrintedNumber> numbers;
    for (const char* source : printed_sources) {
      for (const nlohmann::json& entry : read_data(std::string("printed/") + source + ".json")) {
        PrintedNumber n;
        n.source = source;
        n.id = entry.at("id").get<std::string>();
        n.kind = entry.at("kind").get<std::string>();
        n.place = entry.at("place").get<std::string>();
        n.what = entry.at("what").get<std::string>();
        n.unit = entry.at("unit").get<std::string>();
        n.text = entry.at("printed").get<std::string>();
        const nlohmann::json& value = entry.at("value");
        n.value = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
        if (entry.contains("corrected") && entry["corrected"].is_number())
          n.corrected = entry["corrected"].get<double>();
        n.correction = entry.value("correction", "");
        n.by = entry.value("by", "");
        n.missing = entry.value("missing", "");
        n.full = entry.value("full", false);
        numbers.push_back(std::move(n));
      }
    }
    return numbers;
  }();
  return list;
}

const PrintedNumber& printed_number(const std::string& id) {
  static const std::map<std::string, const PrintedNumber*> by_id = [] {
    std::map<std::string, const PrintedNumber*> map;
    for (const PrintedNumber& n : printed_list()) map[n.id] = &n;
    return map;
  }();
  const auto found = by_id.find(id);
  if (found != by_id.end()) return *found->second;
  throw Failure({Severity::error, "bad-reference", "the printed list has no number '" + id + "'", "", {}});
}

double printed_value(const std::string& id) { return printed_number(id).target(); }

std::string printed_word(const Row& row) {
  if (row.printed || row.ids.empty()) return "";
  const PrintedNumber& number = printed_number(row.ids.front());
  return std::isfinite(number.value) ? "" : number.text;
}

namespace {

// What the rows about a printed number say: demands outrank what was only compared, and the worst of them counts.
enum class Reach { none, not_demanded, run_with, tuned, met, missed, open };

Reach reach_of(const Row& row) {
  switch (row.verdict()) {
    case RowVerdict::measured: return Reach::not_demanded;
    case RowVerdict::missed_for_reason: return Reach::missed;
    case RowVerdict::missed: return Reach::open;
    case RowVerdict::met:
    case RowVerdict::reason_gone: return row.tuned.empty() ? Reach::met : Reach::tuned;
  }
  return Reach::none;
}

std::map<std::string, Reach> reach_of(const std::vector<Row>& rows) {
  std::map<std::string, Reach> reached;
  const auto raise = [&](const std::string& id, Reach reach) {
    Reach& now = reached.try_emplace(id, Reach::none).first->second;
    now = std::max(now, reach);
  };
  for (const Row& row : rows) {
    for (const std::string& id : row.ids) raise(id, reach_of(row));
    for (const std::string& id : row.settings) raise(id, Reach::run_with);
  }
  return reached;
}

}  // namespace

PrintedCounts count_printed(const std::vector<Row>& rows, const std::string& source) {
  const std::map<std::string, Reach> reached = reach_of(rows);
  PrintedCounts counts;
  const auto without_rows = [&counts](const PrintedNumber& n) {
    ++(!n.missing.empty() ? counts.missing : n.full ? counts.only_full : counts.open);
  };
  for (const PrintedNumber& n : printed_list()) {
    if (!source.empty() && n.source != source) continue;
    ++counts.printed;
    counts.corrected += !n.correction.empty();
    const auto found = reached.find(n.id);
    switch (found == reached.end() ? Reach::none : found->second) {
      case Reach::none: without_rows(n); break;
      case Reach::not_demanded: ++counts.not_demanded; break;
      case Reach::run_with: ++counts.run_with; break;
      case Reach::tuned: ++counts.tuned; break;
      case Reach::met: ++counts.met; break;
      case Reach::missed: ++counts.missed; break;
      case Reach::open: ++counts.open; break;
    }
  }
  return counts;
}

std::vector<Row> printed_without_rows(const std::string& study, const std::vector<Row>& rows, bool full) {
  const std::map<std::string, Reach> reached = reach_of(rows);
  std::vector<Row> out;
  for (const PrintedNumber& n : printed_list()) {
    if (n.by != study || (n.full && !full) || reached.count(n.id) > 0) continue;
    out.push_back(Row::failed("printed numbers without a row", n.id, "no row of this study is about it: " + n.place));
  }
  for (const auto& [id, reach] : reached) {
    const PrintedNumber& n = printed_number(id);
    if (n.by.empty())
      out.push_back(Row::failed("printed numbers that the list calls missing", id, "a row is about it: " + n.place));
  }
  return out;
}

}  // namespace trammel
