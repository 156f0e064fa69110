// Planar joint: a_z . d = 0;  a_x . b_z = a_y . b_z = 0,  d = p_B - p_A
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_planar() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "planar";
  d.axis = {.turns = true};
  d.summary = "A table: the second frame slides and turns in the xy plane of the first.";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(
        std::vector<PairRowSpec>{{Primitive::in_plane, 2}, {Primitive::dot, 0, 2}, {Primitive::dot, 1, 2}});
  };
  return d;
}

}  // namespace trammel
