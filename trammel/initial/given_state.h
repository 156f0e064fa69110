// A state that somebody sets from outside, in place of the one that was computed.
#pragma once
#include "trammel/equations/equations.h"

namespace trammel {

// Throws a Failure that names the first number that is not finite or the first quaternion without length 1; within the
// digits of a file its length is made 1.
void check_given_state(const Equations& equations, State& state);

}  // namespace trammel
