// A model without a run as a result of one row: the mechanism as it is assembled at the start.
#pragma once
#include <string>

#include "trammel/write/trajectory.h"

namespace trammel {

bool is_model_file(const std::string& path);  // by its ending: .yaml, .yml or .json
MemoryTrajectory assembled_model(const std::string& path);

}  // namespace trammel
