// Distance joint, a massless rod: |p_B - p_A| = length
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_distance() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "distance";
  d.summary = "A massless rod with ball ends: the origins of the two frames keep a fixed distance.";
  d.attachment = Attachment::two_points;
  d.fields = {{"length", FieldKind::number, Quantity::length, 0.0,
               "Length of the rod; 0 takes the distance in the given pose.", 0}};
  d.make_constraint = [](const Item& item, const MakeContext& context) {
    double length = item.fields.number("length");
    if (length == 0) {
      length = (context.model.frame_pose(item.frames[1]).position - context.model.frame_pose(item.frames[0]).position)
                   .norm();
    }
    if (!(length > 0)) {
      throw Failure({Severity::error, "zero-length",
                     "joint '" + item.name + "': the two points coincide, so the rod has no direction",
                     "give two different points, or use a spherical joint", item.where});
    }
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{{Primitive::distance, 0, 0, 0}},
                                            std::vector<TimeFunction>{Expression::constant(length)});
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("length", std::uniform_real_distribution<double>(0.5, 2)(random));
    return fields;
  };
  return d;
}

}  // namespace trammel
