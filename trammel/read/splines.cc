// Numbers of a spline come out in SI: those of the file times the units that the spline states. Every number remembers
// where it was written, so that a wrong one is named with its line in the model or in the CSV file.
//
// A CSV file: one row per line, separated by commas, semicolons, tabs or blanks; lines that start with # and empty
// lines are skipped; a first line with words is a header, whose names can be used for columns.
#include "trammel/read/splines.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trammel/base/literal.h"

namespace trammel {
namespace {

struct Placed {
  double value = 0;
  Location where;
};

using PlacedRow = std::vector<Placed>;

// ---- CSV -----------------------------------------------------------------------------------------------------------

struct CsvField {
  std::string_view text;
  int column = 1;
};

std::vector<CsvField> split_csv_line(std::string_view line) {
  char separator = ' ';
  for (const char c : {';', ',', '\t'}) {
    if (line.find(c) != std::string_view::npos) {
      separator = c;
      break;
    }
  }
  std::vector<CsvField> fields;
  std::size_t at = 0;
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (at <= line.size()) {
    if (separator == ' ') {
      while (at < line.size() && blank(line[at])) ++at;
      if (at == line.size()) break;
    }
    std::size_t end = at;
    while (end < line.size() && !(separator == ' ' ? blank(line[end]) : line[end] == separator)) ++end;
    std::size_t begin = at;
    while (begin < end && blank(line[begin])) ++begin;
    std::string_view text = trim(line.substr(at, end - at));
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    fields.push_back({text, static_cast<int>(begin) + 1});
    at = end + 1;
  }
  return fields;
}

class CsvFile {
 public:
  CsvFile(const Node& node, const Place& place, Values& values, const CurveFileLoader& load)
      : place_(place), values_(values) {
    if (!values.text(node, place)) return;
    std::string path;
    const std::string text = load(node, place, path, good_);
    if (!good_) return;
    file_ = intern(path);
    good_ = parse(text);
    if (good_ && rows_.empty()) {
      values.error(node, "no-value", place.text() + ": the file " + quote(path) + " has no rows of numbers", "");
      good_ = false;
    }
  }

  bool good() const { return good_; }
  const std::vector<PlacedRow>& rows() const { return rows_; }

  // The column that a number from 1 or a name of the header stands for, or nothing.
  std::optional<std::size_t> column(const Node& node) {
    const std::size_t width = rows_[0].size();
    const Literal literal = read_literal(node.is_scalar() ? node.text : std::string_view{});
    if (!node.quoted && literal.is_number && literal.rest.empty()) {
      if (literal.value >= 1 && literal.value <= static_cast<double>(width) &&
          literal.value == std::floor(literal.value)) {
        return static_cast<std::size_t>(literal.value) - 1;
      }
    } else {
      for (std::size_t i = 0; i < header_.size(); ++i) {
        if (header_[i] == node.text) return i;
      }
    }
    std::string hint = "columns are numbered from 1 to " + std::to_string(width);
    if (!header_.empty()) hint += " or named by the header: " + list_of({header_.begin(), header_.end()});
    values_.error(node, "unknown-column", place_.text() + ": there is no column " + quote(node.text), hint);
    return std::nullopt;
  }

 private:
  bool parse(std::string_view text) {
    if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
    int line_number = 0;
    bool first = true;
    while (!text.empty()) {
      const std::size_t newline = text.find('\n');
      std::string_view line = text.substr(0, newline);
      text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
      ++line_number;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      const std::string_view content = trim(line);
      if (content.empty() || content[0] == '#') continue;
      const std::vector<CsvField> fields = split_csv_line(line);
      if (first && is_header(fields)) {
        for (const CsvField& field : fields) header_.emplace_back(field.text);
        first = false;
        continue;
      }
      first = false;
      if (!take_row(fields, line_number)) return false;
    }
    return true;
  }

