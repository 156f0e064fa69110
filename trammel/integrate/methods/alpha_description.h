// What the descriptions of the alpha family share: the options of predictor, Newton and step control.
#pragma once
#include "trammel/integrate/methods/alpha.h"
#include "trammel/integrate/methods/methods.h"

namespace trammel::methods {

std::unique_ptr<Integrator> make_alpha(const Equations& equations, const MethodSettings& settings,
                                       const AlphaParameters& parameters);
std::vector<Field> with_alpha_options(std::vector<Field> own);

}  // namespace trammel::methods
