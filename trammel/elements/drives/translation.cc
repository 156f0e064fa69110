// Prescribed translation: a_z . (p_B - p_A) = f(t), or its rate, or the rate of that
#include "trammel/elements/drives/drives.h"
#include "trammel/elements/drives/motion_levels.h"

namespace trammel {
namespace {

constexpr MotionFields translation_fields{"displacement",  "speed",          "acceleration",  "initial_displacement",
                                          "initial_speed", Quantity::length, Quantity::speed, Quantity::acceleration};

}  // namespace

ElementDescription describe_translation() {
  ElementDescription d;
  d.category = Category::motion;
  d.key = "translation";
  d.summary =
      "Prescribes the displacement of the second frame along the z axis of the first as a function of time; or its "
      "speed or acceleration.";
  d.attachment = Attachment::on_joint;
  d.fields = motion_fields(translation_fields);
  d.make_constraint = [](const Item& item, const MakeContext& context) {
    return make_motion(item, context, translation_fields, Primitive::in_plane, 2);
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    switch (random() % 3) {
      case 0: fields.set("displacement", ExpressionText{"0.1 + 0.4*sin(3*time)", {}}); break;
      case 1: fields.set("speed", ExpressionText{"0.4*sin(3*time)", {}}); break;
      default: fields.set("acceleration", ExpressionText{"0.3*cos(3*time)", {}}); break;
    }
    return fields;
  };
  return d;
}

}  // namespace trammel
