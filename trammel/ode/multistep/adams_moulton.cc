#include "trammel/ode/methods.h"
#include "trammel/ode/multistep/multistep.h"

namespace trammel::methods {

OdeMethodInfo adams_moulton() {
  OdeMethodInfo m;
  m.key = "adams-moulton";
  m.title = "Adams-Moulton with fixed coefficients, predicted by Adams-Bashforth";
  m.source =
      "Garcia de Jalon, Bayo: Kinematic and Dynamic Simulation of Multibody Systems, Table 7.2, (7.23), Algorithm 7-1";
  m.order = m.dense_order = 4;
  m.steps_to_outputs = true;
  m.error_order = 5;
  m.evaluations = 2;
  m.stability = "orders 1 and 2 with Newton: A-stable; real axis to 6, 3, 1.84 for orders 3 to 5; less as PECE";
  m.options = {
      {"order", FieldKind::number, Quantity::none, 4.0,
       "Of the formulas, 1 to 5. Higher ones are more accurate and less stable.", 1, 5},
      {"corrector", FieldKind::number, Quantity::none, 0.0,
       "0: one correction (PECE); 1: fixed point iteration until corrections are small; 2: Newton's method, for "
       "stiff problems.",
       0, 2}};
  m.formula = [](const OdeSettings& s) {
    return MultistepFormula::adams_moulton(static_cast<int>(s.options.number("order")));
  };
  m.make_first_order = [](FirstOrderProblem& problem, const OdeSettings& s) {
    const int k = static_cast<int>(s.options.number("order"));
    MultistepOptions options;
    options.predictor = MultistepFormula::adams_bashforth(k);
    options.corrector = MultistepFormula::adams_moulton(k);
    const double corrector = s.options.number("corrector");
    options.mode = corrector < 1   ? MultistepOptions::Corrector::once
                   : corrector < 2 ? MultistepOptions::Corrector::iterated
                                   : MultistepOptions::Corrector::newton;
    return make_multistep(problem, s, options);
  };
  return m;
}

}  // namespace trammel::methods
