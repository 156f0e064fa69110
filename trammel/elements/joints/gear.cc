// Gear pair: teeth_1 angle_1 +- teeth_2 angle_2 = 0 over any number of turns, + for external, - for internal gearing
#include "trammel/elements/joints/coupling.h"
#include "trammel/elements/joints/joints.h"

namespace trammel {

ElementDescription describe_gear() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "gear";
  d.summary = "Two wheels in mesh: the angles of two joints on a common carrier keep the ratio of their teeth.";
  d.attachment = Attachment::joints;
  d.fields = {
      coupled_joints_field("The joints of the two wheels, each of a wheel against the carrier of both."),
      {"teeth", FieldKind::numbers, Quantity::none, std::nullopt,
       "Numbers of teeth, or pitch radii, of the two wheels.", 1e-12},
      {"internal", FieldKind::boolean, Quantity::none, false, "One wheel is a ring: both turn the same way."},
      {"offset", FieldKind::number, Quantity::angle, 0.0, "Angle of the first wheel while that of the second is zero."},
  };
  d.attach = attach_coupled_joints;
  d.make_constraint = [](const Item& item, const MakeContext& context) {
    coupled_pairs(item, 2);
    const auto& teeth = item.fields.get<std::vector<double>>("teeth");
    if (teeth.size() != 2) {
      throw Failure({Severity::error, "wrong-length", "joint '" + item.name + "': 'teeth' must be two numbers",
                     "write teeth: [20, 40]", item.where});
    }
    for (const int i : {0, 1}) {
      if (coupled_by_type(item, i, context) == Coupled::angle) continue;
      throw Failure({Severity::error, "wrong-type", "joint '" + item.name + "': a wheel must turn, not slide",
                     "use rack_and_pinion or coupler", item.where});
    }
    const double ratio = (item.fields.get<bool>("internal") ? -1 : 1) * teeth[1] / teeth[0];
    return make_coupling(item, {{Coupled::angle, 1}, {Coupled::angle, ratio}}, item.fields.number("offset"),
                         RowUnit::torque, "wheels in mesh");
  };
  d.random_fields = [](std::mt19937& random) {
    std::uniform_real_distribution<double> teeth(10, 50);
    Fields fields;
    fields.set("teeth", std::vector<double>{teeth(random), teeth(random)});
    fields.set("internal", random() % 2 == 0);
    fields.set("offset", 0.3);
    return fields;
  };
  d.random_frames = 4;
  return d;
}

}  // namespace trammel
