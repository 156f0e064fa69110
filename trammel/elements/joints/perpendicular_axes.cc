// Perpendicular axes: a_z . b_z = 0
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_perpendicular_axes() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "perpendicular_axes";
  d.axes_cross = true;
  d.summary = "The z axes of the two frames stay perpendicular; everything else is free.";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{{Primitive::dot, 2, 2}});
  };
  return d;
}

}  // namespace trammel
