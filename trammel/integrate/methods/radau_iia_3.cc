#include "trammel/integrate/methods/constrained_runge_kutta.h"
#include "trammel/integrate/methods/implicit_runge_kutta.h"
#include "trammel/integrate/methods/methods.h"

namespace trammel::methods {

// Collocation at (4 -+ sqrt 6)/10 and 1.
MethodInfo radau_iia_3() {
  MethodInfo m;
  m.stages = 3;
  m.key = "radau-iia-3";
  m.title = "Radau IIA of three stages, order 5";
  m.source = "Hairer, Wanner: Solving Ordinary Differential Equations II, sections IV.5 and IV.8 (RADAU5)";
  m.order = 5;
  m.error_order = 4;
  m.dense_order = 4;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "L-stable";
  m.options = with_newton_options({});
  m.make_first_order = [](FirstOrderProblem& p, const MethodSettings& s) {
    return std::make_unique<ImplicitRungeKutta>(p, ImplicitTableau::radau_iia(3), ImplicitOptions::from(s));
  };
  return with_constraints(m, ImplicitTableau::radau_iia(3));
}

}  // namespace trammel::methods
