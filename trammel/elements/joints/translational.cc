// Translational joint: a_x . d = a_y . d = 0;  a_x . b_y = a_y . b_z = a_z . b_x = 0,  d = p_B - p_A
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_translational() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "translational";
  d.axis = {.slides = true};
  d.summary = "A slide: one displacement along the z axis of the first frame, no rotation.";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{{Primitive::in_plane, 0},
                                                                     {Primitive::in_plane, 1},
                                                                     {Primitive::dot, 0, 1},
                                                                     {Primitive::dot, 1, 2},
                                                                     {Primitive::dot, 2, 0}});
  };
  return d;
}

}  // namespace trammel
