// Uses the installed library from outside: a function of the library, one of its exceptions caught across the
// boundary, the Eigen types of its interface, the installed data. Exits with 0 if all of them behave.
#include <filesystem>
#include <iostream>

#include "trammel/base/data_directory.h"
#include "trammel/base/diagnosis.h"
#include "trammel/base/types.h"

// argv[1]: where the installed data must be found.
int main(int, char** argv) {
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
            << ", data: " << data << "\n";
  return found && caught && computed && installed ? 0 : 1;
}
