#include "app/analysis.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "trammel/base/printable.h"
#include "trammel/model/signal_names.h"

namespace trammel {

void add_analysis_arguments(CLI::App& verb, AnalysisArguments& a, const std::string& what) {
  verb.add_option("MODEL", a.file, "Model file (YAML or JSON)")->required();
  verb.add_option("--set", a.changes.set, "Value of a parameter of the model, NAME=VALUE; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
  if (!what.empty()) verb.add_option("-o,--output", a.output, what)->type_name("FILE");
  verb.add_flag("--json", a.json, "Print what is found as JSON");
  verb.add_flag("-q,--quiet", a.quiet, "Print errors only");
}

Prepared prepare(const AnalysisArguments& a, Needs needs) {
  Prepared p;
  p.simulation = std::make_unique<Simulation>(load_model(a.file, a.changes, &p.warnings));
  if (a.talks()) {
    for (const Problem& warning : p.warnings) std::fprintf(stderr, "%s\n", to_text(warning).c_str());
  }
  RunOptions options;
  options.for_statics = needs == Needs::positions;
  p.simulation->start(options);
  const Equations& equations = p.equations();
  p.work = equations.make_workspace();
  p.state = p.simulation->start_state();
  p.rates = p.simulation->start_rates();
  p.accelerations = std::make_unique<AccelerationSolver>(equations);
  return p;
}

void print_title(const AnalysisArguments& a, const Equations& equations) {
  const std::string& title = equations.model().title;
  std::printf("%s%s%s\n", printable(a.file).c_str(), title.empty() ? "" : ": ", title.c_str());
}

AnalysisResult::AnalysisResult(const Prepared& p, const std::string& path, const std::string& analysis)
    : recorder_(p.equations(), p.simulation->initial(), false) {
  sink_ = make_sink(path);
  Provenance provenance = p.simulation->provenance();
  provenance.set("method", analysis);
  provenance.set("formulation", "");
  sink_->begin(recorder_.tables(), provenance);
}

void AnalysisResult::add(const State& state, const Rates& rates) {
  recorder_.note_step(state, rates);
  last_ = recorder_.output_row(state, rates);
  if (!sink_->append(0, last_)) sink_->flush();
}

void AnalysisResult::finish(RunStatus status, const std::string& summary_json, const std::string& failure_json) {
  sink_->finish(status, summary_json, failure_json);
}

std::string default_output(const std::string& model_file, const std::string& ending) {
  return std::filesystem::path(model_file).stem().string() + ending;
}

std::string row_text(const Equations& equations, const Table& table, const std::vector<double>& row, bool all) {
  std::unordered_map<std::string_view, double> values;
  for (std::size_t i = 0; i < row.size(); ++i) values[table.signals[i].name] = row[i];
  const auto value_of = [&](const std::string& name) {
    const auto found = values.find(name);
    if (found == values.end()) throw unknown_signal({table}, name);
    return found->second;
  };
  const auto vector = [&](const std::string& path) {
    std::string text;
    for (const Axis axis : all_axes) {
      const double value = value_of(component(path, axis));
      text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", std::abs(value) < 1e-12 ? 0.0 : value);
    }
    return "(" + text + ")";
  };
  const Model& model = equations.model();
  std::string out;
  const auto add_table = [&](const char* title, std::vector<std::vector<std::string>> lines) {
    if (lines.empty()) return;
    constexpr std::size_t most = 30;
    const std::size_t hidden = !all && lines.size() > most + 5 ? lines.size() - most : 0;
    lines.resize(lines.size() - hidden);
    out += fmt::format("\n{}\n{}", title, aligned(lines, 2));
    if (hidden > 0) out += fmt::format("  ... and {} more (--all shows them)\n", hidden);
  };
  std::vector<std::vector<std::string>> lines;
  for (const Body& body : model.bodies) {
    if (!kind_of(body).is_place)
      lines.push_back({body.name, fmt::format("{:.6g} {}", value_of(CoordinateSignals(body.name).value()),
                                              si_unit(body.quantity))});
    else
      lines.push_back({body.name, vector(BodySignals(body.name).position()) + " m"});
  }
  add_table("bodies: position of the origin", lines);
  lines.clear();
  for (int c = 0; c < equations.constraint_count(); ++c) {
    const Equations::ConstraintInfo info = equations.constraint_info(c);
    if (info.item->of_force >= 0) continue;  // recorded as part of the force
    const ConstraintSignals names(info.is_motion, info.item->name);
    lines.push_back({info.item->name + (info.is_motion ? " (motion)" : ""), vector(names.force()) + " N",
                     vector(names.torque()) + " N m"});
  }
  add_table("joints and motions: force and torque on the second body", lines);
  lines.clear();
  for (const Item& force : model.forces) {
    const ForceSignals names(force.name);
    lines.push_back({force.name, vector(names.force()) + " N", vector(names.torque()) + " N m"});
  }
  add_table("forces: force and torque on the second frame", lines);
  lines.clear();
  for (const Output& output : model.outputs)
    lines.push_back({output.name, fmt::format("{:.8g} {}", value_of(output.name), output.unit)});
  add_table("outputs", lines);
  return out;
}

Json row_json(const Table& table, const std::vector<double>& row) {
  Json j = Json::object();
  for (std::size_t i = 0; i < row.size(); ++i) j[table.signals[i].name] = row[i];
  return j;
}

}  // namespace trammel
