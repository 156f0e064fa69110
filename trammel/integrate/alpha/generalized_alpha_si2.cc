#include "trammel/integrate/alpha/alpha_description.h"

namespace trammel::methods {

MethodInfo generalized_alpha_si2() {
  return stabilised(generalized_alpha_i3(), "generalized-alpha-si2", "Generalized-alpha, stabilised index 2",
                    "Arnold, Bruels, Cardona: Error analysis of generalized-alpha Lie group time integration methods "
                    "for constrained mechanical systems, 2015");
}

}  // namespace trammel::methods
