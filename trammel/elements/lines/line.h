// Lines: leaves, tubes, ropes and cables, which are written as bodies, joints and forces of the model, so that every
// method, analysis, joint and output takes them as it takes those. A line NAME with n elements becomes
//
//   bodies  NAME.1 ... NAME.n+1   its nodes: each the slice of the line around it, half a slice at the ends
//   forces  NAME.1 ... NAME.n     its elements: beams, springs of a cable
//   joints  NAME.start, NAME.end  where an end is clamped
//
// A kind of line differs by its section: a function of sections.cc and a line of the registry.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/model/model.h"

namespace trammel {

constexpr int most_line_elements = 10'000;

// Of the section: what a beam asks for, and the mass that a metre has. Stiffnesses that are given as such stand in the
// place of areas and second moments, with moduli of 1.
struct LineSection {
  double E = 1, G = 1, A = 0, Iy = 0, Iz = 0, J = 0, ky = 0, kz = 0;
  double mass = 0;                    // per length
  double rotary_y = 0, rotary_z = 0;  // density times second moments, per length
  bool cable = false;                 // E A alone: nodes are points, elements are springs
};

struct LineDescription {
  std::string key;      // "tube"
  std::string summary;  // one sentence
  std::vector<Field> fields;
  std::function<LineSection(const Item&)> section;
};

const std::vector<LineDescription>& line_registry();
const LineDescription* find_line(std::string_view key);

// A line whose fields are complete; throws Failure. First its nodes, so that others can name them: its points are in
// the axes that stand at `axes`, and the index of the first node is returned. Its elements once all bodies are there,
// clamped to the bodies `start` and `end` or free.
int write_line_nodes(Model& model, const Item& line, const Pose& axes = {});
void write_line_elements(Model& model, const Item& line, int first_node, std::optional<int> start,
                         std::optional<int> end);
int elements_of_line(const Item& line);
[[noreturn]] void refuse_line(const Item& line, const std::string& what, const std::string& hint);

LineDescription describe_round_line();
LineDescription describe_tube_line();
LineDescription describe_rectangle_line();
LineDescription describe_section_line();
LineDescription describe_cable_line();

}  // namespace trammel
