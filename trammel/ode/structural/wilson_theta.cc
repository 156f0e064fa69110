#include "trammel/ode/methods.h"
#include "trammel/ode/structural/structural.h"

namespace trammel::methods {

// Linear acceleration over theta h, the equations at t + theta h.
OdeMethodInfo wilson_theta() {
  OdeMethodInfo m;
  m.key = "wilson-theta";
  m.title = "Wilson's theta method, independent coordinates";
  m.source = "TEXT (7.37)-(7.39), indices repaired; Wilson 1968";
  m.order = 2;
  m.error_order = 3;
  m.dense_order = 2;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable for theta >= 1.366; overshoots in the first steps";
  m.options = with_structural_options({{"theta", FieldKind::number, Quantity::none, 1.4,
                                        "Where the equations hold, in steps. Above 1.366 stable at any step; larger "
                                        "damps more.",
                                        1, 3}});
  m.caveat = [](const OdeSettings& s) -> std::string {
    return s.options.number("theta") < 1.366 ? "theta < 1.366: stable only for small steps" : "";
  };
  make_structural(m, [](const OdeSettings& s) {
    return StructuralParameters::collocation(s.options.number("theta"), 1.0 / 6, 0.5);
  });
  return m;
}

}  // namespace trammel::methods
