// Rack and pinion: displacement of the rack = radius * angle of the pinion, over any number of turns
#include "trammel/elements/joints/coupling.h"
#include "trammel/elements/joints/joints.h"

namespace trammel {

ElementDescription describe_rack_and_pinion() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "rack_and_pinion";
  d.summary = "A rack moves with a pinion: the displacement of one joint is a radius times the angle of another.";
  d.attachment = Attachment::joints;
  d.fields = {
      coupled_joints_field("The joint in which the pinion turns, then the joint along which the rack slides."),
      {"radius", FieldKind::number, Quantity::length, std::nullopt,
       "Pitch radius of the pinion; negative if the rack moves back while the pinion turns forward."},
      {"offset", FieldKind::number, Quantity::length, 0.0, "Displacement of the rack while the angle is zero."},
  };
  d.attach = attach_coupled_joints;
  d.make_constraint = [](const Item& item, const MakeContext& context) {
    coupled_pairs(item, 2);
    const bool named = !item.fields.get<std::vector<std::string>>("joints").empty();
    if (named && coupled_by_type(item, 0, context) != Coupled::angle) {
      throw Failure({Severity::error, "wrong-type", "joint '" + item.name + "': the first joint must turn",
                     "name the joint of the pinion first, then that of the rack", item.where});
    }
    return make_coupling(item, {{Coupled::angle, -item.fields.number("radius")}, {Coupled::displacement, 1}},
                         item.fields.number("offset"), RowUnit::force, "rack in mesh with the pinion");
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("radius", std::uniform_real_distribution<double>(0.2, 0.8)(random));
    fields.set("offset", 0.1);
    return fields;
  };
  d.random_frames = 4;
  return d;
}

}  // namespace trammel
