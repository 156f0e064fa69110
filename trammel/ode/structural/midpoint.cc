#include "trammel/ode/methods.h"
#include "trammel/ode/structural/structural.h"

namespace trammel::methods {

// The equations in the middle of the step: x = f(t + h/2, (y + y_new)/2, (v + v_new)/2), v_new = v + h x.
OdeMethodInfo midpoint() {
  OdeMethodInfo m;
  m.key = "midpoint";
  m.title = "Midpoint rule of structural dynamics, independent coordinates";
  m.source = "TEXT (7.35); Simo, Wong 1991";
  m.order = 2;
  m.error_order = 3;
  m.dense_order = 2;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable, also where the trapezoidal rule is not (TEXT Example 7.1); no damping";
  m.options = with_structural_options({});
  make_structural(m, [](const OdeSettings&) { return StructuralParameters::midpoint(); });
  return m;
}

}  // namespace trammel::methods
