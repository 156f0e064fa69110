// Stops at both ends of a joint's angle or displacement s. With the depth e = s - upper, e' = s' at the upper stop and
// e = lower - s, e' = -s' at the lower one, each pushes back with
//
//   F = max(0, k e (e/d)^(n-1) + c ramp(e/d) e')   where e > 0,    ramp(x) = x^2 (3 - 2 x) up to 1
//
// F is continuous, never pulls, and reaches its full damping at the depth d, where k is the secant stiffness. Stored
// energy k e^2 (e/d)^(n-1) / (n+1); dissipated is what F takes beyond the spring.
#pragma once
#include "trammel/elements/registry.h"

namespace trammel {

// rotational_stop and translational_stop differ in the coordinate and in units.
ElementDescription describe_joint_stop(bool rotation);

}  // namespace trammel
