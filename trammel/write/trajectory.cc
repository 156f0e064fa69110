// Tables in memory, their names and patterns, and the tee; see trajectory.h.
#include "trammel/write/trajectory.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <set>

namespace trammel {

void Provenance::set(std::string_view key, std::string_view value) {
  for (auto& entry : entries) {
    if (entry.first == key) {
      entry.second = value;
      return;
    }
  }
  entries.emplace_back(key, value);
}

std::string Provenance::get(std::string_view key) const {
  for (const auto& entry : entries) {
    if (entry.first == key) return entry.second;
  }
  return {};
}

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text.data(), length);
}

namespace {
constexpr std::array<std::pair<RunStatus, std::string_view>, 4> run_status_names{
    {{RunStatus::running, "running"},
     {RunStatus::finished, "finished"},
     {RunStatus::failed, "failed"},
     {RunStatus::interrupted, "interrupted"}}};
}  // namespace

std::string_view to_text(RunStatus status) {
  for (const auto& entry : run_status_names) {
    if (entry.first == status) return entry.second;
  }
  return "failed";
}

std::optional<RunStatus> run_status(std::string_view text) {
  for (const auto& entry : run_status_names) {
    if (entry.second == text) return entry.first;
  }
  return std::nullopt;
}

namespace {

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

[[noreturn]] void refuse_table(const Table& table, const std::string& why) {
  throw Failure({.severity = Severity::error,
                 .id = "bad-result-table",
                 .message = "result table '" + table.name + "': " + why,
                 .hint = {},
                 .where = {}},
                ExitCode::internal);
}

}  // namespace

void check_tables(const std::vector<Table>& tables) {
  std::set<std::string_view> table_names;
  for (const Table& table : tables) {
    // '/' separates table and signal, and groups of an HDF5 file
    if (table.name.empty() || has_control_characters(table.name) ||
        table.name.find_first_of("/.,") != std::string::npos) {
      refuse_table(table, "a table needs a plain name");
    }
    if (!table_names.insert(table.name).second) refuse_table(table, "the name is used twice");
    if (table.signals.empty() || table.signals.front().name != "time") refuse_table(table, "column 0 must be 'time'");
    std::set<std::string_view> names;
    for (const Signal& signal : table.signals) {
      if (signal.name.empty()) refuse_table(table, "a signal has no name");
      if (has_control_characters(signal.name)) refuse_table(table, "a signal name holds control characters");
      if (!names.insert(signal.name).second) refuse_table(table, "signal '" + signal.name + "' appears twice");
    }
  }
}

bool matches_pattern(std::string_view pattern, std::string_view name) {
  // Greedy with one place to return to: linear in practice, never exponential.
  std::size_t p = 0, n = 0, star = std::string_view::npos, star_name = 0;
  while (n < name.size()) {
    bool fits = false;
    std::size_t next = p + 1;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
      continue;
    }
    if (p < pattern.size()) {
      const std::size_t close = pattern[p] == '[' ? pattern.find(']', p + 1) : std::string_view::npos;
      if (close != std::string_view::npos) {
        fits = pattern.substr(p + 1, close - p - 1).find(name[n]) != std::string_view::npos;
        next = close + 1;
      } else {
        fits = pattern[p] == '?' || pattern[p] == name[n];
      }
    }
    if (fits) {
      p = next;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

namespace {

// Splits "steps/time" into the table and the rest; without the name of a table in front, all tables are meant.
std::pair<std::optional<std::size_t>, std::string_view> split_table_prefix(const std::vector<Table>& tables,
                                                                           std::string_view name) {
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const std::string& table = tables[t].name;
    if (name.size() > table.size() && name.substr(0, table.size()) == table && name[table.size()] == '/') {
      return {t, name.substr(table.size() + 1)};
    }
  }
  return {std::nullopt, name};
}

}  // namespace

std::optional<SignalRef> find_signal(const std::vector<Table>& tables, std::string_view name) {
  const auto [wanted_table, rest] = split_table_prefix(tables, name);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    if (wanted_table.has_value() && *wanted_table != t) continue;
    const auto& signals = tables[t].signals;
    for (std::size_t c = 0; c < signals.size(); ++c) {
      if (signals[c].name == rest) return SignalRef{t, c};
    }
  }
  return std::nullopt;
}

