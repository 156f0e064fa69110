// Cylindrical joint: a_x . d = a_y . d = 0;  a_x . b_z = a_y . b_z = 0,  d = p_B - p_A
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_cylindrical() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "cylindrical";
  d.axis = {.turns = true, .slides = true};
  d.summary = "A slide that may turn: displacement along and rotation about the common z axis.";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{
        {Primitive::in_plane, 0}, {Primitive::in_plane, 1}, {Primitive::dot, 0, 2}, {Primitive::dot, 1, 2}});
  };
  return d;
}

}  // namespace trammel
