#include "studies/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "studies/printed.h"
#include "trammel/base/data_directory.h"
#include "trammel/check/check_model.h"
#include "trammel/write/csv_writer.h"

namespace trammel {

// ---- Rows
// ------------------------------------------------------------------------------------------------------------

Row Row::near(std::string table, std::string row, std::string quantity, double target, double ours, double tolerance) {
  Row r = measure(std::move(table), std::move(row), std::move(quantity), ours);
  r.relation = Relation::within;
  r.target = target;
  r.tolerance = tolerance;
  r.ok = std::abs(ours - target) <= tolerance;
  return r;
}

Row Row::error(std::string table, std::string row, std::string quantity, double ours, double tolerance) {
  return near(std::move(table), std::move(row), std::move(quantity), 0, ours, tolerance);
}

Row Row::at_most(std::string table, std::string row, std::string quantity, double target, double ours) {
  Row r = measure(std::move(table), std::move(row), std::move(quantity), ours);
  r.relation = Relation::at_most;
  r.target = target;
  r.ok = ours <= target;
  return r;
}

Row Row::at_least(std::string table, std::string row, std::string quantity, double target, double ours) {
  Row r = measure(std::move(table), std::move(row), std::move(quantity), ours);
  r.relation = Relation::at_least;
  r.target = target;
  r.ok = ours >= target;
  return r;
}

Row Row::measure(std::string table, std::string row, std::string quantity, double ours) {
  Row r;
  r.table = std::move(table);
  r.row = std::move(row);
  r.quantity = std::move(quantity);
  r.ours = ours;
  r.ok = std::isfinite(ours);
  return r;
}

Row Row::failed(std::string table, std::string row, std::string why) {
  Row r = measure(std::move(table), std::move(row), "could not be computed", std::numeric_limits<double>::quiet_NaN());
  r.note = std::move(why);
  return r;
}

Row Row::reproduce(std::string table, std::string row, std::string quantity, const std::string& id, double ours,
                   int digits) {
  const double target = printed_number(id).target();
  const double unit = target == 0 ? 0 : std::pow(10.0, std::floor(std::log10(std::abs(target))) + 1 - digits);
  return near(std::move(table), std::move(row), std::move(quantity), target, ours, 0.51 * unit)
      .printed_as(id)
      .because("the digits printed");
}

Row Row::reproduce_within(std::string table, std::string row, std::string quantity, const std::string& id, double ours,
                          double part, std::string why) {
  const double target = printed_number(id).target();
  return near(std::move(table), std::move(row), std::move(quantity), target, ours, part * std::abs(target))
      .printed_as(id)
      .because(std::move(why));
}

Row&& Row::because(std::string why) && {
  reason = std::move(why);
  return std::move(*this);
}

Row&& Row::printed_as(const std::string& id) && {
  const PrintedNumber& number = printed_number(id);
  if (ids.empty()) {
    if (std::isfinite(number.value)) printed = number.value;
    corrected = number.corrected;
    correction = number.correction;
  }
  ids.push_back(id);
  return std::move(*this);
}

Row&& Row::with(const std::vector<std::string>& more) && {
  for (const std::string& id : more) settings.push_back(printed_number(id).id);
  return std::move(*this);
}

Row&& Row::beside(double value, std::string whose) && {
  own = value;
  origin = std::move(whose);
  return std::move(*this);
}

Row&& Row::missed_for(std::string cause) && {
  missed = std::move(cause);
  return std::move(*this);
}

Row&& Row::cause_open(const std::string& tried) && {
  if (!ok && !tried.empty()) note = "cause open: " + tried;
  return std::move(*this);
}

Row&& Row::tuned_on(std::string what) && {
  tuned = std::move(what);
  return std::move(*this);
}

RowVerdict Row::verdict() const {
  if (!demands()) return ok && !reason.empty() ? RowVerdict::measured : RowVerdict::missed;
  if (ok) return missed.empty() ? RowVerdict::met : RowVerdict::reason_gone;
  return missed.empty() || !std::isfinite(ours) ? RowVerdict::missed : RowVerdict::missed_for_reason;
}

RowCounts& RowCounts::operator+=(const RowCounts& other) {
  rows += other.rows;
  demanded += other.demanded;
  met += other.met;
  missed_for_reason += other.missed_for_reason;
  missed += other.missed;
  reason_gone += other.reason_gone;
  measured += other.measured;
  return *this;
}

RowCounts count_rows(const std::vector<Row>& rows) {
  RowCounts counts;
  for (const Row& row : rows) {
    ++counts.rows;
    counts.demanded += row.demands();
    switch (row.verdict()) {
      case RowVerdict::met: ++counts.met; break;
      case RowVerdict::measured: ++counts.measured; break;
      case RowVerdict::missed_for_reason: ++counts.missed_for_reason; break;
      case RowVerdict::missed: ++counts.missed; break;
      case RowVerdict::reason_gone: ++counts.reason_gone; break;
    }
  }
  return counts;
}

// ---- Studies
// ---------------------------------------------------------------------------------------------------------

std::optional<std::string> StudyContext::picture(const std::string& file) const {
  if (output.empty()) return std::nullopt;
  return (output / file).string();
}

const Study& find_study(std::string_view name) {
  std::vector<std::string> names;
  std::string list;
  for (const Study& study : study_registry()) {
    if (study.name == name) return study;
    names.push_back(study.name);
    list += (list.empty() ? "" : ", ") + study.name;
  }
  const std::string near = nearest_name(name, names);
  throw Failure({Severity::error,
                 "unknown-study",
                 "there is no study '" + std::string(name) + "'",
                 (near.empty() ? "" : "did you mean '" + near + "'? ") + "studies: " + list,
                 {}},
                ExitCode::bad_usage);
}

void guard(std::vector<Row>& rows, const std::string& table, const std::string& row,
           const std::function<void()>& piece) {
  try {
    piece();
  } catch (const std::exception& e) {
    rows.push_back(Row::failed(table, row, e.what()));
  }
}

void explain_times(std::vector<Row>& rows) {
  for (Row& row : rows) {
    if (row.demands() || !row.reason.empty() || !row.ok) continue;
    for (const char* words : {"seconds", "microseconds", "time, s"}) {
      if (row.quantity.rfind(words, 0) == 0) row.reason = why::machine_time;
    }
  }
}

std::vector<Row> run_study(const Study& study, const StudyContext& context) {
  std::vector<Row> rows;
  StudyContext ready = context;
  if (!ready.note) ready.note = [](const std::string&) {};
  guard(rows, study.name, "the study", [&] { rows = study.run(ready); });
  if (rows.empty()) rows.push_back(Row::failed(study.name, "the study", "it gave no rows"));
  if (!ready.tight)  // which computes other rows
    guard(rows, study.name, "the printed list", [&] {
      for (Row& row : printed_without_rows(study.name, rows, ready.full)) rows.push_back(std::move(row));
    });
  explain_times(rows);
  for (Row& row : rows) row.study = study.name;
  return rows;
}

namespace {

std::string row_digits(double value, int count) {
  const bool whole = value == std::round(value) && std::abs(value) < 1e9;  // counts are shown in full
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.{}g}", value, count);
}

// As many digits as show whether the tolerance is met.
int row_digits_needed(const Row& row) {
  if (row.relation != Relation::within || !row.tolerance || !row.target || *row.target == 0 || *row.tolerance <= 0)
    return 4;
  const double ratio = std::abs(*row.target) / *row.tolerance;
  return std::clamp(static_cast<int>(std::ceil(std::log10(std::max(ratio, 1.0)))) + 2, 4, 16);
}

constexpr std::size_t table_columns = 9;
using TableLine = std::array<std::string, table_columns>;

void print_lines(const std::vector<TableLine>& lines, std::string& out) {
  std::array<std::size_t, table_columns> width{};
  for (std::size_t k = 1; k < lines.size(); ++k) {
    for (std::size_t i = 0; i < table_columns; ++i) width[i] = std::max(width[i], lines[k][i].size());
  }
  for (std::size_t i = 0; i < table_columns; ++i) {  // a column that is empty is left out
    if (width[i] > 0) width[i] = std::max(width[i], lines[0][i].size());
  }
  for (const TableLine& line : lines) {
    std::string text = " ";
    for (std::size_t i = 0; i < table_columns; ++i) {
      if (width[i] == 0) continue;
      text += i < 2 || i >= table_columns - 2 ? fmt::format(" {:<{}} ", line[i], width[i])
                                              : fmt::format(" {:>{}} ", line[i], width[i]);
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + "\n";
  }
}

nlohmann::ordered_json json_number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

const std::pair<Relation, const char*> relation_names[] = {{Relation::within, "within"},
                                                           {Relation::at_most, "at_most"},
                                                           {Relation::at_least, "at_least"},
                                                           {Relation::measured, "measured"}};

const char* name_of(Relation relation) {
  for (const auto& entry : relation_names) {
    if (entry.first == relation) return entry.second;
  }
  return "";
}

const char* verdict_text(const Row& row) {
  switch (row.verdict()) {
    case RowVerdict::met: return row.tuned.empty() ? "ok" : "ok by tuning";
    case RowVerdict::measured: return "";
    case RowVerdict::missed_for_reason: return "missed: reason";
    case RowVerdict::missed: return row.demands() || !row.ok ? "MISSED" : "MISSED: demands nothing, no reason";
    case RowVerdict::reason_gone: return "MET: its reason no longer holds";
  }
  return "";
}

}  // namespace

std::string demand_text(const Row& row) {
  if (!row.target) return "";
  const std::string value = row_digits(*row.target, std::max(row_digits_needed(row), 4));
  if (row.relation == Relation::at_most) return "<= " + value;
  if (row.relation == Relation::at_least) return ">= " + value;
  if (*row.target == 0) return "within " + row_digits(row.tolerance.value_or(0), 3);
  return value + " +- " + row_digits(row.tolerance.value_or(0), 2);
}

std::string to_text(const RowCounts& counts) {
  std::string out = fmt::format("{} row{}: {} demand something, {} met", counts.rows, counts.rows == 1 ? "" : "s",
                                counts.demanded, counts.met);
  if (counts.missed_for_reason > 0) out += fmt::format(", {} missed for a known reason", counts.missed_for_reason);
  if (counts.reason_gone > 0) out += fmt::format(", {} met in spite of a reason", counts.reason_gone);
  return out + (counts.missed == 0 ? ", none MISSED" : fmt::format(", {} MISSED", counts.missed));
}

std::string to_text(const std::vector<Row>& rows) {
  std::string out;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    std::vector<TableLine> lines{{"row", "quantity", "printed", "corrected", "own", "ours", "demand", "ok", ""}};
    // each reason once, under the table
    std::vector<std::string> notes;
    std::map<std::string, std::size_t> numbers;
    const auto footnote = [&](const std::string& text) {
      const auto [entry, added] = numbers.try_emplace(text, numbers.size() + 1);
      if (added) notes.push_back(text);
      return fmt::format("[{}]", entry->second);
    };
    for (; last < rows.size() && rows[last].study == rows[first].study && rows[last].table == rows[first].table;
         ++last) {
      const Row& r = rows[last];
      const int count = row_digits_needed(r);
      const auto number = [&](const std::optional<double>& x) {
        return x ? row_digits(*x, std::max(count, 6)) : std::string();
      };
      std::string marks;
      if (!r.reason.empty()) marks += footnote((r.demands() ? "demand: " : "no demand: ") + r.reason);
      if (!r.correction.empty()) marks += footnote("corrected: " + r.correction);
      if (!r.origin.empty()) marks += footnote("own: " + r.origin);
      if (!r.missed.empty()) marks += footnote("missed: " + r.missed);
      if (!r.tuned.empty()) marks += footnote("tuned: " + r.tuned);
      lines.push_back({r.row, r.quantity, printed_word(r) + number(r.printed), number(r.corrected), number(r.own),
                       row_digits(r.ours, count), demand_text(r), verdict_text(r), marks});
    }
    out += rows[first].study + ": " + rows[first].table + "\n";
    print_lines(lines, out);
    for (std::size_t i = 0; i < notes.size(); ++i) out += fmt::format("  [{}] {}\n", i + 1, notes[i]);
    for (std::size_t i = first; i < last; ++i) {
      if (!rows[i].note.empty()) out += "  " + rows[i].row + ": " + rows[i].note + "\n";
    }
    out += "\n";
    first = last;
  }
  out += to_text(count_rows(rows)) + "\n";
  return out;
}

