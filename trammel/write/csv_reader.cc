// Reads the CSV files of a run; layout in csv_writer.h.
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "trammel/write/csv_writer.h"
#include "trammel/write/output_path.h"
#include "trammel/write/read_trajectory.h"

namespace trammel {

namespace {

// One file, its numbers still text.
struct CsvFile {
  std::string path;
  std::string content;
  Table table;
  std::vector<std::string> further_tables;
  Provenance provenance;
  std::optional<RunStatus> status;
  std::string summary, failure;
  std::vector<std::pair<std::size_t, std::string_view>> rows;  // line number and text
  bool last_line_open = false;                                 // the file ends in the middle of a line
};

Failure damaged_csv(const std::string& path, std::size_t line, const std::string& why) {
  Problem problem{Severity::error,
                  "damaged-result",
                  "the result is damaged: " + why,
                  "copy it again from where it was made, or run the model again",
                  {}};
  problem.where.file = intern(path);
  problem.where.line = static_cast<int>(line);
  problem.where.column = 1;
  return Failure(std::move(problem), ExitCode::bad_usage);
}

// "# key: value" -> value, if the key is this one.
std::optional<std::string_view> comment_value(std::string_view line, std::string_view key) {
  if (line.size() < key.size() + 3 || line.substr(2, key.size()) != key || line[key.size() + 2] != ':')
    return std::nullopt;
  line.remove_prefix(key.size() + 3);
  if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  return line;
}

// The strings, not `content` views, are kept in `file`: rows point into file.content, which must stay where it is.
void read_csv_file(const std::string& path, CsvFile& file) {
  file.path = path;
  std::ifstream input(path, std::ios::binary);
  std::ostringstream text;
  text << input.rdbuf();
  file.content = std::move(text).str();

  std::vector<std::string> names, units, frames, texts, flags;
  const std::string_view all = file.content;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < all.size();) {
    ++number;
    std::size_t end = all.find('\n', begin);
    if (end == std::string_view::npos) {
      file.last_line_open = true;  // what is there of it may be half a number
      break;
    }
    std::string_view line = all.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    if (line.front() != '#') {
      if (!names.empty()) {
        file.rows.emplace_back(number, line);
      } else if (!csv_split(line, names)) {
        throw damaged_csv(path, number, "a quote in the header is not closed");
      }
      continue;
    }
    if (number == 1) {
      const std::string_view version = line.substr(std::min(csv_magic.size(), line.size()));
      if (version != "1") {
        throw read_failure(
            "newer-result",
            "the result '" + path + "' has format version '" + std::string(version) + "', this program reads 1",
            "use the Trammel that wrote it, or a newer one");
      }
    }
    const auto read_list = [&](std::string_view key, std::vector<std::string>& list) {
      const auto value = comment_value(line, key);
      if (!value) return;
      if (!csv_split(*value, list)) throw damaged_csv(path, number, "a quote is not closed");
      for (std::string& entry : list) entry = csv_unescape(entry);
    };
    read_list("unit", units);
    read_list("frame", frames);
    read_list("text", texts);
    read_list("flag", flags);
    if (const auto table = comment_value(line, "table")) file.table.name = *table;
    if (const auto about = comment_value(line, "about")) file.table.text = csv_unescape(*about);
    if (const auto tables = comment_value(line, "tables")) csv_split(*tables, file.further_tables);
    if (const auto summary = comment_value(line, "summary")) file.summary = csv_unescape(*summary);
    if (const auto failure = comment_value(line, "failure")) file.failure = csv_unescape(*failure);
    if (const auto status = comment_value(line, "status")) {
      file.status = run_status(*status);
      if (!file.status) throw damaged_csv(path, number, "unknown status '" + std::string(*status) + "'");
    }
    constexpr std::string_view prefix = "# provenance.";
    if (line.substr(0, prefix.size()) == prefix) {
      const std::size_t colon = line.find(": ", prefix.size());
      if (colon != std::string_view::npos) {
        file.provenance.set(csv_unescape(line.substr(prefix.size(), colon - prefix.size())),
                            csv_unescape(line.substr(colon + 2)));
      }
    }
  }
  if (names.empty()) throw damaged_csv(path, number, "it is truncated, the header with the names is missing");
  const std::size_t columns = names.size();
  if (units.size() != columns || frames.size() != columns || texts.size() != columns || flags.size() != columns) {
    throw damaged_csv(path, number, "names, units and texts differ in number");
  }
  for (std::size_t i = 0; i < columns; ++i) {
    file.table.signals.push_back(
        Signal{names[i], units[i], frames[i], texts[i], !flags[i].empty(), flags[i] == "flagged" ? "" : flags[i]});
  }
}

// All numbers of one line; the ones not wanted are checked as well.
void parse_csv_row(const CsvFile& file, std::size_t number, std::string_view line, std::vector<double>& values) {
  const char* position = line.data();
  const char* const end = line.data() + line.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [next, error] = std::from_chars(position, end, values[i]);
    const bool last = i + 1 == values.size();
    if (error != std::errc() || (last ? next != end : next == end || *next != ',')) {
      throw damaged_csv(file.path, number,
                        "signal '" + file.table.signals[i].name + "' has no number here, or the line has not " +
                            std::to_string(values.size()) + " numbers");
    }
    position = next + 1;
  }
}

}  // namespace

