// Force between two frames: F = E (fx, fy, fz) on B at its origin, -F on A along the same line (applied_wrench.h).
#include "trammel/elements/forces/applied_wrench.h"
#include "trammel/elements/forces/forces.h"

namespace trammel {

ElementDescription describe_force() {
  return describe_applied_wrench(
      "force",
      "Force on the origin of the second frame, given by expressions; the first frame takes the "
      "reaction along the same line.",
      true, false);
}

}  // namespace trammel
