#include "trammel/integrate/methods/rosenbrock_description.h"

namespace trammel::methods {

std::unique_ptr<Integrator> make_rosenbrock(const Equations& equations, const MethodSettings& settings,
                                            RosenbrockNystromOptions options) {
  options.tolerance = settings.tolerance;
  options.fixed_step = settings.fixed_step;
  options.misfit = settings.misfit;
  options.scaled_estimate = settings.options.get<bool>("scaled_estimate");
  return std::make_unique<RosenbrockNystrom>(equations, options);
}

std::unique_ptr<OdeMethod> make_rosenbrock(SecondOrderProblem& problem, const MethodSettings& settings,
                                           RosenbrockNystromDenseOptions options) {
  options.tolerance = settings.tolerance;
  options.fixed_step = settings.fixed_step;
  options.scaled_estimate = settings.options.get<bool>("scaled_estimate");
  return std::make_unique<RosenbrockNystromDense>(problem, options);
}

std::unique_ptr<OdeMethod> make_rosenbrock(FirstOrderProblem& problem, const MethodSettings& settings,
                                           RosenbrockOptions options) {
  options.common.tolerance = settings.tolerance;
  options.common.fixed_step = settings.fixed_step;
  options.scaled_estimate = settings.options.get<bool>("scaled_estimate");
  return std::make_unique<RosenbrockMethod>(problem, options);
}

const Field& scaled_estimate_option() {
  static const Field field{"scaled_estimate", FieldKind::boolean, Quantity::none, false,
                           "Damp stiff parts in the error estimate; saves steps, but velocities of stiff parts may "
                           "then exceed the tolerance."};
  return field;
}

}  // namespace trammel::methods
