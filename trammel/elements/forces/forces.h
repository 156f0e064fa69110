// Descriptions of the forces, one file each; the registry lists them.
#pragma once
#include "trammel/elements/registry.h"

namespace trammel {

ElementDescription describe_translational_spring_damper();
ElementDescription describe_rotational_spring_damper();
ElementDescription describe_bushing();
ElementDescription describe_force();
ElementDescription describe_torque();
ElementDescription describe_general_force();

}  // namespace trammel
