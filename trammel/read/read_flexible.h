// `flexible` of a body: the frame of beams that it is reduced from.
#pragma once
#include <vector>

#include "trammel/read/values.h"

namespace trammel {

// Mass, inertia and modes of the body, and what it looks like undeformed (shapes without names and body).
void read_flexible(Values& values, const Node& node, const Place& body_place, Body& body, std::vector<Shape>& shapes);

}  // namespace trammel
