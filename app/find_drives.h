// The forces and torques that the motions of a model need, by kinematics where motions drive it completely, else by a
// simulation.
#pragma once
#include "app/analysis.h"
#include "trammel/analyse/inverse_dynamics.h"

namespace trammel {

// What was found, and how.
struct InverseResult {
  DriveHistory history;
  bool driven = false;  // the motions take all degrees of freedom
  double reached = 0;
  std::string trouble;  // why the end was not reached
};

// Throws Failure (bad_model) if the model has no motions. `options` are those of the simulation; kinematics listen to
// `interrupted` between two times.
InverseResult find_drives(Prepared& prepared, const RunOptions& options = {});

}  // namespace trammel