std::string to_json(const std::vector<Row>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& r : rows) {
    list.push_back({{"study", r.study},
                    {"table", r.table},
                    {"row", r.row},
                    {"quantity", r.quantity},
                    {"ids", r.ids},
                    {"settings", r.settings},
                    {"printed", json_number(r.printed)},
                    {"corrected", json_number(r.corrected)},
                    {"correction", r.correction},
                    {"own", json_number(r.own)},
                    {"origin", r.origin},
                    {"ours", json_number(r.ours)},
                    {"relation", name_of(r.relation)},
                    {"target", json_number(r.target)},
                    {"tolerance", json_number(r.tolerance)},
                    {"reason", r.reason},
                    {"ok", r.ok},
                    {"missed", r.missed},
                    {"tuned", r.tuned},
                    {"note", r.note},
                    {"verdict", verdict_text(r)}});
  }
  return list.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<Row> rows_from_json(const std::string& text) {
  std::vector<Row> rows;
  const auto number = [](const nlohmann::json& x) {
    return x.is_null() ? std::optional<double>() : std::optional<double>(x.get<double>());
  };
  for (const nlohmann::json& j : nlohmann::json::parse(text)) {
    Row r;
    j.at("study").get_to(r.study);
    j.at("table").get_to(r.table);
    j.at("row").get_to(r.row);
    j.at("quantity").get_to(r.quantity);
    j.at("ids").get_to(r.ids);
    j.at("settings").get_to(r.settings);
    r.printed = number(j.at("printed"));
    r.corrected = number(j.at("corrected"));
    j.at("correction").get_to(r.correction);
    r.own = number(j.at("own"));
    j.at("origin").get_to(r.origin);
    r.ours = number(j.at("ours")).value_or(std::numeric_limits<double>::quiet_NaN());
    for (const auto& entry : relation_names) {
      if (j.at("relation") == entry.second) r.relation = entry.first;
    }
    r.target = number(j.at("target"));
    r.tolerance = number(j.at("tolerance"));
    j.at("reason").get_to(r.reason);
    j.at("ok").get_to(r.ok);
    j.at("missed").get_to(r.missed);
    j.at("tuned").get_to(r.tuned);
    j.at("note").get_to(r.note);
    rows.push_back(std::move(r));
  }
  return rows;
}

