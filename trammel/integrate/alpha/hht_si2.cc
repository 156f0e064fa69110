#include "trammel/integrate/alpha/alpha_description.h"

namespace trammel::methods {

MethodInfo hht_si2() {
  return stabilised(
      hht_i3(), "hht-si2", "Hilber-Hughes-Taylor, stabilised index 2",
      "Jay, Negrut: Extensions of the HHT-alpha method to differential-algebraic equations in mechanics, 2007");
}

}  // namespace trammel::methods