  static bool is_header(const std::vector<CsvField>& fields) {
    return std::none_of(fields.begin(), fields.end(),
                        [](const CsvField& field) { return read_literal(field.text).is_number; }) &&
           std::none_of(fields.begin(), fields.end(),
                        [](const CsvField& field) { return is_not_finite_word(field.text); });
  }

  bool take_row(const std::vector<CsvField>& fields, int line_number) {
    PlacedRow row;
    for (const CsvField& field : fields) {
      const Location where{file_, line_number, field.column};
      const Literal literal = read_literal(field.text);
      if (!literal.is_number || !literal.rest.empty() || literal.out_of_range || !std::isfinite(literal.value)) {
        values_.add({Severity::error, "bad-number",
                     place_.text() + ": " + quote(field.text) + " is not a finite number of a table",
                     "numbers are written like -1.5e-3, with a decimal point; the first line may be a header", where});
        return false;
      }
      row.push_back({literal.value, where});
    }
    const std::size_t width = !rows_.empty() ? rows_[0].size() : header_.empty() ? row.size() : header_.size();
    if (row.size() != width) {
      values_.add({Severity::error,
                   "wrong-length",
                   place_.text() + ": this row has " + std::to_string(row.size()) + " numbers, those before it " +
                       std::to_string(width),
                   "each row of the file has the same columns",
                   {file_, line_number, 1}});
      return false;
    }
    rows_.push_back(std::move(row));
    return true;
  }

  Place place_;
  Values& values_;
  const std::string* file_ = nullptr;
  bool good_ = false;
  std::vector<std::string> header_;
  std::vector<PlacedRow> rows_;
};

// ---- what splines and tables share ---------------------------------------------------------------------------------

class CurveReader {
 public:
  CurveReader(std::string_view name, const Node& key, const Node& node, Values& values, const CurveFileLoader& load,
              const char* kind, Rule rule)
      : name_(name),
        key_(key),
        values_(values),
        load_(load),
        place_{kind, name, ""},
        entries_(values.mapping(node, place_, rule)) {}

 protected:
  std::optional<std::string> word(const char* name, const std::vector<std::string>& allowed) {
    const Node* node = entries_.find(name);
    if (node == nullptr) return allowed[0];
    const std::optional<std::string> text = values_.text(*node, place_.at(name));
    if (!text) return std::nullopt;
    if (std::find(allowed.begin(), allowed.end(), *text) != allowed.end()) return text;
    const std::string hint = did_you_mean(*text, allowed);
    values_.error(*node, "unknown-value", place_.at(name).text() + ": there is no " + quote(*text),
                  hint.empty() ? "one of: " + list_of({allowed.begin(), allowed.end()}) : hint);
    return std::nullopt;
  }

  // The factors to SI of the coordinates, nothing if the numbers are SI already.
  bool read_units(std::size_t count) {
    factors_.assign(count, std::nullopt);
    const Node* node = entries_.find("units");
    if (node == nullptr) {
      if (values_.is_si()) return true;
      values_.error(
          key_, "unit-needed",
          place_.text() + ": expressions work in SI, but the file's units are not SI, and its own are not stated",
          count == 2 ? "state them: units: [mm, N], with 1 for a pure number"
                     : "state them: units: [mm, mm/s, N], with 1 for a pure number");
      return false;
    }
    if (!node->is_sequence() || node->count != count) {
      values_.error(*node, "wrong-type", place_.at("units").text() + " must be " + std::to_string(count) + " units",
                    count == 2 ? "those of x and y: [mm, N]" : "those of x, y and the values: [mm, mm/s, N]");
      return false;
    }
    bool good = true;
    for (std::size_t i = 0; i < count; ++i) {
      factors_[i] = values_.any_unit(node->item(i), place_.at("units"));
      good = good && factors_[i];
    }
    return good;
  }

