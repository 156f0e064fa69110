// Uses the installed library from outside: a pendulum built in C++ and simulated, an exception caught across the
// boundary, the Eigen types of its interface, the installed data. Exits with 0 if all of them behave.
#include <cmath>
#include <filesystem>
#include <iostream>

#include "trammel/base/data_directory.h"
#include "trammel/base/diagnosis.h"
#include "trammel/base/types.h"
#include "trammel/elements/build.h"
#include "trammel/run/simulation.h"
#include "trammel/write/trajectory.h"

namespace {

// A rod hung at its end, let go from the horizontal: after one second its energy is what it was.
bool pendulum_keeps_its_energy() {
  trammel::Model model;
  model.gravity = trammel::Vec3(0, 0, -9.81);
  trammel::Body rod;
  rod.name = "rod";
  rod.mass = 1;
  rod.inertia = trammel::Vec3(0.001, 1.0 / 12, 1.0 / 12).asDiagonal();
  rod.pose.position = trammel::Vec3(0.5, 0, 0);
  const int body = model.add_body(rod);
  add_joint(model, "revolute", "pin", trammel::ground, body, trammel::Vec3::Zero(), trammel::Vec3::UnitY());
  model.simulation.end = 1;
  model.simulation.tolerance = 1e-7;

  trammel::Simulation simulation(model);
  trammel::MemoryTrajectory trajectory;
  const trammel::RunResult result = simulation.run(trajectory);
  return result.status == trammel::RunStatus::finished && std::abs(trajectory.column("energy.total").back()) < 1e-3;
}

}  // namespace

// argv[1]: where the installed data must be found.
int main(int, char** argv) {
  const bool simulated = pendulum_keeps_its_energy();
  const bool found = trammel::nearest_name("crankk", {"crank", "rod", "slider"}) == "crank";

  bool caught = false;
  try {
    throw trammel::Failure(trammel::Problem{.id = "example", .message = "body 'crank': mass is -2 kg"});
  } catch (const trammel::Failure& failure) {
    caught = failure.problems().size() == 1 && failure.exit_code() == trammel::ExitCode::bad_model;
  }

  const trammel::Vec3 axis = trammel::Vec3::UnitX().cross(trammel::Vec3::UnitY());
  const bool computed = axis == trammel::Vec3::UnitZ();

  const std::filesystem::path data = trammel::data_directory();
  const bool installed = data == argv[1] && std::filesystem::exists(data / "models");

  std::cout << "nearest name: " << found << ", failure caught: " << caught << ", axis: " << axis.transpose()
            << ", data: " << data << ", pendulum: " << simulated << "\n";
  return simulated && found && caught && computed && installed ? 0 : 1;
}
