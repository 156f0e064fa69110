// A motion may prescribe a coordinate, its speed or its acceleration; one of the three fields is given.
#pragma once
#include "trammel/elements/joints/pair_constraint.h"
#include "trammel/elements/registry.h"

namespace trammel {

// The names of the fields of one motion.
struct MotionFields {
  const char *position, *speed, *acceleration, *initial, *initial_speed;
  Quantity of_position, of_speed, of_acceleration;
};

std::vector<Field> motion_fields(const MotionFields& names);
// One row of the primitive (kind, i) at the level that is given.
std::unique_ptr<Constraint> make_motion(const Item& item, const MakeContext& context, const MotionFields& names,
                                        Primitive kind, int i);

}  // namespace trammel
