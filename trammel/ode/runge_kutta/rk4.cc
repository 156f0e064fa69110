#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/runge_kutta.h"

namespace trammel::methods {

OdeMethodInfo rk4() {
  OdeMethodInfo m = runge_kutta_info(ButcherTableau::rk4());
  m.stages = 4;
  m.steps_to_outputs = true;
  m.title = "Runge-Kutta, the classical one of order 4";
  m.stability = "explicit; real axis to 2.79, imaginary to 2.83";
  m.is_explicit = true;
  m.source = "Garcia de Jalon, Bayo: Kinematic and Dynamic Simulation of Multibody Systems, (7.12)";
  return m;
}

}  // namespace trammel::methods