// ---- Running models
// --------------------------------------------------------------------------------------------------

double ModelRun::last(std::string_view signal) const {
  const SignalRef ref = trajectory.at(signal);
  return trajectory.value(ref, trajectory.rows(ref.table) - 1);
}

namespace {

ModelRun run_loaded(Model model) {
  ModelRun run;
  Simulation simulation(std::move(model));
  run.result = simulation.run(run.trajectory);
  return run;
}

void require_finished(const ModelRun& run, const std::string& what) {
  if (run.result.status == RunStatus::finished) return;
  throw Failure({Severity::error,
                 "run-failed",
                 what + ": " + (run.result.failure ? to_text(*run.result.failure) : "the run did not finish"),
                 "",
                 {}},
                ExitCode::failed_run);
}

std::string in_data(const char* folder, const std::string& file) {
  const std::filesystem::path path(file);
  return path.is_absolute() ? file : (data_directory() / folder / path).string();
}

}  // namespace

ModelRun try_model(const std::string& file, const ModelChanges& changes) {
  return run_loaded(load_model(in_data("models", file), changes));
}

ModelRun run_model(const std::string& file, const ModelChanges& changes) {
  ModelRun run = try_model(file, changes);
  require_finished(run, file);
  return run;
}

ModelRun run_model(Model model) {
  require_sound(model);
  const std::string title = model.title.empty() ? "a model" : model.title;
  ModelRun run = run_loaded(std::move(model));
  require_finished(run, title);
  return run;
}

