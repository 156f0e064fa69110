// Point-on-line joint: a_x . d = a_y . d = 0,  d = p_B - p_A
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_point_on_line() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "point_on_line";
  d.summary = "The origin of the second frame stays on the z axis of the first.";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(
        std::vector<PairRowSpec>{{Primitive::in_plane, 0}, {Primitive::in_plane, 1}});
  };
  return d;
}

}  // namespace trammel
