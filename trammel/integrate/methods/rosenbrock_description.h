// What the descriptions of Rosenbrock-Nystrom methods share.
#pragma once
#include "trammel/integrate/methods/methods.h"
#include "trammel/integrate/methods/rosenbrock.h"
#include "trammel/integrate/methods/rosenbrock_nystrom.h"
#include "trammel/integrate/methods/rosenbrock_nystrom_dense.h"

namespace trammel::methods {

std::unique_ptr<Integrator> make_rosenbrock(const Equations& equations, const MethodSettings& settings,
                                            RosenbrockNystromOptions options);
// On y'' = f(t, y, y').
std::unique_ptr<OdeMethod> make_rosenbrock(SecondOrderProblem& problem, const MethodSettings& settings,
                                           RosenbrockNystromDenseOptions options);
// On y' = f(t, y).
std::unique_ptr<OdeMethod> make_rosenbrock(FirstOrderProblem& problem, const MethodSettings& settings,
                                           RosenbrockOptions options);
const Field& scaled_estimate_option();

}  // namespace trammel::methods
