// Rope over two pulleys without radius or mass: |p_1 - a_1| + ratio |p_2 - a_2| = length, frames {a_1, p_1, a_2, p_2}
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/relation_constraint.h"

namespace trammel {

ElementDescription describe_pulley() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "pulley";
  d.summary =
      "A taut rope from one load over one or two pulleys to another: the lengths of its two sides, the second times a "
      "ratio, have a fixed sum.";
  d.attachment = Attachment::joints;
  d.fields = {
      {"ratio", FieldKind::number, Quantity::none, 1.0,
       "Strands of the second side for each strand of the first: 2 if the second load hangs from a movable block.",
       1e-12},
      {"length", FieldKind::number, Quantity::length, 0.0,
       "Length of the first side plus ratio times that of the second; 0 takes it from the given pose.", 0},
  };
  d.make_constraint = [](const Item& item, const MakeContext& context) {
    const auto refuse = [&](const char* id, const std::string& what, const std::string& hint) {
      throw Failure({Severity::error, id, "joint '" + item.name + "': " + what, hint, item.where});
    };
    if (item.frames.size() != 4) {
      refuse("wrong-length", "a rope over pulleys needs 4 frames, " + std::to_string(item.frames.size()) + " are given",
             "write frames: [pulley, load, pulley, load], the first load hangs from the first pulley");
    }
    const double ratio = item.fields.number("ratio");
    double drawn = 0;
    for (const int side : {0, 1}) {
      const double distance = (context.model.frame_pose(item.frames[2 * side + 1]).position -
                               context.model.frame_pose(item.frames[2 * side]).position)
                                  .norm();
      if (!(distance > least_length)) {
        refuse("zero-length",
               std::string("the ") + (side == 0 ? "first" : "second") +
                   " load is at its pulley, so that side of the rope has no direction",
               "start with a length of rope between them");
      }
      drawn += (side == 0 ? 1 : ratio) * distance;
    }
    const double given = item.fields.number("length");
    // The first side has weight 1, so that the multiplier is its tension.
    const RelationRow row{{{0, 1, Primitive::distance}, {2, 3, Primitive::distance, 0, 0, ratio}},
                          "length of the rope",
                          RowUnit::force,
                          given > 0 ? given : drawn};
    return std::make_unique<RelationConstraint>(4, std::vector<RelationRow>{row});
  };
  d.random_fields = [](std::mt19937& random) {
    Fields fields;
    fields.set("ratio", std::uniform_real_distribution<double>(0.5, 3)(random));
    fields.set("length", std::uniform_real_distribution<double>(2, 8)(random));
    return fields;
  };
  d.random_frames = 4;
  return d;
}

}  // namespace trammel
