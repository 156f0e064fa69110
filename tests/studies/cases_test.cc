// The model files of the studies run, and the benchmark cases meet their tolerances: what `trammel study cases`
// computes, case by case, so that each test stays short.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel {
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

std::string test_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

// ---- Every model file
// ------------------------------------------------------------------------------------------------

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

// ---- Cases
// -----------------------------------------------------------------------------------------------------------

nlohmann::json cases() {
  std::ifstream in(source / "studies" / "data" / "cases.json");
  return nlohmann::json::parse(in);
}

struct Csv {
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;

  explicit Csv(const fs::path& path) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] == '#') continue;
      const bool header = names.empty();
      if (!header) rows.emplace_back();
      std::istringstream cells(line);
      for (std::string cell; std::getline(cells, cell, ',');) {
        if (header)
          names.push_back(cell);
        else
          rows.back().push_back(std::strtod(cell.c_str(), nullptr));
      }
    }
  }
  double value(std::size_t row, const std::string& name) const {
    return rows.at(row).at(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  }
};

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  const nlohmann::json all = cases();
  for (const auto& c : all["cases"]) names.push_back(c["name"]);
  return names;
}

class Case : public ::testing::TestWithParam<std::string> {};

TEST_P(Case, MeetsItsTolerance) {
  const nlohmann::json all = cases();
  for (const auto& c : all["cases"]) {
    if (c["name"] != GetParam()) continue;
    const Csv reference(source / "studies" / "data" / "cases" / (GetParam() + ".csv"));
    ModelChanges changes;
    if (GetParam() == "iftomm_a02_nfourbar_N40") changes.end = 2;  // to the second singular position and back up
    RunResult result;
    const MemoryTrajectory ours = run(GetParam(), changes, result);
    ASSERT_EQ(result.status, RunStatus::finished);
    ASSERT_GT(reference.rows.size(), 50U);
    ASSERT_GE(ours.rows(0) * 5, reference.rows.size());
    for (std::size_t i = 0; i < std::min(ours.rows(0), reference.rows.size()); ++i) {
      const double t = reference.rows[i][0];
      ASSERT_NEAR(ours.row(0, i)[0], t, 1e-9);
      if (c.contains("at") && std::abs(c["at"].get<double>() - t) > 1e-9) continue;
      for (const auto& compare : c["compare"]) {
        const double exact = reference.value(i, compare["column"]);
        const double allowed = c["tolerance"].get<double>() * (c.value("relative", false) ? std::abs(exact) : 1.0);
        EXPECT_NEAR(ours.value(ours.at(compare["signal"].get<std::string>()), i), exact, allowed)
            << compare["signal"] << " at t = " << t;
      }
    }
    if (c.contains("energy_drift")) {
      EXPECT_LT(result.summary.energy.largest_imbalance, c["energy_drift"].get<double>());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Case, ::testing::ValuesIn(case_names()), test_name);

// ---- Twins
// -----------------------------------------------------------------------------------------------------------

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

// ---- The command
// -----------------------------------------------------------------------------------------------------

TEST(Study, ConditioningMissesNothing) {
  const fs::path file = fs::temp_directory_path() /
                        ("trammel-conditioning-" + std::to_string(std::hash<std::string>{}(TRAMMEL_COMMAND)) + ".json");
  const std::string command =
      std::string("'") + TRAMMEL_COMMAND + "' study conditioning --no-pictures --json > '" + file.string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::ifstream in(file);
  const nlohmann::json result = nlohmann::json::parse(in);
  EXPECT_TRUE(result["ok"].get<bool>());
  int demanded = 0;
  for (const auto& row : result["rows"]) {
    EXPECT_TRUE(row["ok"].get<bool>()) << row.dump();
    demanded += row["relation"] != "measured" ? 1 : 0;
  }
  EXPECT_EQ(demanded, 12);
  fs::remove(file);
}

}  // namespace
}  // namespace trammel
