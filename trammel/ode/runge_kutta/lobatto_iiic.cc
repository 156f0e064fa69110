#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/implicit_runge_kutta.h"

namespace trammel::methods {

// a_i1 = b_1, the rest by C(s - 1): the start of the step is not a stage value.
OdeMethodInfo lobatto_iiic() {
  OdeMethodInfo m;
  m.stages = 3;
  m.key = "lobatto-iiic";
  m.title = "Lobatto IIIC, implicit Runge-Kutta of 2 to 4 stages, order 2 s - 2";
  m.source = "Hairer, Wanner: Solving Ordinary Differential Equations II, sections IV.5 and IV.8";
  m.order = 4;
  m.error_order = 4;
  m.dense_order = 4;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "L-stable";
  m.options =
      with_newton_options({{"stages", FieldKind::number, Quantity::none, 3.0, "2, 3 or 4: order 2, 4, 6.", 2, 4}});
  m.make_first_order = [](FirstOrderProblem& p, const OdeSettings& s) {
    return std::make_unique<ImplicitRungeKutta>(
        p, ImplicitTableau::lobatto_iiic(static_cast<int>(s.options.number("stages"))), ImplicitOptions::from(s));
  };
  return m;
}

}  // namespace trammel::methods
