// trammel elements [KEY]: joints, motions, forces, blocks and lines with their fields; measures and functions of
// expressions.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "app/common.h"
#include "app/verbs.h"
#include "trammel/elements/blocks/block.h"
#include "trammel/elements/lines/line.h"
#include "trammel/elements/registry.h"
#include "trammel/elements/sensor.h"
#include "trammel/math/expression.h"

namespace trammel {
namespace {

struct ElementsArguments {
  std::string key;
  bool json = false, markdown = false;
};

const char* attachment_text(const ElementDescription& d) {
  switch (d.attachment) {
    case Attachment::joint:
      return "between: [BODY_A, BODY_B], at: POINT, axis: DIRECTION, or frames: [FRAME_A, FRAME_B]";
    case Attachment::two_points:
      return "between: [BODY_A, BODY_B], at: [POINT_A, POINT_B], or frames: [FRAME_A, FRAME_B]";
    case Attachment::on_joint: return "joint: JOINT, or frames: [FRAME_A, FRAME_B]";
    case Attachment::joints: {
      const bool by_name =
          std::any_of(d.fields.begin(), d.fields.end(), [](const Field& f) { return f.name == "joints"; });
      return by_name ? "joints: [JOINT, JOINT], or frames: [FRAME_A, FRAME_B, FRAME_C, FRAME_D]"
                     : "frames: [FRAME_A, FRAME_B, FRAME_C, FRAME_D]";
    }
    case Attachment::several: return "frames: [FRAME, FRAME, ...], from 2 to 8";
  }
  return "";
}

Json element_json(const ElementDescription& d) {
  Json fields = Json::array();
  for (const Field& field : d.fields) fields.push_back(to_json(field));
  return {{"key", d.key},
          {"category", to_text(d.category)},
          {"summary", d.summary},
          {"attachment", attachment_text(d)},
          {"fields", fields}};
}

// A block or a line.
template <class Description>
Json part_json(const Description& d, const char* category) {
  Json fields = Json::array();
  for (const Field& field : d.fields) fields.push_back(to_json(field));
  return {{"key", d.key}, {"category", category}, {"summary", d.summary}, {"fields", fields}};
}

Json measure_json(const MeasureDescription& m) {
  return {{"name", m.name}, {"unit", si_unit(m.quantity)}, {"text", m.text}};
}

Json sensor_json(const SensorDescription& s) {
  return {{"name", s.name}, {"unit", si_unit(s.quantity)}, {"text", s.text}};
}

Json function_json(const ExpressionFunction& f) { return {{"signature", f.signature}, {"text", f.text}}; }

Json foreign_json(const ForeignFunction& f) {
  const std::string text = f.ours.empty() ? "ADAMS' function, which has no meaning here: " + std::string(f.instead)
                                          : "ADAMS' name of " + std::string(f.ours);
  return {{"signature", f.signature}, {"text", text}};
}

void print_element(const ElementDescription& d) {
  std::printf("%s (%s)\n%s", d.key.c_str(), to_text(d.category), wrapped(d.summary, 2).c_str());
  std::printf("attached by\n%s", wrapped(attachment_text(d), 2).c_str());
  if (d.fields.empty())
    std::printf("no further fields\n");
  else
    std::printf("fields\n%s", fields_text(d.fields).c_str());
}

template <class Description>
void print_part(const Description& d, const char* category) {
  std::printf("%s (%s)\n%sfields\n%s", d.key.c_str(), category, wrapped(d.summary, 2).c_str(),
              fields_text(d.fields).c_str());
}

// Everything that has this name: a joint and a force may share one.
Json everything_named(const std::string& key) {
  Json found = Json::array();
  for (const ElementDescription& d : element_registry()) {
    if (d.key == key) found.push_back(element_json(d));
  }
  if (const BlockDescription* block = find_block(key)) found.push_back(part_json(*block, "block"));
  if (const LineDescription* line = find_line(key)) found.push_back(part_json(*line, "line"));
  if (const MeasureDescription* m = find_measure(key); m != nullptr) found.push_back(measure_json(*m));
  if (const SensorDescription* s = find_sensor(key); s != nullptr) found.push_back(sensor_json(*s));
  for (const ExpressionFunction& f : expression_functions()) {
    if (f.name == key) found.push_back(function_json(f));
  }
  if (!found.empty()) return found;
  for (const ForeignFunction& f : foreign_functions()) {
    const bool upper = key == f.signature.substr(0, f.signature.find('('));
    if (upper || key == f.name()) found.push_back(foreign_json(f));
  }
  return found;
}

int one_element(const ElementsArguments& a) {
  const Json found = everything_named(a.key);
  if (found.empty()) {
    std::vector<std::string> names;
    for (const ElementDescription& d : element_registry()) names.push_back(d.key);
    for (const BlockDescription& block : block_registry()) names.push_back(block.key);
    for (const LineDescription& line : line_registry()) names.push_back(line.key);
    for (const MeasureDescription& m : measure_registry()) names.push_back(m.name);
    for (const SensorDescription& s : sensor_registry()) names.push_back(s.name);
    for (const ExpressionFunction& f : expression_functions()) names.emplace_back(f.name);
    const std::string near = nearest_name(a.key, names);
    throw Failure({Severity::error,
                   "unknown-element",
                   "there is no element, measure or function '" + a.key + "'",
                   near.empty() ? "`trammel elements` lists them" : "did you mean '" + near + "'?",
                   {}},
                  ExitCode::bad_usage);
  }
  if (a.json) {
    print_json(found);
    return 0;
  }
  for (const ElementDescription& d : element_registry()) {
    if (d.key == a.key) print_element(d);
  }
  if (const BlockDescription* block = find_block(a.key)) print_part(*block, "block");
  if (const LineDescription* line = find_line(a.key)) print_part(*line, "line");
  for (const Json& j : found) {
    if (j.contains("unit")) {
      std::printf("%s (measure, %s)\n%s", a.key.c_str(), j["unit"].get<std::string>().c_str(),
                  wrapped(j["text"].get<std::string>(), 2).c_str());
    } else if (j.contains("signature")) {
      std::printf("%s (function)\n%s", j["signature"].get<std::string>().c_str(),
                  wrapped(j["text"].get<std::string>(), 2).c_str());
    }
  }
  return 0;
}

int elements_verb(const ElementsArguments& a) {
  if (!a.key.empty()) return one_element(a);
  if (a.markdown) {
    std::fputs(elements_as_markdown().c_str(), stdout);
    return 0;
  }
  if (a.json) {
    Json elements = Json::array(), blocks = Json::array(), lines = Json::array(), measures = Json::array(),
         sensors = Json::array(), functions = Json::array(), foreign = Json::array();
    for (const ElementDescription& d : element_registry()) elements.push_back(element_json(d));
    for (const BlockDescription& block : block_registry()) blocks.push_back(part_json(block, "block"));
    for (const LineDescription& line : line_registry()) lines.push_back(part_json(line, "line"));
    for (const MeasureDescription& m : measure_registry()) measures.push_back(measure_json(m));
    for (const SensorDescription& s : sensor_registry()) sensors.push_back(sensor_json(s));
    for (const ExpressionFunction& f : expression_functions()) functions.push_back(function_json(f));
    for (const ForeignFunction& f : foreign_functions()) foreign.push_back(foreign_json(f));
    print_json({{"elements", elements},
                {"blocks", blocks},
                {"lines", lines},
                {"measures", measures},
                {"sensors", sensors},
                {"functions", functions},
                {"adams", foreign}});
    return 0;
  }
  for (const Category category : {Category::joint, Category::motion, Category::force}) {
    std::vector<std::vector<std::string>> lines;
    for (const ElementDescription& d : element_registry()) {
      if (d.category == category) lines.push_back({d.key, d.summary});
    }
    std::printf("%ss\n%s\n", to_text(category), aligned(lines, 2).c_str());
  }
  std::vector<std::vector<std::string>> blocks, of_lines, measures, sensors, functions;
  for (const BlockDescription& block : block_registry()) blocks.push_back({block.key, block.summary});
  std::printf("blocks, for controllers\n%s\n", aligned(blocks, 2).c_str());
  for (const LineDescription& line : line_registry()) of_lines.push_back({line.key, line.summary});
  std::printf("lines, which bend\n%s\n", aligned(of_lines, 2).c_str());
  for (const MeasureDescription& m : measure_registry()) measures.push_back({m.name, si_unit(m.quantity), m.text});
  for (const SensorDescription& s : sensor_registry()) sensors.push_back({s.name, si_unit(s.quantity), s.text});
  for (const ExpressionFunction& f : expression_functions()) {
    functions.push_back({std::string(f.signature), std::string(f.text)});
  }
  std::printf("measures, for expressions of forces and outputs\n%s\n", aligned(measures, 2).c_str());
  std::printf("sensors, solved for together with the forces that use them\n%s\n", aligned(sensors, 2).c_str());
  std::printf("functions of expressions\n%s\n", aligned(functions, 2).c_str());
  std::printf("ADAMS' names are understood too: `trammel elements STEP`.\n");
  std::printf("`trammel elements KEY` shows fields with unit, default and range.\n");
  return 0;
}

}  // namespace

Verb add_elements(CLI::App& app) {
  auto a = std::make_shared<ElementsArguments>();
  CLI::App* verb = app.add_subcommand(
      "elements", "List joints, motions, forces, blocks, lines, measures and functions, or explain one");
  verb->add_option("KEY", a->key, "What to explain: fields with unit, default and range");
  verb->add_flag("--json", a->json, "Print as JSON");
  verb->add_flag("--markdown", a->markdown, "Print the tables of docs/elements/README.md");
  verb->footer("Examples:\n  trammel elements\n  trammel elements universal\n  trammel elements step");
  return {verb, [a] { return elements_verb(*a); }};
}

}  // namespace trammel
