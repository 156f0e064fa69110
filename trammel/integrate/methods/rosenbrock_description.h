// What the descriptions of Rosenbrock-Nystrom methods share.
#pragma once
#include "trammel/integrate/methods/methods.h"
#include "trammel/integrate/methods/rosenbrock_nystrom.h"

namespace trammel::methods {

std::unique_ptr<Integrator> make_rosenbrock(const Equations& equations, const MethodSettings& settings,
                                            RosenbrockNystromOptions options);
const Field& scaled_estimate_option();

}  // namespace trammel::methods
