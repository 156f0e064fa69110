// What the descriptions of the alpha family share: the options of predictor, Newton and step control.
#pragma once
#include "trammel/integrate/alpha/alpha.h"
#include "trammel/integrate/methods.h"

namespace trammel::methods {

std::unique_ptr<Integrator> make_alpha(const Equations& equations, const MethodSettings& settings,
                                       const AlphaParameters& parameters);
// The same method on the stabilised form of index 2.
MethodInfo stabilised(MethodInfo index_3, std::string key, std::string title, std::string source);
std::vector<Field> with_alpha_options(std::vector<Field> own);
// What is wrong with the names among the options, or with rho; empty: nothing.
std::string wrong_option(const OdeSettings& settings);
// Multipliers are those of the projected state, whatever the method leaves undamped.
bool has_projection(const OdeSettings& settings);

}  // namespace trammel::methods
