#include "trammel/ode/methods.h"
#include "trammel/ode/structural/structural.h"

namespace trammel::methods {

// a_new = (1 + alpha) f_new - alpha f with Newmark's differences, gamma = 1/2 - alpha, beta = (1 - alpha)^2/4.
OdeMethodInfo hht() {
  OdeMethodInfo m;
  m.key = "hht";
  m.title = "Hilber-Hughes-Taylor, independent coordinates";
  m.source = "TEXT (7.36); Hilber, Hughes, Taylor 1977";
  m.order = 2;
  m.error_order = 3;
  m.dense_order = 2;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable; damping at high frequency by alpha";
  m.options = with_structural_options(
      {{"alpha", FieldKind::number, Quantity::none, -0.1,
        "Damping of high frequencies, -1/3 (most) to 0 (none: trapezoidal rule).", -1.0 / 3 - 1e-12, 0}});
  make_structural(m, [](const OdeSettings& s) { return StructuralParameters::hht(s.options.number("alpha")); });
  return m;
}

}  // namespace trammel::methods
