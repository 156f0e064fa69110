#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/runge_kutta.h"

namespace trammel::methods {

OdeMethodInfo euler() {
  OdeMethodInfo m = runge_kutta_info(ButcherTableau::euler());
  m.stages = 1;
  m.title = "Euler, explicit";
  m.stability = "explicit; real axis to 2.00";
  m.is_explicit = true;
  m.source = "Garcia de Jalon, Bayo: Kinematic and Dynamic Simulation of Multibody Systems, (7.8)";
  return m;
}

}  // namespace trammel::methods
