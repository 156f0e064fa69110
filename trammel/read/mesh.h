// Closed surfaces of triangles from STL (text or binary) and OBJ files, and the mass properties of what they enclose:
// volume integrals of 1, x and x x^T over the tetrahedra from one point to each triangle, signed by its orientation.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/model/mass_properties.h"

namespace trammel {

struct Mesh {
  std::vector<Vec3> points;
  std::vector<std::array<int, 3>> triangles;  // counterclockwise as seen from outside
};

// STL by its content, OBJ by the ending of the name. Equal points are merged. Throws a Failure that names the file (and
// line, in a text): not readable, not a mesh, not closed, inside out.
Mesh read_mesh(std::string_view bytes, const std::string& file_name);

// At density 1, lengths multiplied by `scale`.
MassProperties solid(const Mesh& mesh, double scale);

}  // namespace trammel
