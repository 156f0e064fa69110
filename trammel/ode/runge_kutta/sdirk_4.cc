#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/diagonally_implicit.h"

namespace trammel::methods {

OdeMethodInfo sdirk_4() {
  OdeMethodInfo m;
  m.stages = 5;
  m.key = "sdirk-4";
  m.title = "diagonally implicit Runge-Kutta of Hairer and Wanner, order 4(3)";
  m.source = "Hairer, Wanner: Solving Ordinary Differential Equations II, Table IV.6.5";
  m.order = 4;
  m.error_order = 4;
  m.dense_order = 4;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "L-stable, stiffly accurate";
  m.options = with_newton_options({});
  m.make_first_order = [](FirstOrderProblem& p, const OdeSettings& s) {
    return std::make_unique<DiagonallyImplicit>(p, ImplicitTableau::sdirk_4(), ImplicitOptions::from(s));
  };
  return m;
}

}  // namespace trammel::methods
