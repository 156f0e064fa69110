// How inputs over a macro step are found: a shape of the inputs and as many conditions on the residual g of the gluing
// joints as the shape has coefficients. For one coefficient and g'' = W (u - lambda) a scheme maps g' at t_k to g' at
// t_k + H; its eigenvalue decides whether disturbances die out.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "trammel/base/diagnosis.h"
#include "trammel/couple/input_shape.h"

namespace trammel {

// position g + rate H g' = 0 at the part s of the step; position is 0 or 1.
struct SchemeCondition {
  double s = 1, position = 1, rate = 0;
};

struct CouplingScheme {
  std::string key, title;
  InputShape shape = InputShape::constant;
  std::vector<SchemeCondition> conditions;
  int order = 3;  // of g inside the step, in H
};

const std::vector<CouplingScheme>& scheme_registry();
// Throws Failure with the nearest key.
const CouplingScheme& find_scheme(std::string_view key, const Location& where);
// g + theta H g' = 0 with a constant input.
CouplingScheme theta_scheme(double theta);

// The eigenvalues of the step map (g, g' H) -> (g, g' H) for g'' = W (u - lambda), lambda = 0. Throws Failure: the
// conditions do not determine the input.
std::vector<double> step_map_eigenvalues(const CouplingScheme& scheme);
// Throws Failure with the reason if the scheme is unstable or singular.
void require_usable(const CouplingScheme& scheme, const Location& where);

}  // namespace trammel
