// Runs a model given as the text of a file, and keeps the result in memory.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel {

struct TextRun {
  MemoryTrajectory trajectory;
  RunResult result;

  explicit TextRun(const std::string& text) {
    Simulation simulation(read_model_text("trammel: 1\n" + text, "test.yaml"));
    result = simulation.run(trajectory);
    EXPECT_EQ(result.status, RunStatus::finished);
  }
  std::vector<double> time() const { return trajectory.time(0); }
  std::vector<double> column(std::string_view name) const { return trajectory.column(name); }
  double last(std::string_view name) const { return column(name).back(); }
};

}  // namespace trammel
