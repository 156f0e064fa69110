// Inverse dynamics: the forces and torques that motions need. The multipliers of a motion are its wrench on the second
// frame, with the reaction on the first along the same line; it is given by components in the axes of the first frame:
// what a `force`, `torque` or `general_force` between the same frames must give so that the mechanism moves the same
// way without the motion.
#pragma once
#include <string>
#include <vector>

#include "trammel/equations/equations.h"

namespace trammel {

// One component of the wrench of a motion.
struct Drive {
  std::string motion;  // name
  std::string column;  // in the CSV file: the motion's name, or "pose.fx" where it has several components
  int component = 2;   // fx, fy, fz, tx, ty, tz
  int constraint = 0;
  bool turns() const { return component >= 3; }
  const char* unit() const { return turns() ? "N m" : "N"; }
};
const char* component_name(const Drive& drive);  // "fx"

// All motions of the model: rotations and translations by one component, trajectories by those along the coordinates
// they prescribe.
std::vector<Drive> drives_of(const Equations& equations);
// Components of a force and torque on the second frame (world axes) along the axes R of the first.
double drive_component(const Drive& drive, const Mat3& R, const Vec3& force, const Vec3& torque);
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

// "time,drive...", in SI, 17 digits: data for `splines:` of a model.
std::string to_csv(const DriveHistory& history);
// What to write into the model in place of its motions, whatever its units: splines from the CSV file, forces that
// follow them, frames where the motions have some without a name.
std::string forward_yaml(const Equations& equations, const DriveHistory& history, const std::string& csv_file);

// The model with its drives replaced by forces and torques given as expressions of time, in the order of `drives`.
Model with_drive_forces(const Model& model, const std::vector<Drive>& drives,
                        const std::vector<std::string>& expressions);

}  // namespace trammel
