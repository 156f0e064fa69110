// Force and torque between two frames: (F, M) = E (fx, fy, fz, tx, ty, tz) on B at its origin, the reaction on A
// (applied_wrench.h).
#include "trammel/elements/forces/applied_wrench.h"
#include "trammel/elements/forces/forces.h"

namespace trammel {

ElementDescription describe_general_force() {
  return describe_applied_wrench(
      "general_force",
      "Force and torque on the second frame at its origin, given by expressions; the first frame takes the reaction.",
      true, true);
}

}  // namespace trammel
