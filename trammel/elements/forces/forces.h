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
ElementDescription describe_rotational_stop();
ElementDescription describe_translational_stop();
ElementDescription describe_joint_friction();
ElementDescription describe_stick_slip_friction();
ElementDescription describe_clutch();
ElementDescription describe_rotational_actuator();
ElementDescription describe_translational_actuator();
ElementDescription describe_drag();
ElementDescription describe_beam();
ElementDescription describe_stiffness_matrix();

}  // namespace trammel
