// Actuator in the angle about the z axis of frame A (joint_actuator.h).
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/forces/joint_actuator.h"

namespace trammel {

ElementDescription describe_rotational_actuator() { return describe_joint_actuator(true); }

}  // namespace trammel
