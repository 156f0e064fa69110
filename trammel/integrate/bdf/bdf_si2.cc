#include "trammel/formulate/formulation_keys.h"
#include "trammel/integrate/bdf/bdf_constrained.h"
#include "trammel/integrate/methods.h"

namespace trammel::methods {

MethodInfo bdf_si2() {
  MethodInfo m = constrained_bdf(true);
  m.key = "bdf-si2";
  m.title = "BDF with variable order and step, stabilised index 2";
  m.formulations = {formulation::stabilised_index_2};
  m.source = "Gear, Gupta, Leimkuhler 1985; SI2 of the HHT paper";
  return m;
}

}  // namespace trammel::methods
