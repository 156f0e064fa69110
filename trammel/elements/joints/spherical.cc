// Spherical joint: p_B = p_A
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_spherical() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "spherical";
  d.summary = "A ball joint: the origins of the two frames coincide.";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(
        std::vector<PairRowSpec>{{Primitive::point, 0}, {Primitive::point, 1}, {Primitive::point, 2}});
  };
  return d;
}

}  // namespace trammel
