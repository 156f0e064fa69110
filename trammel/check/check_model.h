// What is wrong or doubtful with a model before it runs, whether read from a file or built in C++: names, masses and
// inertias, orientations, joints that join nothing, settings of the run.
#pragma once
#include <vector>

#include "trammel/model/model.h"

namespace trammel {

// Errors, warnings and notes, errors first. A model with errors must not be run.
std::vector<Problem> check_model(const Model& model);
// Throws a Failure of the errors if there are any; gives the warnings and notes otherwise.
std::vector<Problem> require_sound(const Model& model);

}  // namespace trammel
