// Actuator in the displacement along the z axis of frame A (joint_actuator.h).
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/forces/joint_actuator.h"

namespace trammel {

ElementDescription describe_translational_actuator() { return describe_joint_actuator(false); }

}  // namespace trammel
