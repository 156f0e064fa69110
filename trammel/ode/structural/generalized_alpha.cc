#include "trammel/ode/methods.h"
#include "trammel/ode/structural/structural.h"

namespace trammel::methods {

// (1 - alpha_m) a_new + alpha_m a = (1 - alpha_f) f_new + alpha_f f with Newmark's differences.
OdeMethodInfo generalized_alpha() {
  OdeMethodInfo m;
  m.key = "generalized-alpha";
  m.title = "Generalized-alpha, independent coordinates";
  m.source =
      "Chung, Hulbert: A time integration algorithm for structural dynamics with improved numerical dissipation, 1993";
  m.order = 2;
  m.error_order = 3;
  m.dense_order = 2;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable; spectral radius rho_inf at infinite frequency";
  m.options = with_structural_options({{"rho_inf", FieldKind::number, Quantity::none, 0.8,
                                        "Spectral radius at infinite frequency: 1 keeps all, 0 ends fast parts in a "
                                        "step.",
                                        0, 1}});
  make_structural(
      m, [](const OdeSettings& s) { return StructuralParameters::generalized_alpha(s.options.number("rho_inf")); });
  return m;
}

}  // namespace trammel::methods
