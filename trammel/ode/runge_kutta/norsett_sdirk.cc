#include <cmath>

#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/diagonally_implicit.h"

namespace trammel::methods {
namespace {

// 1: (3 + sqrt 3)/6, order 3; 2 and 3: 1 -+ sqrt(2)/2, order 2 and R(inf) = 0.
ImplicitTableau norsett_choice(double choice) {
  if (choice < 1.5) return ImplicitTableau::norsett((3 + std::sqrt(3.0)) / 6, 3);
  return ImplicitTableau::norsett(choice < 2.5 ? 1 - std::sqrt(0.5) : 1 + std::sqrt(0.5), 2);
}

}  // namespace

// Two stages, a11 = a22 = alpha, a21 = 1 - 2 alpha, b = 1/2, 1/2.
OdeMethodInfo norsett_sdirk() {
  OdeMethodInfo m;
  m.stages = 2;
  m.key = "norsett-sdirk";
  m.title = "Norsett's diagonally implicit Runge-Kutta method, two stages";
  m.source = "TEXT section 7.1.2; Norsett 1974. The print's alphas are repaired";
  m.order = 3;
  m.error_order = 4;
  m.dense_order = 3;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable for each alpha; L-stable for 2 and 3";
  m.options = with_newton_options({{"alpha_choice", FieldKind::number, Quantity::none, 1.0,
                                    "1: alpha = (3 + sqrt 3)/6, order 3; 2: 1 - sqrt(2)/2 and 3: 1 + sqrt(2)/2, order "
                                    "2 and L-stable. Take 2 where fast parts must die out.",
                                    1, 3}});
  m.make_first_order = [](FirstOrderProblem& p, const OdeSettings& s) {
    return std::make_unique<DiagonallyImplicit>(p, norsett_choice(s.options.number("alpha_choice")),
                                                ImplicitOptions::from(s));
  };
  return m;
}

}  // namespace trammel::methods
