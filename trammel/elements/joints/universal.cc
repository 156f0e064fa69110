// Universal joint: p_B = p_A;  a_z . b_z = 0
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_universal() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "universal";
  d.axes_cross = true;
  d.summary =
      "A Cardan joint: origins coincide, the z axes of the two frames stay perpendicular (the arms of the cross).";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{
        {Primitive::point, 0}, {Primitive::point, 1}, {Primitive::point, 2}, {Primitive::dot, 2, 2}});
  };
  return d;
}

}  // namespace trammel
