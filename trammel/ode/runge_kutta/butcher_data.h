// How tables of coefficients are written down.
#pragma once
#include <initializer_list>
#include <vector>

#include "trammel/base/types.h"

namespace trammel::butcher_data {

Vec list(std::initializer_list<double> values);
// Rows below the diagonal, the first row empty.
Mat lower(std::initializer_list<std::initializer_list<double>> rows);
// theta (f_0 + (1 - theta) (f_1 + theta (f_2 + (1 - theta) (f_3 + ...)))) as powers of theta; each f a row of stages.
Mat nested_to_powers(const std::vector<Vec>& f);

}  // namespace trammel::butcher_data
