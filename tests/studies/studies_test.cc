// Every model file runs, redundant mechanisms move as their twins, and the quick studies miss no target.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::studies_test {
namespace {

namespace fs = std::filesystem;

const fs::path source(TRAMMEL_SOURCE_DIR);

MemoryTrajectory run(const std::string& name, const ModelChanges& changes, RunResult& result) {
  Simulation simulation(load_model((source / "models" / (name + ".yaml")).string(), changes));
  MemoryTrajectory trajectory;
  result = simulation.run(trajectory);
  return trajectory;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(source / "models")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// ---- Every model file ---------------------------------------------------------------------------------------------

class ModelFile : public ::testing::TestWithParam<std::string> {};

TEST_P(ModelFile, Runs) {
  const Model model = load_model((source / "models" / (GetParam() + ".yaml")).string());
  RunResult result;
  const MemoryTrajectory trajectory = run(GetParam(), {.end = 0.02 * model.simulation.end}, result);
  EXPECT_EQ(result.status, RunStatus::finished);
  EXPECT_GT(trajectory.rows(0), 0U);
  EXPECT_LT(result.summary.position_residual, 1e-6);
  EXPECT_FALSE(model.title.empty());
  EXPECT_FALSE(model.outputs.empty()) << "a model file shows something";
}

INSTANTIATE_TEST_SUITE_P(Models, ModelFile, ::testing::ValuesIn(model_names()), test_name);

// ---- The stiff double pendulum ------------------------------------------------------------------------------------

TEST(StiffDoublePendulum, FollowsTheReferenceFromRest) {
  RunResult result;
  const MemoryTrajectory ours = run("rn_double_pendulum", {.tolerance = 1e-11, .output_step = 0.1}, result);
  ASSERT_EQ(result.status, RunStatus::finished);
  std::ifstream file(source / "studies/data/rn/double_pendulum.csv");
  std::string line;
  std::size_t row = 0;
  while (std::getline(file, line)) {
    double t = 0, theta1 = 0, rate1 = 0, theta2 = 0, rate2 = 0;
    if (std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf", &t, &theta1, &rate1, &theta2, &rate2) != 5) continue;
    EXPECT_NEAR(ours.value(ours.at("theta1"), row), theta1, 1e-9) << "t = " << t;
    EXPECT_NEAR(ours.value(ours.at("theta2"), row), theta2, 1e-9) << "t = " << t;
    EXPECT_NEAR(ours.value(ours.at("theta1_rate"), row), rate1, 1e-8) << "t = " << t;
    ++row;
  }
  EXPECT_EQ(row, 21u);
}

// ---- Twins --------------------------------------------------------------------------------------------------------

TEST(Redundant, FourBarMovesAsItsTwin) {
  RunResult result, twin_result;
  const ModelChanges changes{.end = 0.5, .options = {"corrector=1e-10"}};
  const MemoryTrajectory a = run("four_bar", changes, result), b = run("four_bar_twin", changes, twin_result);
  ASSERT_EQ(result.status, RunStatus::finished);
  ASSERT_EQ(twin_result.status, RunStatus::finished);
  EXPECT_EQ(result.summary.redundant, 3);
  EXPECT_EQ(result.summary.freedoms, 1);
  EXPECT_EQ(twin_result.summary.redundant, 0);
  ASSERT_EQ(a.rows(0), b.rows(0));
  for (std::size_t i = 0; i < a.rows(0); ++i) {
    EXPECT_NEAR(a.value(a.at("crank_angle"), i), b.value(b.at("crank_angle"), i), 1e-9);
  }
  EXPECT_TRUE(a.signal(a.at("joint.B.force.x")).flagged);
  EXPECT_FALSE(b.signal(b.at("joint.B.force.x")).flagged);
}

TEST(Redundant, BricardLoopIsCountedRight) {
  RunResult result, twin_result;
  run("bricard", {.end = 0.1}, result);
  run("bricard_twin", {.end = 0.1}, twin_result);
  EXPECT_EQ(result.summary.sizes.ng, 30);
  EXPECT_EQ(result.summary.redundant, 1);
  EXPECT_EQ(result.summary.freedoms, 1);
  EXPECT_EQ(twin_result.summary.redundant, 0);
}

// ---- The command --------------------------------------------------------------------------------------------------

// Studies that take a second or two, as a user runs them: every row within its tolerance.
class Study : public ::testing::TestWithParam<std::string> {};

TEST_P(Study, MissesNothing) {
  const std::string stem = "trammel-study-" + GetParam() + "-" + std::to_string(::getpid()) + ".json";
  const fs::path file = fs::temp_directory_path() / stem;
  const std::string command =
      std::string("'") + TRAMMEL_COMMAND + "' study " + GetParam() + " --no-pictures --json > '" + file.string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::ifstream in(file);
  const nlohmann::json result = nlohmann::json::parse(in);
  EXPECT_TRUE(result["ok"].get<bool>());
  int demanded = 0;
  for (const auto& row : result["rows"]) {
    EXPECT_TRUE(row["ok"].get<bool>()) << row.dump();
    demanded += row["relation"] != "measured" ? 1 : 0;
  }
  EXPECT_GE(demanded, 12);
  fs::remove(file);
}

INSTANTIATE_TEST_SUITE_P(Quick, Study, ::testing::Values("cases", "conditioning", "elements", "printed-data"),
                         test_name);

}  // namespace
}  // namespace trammel::studies_test