// ---- References
// ------------------------------------------------------------------------------------------------------

std::filesystem::path study_file(const std::string& file) { return in_data("studies", file); }

const std::vector<double>& Reference::column(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return columns[static_cast<std::size_t>(found - names.begin())];
  const std::string near = nearest_name(name, names);
  throw Failure({Severity::error,
                 "unknown-column",
                 file + " has no column '" + std::string(name) + "'",
                 near.empty() ? "" : "did you mean '" + near + "'?",
                 {}});
}

Reference read_reference(const std::string& file) {
  Reference reference;
  reference.file = study_file(file).string();
  std::ifstream in(reference.file);
  const auto refuse = [&](int line, const std::string& message) {
    throw Failure({Severity::error, "bad-reference", message, "", Location{intern(reference.file), line, 1}});
  };
  if (!in) refuse(0, "the reference cannot be read");
  std::string line;
  std::vector<std::string> fields;
  for (int number = 1; std::getline(in, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    if (!csv_split(line, fields)) refuse(number, "a quote is left open");
    if (reference.names.empty()) {
      reference.names = fields;
      reference.columns.resize(fields.size());
      continue;
    }
    if (fields.size() != reference.names.size()) refuse(number, "the line has not as many values as the header names");
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::size_t blank = std::min(fields[i].find_first_not_of(' '), fields[i].size());
      const char* const begin = fields[i].data() + blank;
      const char* const end = fields[i].data() + fields[i].size();
      double value = 0;
      const auto [rest, trouble] = std::from_chars(begin, end, value);
      if (trouble != std::errc() || rest != end) refuse(number, "'" + fields[i] + "' is no number");
      reference.columns[i].push_back(value);
    }
  }
  if (reference.rows() == 0) refuse(0, "the reference holds no numbers");
  return reference;
}

