// Wrong coupling files: each message has its place and its reason.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "trammel/couple/coupling_file.h"

namespace trammel::coupling_file_test {
namespace {

// What is said of a file whose section `coupling` is this line.
std::string said_of(const std::string& coupling, const std::string& more = "") {
  const auto path = std::filesystem::temp_directory_path() / ("trammel_coupling_" + std::to_string(getpid()) + ".yaml");
  const std::string models = std::string(TRAMMEL_SOURCE_DIR) + "/models/";
  std::ofstream(path) << "trammel-coupling: 1\n"
                      << "participants: {a: {model: " << models << "glue_pendulum.yaml}, b: {model: " << models
                      << "glue_rod.yaml}}\n"
                      << "joints: {pin: {type: revolute, frames: [a.tip, b.top]}}\n"
                      << "coupling: {" << coupling << "}\n"
                      << more;
  std::string text;
  try {
    make_coupling(read_coupling(path.string()))->start();
  } catch (const Failure& failure) {
    for (const Problem& problem : failure.problems()) text += to_text(problem) + "\n";
  }
  std::filesystem::remove(path);
  const std::size_t name = text.find(path.filename().string());
  return name == std::string::npos ? text : text.substr(name + path.filename().string().size());
}

struct BadCoupling {
  const char *coupling, *place, *reason;
};

TEST(CouplingFiles, SchemesThatCannotWorkAreRefusedWithTheReason) {
  const BadCoupling all[] = {
      {"scheme: {inputs: linear, continuous: true, conditions: [{g: 1}]}",
       ":4:20:", "multiplies disturbances by 3.73205"},
      {"scheme: {inputs: linear, continuous: true, conditions: [{rate: 1}]}", ":4:20:", "disturbances never die"},
      {"scheme: {inputs: linear, continuous: true, conditions: [{g: 1, rate: 0.5}]}", ":4:20:", "by 1.71652"},
      {"scheme: {inputs: quadratic, continuous: true, conditions: [{g: 1}, {rate: 1}]}",
       ":4:20:", "disturbances never die"},
      {"scheme: {inputs: quadratic, conditions: [{g: 1}, {rate: 1}, {at: 0.5, rate: 1}]}",
       ":4:20:", "int s (s - 1/2)(s - 1) ds = 0"},
      {"scheme: {inputs: quadratic, conditions: [{g: 1}, {rate: 1}]}", ":4:20:", "2 conditions for 3"},
      {"scheme: theta, theta: -0.2", ":4:34:", "multiplies disturbances by 2.33333"},
      {"scheme: {inputs: constant, continuous: true, conditions: [{g: 1}]}", ":4:51:", "cannot be continuous"},
      {"scheme: {inputs: cubic, conditions: [{g: 1}]}", ":4:29:", "constant, halves"},
      {"scheme: {inputs: linear, conditions: [{g: 2}, {rate: 1}]}", ":4:50:", "0 or 1"},
      {"scheme: {inputs: linear, conditions: [{g: 1, at: 1.5}, {rate: 1}]}", ":4:50:", "0 < at <= 1"},
      {"scheme: linear, extrapolation: 1", ":4:43:", "belongs to the schemes `jacobi`"},
      {"scheme: jacobi, extrapolation: 3", ":4:43:", "0, 1 or 2"},
      {"scheme: jacobi, solver: broyden", ":4:36:", "makes no iterations"},
      {"scheme: jacobi, error: 1e-6", ":4:35:", "makes each step once"},
  };
  for (const BadCoupling& bad : all) {
    const std::string text = said_of(bad.coupling);
    EXPECT_EQ(text.rfind(bad.place, 0), 0U) << bad.coupling << "\n" << text;
    EXPECT_NE(text.find(bad.reason), std::string::npos) << bad.coupling << "\n" << text;
  }
  EXPECT_EQ(said_of("scheme: {inputs: linear, conditions: [{g: 1}, {rate: 1}]}"), "");
}

}  // namespace
}  // namespace trammel::coupling_file_test
