#include "trammel/ode/methods.h"
#include "trammel/ode/structural/structural.h"

namespace trammel::methods {

// y_new = y + h v + h^2 ((1/2 - beta) a + beta a_new), v_new = v + h ((1 - gamma) a + gamma a_new), a_new = f_new.
OdeMethodInfo newmark() {
  OdeMethodInfo m;
  m.key = "newmark";
  m.title = "Newmark's method, independent coordinates";
  m.source = "TEXT (7.28)-(7.34); Newmark 1959";
  m.order = 2;
  m.error_order = 3;
  m.dense_order = 2;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable for 2 beta >= gamma >= 1/2; order 1 unless gamma = 1/2";
  m.options = with_structural_options(
      {{"beta", FieldKind::number, Quantity::none, 0.25,
        "1/4: constant mean acceleration (trapezoidal rule); 1/6: linear acceleration; 0: central differences.", 0, 1},
       {"gamma", FieldKind::number, Quantity::none, 0.5,
        "1/2 for order 2. Above it high frequencies are damped, and the order is 1.", 0.5, 1}});
  m.refuses = [](const OdeSettings& s) { return refuse_structural(s, s.options.number("beta")); };
  m.caveat = [](const OdeSettings& s) -> std::string {
    const double beta = s.options.number("beta"), gamma = s.options.number("gamma");
    if (2 * beta < gamma) return "2 beta < gamma: stable only for small steps";
    return gamma != 0.5 ? "gamma is not 1/2: order 1" : "";
  };
  make_structural(m, [](const OdeSettings& s) {
    return StructuralParameters::newmark(s.options.number("beta"), s.options.number("gamma"));
  });
  return m;
}

}  // namespace trammel::methods
