// Screw joint: cylindrical, and a_z . d = pitch * angle / (2 pi) over any number of turns
#include <numbers>

#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/relation_constraint.h"

namespace trammel {

ElementDescription describe_screw() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "screw";
  d.axis = {.turns = true, .slides = true};
  d.summary =
      "A screw: rotation about the common z axis advances the second frame along it by the pitch for each turn.";
  d.fields = {{"pitch", FieldKind::number, Quantity::length, std::nullopt,
               "Advance along z for one turn about z; negative for a left-hand thread."}};
  d.make_constraint = [](const Item& item, const MakeContext&) {
    const double pitch = item.fields.number("pitch");
    std::vector<RelationRow> rows;
    for (const int i : {0, 1}) {
      const std::string axis = i == 0 ? "x" : "y";
      rows.push_back({{{0, 1, Primitive::in_plane, i}}, "point in the plane normal to " + axis, RowUnit::force});
    }
    for (const int i : {0, 1}) {
      const std::string axis = i == 0 ? "x" : "y";
      rows.push_back({{{0, 1, Primitive::dot, i, 2}}, "axis " + axis + " perpendicular to axis z", RowUnit::torque});
    }
    rows.push_back(
        {{{0, 1, Primitive::in_plane, 2, 0, 1.0}, {0, 1, Primitive::angle, 0, 0, -pitch / (2 * std::numbers::pi)}},
         "advance with the turn about z",
         RowUnit::force});
    return std::make_unique<RelationConstraint>(2, std::move(rows));
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("pitch", std::uniform_real_distribution<double>(-0.5, 0.5)(random));
    return fields;
  };
  return d;
}

}  // namespace trammel