std::vector<SignalRef> match_signals(const std::vector<Table>& tables, std::string_view pattern) {
  if (const auto exact = find_signal(tables, pattern)) return {*exact};
  const auto [wanted_table, rest] = split_table_prefix(tables, pattern);
  const bool wild = rest.find_first_of("*?[") != std::string_view::npos;
  std::vector<SignalRef> found;
  std::set<std::string_view> seen;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    if (wanted_table.has_value() && *wanted_table != t) continue;
    const auto& signals = tables[t].signals;
    for (std::size_t c = 1; c < signals.size(); ++c) {
      const std::string_view name = signals[c].name;
      const bool inside = name.size() > rest.size() && name[rest.size()] == '.' && name.substr(0, rest.size()) == rest;
      if ((wild ? matches_pattern(rest, name) : inside) && seen.insert(name).second) found.push_back({t, c});
    }
  }
  return found;
}

Failure unknown_signal(const std::vector<Table>& tables, std::string_view pattern) {
  std::vector<std::string> names, groups;
  for (const Table& table : tables) {
    for (const Signal& signal : table.signals) {
      names.push_back(signal.name);
      const std::string group = signal.name.substr(0, signal.name.find('.'));
      if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    }
  }
  std::string hint;
  const std::string nearest = nearest_name(pattern, names);
  if (!nearest.empty()) {
    hint = "did you mean '" + nearest + "'?";
  } else if (!groups.empty()) {
    hint = "names begin with ";
    for (std::size_t i = 0; i < groups.size(); ++i) {
      hint += (i == 0 ? "'" : i + 1 == groups.size() ? " or '" : ", '") + groups[i] + "'";
    }
    hint += "; '*' stands for any text: 'body.*.position.x'";
  }
  return Failure({.severity = Severity::error,
                  .id = "unknown-signal",
                  .message = "no signal of the result is called '" + std::string(pattern) + "'",
                  .hint = hint,
                  .where = {}},
                 ExitCode::bad_usage);
}

const std::vector<Table>& MemoryTrajectory::tables() const {
  static const std::vector<Table> none;
  return tables_ ? *tables_ : none;
}

void MemoryTrajectory::Rows::make_room(std::size_t more) {
  const bool last = numbers->size() == size, alone = numbers.use_count() == 1;
  if (last && (alone || numbers->capacity() >= size + more)) return;
  auto own = std::make_shared<std::vector<double>>();
  own->reserve(std::max(2 * size, size + more));
  own->assign(numbers->begin(), numbers->begin() + static_cast<std::ptrdiff_t>(size));
  numbers = std::move(own);
}

void MemoryTrajectory::begin(const std::vector<Table>& tables, const Provenance& provenance) {
  check_tables(tables);
  tables_ = std::make_shared<const std::vector<Table>>(tables);
  provenance_ = provenance;
  data_.clear();
  data_.resize(tables.size());
  status_ = RunStatus::running;
  summary_json_.clear();
  failure_json_.clear();
}

void TrajectorySink::resume(const std::vector<Table>& /*tables*/, const std::vector<std::uint64_t>& /*rows*/) {
  throw Failure({.severity = Severity::error,
                 .id = "cannot-continue-result",
                 .message = "a result of this kind cannot be continued",
                 .hint = "run the model again from the start",
                 .where = {}},
                ExitCode::cannot_write);
}

