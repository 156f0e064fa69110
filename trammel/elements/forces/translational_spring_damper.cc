// Spring, damper and actuator along the line between the origins of two frames.
#include "trammel/elements/forces/force_fields.h"
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/forces/spring_damper.h"

namespace trammel {

ElementDescription describe_translational_spring_damper() {
  ElementDescription d;
  d.category = Category::force;
  d.key = "translational_spring_damper";
  d.summary = "Spring, damper and actuator along the line between the origins of two frames; tension is positive.";
  d.attachment = Attachment::two_points;
  d.fields = {
      {"stiffness", FieldKind::number, Quantity::stiffness, 0.0, "Force per stretch.", 0},
      {"damping", FieldKind::number, Quantity::damping, 0.0, "Force per rate of stretch.", 0},
      optional_field("free_length", FieldKind::number, Quantity::length,
                     "Length without spring force; left out, the distance in the given pose."),
      expression_field("force", Quantity::force, "Actuator force, added; positive pulls the ends together."),
  };
  d.make_force = [](const Item& item, const MakeContext& context) -> std::unique_ptr<Force> {
    double free_length = 0;
    if (!item.fields.has("free_length")) {
      const Pose a = context.model.frame_pose(item.frames[0]), b = context.model.frame_pose(item.frames[1]);
      free_length = (b.position - a.position).norm();
    } else if (free_length = item.fields.number("free_length"); free_length < 0) {
      throw Failure({Severity::error, "negative-length", "force '" + item.name + "': free_length is negative",
                     "leave it out to take the distance in the given pose", item.where});
    }
    const SpringDamperLaw law{item.fields.number("stiffness"), item.fields.number("damping"), free_length};
    return make_spring_damper(AxialKind::distance, law, item, "force", context);
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("stiffness", random_between(1, 3, random));
    fields.set("damping", random_between(0.2, 1, random));
    fields.set("free_length", random_between(0.3, 1, random));
    if (random_between(0, 1, random) < 0.5) {
      fields.set("force", ExpressionText{"0.7*sin(3*time)*distance^2 - 0.2*speed*angle + 0.3*vy", {}});
    }
    return fields;
  };
  return d;
}

}  // namespace trammel
