// Force (or torque) f in the displacement (or angle) of a joint, from a command u between limits a <= b, all
// expressions:
//
//   hard     f = min(max(u, a), b)
//   smooth   f = m + w g((u - m) / w),   m = (a + b)/2,  w = (b - a)/2,   g(x) = x / (1 + x^4)^(1/4)
//
// g keeps half the range true to 1.5 % and has all derivatives. Limits that depend on the speed make a motor's curve.
#pragma once
#include "trammel/elements/registry.h"

namespace trammel {

// rotational_actuator and translational_actuator differ in the coordinate and in units.
ElementDescription describe_joint_actuator(bool rotation);

}  // namespace trammel
