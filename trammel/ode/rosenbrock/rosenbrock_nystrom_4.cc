#include "trammel/ode/methods.h"
#include "trammel/ode/rosenbrock/rosenbrock_options.h"

namespace trammel::methods {

OdeMethodInfo rosenbrock_nystrom_4() {
  OdeMethodInfo m;
  m.stages = 4;
  m.key = "rosenbrock-nystrom-4";
  m.title = "Rosenbrock-Nystrom 4(3)";
  m.source =
      "Sandu, Negrut, Haug, Potra, Sandu: A Rosenbrock-Nystrom state space implicit approach for the dynamic analysis "
      "of mechanical systems";
  m.order = 4;
  m.error_order = 4;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "L-stable; no Newton iterations, exact derivatives in every step";
  describe_rosenbrock(
      m,
      {{"printed_gamma", FieldKind::boolean, Quantity::none, false,
        "The coefficients of the paper, whose gamma is rounded to 8 digits, instead of those of the exact root."}},
      rosenbrock_nystrom_4_options);
  return m;
}

}  // namespace trammel::methods
