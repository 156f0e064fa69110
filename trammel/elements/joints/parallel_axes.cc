// Parallel axes: a_x . b_z = a_y . b_z = 0
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_parallel_axes() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "parallel_axes";
  d.axis = {.turns = true};
  d.summary = "The z axes of the two frames stay parallel; all displacements and the rotation about them are free.";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{{Primitive::dot, 0, 2}, {Primitive::dot, 1, 2}});
  };
  return d;
}

}  // namespace trammel