  bool read_numbers(const Node& node, const char* name, std::size_t unit, PlacedRow& out) {
    if (!node.is_sequence()) {
      values_.error(node, "wrong-type", place_.at(name).text() + " must be a list of numbers", "write [1, 2, 3]");
      return false;
    }
    bool good = true;
    out.reserve(out.size() + node.count);
    for (std::size_t i = 0; i < node.count; ++i) {
      const auto value = values_.number_in(node.item(i), place_.at(name), factors_[unit]);
      good = good && value;
      if (value) out.push_back({*value, values_.where(node.item(i))});
    }
    return good;
  }

  // Numbers of a CSV file, in SI.
  Placed scaled(const Placed& number, std::size_t unit) const {
    return {number.value * factors_[unit].value_or(1), number.where};
  }

  Extrapolation extrapolation(const std::string& name) const {
    return name == "none" ? Extrapolation::none : name == "constant" ? Extrapolation::constant : Extrapolation::linear;
  }

  void report(const SplineFault& fault, const Location& where) {
    values_.add({Severity::error, "bad-points", place_.text() + ": " + fault.what, fault.hint, where});
  }

  std::string name_;
  const Node& key_;
  Values& values_;
  const CurveFileLoader& load_;
  Place place_;
  Entries entries_;
  std::vector<std::optional<double>> factors_;
};

std::vector<double> plain(const PlacedRow& row) {
  std::vector<double> out;
  out.reserve(row.size());
  for (const Placed& each : row) out.push_back(each.value);
  return out;
}

// ---- splines -------------------------------------------------------------------------------------------------------

class SplineReader : CurveReader {
 public:
  SplineReader(std::string_view name, const Node& key, const Node& node, Values& values, const CurveFileLoader& load)
      : CurveReader(name, key, node, values, load, "spline", Rule::spline) {}

  std::optional<NamedSpline> read() {
    if (!entries_.good()) return std::nullopt;
    const auto type = word("type", {"akima", "cubic", "linear"});
    const Node* ends_node = entries_.find("ends");
    const auto ends = word("ends", {"natural", "clamped", "periodic", "not_a_knot"});
    const Node* slopes = entries_.find("slopes");
    const auto beyond = word("extrapolation", {"linear", "constant", "none"});
    const Node* points = entries_.find("points");
    const Node* x = entries_.find("x");
    const Node* y = entries_.find("y");
    const Node* file = entries_.find("file");
    const Node* columns = entries_.find("columns");
    bool good = read_units(2) && type && ends && beyond;
    entries_.finish();
    if (ends_node != nullptr && type && *type != "cubic") {
      values_.error(*ends_node, "conflict", place_.text() + ": 'ends' are of cubic splines, not of " + *type + " ones",
                    "leave it out, or use type: cubic");
      good = false;
    }
    if ((slopes != nullptr) != (ends && *ends == "clamped")) {
      values_.error(slopes != nullptr ? *slopes : key_, "conflict",
                    place_.text() + ": 'slopes' and `ends: clamped` go together",
                    "give the slopes at both ends: slopes: [0, 0]");
      good = false;
    }
    const int ways = (points != nullptr) + (x != nullptr || y != nullptr) + (file != nullptr);
    if (ways != 1 || (x == nullptr) != (y == nullptr) || (columns != nullptr && file == nullptr)) {
      values_.error(key_, ways == 0 ? "missing-key" : "conflict",
                    place_.text() + ": its points must be given in one way",
                    "points: [[x, y], ...], or x: [...] with y: [...], or file: data.csv with columns: [1, 2]");
      return std::nullopt;
    }
    if (!good) return std::nullopt;
    if (points != nullptr) good = read_points(*points);
    if (x != nullptr) {
      good = read_numbers(*x, "x", 0, x_);
      good = read_numbers(*y, "y", 1, y_) && good;
    }
    if (file != nullptr) good = read_file(*file, columns);
    SplineData data;
    data.kind = *type == "akima"        ? SplineKind::akima
                : *type == "linear"     ? SplineKind::linear
                : *ends == "clamped"    ? SplineKind::clamped
                : *ends == "periodic"   ? SplineKind::periodic
                : *ends == "not_a_knot" ? SplineKind::not_a_knot
                                        : SplineKind::natural;
    data.extrapolation = extrapolation(*beyond);
    if (slopes != nullptr && good) good = read_slopes(*slopes, data);
    if (!good) return std::nullopt;
    data.x = plain(x_);
    data.y = plain(y_);
    if (const SplineFault fault = Spline::fault(data); !fault.what.empty()) {
      const auto point = static_cast<std::size_t>(std::max(fault.point, 0));
      const bool of_y = fault.what[0] == 'y' || data.kind == SplineKind::periodic;
      report(fault, fault.point < 0 ? values_.where(key_) : of_y ? y_[point].where : x_[point].where);
      return std::nullopt;
    }
    return NamedSpline{name_, std::make_shared<const Spline>(std::move(data)), values_.where(key_)};
  }

