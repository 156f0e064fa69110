// Point-in-plane joint: a_z . d = 0,  d = p_B - p_A
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_point_in_plane() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "point_in_plane";
  d.summary = "The origin of the second frame stays in the xy plane of the first.";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{{Primitive::in_plane, 2}});
  };
  return d;
}

}  // namespace trammel
