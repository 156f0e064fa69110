#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/runge_kutta.h"

namespace trammel::methods {

OdeMethodInfo fehlberg_45() {
  OdeMethodInfo m = runge_kutta_info(ButcherTableau::fehlberg_45());
  m.stages = 6;
  m.title = "Runge-Kutta-Fehlberg 4(5)";
  m.stability = "explicit; real axis to 3.02";
  m.is_explicit = true;
  m.source = "Fehlberg, Computing 6, 1970";
  return m;
}

}  // namespace trammel::methods