 private:
  bool read_points(const Node& node) {
    const Place place = place_.at("points");
    bool good = node.is_sequence();
    for (std::size_t i = 0; good && i < node.count; ++i) {
      const Node& point = node.item(i);
      if (!point.is_sequence() || point.count != 2) {
        values_.error(point, "wrong-type", place.text() + " must be pairs of numbers", "write [[x, y], [x, y], ...]");
        return false;
      }
      const auto x = values_.number_in(point.item(0), place, factors_[0]),
                 y = values_.number_in(point.item(1), place, factors_[1]);
      if (!x || !y) return false;
      x_.push_back({*x, values_.where(point.item(0))});
      y_.push_back({*y, values_.where(point.item(1))});
    }
    if (!good) values_.error(node, "wrong-type", place.text() + " must be a list of pairs", "write [[x, y], ...]");
    return good;
  }

  bool read_file(const Node& node, const Node* columns) {
    CsvFile csv(node, place_.at("file"), values_, load_);
    if (!csv.good()) return false;
    std::array<std::size_t, 2> column{0, 1};
    if (columns != nullptr) {
      if (!columns->is_sequence() || columns->count != 2) {
        values_.error(*columns, "wrong-type", place_.at("columns").text() + " must be those of x and y",
                      "write columns: [1, 2], or names of the file's header");
        return false;
      }
      for (std::size_t i = 0; i < 2; ++i) {
        const std::optional<std::size_t> found = csv.column(columns->item(i));
        if (!found) return false;
        column[i] = *found;
      }
    } else if (csv.rows()[0].size() != 2) {
      values_.error(node, "missing-key",
                    place_.text() + ": the file has " + std::to_string(csv.rows()[0].size()) + " columns, not 2",
                    "say which are x and y: columns: [1, 2]");
      return false;
    }
    for (const PlacedRow& row : csv.rows()) {
      x_.push_back(scaled(row[column[0]], 0));
      y_.push_back(scaled(row[column[1]], 1));
    }
    return true;
  }

  // In the units of y over those of x.
  bool read_slopes(const Node& node, SplineData& data) {
    if (!node.is_sequence() || node.count != 2) {
      values_.error(node, "wrong-type", place_.at("slopes").text() + " must be those at both ends", "slopes: [0, 0]");
      return false;
    }
    std::optional<double> factor;
    if (factors_[0]) factor = *factors_[1] / *factors_[0];
    const auto first = values_.number_in(node.item(0), place_.at("slopes"), factor),
               last = values_.number_in(node.item(1), place_.at("slopes"), factor);
    if (!first || !last) return false;
    data.first_slope = *first;
    data.last_slope = *last;
    return true;
  }

  PlacedRow x_, y_;
};

// ---- tables --------------------------------------------------------------------------------------------------------

class TableReader : CurveReader {
 public:
  TableReader(std::string_view name, const Node& key, const Node& node, Values& values, const CurveFileLoader& load)
      : CurveReader(name, key, node, values, load, "table", Rule::table) {}

