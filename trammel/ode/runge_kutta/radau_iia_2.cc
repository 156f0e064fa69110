#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/implicit_runge_kutta.h"

namespace trammel::methods {

// Collocation at 1/3 and 1.
OdeMethodInfo radau_iia_2() {
  OdeMethodInfo m;
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
  m.make_first_order = [](FirstOrderProblem& p, const OdeSettings& s) {
    return std::make_unique<ImplicitRungeKutta>(p, ImplicitTableau::radau_iia(2), ImplicitOptions::from(s));
  };
  return m;
}

}  // namespace trammel::methods
