#include "trammel/ode/methods.h"
#include "trammel/ode/multistep/multistep.h"

namespace trammel::methods {

OdeMethodInfo bdf_fixed() {
  OdeMethodInfo m;
  m.key = "bdf-fixed";
  m.title = "BDF with fixed coefficients";
  m.source = "Garcia de Jalon, Bayo: Kinematic and Dynamic Simulation of Multibody Systems, Table 7.3";
  m.order = m.dense_order = 2;
  m.error_order = 3;
  m.stiff = m.steps_to_outputs = true;
  m.starts_ahead = true;
  m.stability = "A-stable for orders 1 and 2; A(alpha) with 86, 73, 52, 18 degrees for 3 to 6";
  m.options = {{"order", FieldKind::number, Quantity::none, 2.0,
                "Of the formula, 1 to 6. Above 2 oscillations near the imaginary axis may grow.", 1, 6}};
  m.formula = [](const OdeSettings& s) { return MultistepFormula::bdf(static_cast<int>(s.options.number("order"))); };
  m.make_first_order = [](FirstOrderProblem& problem, const OdeSettings& s) {
    const int k = static_cast<int>(s.options.number("order"));
    MultistepOptions options;
    options.predictor = MultistepFormula::extrapolation(k);
    options.corrector = MultistepFormula::bdf(k);
    options.mode = MultistepOptions::Corrector::newton;
    return make_multistep(problem, s, options);
  };
  return m;
}

}  // namespace trammel::methods
