// Inverse dynamics: the forces and torques that motions need. A motion's multiplier is that force; it is given as the
// component, on the second frame, along the first frame's z axis: what a `force` (fz) or `torque` (tz) element between
// the same frames must give so that the mechanism moves the same way without the motion.
#pragma once
#include <string>
#include <vector>

#include "trammel/equations/equations.h"

namespace trammel {

struct Drive {
  std::string motion;  // name
  bool turns = false;  // torque, N m; otherwise a force, N
  int constraint = 0;
};

// All motions of the model that act along or about one axis.
std::vector<Drive> drives_of(const Equations& equations);
// Their forces at a state with its multipliers, in the order of `drives`.
void drive_forces(const Equations& equations, const std::vector<Drive>& drives, const State& state, const Rates& rates,
                  Workspace& work, std::vector<double>& out);

// The drive forces over time.
struct DriveHistory {
  std::vector<Drive> drives;
  std::vector<double> time;
  std::vector<std::vector<double>> values;  // one series for each drive
  void add(double t, const std::vector<double>& forces);
};

// "time,drive..." with units in the names, 17 digits: data for `splines:` of a model.
std::string to_csv(const DriveHistory& history);
// What to write into the model in place of its motions: splines from the CSV file, forces that follow them.
std::string forward_yaml(const Equations& equations, const DriveHistory& history, const std::string& csv_file);

// The model with its drives replaced by forces and torques given as expressions of time, in the order of `drives`.
Model with_drive_forces(const Model& model, const std::vector<Drive>& drives,
                        const std::vector<std::string>& expressions);

}  // namespace trammel
