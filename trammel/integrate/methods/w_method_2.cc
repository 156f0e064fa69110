#include "trammel/integrate/methods/rosenbrock_description.h"

namespace trammel::methods {

MethodInfo w_method_2() {
  MethodInfo m;
  m.stages = 2;
  m.key = "w-method-2";
  m.title = "W-method of order 2";
  m.formulations = rosenbrock_formulations();
  m.choose_formulation = choose_rosenbrock_formulation;
  m.source = "as rosenbrock-nystrom-4, Table 3";
  m.order = 2;
  m.error_order = 2;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "L-stable with exact derivatives; order 2 with any";
  m.options = with_control_options(
      {scaled_estimate_option(),
       {"keep_derivatives", FieldKind::number, Quantity::none, 1.0,
        "Steps that share their derivatives. More is cheaper, and less stable for stiff models.", 1, 1000},
       {"no_derivatives", FieldKind::boolean, Quantity::none, false,
        "Take all derivatives of forces and constraints as zero: explicit, for models that are not stiff."},
       {"forces_without_derivatives", FieldKind::text, Quantity::none, std::string(),
        "Forces whose derivatives are left out: names, or patterns with *, separated by commas."}});
  m.make = [](const Equations& e, const MethodSettings& s) {
    RosenbrockNystromOptions options;
    options.tableau = &RosenbrockTableau::w2();
    options.keep_derivatives = static_cast<int>(s.options.number("keep_derivatives"));
    options.no_derivatives = s.options.get<bool>("no_derivatives");
    return make_rosenbrock(e, s, options);
  };
  m.make_second_order = [](SecondOrderProblem& p, const MethodSettings& s) {
    RosenbrockNystromDenseOptions options;
    options.tableau = &RosenbrockTableau::w2();
    options.keep_derivatives = static_cast<int>(s.options.number("keep_derivatives"));
    options.no_derivatives = s.options.get<bool>("no_derivatives");
    return make_rosenbrock(p, s, options);
  };
  m.make_first_order = [](FirstOrderProblem& p, const MethodSettings& s) {
    RosenbrockOptions options;
    options.tableau = &RosenbrockTableau::w2();
    options.keep_derivatives = static_cast<int>(s.options.number("keep_derivatives"));
    options.no_derivatives = s.options.get<bool>("no_derivatives");
    return make_rosenbrock(p, s, options);
  };
  return m;
}

}  // namespace trammel::methods
