// Spring, damper and actuator in one coordinate s of two frames (axial_force.h),
//
//   f = -k (s - s0) - c s' + f_act
//
// An actuator along the line between two points pulls them together: there f_act is minus its force, and what is
// reported is the tension -f. Because f acts along the gradient of s, the stored energy k (s - s0)^2 / 2 and the
// dissipated power c s'^2 are exact wherever the frames are.
#pragma once
#include "trammel/elements/forces/axial_force.h"

namespace trammel {

struct SpringDamperLaw {
  double stiffness, damping, free;
};
std::unique_ptr<Force> make_spring_damper(AxialKind kind, const SpringDamperLaw& law, const Item& item,
                                          const char* actuator, const MakeContext& context);

}  // namespace trammel
