#include "trammel/integrate/methods/methods.h"
#include "trammel/integrate/methods/runge_kutta.h"

namespace trammel::methods {

MethodInfo rk4() {
  MethodInfo m = runge_kutta_info(ButcherTableau::rk4());
  m.stages = 4;
  m.steps_to_outputs = true;
  m.title = "Runge-Kutta, the classical one of order 4";
  m.stability = "explicit; real axis to 2.79, imaginary to 2.83";
  m.source = "Garcia de Jalon, Bayo: Kinematic and Dynamic Simulation of Multibody Systems, (7.12)";
  return m;
}

}  // namespace trammel::methods