std::vector<double> sample(const ModelRun& run, std::string_view signal, const std::vector<double>& times,
                           Between between) {
  const SignalRef ref = run.trajectory.at(signal);
  const std::vector<double> t = run.trajectory.time(ref.table), y = run.trajectory.column(ref);
  std::vector<double> out;
  out.reserve(times.size());
  for (const double at : times) {
    const double slack = 1e-9 * std::max({std::abs(at), std::abs(t.empty() ? 0 : t.back()), 1e-300});
    const auto after = std::lower_bound(t.begin(), t.end(), at - slack);
    const auto i = static_cast<std::size_t>(after - t.begin());
    if (i < t.size() && std::abs(t[i] - at) <= slack) {
      out.push_back(y[i]);
      continue;
    }
    if (between == Between::refuse || i == 0 || i == t.size() || t.size() < 4) {
      throw Failure({Severity::error,
                     "no-output-there",
                     fmt::format("signal '{}' was not recorded at t = {:.9g} s", signal, at),
                     "choose output_step so that it meets the reference's times",
                     {}});
    }
    const std::size_t first = std::min(i < 2 ? 0 : i - 2, t.size() - 4);
    double value = 0;
    for (std::size_t k = first; k < first + 4; ++k) {
      double weight = 1;
      for (std::size_t j = first; j < first + 4; ++j) {
        if (j != k) weight *= (at - t[j]) / (t[k] - t[j]);
      }
      value += weight * y[k];
    }
    out.push_back(value);
  }
  return out;
}

double max_error(const ModelRun& run, std::string_view signal, const Reference& reference, std::string_view column,
                 const ErrorOptions& options) {
  const std::vector<double>& t = reference.time();
  const std::vector<double>& y = reference.column(column);
  const double reached = run.time().empty() ? -1e300 : run.time().back();
  std::vector<double> times, wanted;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i] < options.from || t[i] > options.to || t[i] > reached * (1 + 1e-12)) continue;
    times.push_back(t[i]);
    wanted.push_back(y[i]);
  }
  if (times.empty()) {
    throw Failure({Severity::error, "no-output-there", reference.file + " has no times that the run reaches", "", {}});
  }
  const std::vector<double> ours = sample(run, signal, times, options.between);
  double largest = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    double difference = options.scale * ours[i] + options.offset - wanted[i];
    if (options.modulo_turns) difference = std::remainder(difference, 2 * 3.14159265358979323846);
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(difference));
  }
  return largest;
}

double max_error(const std::vector<double>& ours, const std::vector<double>& reference) {
  if (ours.size() != reference.size() || ours.empty()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (!std::isfinite(ours[i] - reference[i])) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(ours[i] - reference[i]));
  }
  return largest;
}

double max_abs(const std::vector<double>& values) { return max_error(values, std::vector<double>(values.size(), 0.0)); }

double fitted_order(const std::vector<double>& x, const std::vector<double>& y) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    const double a = std::log(x[i]), b = std::log(y[i]);
    n += 1;
    sx += a;
    sy += b;
    sxx += a * a;
    sxy += a * b;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace trammel
