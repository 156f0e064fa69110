#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/implicit_runge_kutta.h"

namespace trammel::methods {

// Collocation at (4 -+ sqrt 6)/10 and 1.
OdeMethodInfo radau_iia_3() {
  OdeMethodInfo m;
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
  m.make_first_order = [](FirstOrderProblem& p, const OdeSettings& s) {
    return std::make_unique<ImplicitRungeKutta>(p, ImplicitTableau::radau_iia(3), ImplicitOptions::from(s));
  };
  return m;
}

}  // namespace trammel::methods