  std::optional<NamedTable> read() {
    if (!entries_.good()) return std::nullopt;
    const auto type = word("type", {"cubic", "akima"});
    const auto beyond = word("extrapolation", {"linear", "constant", "none"});
    const Node* x = entries_.find("x");
    const Node* y = entries_.find("y");
    const Node* z = entries_.find("values");
    const Node* file = entries_.find("file");
    bool good = read_units(3) && type && beyond;
    entries_.finish();
    const bool inside = x != nullptr && y != nullptr && z != nullptr;
    const bool any = x != nullptr || y != nullptr || z != nullptr;
    if ((file != nullptr) == any || (any && !inside)) {
      values_.error(key_, file == nullptr && !any ? "missing-key" : "conflict",
                    place_.text() + ": its numbers must be given in one way",
                    "x: [...], y: [...] and values: [[...], ...] with a row for each x; or file: data.csv, whose first "
                    "line holds the values of y and whose first column those of x");
      return std::nullopt;
    }
    if (!good) return std::nullopt;
    PlacedRow xs, ys, zs;
    if (file != nullptr) {
      good = read_file(*file, xs, ys, zs);
    } else {
      good = read_numbers(*x, "x", 0, xs);
      good = read_numbers(*y, "y", 1, ys) && good;
      good = good && read_rows(*z, xs.size(), ys.size(), zs);
    }
    if (!good) return std::nullopt;
    SurfaceData data;
    data.kind = *type == "akima" ? SplineKind::akima : SplineKind::natural;
    data.extrapolation = extrapolation(*beyond);
    data.x = plain(xs);
    data.y = plain(ys);
    data.z = plain(zs);
    if (const SplineFault fault = SurfaceTable::fault(data); !fault.what.empty()) {
      Location where = values_.where(key_);
      if (fault.point >= 0) where = zs[fault.point].where;
      report(fault, where);
      return std::nullopt;
    }
    return NamedTable{name_, std::make_shared<const SurfaceTable>(std::move(data)), values_.where(key_)};
  }

 private:
  bool read_rows(const Node& node, std::size_t rows, std::size_t columns, PlacedRow& out) {
    bool good = node.is_sequence() && node.count == rows;
    for (std::size_t i = 0; good && i < rows; ++i) {
      good = node.item(i).is_sequence() && node.item(i).count == columns;
      if (good && !read_numbers(node.item(i), "values", 2, out)) return false;
    }
    if (!good) {
      values_.error(node, "wrong-length",
                    place_.at("values").text() + " must be " + std::to_string(rows) + " rows of " +
                        std::to_string(columns) + " numbers",
                    "one row for each x, in it one number for each y");
    }
    return good;
  }

  bool read_file(const Node& node, PlacedRow& xs, PlacedRow& ys, PlacedRow& zs) {
    CsvFile csv(node, place_.at("file"), values_, load_);
    if (!csv.good()) return false;
    const std::vector<PlacedRow>& rows = csv.rows();
    if (rows.size() < 2 || rows[0].size() < 2) {
      values_.error(node, "bad-points", place_.text() + ": the file must have a row of y, a column of x and the values",
                    "its first line is 0, y1, y2, ...; the others are x, value, value, ...");
      return false;
    }
    for (std::size_t j = 1; j < rows[0].size(); ++j) ys.push_back(scaled(rows[0][j], 1));
    for (std::size_t i = 1; i < rows.size(); ++i) {
      xs.push_back(scaled(rows[i][0], 0));
      for (std::size_t j = 1; j < rows[i].size(); ++j) zs.push_back(scaled(rows[i][j], 2));
    }
    return true;
  }
};

}  // namespace

std::optional<NamedSpline> read_spline(std::string_view name, const Node& key, const Node& node, Values& values,
                                       const CurveFileLoader& load) {
  return SplineReader(name, key, node, values, load).read();
}

std::optional<NamedTable> read_table(std::string_view name, const Node& key, const Node& node, Values& values,
                                     const CurveFileLoader& load) {
  return TableReader(name, key, node, values, load).read();
}

}  // namespace trammel
