// Constant-velocity joint: p_B = p_A;  (a_y . b_x - a_x . b_y) / 2 = 0
//
// With z along the shafts, R_A^T R_B is a lean of b_z against a_z about an axis in the xy plane and nothing more: a
// rotation matrix is symmetric in (x, y) exactly if its axis has no z component. Turned by the same angle about both
// shafts it stays one, R_z(-s) S R_z(s), so both shafts always turn by the same angle.
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

ElementDescription describe_constant_velocity() {
  ElementDescription d;
  d.category = Category::joint;
  d.key = "constant_velocity";
  d.summary =
      "A homokinetic joint: the origins coincide and both shafts, along the z axes, turn at the same speed at any "
      "angle "
      "between them.";
  d.make_constraint = [](const Item&, const MakeContext&) {
    return std::make_unique<PairConstraint>(std::vector<PairRowSpec>{
        {Primitive::point, 0}, {Primitive::point, 1}, {Primitive::point, 2}, {Primitive::twist}});
  };
  return d;
}

}  // namespace trammel
