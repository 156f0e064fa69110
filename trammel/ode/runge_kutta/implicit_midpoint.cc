#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/diagonally_implicit.h"

namespace trammel::methods {

// y_new = y + h f(t + h/2, (y + y_new)/2)
OdeMethodInfo implicit_midpoint() {
  OdeMethodInfo m;
  m.stages = 1;
  m.key = "implicit-midpoint";
  m.title = "Implicit midpoint rule";
  m.source = "TEXT section 7.1.2 and Example 7.1";
  m.order = 2;
  m.error_order = 3;
  m.dense_order = 2;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable and B-stable, not L-stable: R(inf) = -1; symplectic";
  m.options = with_newton_options({});
  m.make_first_order = [](FirstOrderProblem& p, const OdeSettings& s) {
    return std::make_unique<DiagonallyImplicit>(p, ImplicitTableau::gauss(1), ImplicitOptions::from(s));
  };
  return m;
}

}  // namespace trammel::methods
