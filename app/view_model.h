// A mechanism without a run as a result of one row; of a model file also how each of its freedoms can move it.
#pragma once
#include <string>
#include <vector>

#include "app/view_sweep.h"
#include "trammel/run/simulation.h"
#include "trammel/write/trajectory.h"

namespace trammel {

bool is_model_file(const std::string& path);  // by its ending: .yaml, .yml or .json

// At a state of the simulation; `what` stands in the place of a method.
MemoryTrajectory result_of_one_row(const Simulation& simulation, const State& state, const Rates& rates,
                                   const std::string& what);

struct AssembledModel {
  MemoryTrajectory result;
  std::vector<Sweep> sweeps;  // only of a model
};
AssembledModel assembled_model(const std::string& path);

}  // namespace trammel
