// The kinds of lines. Round and rectangular sections are those of bodies that bend, flexible/beam_section.h: the same
// tube is the same beam in both.
#include "trammel/elements/lines/line.h"
#include "trammel/flexible/beam_section.h"

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

LineSection with_material(const Item& line, const BeamSection& section) {
  const BeamMaterial material{line.fields.number("youngs_modulus"), line.fields.number("shear_modulus"),
                              line.fields.number("density")};
  LineSection s;
  s.E = material.youngs_modulus;
  s.G = material.shear_modulus;
  s.A = section.area;
  s.Iy = section.Iy;
  s.Iz = section.Iz;
  s.J = section.torsion;
  s.ky = section.shear_coefficient_y(material);
  s.kz = section.shear_coefficient_z(material);
  s.mass = material.density * section.area;
  s.rotary_y = material.density * section.Iy;
  s.rotary_z = material.density * section.Iz;
  return s;
}

LineSection tube(const Item& line, double outer, double inner) {
  return with_material(line, tube_section(2 * outer, outer - inner));
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
            return with_material(line, rectangle_section(line.fields.number("width"), line.fields.number("height")));
          }};
}

LineDescription describe_section_line() {
  const auto shear = [](const char* name, const char* text) {
    Field field = optional_field(name, FieldKind::number, Quantity::force, text);
    field.least = least_positive;
    return field;
  };
  return {"section", "An elastic line whose stiffnesses are given: stranded ropes, hoses, composite sections.",
          line_fields({positive("axial_stiffness", Quantity::force, "E A: force per strain."),
                       positive("bending_stiffness_y", Quantity::flexural_rigidity,
                                "E Iy: moment per curvature about y of the section; a line without any is a cable."),
                       positive("bending_stiffness_z", Quantity::flexural_rigidity, "E Iz, about z of the section."),
                       positive("torsional_stiffness", Quantity::flexural_rigidity,
                                "G J: torque per twist of a unit of length."),
                       shear("shear_stiffness_y", "G A/k along y; left out, rigid in shear."),
                       shear("shear_stiffness_z", "The same along z."),
                       positive("mass_per_length", Quantity::mass_per_length, "Of the line.")},
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
                       positive("mass_per_length", Quantity::mass_per_length, "Of the line.")},
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
