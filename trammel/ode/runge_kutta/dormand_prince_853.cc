#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/runge_kutta.h"

namespace trammel::methods {

OdeMethodInfo dormand_prince_853() {
  OdeMethodInfo m = runge_kutta_info(ButcherTableau::dormand_prince_853());
  m.stages = 12;
  m.steps_to_outputs = true;
  m.title = "Dormand-Prince 8(5,3) with dense output";
  m.stability = "explicit; real axis to 6.39, imaginary to 5.96";
  m.is_explicit = true;
  m.source = "Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, 2nd edition 1993";
  return m;
}

}  // namespace trammel::methods
