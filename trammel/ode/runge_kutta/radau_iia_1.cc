#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/implicit_runge_kutta.h"

namespace trammel::methods {

// y_new = y + h f(t + h, y_new)
OdeMethodInfo radau_iia_1() {
  OdeMethodInfo m;
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
  m.make_first_order = [](FirstOrderProblem& p, const OdeSettings& s) {
    return std::make_unique<ImplicitRungeKutta>(p, ImplicitTableau::radau_iia(1), ImplicitOptions::from(s));
  };
  return m;
}

}  // namespace trammel::methods
