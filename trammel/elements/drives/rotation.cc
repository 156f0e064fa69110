// Prescribed rotation: angle of b_x about a_z = f(t), or its rate, or the rate of that
#include "trammel/elements/drives/drives.h"
#include "trammel/elements/drives/motion_levels.h"

namespace trammel {
namespace {

constexpr MotionFields rotation_fields{
    "angle",         "angular_speed",         "angular_acceleration",        "initial_angle", "initial_angular_speed",
    Quantity::angle, Quantity::angular_speed, Quantity::angular_acceleration};

}  // namespace

ElementDescription describe_rotation() {
  ElementDescription d;
  d.category = Category::motion;
  d.key = "rotation";
  d.summary =
      "Prescribes the angle of the second frame about the z axis of the first as a function of time, over any number "
      "of turns; or its speed or acceleration.";
  d.attachment = Attachment::on_joint;
  d.fields = motion_fields(rotation_fields);
  d.make_constraint = [](const Item& item, const MakeContext& context) {
    return make_motion(item, context, rotation_fields, Primitive::angle, 0);
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    switch (random() % 3) {
      case 0: fields.set("angle", ExpressionText{"0.3 + 1.7*time + 0.2*sin(5*time)", {}}); break;
      case 1: fields.set("angular_speed", ExpressionText{"1.7 + 0.5*sin(5*time)", {}}); break;
      default: fields.set("angular_acceleration", ExpressionText{"0.4*cos(3*time) + time", {}}); break;
    }
    return fields;
  };
  return d;
}

}  // namespace trammel
