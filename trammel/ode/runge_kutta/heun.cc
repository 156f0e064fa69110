#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/runge_kutta.h"

namespace trammel::methods {

OdeMethodInfo heun() {
  OdeMethodInfo m = runge_kutta_info(ButcherTableau::heun());
  m.stages = 2;
  m.title = "Heun, order 2";
  m.stability = "explicit; real axis to 2.00";
  m.is_explicit = true;
  m.source = "Garcia de Jalon, Bayo: Kinematic and Dynamic Simulation of Multibody Systems, (7.9)";
  return m;
}

}  // namespace trammel::methods
