#include "trammel/integrate/methods/methods.h"
#include "trammel/integrate/methods/runge_kutta.h"

namespace trammel::methods {

MethodInfo euler() {
  MethodInfo m = runge_kutta_info(ButcherTableau::euler());
  m.stages = 1;
  m.title = "Euler, explicit";
  m.stability = "explicit; real axis to 2.00";
  m.source = "Garcia de Jalon, Bayo: Kinematic and Dynamic Simulation of Multibody Systems, (7.8)";
  return m;
}

}  // namespace trammel::methods
