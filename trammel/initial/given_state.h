// A state that somebody sets from outside, in place of the one that was computed.
#pragma once
#include <optional>

#include "trammel/equations/equations.h"

namespace trammel {

// Throws a Failure that names the first number that is not finite or the first quaternion without length 1; within the
// digits of a file its length is made 1.
void check_given_state(const Equations& equations, State& state);

// Of a body's origin and axes, in the world; what is left out stays as it is.
struct GivenMotion {
  std::optional<Vec3> position;
  std::optional<Quat> orientation;
  std::optional<Vec3> velocity, angular_velocity;
};

// Puts a body of `state` there, whatever its coordinates are. Throws a Failure if a body of its kind cannot be there or
// move so: out of its plane, or turned though it is a point.
void place_body(const Equations& equations, int body, const GivenMotion& given, State& state, Workspace& work);

}  // namespace trammel
