#include "trammel/ode/methods.h"
#include "trammel/ode/structural/structural.h"

namespace trammel::methods {

// Newmark's differences over theta h, the equations at t + theta h.
OdeMethodInfo collocation() {
  OdeMethodInfo m;
  m.key = "collocation";
  m.title = "Collocation (theta, beta, gamma), independent coordinates";
  m.source = "TEXT (7.37)-(7.42), repaired; Hilber 1976";
  m.order = 2;
  m.error_order = 3;
  m.dense_order = 2;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable for theta/(2 (theta + 1)) >= beta >= (2 theta^2 - 1)/(4 (2 theta^3 - 1)), gamma = 1/2";
  m.options = with_structural_options(
      {{"theta", FieldKind::number, Quantity::none, 1.2, "Where the equations hold, in steps; 1 is Newmark.", 1, 3},
       {"beta", FieldKind::number, Quantity::none, 0.2, "Newmark's beta; 1/6 is Wilson.", 0, 1},
       {"gamma", FieldKind::number, Quantity::none, 0.5, "Newmark's gamma; order 1 unless 1/2.", 0.5, 1}});
  m.refuses = [](const OdeSettings& s) { return refuse_structural(s, s.options.number("beta")); };
  m.caveat = [](const OdeSettings& s) -> std::string {
    const double theta = s.options.number("theta"), beta = s.options.number("beta");
    const double least = (2 * theta * theta - 1) / (4 * (2 * theta * theta * theta - 1)),
                 most = theta / (2 * (theta + 1));
    if (s.options.number("gamma") != 0.5) return "gamma is not 1/2: order 1";
    return beta < least - 1e-12 || beta > most + 1e-12 ? "beta is outside of (7.42): stable only for small steps" : "";
  };
  make_structural(m, [](const OdeSettings& s) {
    return StructuralParameters::collocation(s.options.number("theta"), s.options.number("beta"),
                                             s.options.number("gamma"));
  });
  return m;
}

}  // namespace trammel::methods
