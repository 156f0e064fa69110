// A model without a run as a result of one row: the mechanism as it is assembled at the start, and how each of its
// freedoms can move it.
#pragma once
#include <string>
#include <vector>

#include "app/view_sweep.h"
#include "trammel/write/trajectory.h"

namespace trammel {

bool is_model_file(const std::string& path);  // by its ending: .yaml, .yml or .json

struct AssembledModel {
  MemoryTrajectory result;
  std::vector<Sweep> sweeps;  // only of a model
};
AssembledModel assembled_model(const std::string& path);

}  // namespace trammel
