#include "trammel/integrate/methods/constrained_runge_kutta.h"
#include "trammel/integrate/methods/implicit_runge_kutta.h"
#include "trammel/integrate/methods/methods.h"

namespace trammel::methods {

// Collocation at 1/3 and 1.
MethodInfo radau_iia_2() {
  MethodInfo m;
  m.stages = 2;
  m.key = "radau-iia-2";
  m.title = "Radau IIA of two stages, order 3";
  m.source = "Hairer, Wanner: Solving Ordinary Differential Equations II, sections IV.5 and IV.8 (RADAU5)";
  m.order = 3;
  m.error_order = 3;
  m.dense_order = 3;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "L-stable";
  m.options = with_newton_options({});
  m.make_first_order = [](FirstOrderProblem& p, const MethodSettings& s) {
    return std::make_unique<ImplicitRungeKutta>(p, ImplicitTableau::radau_iia(2), ImplicitOptions::from(s));
  };
  return with_constraints(m, ImplicitTableau::radau_iia(2));
}

}  // namespace trammel::methods
