#include "trammel/write/sweep_table.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>

#include "trammel/base/input_file.h"
#include "trammel/write/csv_writer.h"
#include "trammel/write/output_path.h"

namespace trammel {
namespace {

double sweep_value(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, trouble] = std::from_chars(text.data(), end, value);
  return trouble == std::errc() && rest == end ? value : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

bool is_sweep_table(const std::string& path) { return begins_with(path, sweep_magic); }

MemoryTrajectory read_sweep_table(const std::string& path) {
  std::stringstream in(read_whole_file(path, std::uint64_t{1} << 32, ExitCode::bad_usage));
  const auto refuse = [&](const std::string& why) {
    return read_failure("damaged-result", "the table '" + path + "' is damaged: " + why, "make the sweep again");
  };
  std::string line;
  std::vector<std::string> fields;
  std::getline(in, line);
  if (!std::getline(in, line) || !csv_split(line, fields) || fields.size() < 3 || fields[0] != "run" ||
      fields[1] != "status" || fields.back() != "message")
    throw refuse("its line of names cannot be read");
  Table table{"sweep", "one row for every run that finished", {{"time", "", "", "number of the run", false, ""}}};
  for (std::size_t i = 2; i + 1 < fields.size(); ++i) table.signals.push_back({fields[i], "", "", "", false, ""});
  const std::size_t width = table.signals.size();
  MemoryTrajectory trajectory;
  try {
    Provenance provenance;
    provenance.set("title", "Sweep");
    trajectory.begin({table}, provenance);
  } catch (const Failure& failure) {
    throw refuse(failure.problems().front().message);
  }
  std::vector<std::vector<double>> rows;
  while (std::getline(in, line) && !in.eof()) {  // a last line without its end belongs to a run that was cut off
    if (!csv_split(line, fields) || fields.size() != width + 2) throw refuse("a row has another number of values");
    if (fields[1] != "finished") continue;
    std::vector<double> row{sweep_value(fields[0])};
    if (!(row[0] >= 0)) throw refuse("a run has no number");
    for (std::size_t i = 1; i < width; ++i) row.push_back(sweep_value(fields[i + 1]));
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a[0] < b[0]; });
  for (const std::vector<double>& row : rows) trajectory.append(0, row);
  trajectory.finish(RunStatus::finished, "", "");
  return trajectory;
}

}  // namespace trammel
