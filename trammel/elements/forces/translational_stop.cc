// Stops that limit the displacement along the z axis of frame A (joint_stop.h).
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/forces/joint_stop.h"

namespace trammel {

ElementDescription describe_translational_stop() { return describe_joint_stop(false); }

}  // namespace trammel
