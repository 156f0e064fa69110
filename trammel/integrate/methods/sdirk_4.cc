#include "trammel/integrate/methods/diagonally_implicit.h"
#include "trammel/integrate/methods/methods.h"

namespace trammel::methods {

MethodInfo sdirk_4() {
  MethodInfo m;
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
  m.make_first_order = [](FirstOrderProblem& p, const MethodSettings& s) {
    return std::make_unique<DiagonallyImplicit>(p, ImplicitTableau::sdirk_4(), ImplicitOptions::from(s));
  };
  return m;
}

}  // namespace trammel::methods
