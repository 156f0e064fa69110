// The kinds of lines. Shear coefficients k = area / shear area by G. R. Cowper (J. Appl. Mech. 33, 1966) without
// Poisson's effect for tubes, m = inner / outer radius,
//
//   k = (7 (1 + m^2)^2 + 20 m^2) / (6 (1 + m^2)^2)          round: 7/6, thin tube: 2
//
// and 6/5 for rectangles, which is also its value there. Torsion of a rectangle a > b by Saint-Venant's series,
//
//   J = a b^3 / 3 (1 - 192 b / (pi^5 a) sum_odd tanh(n pi a / (2 b)) / n^5)
#include <algorithm>
#include <cmath>
#include <numbers>

#include "trammel/elements/lines/line.h"

namespace trammel {
namespace {

constexpr double least_positive = 1e-300;

Field positive(std::string name, Quantity quantity, std::string text) {
  return {std::move(name), FieldKind::number, quantity, std::nullopt, std::move(text), least_positive};
}

// What all lines have; `own` goes behind the shape.
std::vector<Field> line_fields(std::vector<Field> own, bool cable) {
  std::vector<Field> all = {
      {"points", FieldKind::points, Quantity::length, std::nullopt,
       "What it passes through, in the world: two points for a straight line, three for an arc, more for a smooth "
       "curve."},
      {"elements", FieldKind::number, Quantity::none, std::nullopt,
       "How many pieces of equal length it is made of; the error falls with their square.", 1, most_line_elements},
      optional_field("start", FieldKind::name, Quantity::none,
                     cable ? "A body, or ground, that the first end is pinned to; left out, it is free."
                           : "A body, or ground, that the first end is clamped to as drawn; left out, it is free."),
      optional_field("end", FieldKind::name, Quantity::none, "The same for the last end."),
  };
  all.insert(all.end(), own.begin(), own.end());
  Field length = optional_field("length", FieldKind::number, Quantity::length,
                                "Of the whole line without load; left out, as drawn. Less than drawn pulls it taut.");
  length.least = least_positive;
  all.push_back(std::move(length));
  if (!cable) {
    all.push_back({"straight_at_rest", FieldKind::boolean, Quantity::none, false,
                   "true: it is straight without load, and drawn bent; false: the drawn shape is free of stress."});
    all.push_back(optional_field("z_axis", FieldKind::vector3, Quantity::none,
                                 "The direction that z of the section is near to at the first end; left out, z of the "
                                 "world, or its x where the line runs along z."));
  }
  all.push_back({"damping_ratio", FieldKind::number, Quantity::time, 0.0,
                 "Damping over stiffness: the time b of structural damping; at the frequency w it gives the fraction "
                 "b w/2 of critical.",
                 0});
  return all;
}

std::vector<Field> of_material(std::vector<Field> sizes) {
  sizes.push_back(positive("youngs_modulus", Quantity::pressure, "E."));
  sizes.push_back(positive("shear_modulus", Quantity::pressure, "G; E/(2 (1 + nu)) for most materials."));
  sizes.push_back(positive("density", Quantity::density, "Of the material."));
  return line_fields(std::move(sizes), false);
}

LineSection with_material(const Item& line, LineSection section) {
  section.E = line.fields.number("youngs_modulus");
  section.G = line.fields.number("shear_modulus");
  const double density = line.fields.number("density");
  section.mass = density * section.A;
  section.rotary_y = density * section.Iy;
  section.rotary_z = density * section.Iz;
  return section;
}

LineSection tube(const Item& line, double outer, double inner) {
  const double R2 = outer * outer, r2 = inner * inner, ratio = r2 / R2, sum = (1 + ratio) * (1 + ratio);
  LineSection s;
  s.A = std::numbers::pi * (R2 - r2);
  s.Iy = s.Iz = std::numbers::pi / 4 * (R2 * R2 - r2 * r2);
  s.J = 2 * s.Iy;
  s.ky = s.kz = (7 * sum + 20 * ratio) / (6 * sum);
  return with_material(line, s);
}

double torsion_of_rectangle(double a, double b) {
  if (a < b) std::swap(a, b);
  constexpr double pi = std::numbers::pi;
  double sum = 0;
  for (int n = 41; n > 0; n -= 2) sum += std::tanh(n * pi * a / (2 * b)) / std::pow(n, 5);
  return a * b * b * b / 3 * (1 - 192 * b / (std::pow(pi, 5) * a) * sum);
}

}  // namespace

LineDescription describe_round_line() {
  return {"round", "An elastic line of a round solid section: a wire, a rod, a whip.",
          of_material({positive("radius", Quantity::length, "Of the section.")}),
          [](const Item& line) { return tube(line, line.fields.number("radius"), 0); }};
}

LineDescription describe_tube_line() {
  Field inner{"inner_radius", FieldKind::number, Quantity::length, std::nullopt, "Of the bore.", 0};
  return {"tube", "An elastic line of a tubular section: a hose, a pipe, a drill string.",
          of_material({positive("radius", Quantity::length, "Of the outside."), std::move(inner)}),
          [](const Item& line) {
            const double outer = line.fields.number("radius"), inner_radius = line.fields.number("inner_radius");
            if (!(inner_radius < outer)) refuse_line(line, "inner_radius is not below radius", "exchange them");
            return tube(line, outer, inner_radius);
          }};
}

LineDescription describe_rectangle_line() {
  return {"rectangle", "An elastic line of a rectangular section: a leaf spring, a strip, a ruler.",
          of_material({positive("width", Quantity::length, "Along y of the section."),
                       positive("height", Quantity::length, "Along z of the section.")}),
          [](const Item& line) {
            const double b = line.fields.number("width"), t = line.fields.number("height");
            LineSection s;
            s.A = b * t;
            s.Iy = b * t * t * t / 12;
            s.Iz = t * b * b * b / 12;
            s.J = torsion_of_rectangle(b, t);
            s.ky = s.kz = 1.2;
            return with_material(line, s);
          }};
}

LineDescription describe_section_line() {
  const auto shear = [](const char* name, const char* text) {
    Field field = optional_field(name, FieldKind::number, Quantity::force, text);
    field.least = least_positive;
    return field;
  };
  return {
      "section", "An elastic line whose stiffnesses are given: stranded ropes, hoses, composite sections.",
      line_fields(
          {positive("axial_stiffness", Quantity::force, "E A: force per strain."),
           positive("bending_stiffness_y", Quantity::none,
                    "E Iy in N m^2: moment per curvature about y of the section; a line without any is a cable."),
           positive("bending_stiffness_z", Quantity::none, "E Iz in N m^2, about z of the section."),
           positive("torsional_stiffness", Quantity::none, "G J in N m^2: torque per twist of a metre."),
           shear("shear_stiffness_y", "G A/k along y; left out, rigid in shear."),
           shear("shear_stiffness_z", "The same along z."), positive("mass_per_length", Quantity::none, "In kg/m.")},
          false),
      [](const Item& line) {
        const Fields& f = line.fields;
        LineSection s;
        s.A = f.number("axial_stiffness");
        s.Iy = f.number("bending_stiffness_y");
        s.Iz = f.number("bending_stiffness_z");
        s.J = f.number("torsional_stiffness");
        if (f.has("shear_stiffness_y")) s.ky = s.A / f.number("shear_stiffness_y");
        if (f.has("shear_stiffness_z")) s.kz = s.A / f.number("shear_stiffness_z");
        s.mass = f.number("mass_per_length");
        // As in an even section, where density times second moment is mass E I / E A.
        s.rotary_y = s.mass * s.Iy / s.A;
        s.rotary_z = s.mass * s.Iz / s.A;
        return s;
      }};
}

LineDescription describe_cable_line() {
  return {"cable", "A line without bending stiffness: a chain, a rope, a cable; points with springs between them.",
          line_fields({positive("axial_stiffness", Quantity::force, "E A: force per strain."),
                       positive("mass_per_length", Quantity::none, "In kg/m.")},
                      true),
          [](const Item& line) {
            LineSection s;
            s.A = line.fields.number("axial_stiffness");
            s.mass = line.fields.number("mass_per_length");
            s.cable = true;
            return s;
          }};
}

}  // namespace trammel
