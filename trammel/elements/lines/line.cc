#include "trammel/elements/lines/line.h"

#include <cmath>

#include "trammel/elements/build.h"
#include "trammel/elements/lines/drawn_curve.h"
#include "trammel/elements/registry.h"

namespace trammel {
namespace {

// What nodes and elements are made from; computed anew for both.
struct Drawn {
  int elements;
  LineSection section;
  DrawnCurve curve;
  double h;  // length of an element without load
};

Drawn draw(const Item& line) {
  const LineDescription* kind = find_line(line.type);
  if (kind == nullptr) refuse_line(line, "there is no kind '" + line.type + "'", "`trammel elements` lists them");
  const Fields& fields = line.fields;
  const int elements = elements_of_line(line);
  const auto& numbers = fields.get<std::vector<double>>("points");
  std::vector<Vec3> points;
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
    points.emplace_back(numbers[i], numbers[i + 1], numbers[i + 2]);
  const auto z = fields.has("z_axis") ? std::optional(fields.get<Vec3>("z_axis")) : std::nullopt;
  if (z && !(z->norm() > 0)) refuse_line(line, "z_axis is zero", "give a direction, such as [0, 0, 1]");
  Drawn out{elements, kind->section(line), draw_curve(points, elements, z), 0};
  if (!out.curve.fault.empty()) refuse_line(line, out.curve.fault, out.curve.hint);
  out.h = (fields.has("length") ? fields.number("length") : out.curve.length) / elements;
  return out;
}

std::string part(const Item& line, int number) { return line.name + "." + std::to_string(number); }

// The slice of a straight line with even density: `length` of it, from the node as far forwards as backwards, or half
// of that at an end, where its centre of mass is a quarter of an element inside.
Body node_body(const Item& line, const Drawn& drawn, int i) {
  const LineSection& s = drawn.section;
  const bool first = i == 0, last = i == drawn.elements;
  const double length = first || last ? 0.5 * drawn.h : drawn.h;
  Body body;
  body.name = part(line, i + 1);
  body.where = line.where;
  body.mass = s.mass * length;
  body.pose = drawn.curve.nodes[i];
  if (s.cable) {
    body.kind = "point";
    body.pose.rotation = Quat::Identity();
    return body;
  }
  body.center_of_mass.x() = first ? 0.25 * drawn.h : last ? -0.25 * drawn.h : 0;
  const double across = body.mass * length * length / 12;
  body.inertia = length * Vec3(s.rotary_y + s.rotary_z, s.rotary_y, s.rotary_z).asDiagonal();
  body.inertia(1, 1) += across;
  body.inertia(2, 2) += across;
  return body;
}

Fields element_fields(const Item& line, const Drawn& drawn) {
  const LineSection& s = drawn.section;
  const double b = line.fields.number("damping_ratio");
  Fields f;
  if (s.cable) {
    f.set("stiffness", s.E * s.A / drawn.h);
    f.set("damping", b * s.E * s.A / drawn.h);
    f.set("free_length", drawn.h);
    return f;
  }
  f.set("youngs_modulus", s.E);
  f.set("shear_modulus", s.G);
  f.set("area", s.A);
  f.set("second_moment_y", s.Iy);
  f.set("second_moment_z", s.Iz);
  f.set("torsion_constant", s.J);
  f.set("shear_coefficient_y", s.ky);
  f.set("shear_coefficient_z", s.kz);
  f.set("damping_ratio", b);
  f.set("section_axes", std::string("frames"));
  const bool straight = line.fields.get<bool>("straight_at_rest");
  if (straight || line.fields.has("length")) f.set("length", drawn.h);
  if (straight) f.set("curvature", Vec3(Vec3::Zero()));
  return f;
}

// A joint between a body and the node at an end, where they are drawn.
void clamp(Model& model, const Item& line, const char* which, int body, int node) {
  if (body == node) refuse_line(line, std::string(which) + " is its own end", "name another body, or ground");
  if (body >= 0 && !kind_of(model.bodies[body]).is_place)
    refuse_line(line, std::string(which) + ": '" + model.bodies[body].name + "' is a scalar coordinate",
                "name a body, or ground");
  const Pose& here = model.bodies[node].pose;
  Pose local = here;
  if (body >= 0) {
    const Pose& from = model.bodies[body].pose;
    const Quat back = from.rotation.conjugate();
    local = {back * (here.position - from.position), back * here.rotation};
  }
  const bool turns = kind_of(model.bodies[node]).turns;
  const int a = model.add_frame(body, local), b = model.add_frame(node, {});
  const int joint = add_joint(model, turns ? "fixed" : "spherical", line.name + "." + which, {a, b});
  model.joints[joint].where = line.where;
}

}  // namespace

const std::vector<LineDescription>& line_registry() {
  static const std::vector<LineDescription> table = {describe_round_line(), describe_tube_line(),
                                                     describe_rectangle_line(), describe_section_line(),
                                                     describe_cable_line()};
  return table;
}

const LineDescription* find_line(std::string_view key) {
  for (const LineDescription& line : line_registry())
    if (line.key == key) return &line;
  return nullptr;
}

void refuse_line(const Item& line, const std::string& what, const std::string& hint) {
  throw Failure({Severity::error, "bad-line", "line '" + line.name + "': " + what, hint, line.where});
}

int elements_of_line(const Item& line) {
  const double number = line.fields.number("elements");
  if (!(number >= 1 && number <= most_line_elements) || number != std::floor(number))
    refuse_line(line, "elements is not a whole number from 1 to " + std::to_string(most_line_elements),
                "a few tens serve most lines");
  return static_cast<int>(number);
}

int write_line_nodes(Model& model, const Item& line, const Pose& axes) {
  const Drawn drawn = draw(line);
  const auto first = static_cast<int>(model.bodies.size());
  for (int i = 0; i <= drawn.elements; ++i) {
    Body body = node_body(line, drawn, i);
    body.pose.position = axes.position + axes.rotation * body.pose.position;
    if (!drawn.section.cable) body.pose.rotation = axes.rotation * body.pose.rotation;
    model.add_body(std::move(body));
  }
  return first;
}

void write_line_elements(Model& model, const Item& line, int first_node, std::optional<int> start,
                         std::optional<int> end) {
  const Drawn drawn = draw(line);
  const Fields fields = element_fields(line, drawn);
  for (int i = 0; i < drawn.elements; ++i) {
    const int a = model.add_frame(first_node + i, {}), b = model.add_frame(first_node + i + 1, {});
    const char* type = drawn.section.cable ? "translational_spring_damper" : "beam";
    const int force = add_force(model, type, part(line, i + 1), {a, b}, fields);
    model.forces[force].where = line.where;
  }
  if (start) clamp(model, line, "start", *start, first_node);
  if (end) clamp(model, line, "end", *end, first_node + drawn.elements);
}

}  // namespace trammel
