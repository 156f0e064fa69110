#include "trammel/formulate/formulation_keys.h"
#include "trammel/integrate/bdf/bdf_constrained.h"
#include "trammel/integrate/methods.h"

namespace trammel::methods {

MethodInfo bdf_i3() {
  MethodInfo m = constrained_bdf(false);
  m.key = "bdf-i3";
  m.title = "BDF with variable order and step, index 3";
  m.formulations = {formulation::index_3};
  m.source =
      "Garcia de Jalon, Bayo: Kinematic and Dynamic Simulation of Multibody Systems, (7.54)-(7.56); GSTIFF of the HHT "
      "paper";
  return m;
}

}  // namespace trammel::methods
