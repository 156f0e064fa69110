#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/implicit_runge_kutta.h"

namespace trammel::methods {

// Collocation at the zeros of Legendre's polynomials.
OdeMethodInfo gauss() {
  OdeMethodInfo m;
  m.stages = 2;
  m.key = "gauss";
  m.title = "Gauss, implicit Runge-Kutta of 1 to 3 stages, order 2 s";
  m.source = "Hairer, Wanner: Solving Ordinary Differential Equations II, sections IV.5 and IV.8";
  m.order = 4;
  m.error_order = 3;
  m.dense_order = 4;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable and B-stable, not L-stable: |R(inf)| = 1; symplectic";
  m.options = with_newton_options({{"stages", FieldKind::number, Quantity::none, 2.0,
                                    "1, 2 or 3: order 2, 4, 6. The error estimate is of order s + 1 only: with step "
                                    "control the method is more accurate, and dearer, than asked.",
                                    1, 3}});
  m.make_first_order = [](FirstOrderProblem& p, const OdeSettings& s) {
    return std::make_unique<ImplicitRungeKutta>(p, ImplicitTableau::gauss(static_cast<int>(s.options.number("stages"))),
                                                ImplicitOptions::from(s));
  };
  return m;
}

}  // namespace trammel::methods
