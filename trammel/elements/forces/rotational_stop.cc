// Stops that limit the angle about the z axis of frame A (joint_stop.h).
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/forces/joint_stop.h"

namespace trammel {

ElementDescription describe_rotational_stop() { return describe_joint_stop(true); }

}  // namespace trammel
