#include "trammel/ode/methods.h"
#include "trammel/ode/multistep/multistep.h"

namespace trammel::methods {

OdeMethodInfo adams_bashforth() {
  OdeMethodInfo m;
  m.key = "adams-bashforth";
  m.title = "Adams-Bashforth with fixed coefficients, explicit";
  m.source = "Garcia de Jalon, Bayo: Kinematic and Dynamic Simulation of Multibody Systems, Table 7.1, (7.22)";
  m.order = m.dense_order = 4;
  m.error_order = 5;
  m.evaluations = 1;
  m.stability = "explicit; real axis to 2, 1, 0.55, 0.30, 0.16 for orders 1 to 5";
  m.is_explicit = true;
  m.options = {{"order", FieldKind::number, Quantity::none, 4.0,
                "Of the formula, 1 to 5. Higher ones are more accurate and less stable.", 1, 5}};
  m.formula = [](const OdeSettings& s) {
    return MultistepFormula::adams_bashforth(static_cast<int>(s.options.number("order")));
  };
  m.make_first_order = [](FirstOrderProblem& problem, const OdeSettings& s) {
    const int k = static_cast<int>(s.options.number("order"));
    MultistepOptions options;
    options.predictor = MultistepFormula::adams_bashforth(k);
    options.corrector = MultistepFormula::adams_moulton(k);
    options.mode = MultistepOptions::Corrector::none;
    return make_multistep(problem, s, options);
  };
  return m;
}

}  // namespace trammel::methods