MemoryTrajectory read_csv_trajectory(const std::string& path, const TrajectoryReadOptions& options,
                                     std::vector<Problem>* notes) {
  const auto note = [&](const std::string& message) {
    if (notes != nullptr) notes->push_back(Problem{Severity::note, "incomplete-result", message, "", {}});
  };
  std::vector<std::unique_ptr<CsvFile>> files;
  files.push_back(std::make_unique<CsvFile>());
  read_csv_file(path, *files.front());
  const std::vector<std::string> names = files.front()->further_tables;
  for (std::size_t i = 1; i < names.size(); ++i) {
    const std::string beside = CsvWriter::path_of_table(path, names[i]);
    std::error_code ignored;
    if (!std::filesystem::exists(beside, ignored)) {
      std::string message = "the result '" + path + "': its table '" + names[i] + "' is left out, because ";
      note(message.append("'").append(beside).append("' is missing"));
      continue;
    }
    files.push_back(std::make_unique<CsvFile>());
    read_csv_file(beside, *files.back());
  }

  std::vector<Table> tables;
  tables.reserve(files.size());
  for (const auto& file : files) tables.push_back(file->table);
  try {
    check_tables(tables);
  } catch (const Failure& failure) {
    throw damaged_csv(path, 1, failure.problems().front().message);
  }
  const auto columns = wanted_columns(tables, options);
  std::vector<Table> kept_tables;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    if (columns[t].empty()) continue;
    Table table{tables[t].name, tables[t].text, {}};
    for (const std::size_t c : columns[t]) table.signals.push_back(tables[t].signals[c]);
    kept_tables.push_back(std::move(table));
  }

  MemoryTrajectory trajectory;
  trajectory.begin(kept_tables, files.front()->provenance);
  std::size_t kept = 0;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const CsvFile& file = *files[t];
    if (file.last_line_open) note("the result '" + file.path + "': its last line is cut off and left out");
    if (columns[t].empty()) continue;
    trajectory.reserve(kept, file.rows.size());
    std::vector<double> values(tables[t].signals.size()), picked(columns[t].size());
    for (const auto& row : file.rows) {
      parse_csv_row(file, row.first, row.second, values);
      for (std::size_t i = 0; i < picked.size(); ++i) picked[i] = values[columns[t][i]];
      if (!trajectory.append(kept, picked)) throw damaged_csv(file.path, row.first, "the row cannot be kept");
    }
    ++kept;
  }
  const CsvFile& first = *files.front();
  trajectory.finish(first.status.value_or(RunStatus::running), first.summary, first.failure);
  return trajectory;
}

}  // namespace trammel
