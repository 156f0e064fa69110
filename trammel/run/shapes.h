// The look of a model for result files: its shapes as JSON arrays, in pieces that fit into an attribute.
#pragma once
#include <string>
#include <vector>

#include "trammel/model/model.h"

namespace trammel {

// Each piece is an array of {"name", "type", "body", "size", "position", "quaternion" (w, x, y, z), "color", "file"},
// in SI and in the axes of the body, of at most about `most_bytes`.
std::vector<std::string> shapes_as_json(const Model& model, std::size_t most_bytes = 30000);

}  // namespace trammel
