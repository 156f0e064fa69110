// Torque between two frames: M = E (tx, ty, tz) on B, -M on A (applied_wrench.h).
#include "trammel/elements/forces/applied_wrench.h"
#include "trammel/elements/forces/forces.h"

namespace trammel {

ElementDescription describe_torque() {
  return describe_applied_wrench(
      "torque", "Torque on the second frame, given by expressions; the first takes the reaction.", false, true);
}

}  // namespace trammel
