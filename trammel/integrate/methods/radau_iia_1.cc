#include "trammel/integrate/methods/constrained_runge_kutta.h"
#include "trammel/integrate/methods/implicit_runge_kutta.h"
#include "trammel/integrate/methods/methods.h"

namespace trammel::methods {

// y_new = y + h f(t + h, y_new)
MethodInfo radau_iia_1() {
  MethodInfo m;
  m.stages = 1;
  m.key = "radau-iia-1";
  m.title = "Radau IIA of one stage: backward Euler";
  m.source = "Hairer, Wanner: Solving Ordinary Differential Equations II, sections IV.5 and IV.8 (RADAU5)";
  m.order = 1;
  m.error_order = 2;
  m.dense_order = 1;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "L-stable";
  m.options = with_newton_options({});
  m.make_first_order = [](FirstOrderProblem& p, const MethodSettings& s) {
    return std::make_unique<ImplicitRungeKutta>(p, ImplicitTableau::radau_iia(1), ImplicitOptions::from(s));
  };
  return with_constraints(m, ImplicitTableau::radau_iia(1));
}

}  // namespace trammel::methods
