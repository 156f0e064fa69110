// Fixed joint: p_B = p_A;  a_x . b_y = a_y . b_z = a_z . b_x = 0
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_fixed() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "fixed";
  d.summary = "Holds two frames together: no relative motion.";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{{Primitive::point, 0},
                                                                     {Primitive::point, 1},
                                                                     {Primitive::point, 2},
                                                                     {Primitive::dot, 0, 1},
                                                                     {Primitive::dot, 1, 2},
                                                                     {Primitive::dot, 2, 0}});
  };
  return d;
}

}  // namespace trammel
