// Forces of a model chosen by name, for options that take a list.
#pragma once
#include <string>
#include <vector>

#include "trammel/model/model.h"

namespace trammel {

// The forces that names, or patterns with *, separated by commas, stand for. Throws Failure for one that fits none.
std::vector<bool> forces_named(const Model& model, const std::string& names);

}  // namespace trammel
