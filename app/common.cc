#include "app/common.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "trammel/rank/loops.h"
#include "trammel/write/csv_writer.h"
#include "trammel/write/hdf5_writer.h"

namespace trammel {

void add_model_arguments(CLI::App& verb, ModelArguments& arguments) {
  ModelChanges& c = arguments.changes;
  verb.add_option("MODEL", arguments.file, "Model file (YAML or JSON)")->required();
  verb.add_option("--set", c.set, "Value of a parameter of the model, NAME=VALUE; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
  verb.add_option("--method", c.method, "Method, a key of `trammel methods`")->type_name("KEY");
  verb.add_option("--formulation", c.formulation, "How the method sees the constraints, as `trammel methods KEY` lists")
      ->type_name("KEY");
  verb.add_option("--option", c.options, "Option of the method, NAME=VALUE; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
  verb.add_option(
          "--tolerance", c.tolerance,
          "Error allowed in a step, relative to the model's length scale and 1 rad; the step size is controlled")
      ->type_name("NUMBER");
  verb.add_option("--step", c.step, "Fixed step size")->type_name("SECONDS");
}

// ---- JSON
// ------------------------------------------------------------------------------------------------------------

Json to_json(const Problem& problem) {
  const char* severity = "error";
  if (problem.severity == Severity::warning) severity = "warning";
  if (problem.severity == Severity::note) severity = "note";
  Json j = {{"severity", severity}, {"id", problem.id}, {"message", problem.message}, {"hint", problem.hint}};
  j["file"] = problem.where.file == nullptr ? Json() : Json(*problem.where.file);
  j["line"] = problem.where.line > 0 ? Json(problem.where.line) : Json();
  j["column"] = problem.where.line > 0 ? Json(problem.where.column) : Json();
  return j;
}

Json to_json(const std::vector<Problem>& problems) {
  Json list = Json::array();
  for (const Problem& problem : problems) list.push_back(to_json(problem));
  return list;
}

Json failure_json(const std::vector<Problem>& problems, ExitCode code) {
  return {{"exit_code", static_cast<int>(code)}, {"problems", to_json(problems)}};
}

void print_json(const Json& json) {
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

Json start_json(const InitialReport& report) {
  Json list = Json::array();
  for (const StageReport& stage : report.stages) {
    list.push_back({{"stage", stage.name},
                    {"residual_before", stage.before},
                    {"residual_after", stage.after},
                    {"worst_before", stage.worst_before},
                    {"largest_change", stage.moved},
                    {"changed_most", stage.moved_most},
                    {"iterations", stage.iterations},
                    {"text", stage.text()}});
  }
  return list;
}

Json rank_json(const InitialReport& report, const std::vector<std::string>& names) {
  const LoopAnalysis& r = report.rank;
  Json j = {{"body_freedoms", r.body_freedoms},
            {"rows", r.rows},
            {"rank", r.rank},
            {"degrees_of_freedom_by_count", r.freedoms_by_count},
            {"degrees_of_freedom_by_rank", r.freedoms_by_rank},
            {"loops", r.loops},
            {"redundant_rows", r.redundant},
            {"permanent", report.permanence.permanent},
            {"momentary", report.permanence.momentary_first},
            {"nearly_redundant", r.nearly_redundant},
            {"analysed", r.analysed},
            {"length_scale", r.length}};
  Json reactions = Json::array(), removable = Json::array();
  for (std::size_t i = 0; i < r.edges.size(); ++i) {
    if (!r.edges[i].text.empty()) reactions.push_back({{"constraint", names[i]}, {"text", r.edges[i].text}});
  }
  for (const RowOfEdge& row : r.removable) {
    removable.push_back({{"constraint", names[static_cast<std::size_t>(row.edge)]}, {"row", row.row + 1}});
  }
  j["reactions_not_unique"] = reactions;
  j["removable_rows"] = removable;
  j["text"] = rank_lines(report, names);
  return j;
}

std::vector<std::string> rank_lines(const InitialReport& report, const std::vector<std::string>& names) {
  std::vector<std::string> lines = describe(report.rank, names);
  const PoseComparison& p = report.permanence;
  if (p.permanent + p.momentary_first + p.momentary_second > 0) {
    lines.push_back(fmt::format("of the redundant rows {} permanent, {} only in this position{}", p.permanent,
                                p.momentary_first,
                                p.momentary_second > 0 ? fmt::format(", {} more nearby", p.momentary_second) : ""));
  }
  return lines;
}

std::vector<std::string> item_names(const Equations& equations) {
  std::vector<std::string> names;
  for (int c = 0; c < equations.constraint_count(); ++c) names.push_back(equations.constraint_info(c).item->name);
  return names;
}

// ---- Fields
// ----------------------------------------------------------------------------------------------------------

namespace {

const char* kind_name(FieldKind kind) {
  switch (kind) {
    case FieldKind::number: return "number";
    case FieldKind::boolean: return "true/false";
    case FieldKind::text: return "text";
    case FieldKind::vector3: return "3 numbers";
    case FieldKind::matrix6: return "6 x 6 numbers";
    case FieldKind::numbers: return "numbers";
    case FieldKind::expression: return "expression";
    case FieldKind::name: return "name";
    case FieldKind::names: return "names";
    case FieldKind::matrix: return "matrix";
    case FieldKind::table: return "rows of numbers";
    case FieldKind::points: return "points";
  }
  return "";
}

// Values that stand for "not given" (as drawn, no matrix) are no numbers to show.
Json value_json(const Value& value) {
  if (const auto* x = std::get_if<double>(&value)) return *x;
  if (const auto* x = std::get_if<bool>(&value)) return *x;
  if (const auto* x = std::get_if<std::string>(&value)) return *x;
  if (const auto* x = std::get_if<Vec3>(&value)) return {(*x)[0], (*x)[1], (*x)[2]};
  if (const auto* x = std::get_if<std::vector<double>>(&value)) return *x;
  if (const auto* x = std::get_if<std::vector<std::string>>(&value)) return *x;
  if (const auto* x = std::get_if<ExpressionText>(&value)) return x->text;
  return {};
}

std::string value_text(const Value& value) {
  if (const auto* x = std::get_if<double>(&value)) return digits(*x);
  if (const auto* x = std::get_if<bool>(&value)) return *x ? "true" : "false";
  if (const auto* x = std::get_if<std::string>(&value)) return *x;
  if (const auto* x = std::get_if<Vec3>(&value)) {
    return x->allFinite() ? "[" + digits((*x)[0]) + ", " + digits((*x)[1]) + ", " + digits((*x)[2]) + "]" : "";
  }
  if (const auto* x = std::get_if<ExpressionText>(&value)) return x->text;
  return "";
}

std::string range_text(const Field& field) {
  const bool below = field.least > -1e299, above = field.most < 1e299;
  if (below && above) return digits(field.least, 4) + " to " + digits(field.most, 4);
  if (below) return ">= " + digits(field.least, 4);
  if (above) return "<= " + digits(field.most, 4);
  return "";
}

}  // namespace

Json to_json(const Field& field) {
  return {{"name", field.name},
          {"kind", kind_name(field.kind)},
          {"unit", si_unit(field.quantity)},
          {"required", field.must_be_given()},
          {"default", field.fallback ? value_json(*field.fallback) : Json()},
          {"least", field.least > -1e299 ? Json(field.least) : Json()},
          {"most", field.most < 1e299 ? Json(field.most) : Json()},
          {"text", field.text}};
}

std::string fields_text(const std::vector<Field>& fields) {
  std::string out;
  for (const Field& field : fields) {
    std::string facts = kind_name(field.kind);
    if (*si_unit(field.quantity) != '\0') facts += std::string(", ") + si_unit(field.quantity);
    if (field.must_be_given()) {
      facts += "; must be given";
    } else if (const std::string text = field.fallback ? value_text(*field.fallback) : ""; !text.empty()) {
      facts += "; default " + text;
    } else {
      facts += "; may be left out";
    }
    if (const std::string range = range_text(field); !range.empty()) facts += "; " + range;
    out += "  " + field.name + "  (" + facts + ")\n" + wrapped(field.text, 6);
  }
  return out;
}

std::unique_ptr<TrajectorySink> make_sink(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".csv") return std::make_unique<CsvWriter>(path);
  return std::make_unique<Hdf5Writer>(path);
}

// ---- Text
// ------------------------------------------------------------------------------------------------------------

std::string aligned(const std::vector<std::vector<std::string>>& lines, int indent) {
  std::vector<std::size_t> width;
  for (const auto& line : lines) {
    width.resize(std::max(width.size(), line.size()), 0);
    for (std::size_t i = 0; i + 1 < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += i + 1 < line.size() ? fmt::format("{:<{}}  ", line[i], width[i]) : line[i];
    }
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out += text + "\n";
  }
  return out;
}

std::string wrapped(const std::string& text, int indent, int width) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string out, line = margin;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (line.size() > margin.size() && line.size() + 1 + word.size() > static_cast<std::size_t>(width)) {
      out += line + "\n";
      line = margin;
    }
    line += (line.size() > margin.size() ? " " : "") + word;
  }
  if (line.size() > margin.size()) out += line + "\n";
  return out;
}

std::string counted(long count, const std::string& noun) {
  return count == 0 ? "no " + noun + "s" : std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace trammel
