// How inputs over a macro step are found: a shape of the inputs and as many conditions on the residual g of the gluing
// joints as the shape has free coefficients. For one row and g'' = W (u - lambda) a scheme maps g and g' at t_k to
// those at t_k + H; its eigenvalues decide whether disturbances die out.
#pragma once
#include <complex>
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

// Whether a step is repeated until its conditions hold, or made once (one_pass.h).
enum class Passes { iterated, jacobi, gauss_seidel };

struct CouplingScheme {
  std::string key, title;
  InputShape shape = InputShape::constant;
  std::vector<SchemeCondition> conditions;
  int order = 3;            // of g inside the step, in H
  bool continuous = false;  // the first coefficient is where the last step ended
  Passes passes = Passes::iterated;
};

const std::vector<CouplingScheme>& scheme_registry();
// Throws Failure with the nearest key.
const CouplingScheme& find_scheme(std::string_view key, const Location& where);
// g + theta H g' = 0 with a constant input.
CouplingScheme theta_scheme(double theta);
// Each step made once, with inputs of that degree in time: 0, 1 or 2.
CouplingScheme one_pass_scheme(Passes passes, int degree);
int free_coefficients(const CouplingScheme& scheme);

// The eigenvalues of the step map (g, g' H) -> (g, g' H) for g'' = W (u - lambda), lambda = 0, H = W = 1; of continuous
// inputs (g, g', u) -> (g, g', u). Throws Failure: the conditions do not determine the input.
std::vector<std::complex<double>> step_map_eigenvalues(const CouplingScheme& scheme, const Location& where = {});
// Throws Failure with the reason if the scheme is unstable or singular.
void require_usable(const CouplingScheme& scheme, const Location& where);

}  // namespace trammel
