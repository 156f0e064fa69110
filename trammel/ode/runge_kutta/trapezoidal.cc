#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/diagonally_implicit.h"

namespace trammel::methods {

// y_new = y + h/2 (f(t, y) + f(t + h, y_new))
OdeMethodInfo trapezoidal() {
  OdeMethodInfo m;
  m.stages = 2;
  m.key = "trapezoidal";
  m.title = "Trapezoidal rule";
  m.source = "TEXT section 7.1.2; Dahlquist 1963";
  m.order = 2;
  m.error_order = 3;
  m.dense_order = 2;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable, not L-stable: R(inf) = -1";
  m.options = with_newton_options({});
  m.make_first_order = [](FirstOrderProblem& p, const OdeSettings& s) {
    return std::make_unique<DiagonallyImplicit>(p, ImplicitTableau::trapezoidal(), ImplicitOptions::from(s));
  };
  return m;
}

}  // namespace trammel::methods