void MemoryTrajectory::resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows) {
  bool fits = tables.size() == this->tables().size();
  for (std::size_t t = 0; t < tables.size() && fits; ++t) {
    fits = tables[t].signals.size() == width(t) && this->rows(t) >= rows[t];
  }
  if (!fits) {
    throw Failure({.severity = Severity::error,
                   .id = "cannot-continue-result",
                   .message = "the result in memory cannot be continued: it is another one, or has fewer rows",
                   .hint = "run the model again from the start",
                   .where = {}},
                  ExitCode::cannot_write);
  }
  for (std::size_t t = 0; t < tables.size(); ++t) {
    data_[t].size = rows[t] * width(t);
    if (data_[t].numbers.use_count() == 1) data_[t].numbers->resize(data_[t].size);
  }
  status_ = RunStatus::running;
  summary_json_.clear();
  failure_json_.clear();
}

void MemoryTrajectory::reserve(std::size_t table, std::size_t rows) {
  Rows& data = data_[table];
  const std::size_t count = rows * width(table);
  if (count <= data.size) return;
  data.make_room(count - data.size);
  data.numbers->reserve(count);
}

bool MemoryTrajectory::append(std::size_t table, std::span<const double> row) {
  if (table >= data_.size() || row.size() != width(table)) return false;
  Rows& data = data_[table];
  data.make_room(row.size());
  data.numbers->insert(data.numbers->end(), row.begin(), row.end());
  data.size += row.size();
  return true;
}

void MemoryTrajectory::finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) {
  status_ = status;
  summary_json_ = summary_json;
  failure_json_ = failure_json;
}

std::optional<std::size_t> MemoryTrajectory::find_table(std::string_view name) const {
  for (std::size_t t = 0; t < tables().size(); ++t) {
    if (tables()[t].name == name) return t;
  }
  return std::nullopt;
}

std::span<const double> MemoryTrajectory::row(std::size_t table, std::size_t index) const {
  const Rows& data = data_[table];
  return std::span<const double>(data.numbers->data(), data.size).subspan(index * width(table), width(table));
}

SignalRef MemoryTrajectory::at(std::string_view name) const {
  const auto found = find(name);
  if (!found) throw unknown_signal(tables(), name);
  return *found;
}

std::vector<SignalRef> MemoryTrajectory::match(std::string_view pattern) const {
  auto found = match_signals(tables(), pattern);
  if (found.empty()) throw unknown_signal(tables(), pattern);
  return found;
}

std::vector<double> MemoryTrajectory::column(SignalRef ref) const {
  std::vector<double> values(rows(ref.table));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(ref, i);
  return values;
}

namespace {

// Calls every sink, then reports all failures as one.
void call_each_sink(const std::vector<TrajectorySink*>& sinks, const std::function<void(TrajectorySink&)>& call) {
  std::vector<Problem> problems;
  ExitCode code = ExitCode::cannot_write;
  for (TrajectorySink* sink : sinks) {
    try {
      call(*sink);
    } catch (const Failure& failure) {
      if (problems.empty()) code = failure.exit_code();
      problems.insert(problems.end(), failure.problems().begin(), failure.problems().end());
    }
  }
  if (!problems.empty()) throw Failure(std::move(problems), code);
}

}  // namespace

void TeeSink::begin(const std::vector<Table>& tables, const Provenance& provenance) {
  call_each_sink(sinks_, [&](TrajectorySink& sink) { sink.begin(tables, provenance); });
}

void TeeSink::resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows) {
  call_each_sink(sinks_, [&](TrajectorySink& sink) { sink.resume(tables, rows); });
}

bool TeeSink::append(std::size_t table, std::span<const double> row) {
  bool ok = true;
  for (TrajectorySink* sink : sinks_) ok = sink->append(table, row) && ok;
  return ok;
}

void TeeSink::flush() {
  call_each_sink(sinks_, [](TrajectorySink& sink) { sink.flush(); });
}

void TeeSink::finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) {
  call_each_sink(sinks_, [&](TrajectorySink& sink) { sink.finish(status, summary_json, failure_json); });
}

}  // namespace trammel
