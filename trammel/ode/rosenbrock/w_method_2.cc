#include "trammel/ode/methods.h"
#include "trammel/ode/rosenbrock/rosenbrock_options.h"

namespace trammel::methods {

OdeMethodInfo w_method_2() {
  OdeMethodInfo m;
  m.stages = 2;
  m.key = "w-method-2";
  m.title = "W-method of order 2";
  m.source = "as rosenbrock-nystrom-4, Table 3";
  m.order = 2;
  m.error_order = 2;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "L-stable with exact derivatives; order 2 with any";
  describe_rosenbrock(
      m,
      {{"keep_derivatives", FieldKind::number, Quantity::none, 1.0,
        "Steps that share their derivatives. More is cheaper, and less stable for stiff models.", 1, 1000},
       {"no_derivatives", FieldKind::boolean, Quantity::none, false,
        "Take all derivatives of forces and constraints as zero: explicit, for models that are not stiff."},
       {"forces_without_derivatives", FieldKind::text, Quantity::none, std::string(),
        "Forces whose derivatives are left out: names, or patterns with *, separated by commas."}},
      w_method_2_options);
  return m;
}

}  // namespace trammel::methods
