// Spring, damper and actuator in the angle of frame B about the z axis of frame A, over any number of turns.
#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/forces/spring_damper.h"

namespace trammel {

ElementDescription describe_rotational_spring_damper() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "rotational_spring_damper";
  d.summary =
      "Spring, damper and actuator in the angle of the second frame about the z axis of the first, over any number of "
      "turns.";
  d.attachment = Attachment::on_joint;
  d.fields = {
      {"stiffness", FieldKind::number, Quantity::angular_stiffness, 0.0, "Torque per angle.", 0},
      {"damping", FieldKind::number, Quantity::angular_damping, 0.0, "Torque per angular speed.", 0},
      {"free_angle", FieldKind::number, Quantity::angle, 0.0, "Angle without spring torque; may be several turns."},
      expression_field("torque", Quantity::torque,
                       "Actuator torque, added; positive turns the second frame forward about z."),
  };
  d.make_force = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Force> {
    const SpringDamperLaw law{item.fields.number("stiffness"), item.fields.number("damping"),
                              item.fields.number("free_angle")};
    return make_spring_damper(AxialKind::rotation, law, item, "torque", context);
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("stiffness", random_between(0.5, 2, random));
    fields.set("damping", random_between(0.2, 1, random));
    fields.set("free_angle", random_between(-8, 8, random));
    if (random_between(0, 1, random) < 0.5) {
      fields.set("torque", ExpressionText{"0.7*sin(3*time)*angle - 0.2*rate*distance + 0.3*wx", {}});
    }
    return fields;
  };
  return d;
}

}  // namespace trammel
