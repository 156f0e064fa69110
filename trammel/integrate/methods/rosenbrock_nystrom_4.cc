#include "trammel/integrate/methods/rosenbrock_description.h"

namespace trammel::methods {

MethodInfo rosenbrock_nystrom_4() {
  MethodInfo m;
  m.stages = 4;
  m.key = "rosenbrock-nystrom-4";
  m.title = "Rosenbrock-Nystrom 4(3)";
  m.formulations = rosenbrock_formulations();
  m.choose_formulation = choose_rosenbrock_formulation;
  m.source =
      "Sandu, Negrut, Haug, Potra, Sandu: A Rosenbrock-Nystrom state space implicit approach for the dynamic analysis "
      "of mechanical systems";
  m.order = 4;
  m.error_order = 4;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "L-stable; no Newton iterations, exact derivatives in every step";
  m.options = with_control_options(
      {scaled_estimate_option(),
       {"printed_gamma", FieldKind::boolean, Quantity::none, false,
        "The coefficients of the paper, whose gamma is rounded to 8 digits, instead of those of the exact root."}});
  m.make = [](const Equations& e, const MethodSettings& s) {
    RosenbrockNystromOptions options;
    if (s.options.get<bool>("printed_gamma")) options.tableau = &RosenbrockTableau::rn43_print();
    return make_rosenbrock(e, s, options);
  };
  m.make_second_order = [](SecondOrderProblem& p, const MethodSettings& s) {
    RosenbrockNystromDenseOptions options;
    if (s.options.get<bool>("printed_gamma")) options.tableau = &RosenbrockTableau::rn43_print();
    return make_rosenbrock(p, s, options);
  };
  m.make_first_order = [](FirstOrderProblem& p, const MethodSettings& s) {
    RosenbrockOptions options;
    if (s.options.get<bool>("printed_gamma")) options.tableau = &RosenbrockTableau::rn43_print();
    return make_rosenbrock(p, s, options);
  };
  return m;
}

}  // namespace trammel::methods
