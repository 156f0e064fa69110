// What one evaluation of y' = f costs in the forms of a mechanism that are differential equations.
#pragma once

namespace trammel::bench {

void measure_evaluations();

}  // namespace trammel::bench
