// The elementary operations of an expression's tape: shared by the parser that writes the tape and the sweeps that run
// over it; not for other users.
#pragma once
#include "trammel/math/expression.h"

namespace trammel {

// clang-format off
enum class Expression::Op : std::uint8_t {
  constant, time, variable,
  // one operand
  negate, square, cube, power, absolute, sign, floor, ceil, round, sine, cosine, tangent, arcsine, arccosine,
  arctangent, sinh, cosh, tanh, exp, log, log10, sqrt, cbrt, erf, ramp3, ramp5, ramp_haversine, logical_not, truncate,
  spline,
  // two
  add, subtract, multiply, divide, general_power, arctangent2, hypot, mod, min, max, less, less_equal, equal, unequal,
  logical_and, logical_or, remainder, table,
  // three
  interpolate, select
};
// clang-format on

}  // namespace trammel
