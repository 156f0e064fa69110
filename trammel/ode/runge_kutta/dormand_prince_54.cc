#include "trammel/ode/methods.h"
#include "trammel/ode/runge_kutta/runge_kutta.h"

namespace trammel::methods {

OdeMethodInfo dormand_prince_54() {
  OdeMethodInfo m = runge_kutta_info(ButcherTableau::dormand_prince_54());
  m.stages = 7;
  m.title = "Dormand-Prince 5(4) with dense output";
  m.stability = "explicit; real axis to 3.31, imaginary to 1.00";
  m.is_explicit = true;
  m.source = "Dormand, Prince, J. Comp. Appl. Math. 6, 1980; dense output of Shampine and of Hairer, Norsett, Wanner";
  m.options = {{"ode45", FieldKind::boolean, Quantity::none, false,
                "Step rules and error norm of MATLAB's ode45, for comparison with its results."}};
  m.make_first_order = [](FirstOrderProblem& problem, const OdeSettings& s) {
    RungeKuttaOptions options;
    options.fixed_step = s.fixed_step;
    options.tolerance = s.tolerance;
    options.ode45 = s.options.get<bool>("ode45");
    if (options.ode45) options.norm = Norm::greatest;
    return std::make_unique<RungeKutta>(problem, ButcherTableau::dormand_prince_54(), options);
  };
  return m;
}

}  // namespace trammel::methods
