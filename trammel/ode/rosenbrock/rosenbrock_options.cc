#include "trammel/ode/rosenbrock/rosenbrock_options.h"

#include "trammel/ode/control/step_controller.h"
#include "trammel/ode/rosenbrock/rosenbrock.h"
#include "trammel/ode/rosenbrock/rosenbrock_nystrom_dense.h"

namespace trammel::methods {
namespace {

RosenbrockOptions common_options(const OdeSettings& settings) {
  RosenbrockOptions options;
  options.tolerance = settings.tolerance;
  options.fixed_step = settings.fixed_step;
  options.scaled_estimate = settings.options.get<bool>("scaled_estimate");
  return options;
}

}  // namespace

RosenbrockOptions rosenbrock_nystrom_4_options(const OdeSettings& settings) {
  RosenbrockOptions options = common_options(settings);
  if (settings.options.get<bool>("printed_gamma")) options.tableau = &RosenbrockTableau::rn43_print();
  return options;
}

RosenbrockOptions w_method_2_options(const OdeSettings& settings) {
  RosenbrockOptions options = common_options(settings);
  options.tableau = &RosenbrockTableau::w2();
  options.keep_derivatives = static_cast<int>(settings.options.number("keep_derivatives"));
  options.no_derivatives = settings.options.get<bool>("no_derivatives");
  return options;
}

void describe_rosenbrock(OdeMethodInfo& method, std::vector<Field> own, ReadRosenbrockOptions read) {
  const StepController::Options defaults;
  method.options = {{"scaled_estimate", FieldKind::boolean, Quantity::none, false,
                     "Damp stiff parts in the error estimate; saves steps, but velocities of stiff parts may then "
                     "exceed the tolerance."}};
  method.options.insert(method.options.end(), own.begin(), own.end());
  method.options.push_back(
      {"safety", FieldKind::number, Quantity::none, defaults.safety,
       "Part of the step that the error estimate would allow: smaller rejects fewer steps, and takes more.", 0.1, 1});
  method.options.push_back({"least_factor", FieldKind::number, Quantity::none, defaults.least_shrink,
                            "Least ratio of a step to the one before.", 0.01, 0.9});
  method.options.push_back({"greatest_factor", FieldKind::number, Quantity::none, defaults.greatest_growth,
                            "Greatest ratio of a step to the one before.", 1.1, 100});
  method.make_first_order = [read](FirstOrderProblem& problem, const OdeSettings& settings) {
    return std::make_unique<RosenbrockMethod>(problem, read(settings));
  };
  method.make_second_order = [read](SecondOrderProblem& problem, const OdeSettings& settings) {
    return std::make_unique<RosenbrockNystromDense>(problem, read(settings));
  };
}

}  // namespace trammel::methods
