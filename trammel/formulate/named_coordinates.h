// Coordinates of the state-space form by the names a user gives: BODY.x, BODY.y, BODY.z, the angle of a planar body,
// or a scalar coordinate of the model (an angle or displacement of a joint is one, with the constraint that defines
// it).
#pragma once
#include <string>
#include <vector>

#include "trammel/equations/equations.h"

namespace trammel {

// Velocity columns; a Failure names what cannot be one.
std::vector<int> named_coordinates(const Equations& equations, const std::vector<std::string>& names,
                                   const Location& where);

}  // namespace trammel
