#include "trammel/integrate/alpha/alpha_description.h"

namespace trammel::methods {

MethodInfo newmark_si2() {
  return stabilised(newmark_i3(), "newmark-si2", "Newmark, stabilised index 2",
                    "Newmark 1959; Gear, Gupta, Leimkuhler 1985");
}

}  // namespace trammel::methods
