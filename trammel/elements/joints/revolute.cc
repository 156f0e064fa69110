// Revolute joint: p_B = p_A;  a_x . b_z = a_y . b_z = 0
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_revolute() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "revolute";
  d.axis = {.turns = true};
  d.summary = "A hinge: one rotation about the common z axis.";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{{Primitive::point, 0},
                                                                     {Primitive::point, 1},
                                                                     {Primitive::point, 2},
                                                                     {Primitive::dot, 0, 2},
                                                                     {Primitive::dot, 1, 2}});
  };
  return d;
}

}  // namespace trammel
