// Rule: where a mechanism gains or loses a freedom during the run, every method goes on rightly or stops with a reason.
// It never crashes, and what it records is finite.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/cells.h"
#include "trammel/read/read_model.h"

namespace trammel::rule_last_freedom_test {
namespace {

// Three upright bars, the third longer than the others: they let the body move sideways for an instant only.
constexpr const char* locks = R"yaml(trammel: 1
bodies: {t: {kind: planar, mass: 1, inertia: 0.1, position: [1, 1], velocity: [1, 0]}}
joints:
  a: {type: distance, between: [ground, t], at: [[0, 0], [0, 1]]}
  b: {type: distance, between: [ground, t], at: [[1, 0], [1, 1]]}
  c: {type: distance, between: [ground, t], at: [[2, -0.5], [2, 1]]}
simulation: {end: 0.1, tolerance: 1e-5, output_step: 0.01}
outputs:
  x: {expression: dx(t), unit: m}
  y: {expression: dy(t), unit: m}
)yaml";

// The same beside a pendulum, which keeps its freedom.
constexpr const char* locks_beside_pendulum = R"yaml(trammel: 1
gravity: [0, -9.81, 0]
bodies:
  t: {kind: planar, mass: 1, inertia: 0.1, position: [1, 1], velocity: [1, 0]}
  p: {kind: planar, mass: 1, inertia: 0.1, position: [6, 0]}
joints:
  a: {type: distance, between: [ground, t], at: [[0, 0], [0, 1]]}
  b: {type: distance, between: [ground, t], at: [[1, 0], [1, 1]]}
  c: {type: distance, between: [ground, t], at: [[2, -0.5], [2, 1]]}
  d: {type: revolute, between: [ground, p], at: [5, 0, 0], axis: [0, 0, 1]}
simulation: {end: 0.1, tolerance: 1e-5, output_step: 0.01}
outputs:
  x: {expression: dx(t), unit: m}
  y: {expression: dy(t), unit: m}
)yaml";

// A parallelogram that turns with w and passes, or starts in, the position in which all its bars lie on a line.
constexpr const char* parallelogram = R"yaml(trammel: 1
parameters: {w: 2, a: START}
bodies:
  left: {kind: planar, mass: 1, inertia: 0.1, position: [0.5*cos(a), 0.5*sin(a)], angle: a, velocity: [-0.5*w*sin(a), 0.5*w*cos(a)], angular_velocity: w}
  right: {kind: planar, mass: 1, inertia: 0.1, position: [2 + 0.5*cos(a), 0.5*sin(a)], angle: a, velocity: [-0.5*w*sin(a), 0.5*w*cos(a)], angular_velocity: w}
  top: {kind: planar, mass: 1, inertia: 0.3, position: [1 + cos(a), sin(a)], velocity: [-w*sin(a), w*cos(a)]}
joints:
  A: {type: revolute, between: [ground, left], at: [0, 0, 0], axis: [0, 0, 1]}
  B: {type: revolute, between: [left, top], at: [cos(a), sin(a), 0], axis: [0, 0, 1]}
  C: {type: revolute, between: [right, top], at: [2 + cos(a), sin(a), 0], axis: [0, 0, 1]}
  D: {type: revolute, between: [ground, right], at: [2, 0, 0], axis: [0, 0, 1]}
simulation: {end: 0.6, tolerance: 1e-5, output_step: 0.05}
outputs:
  x: {expression: dx(top), unit: m}
  y: {expression: dy(top), unit: m}
)yaml";

// A run, or nothing where the method refuses the model.
std::optional<CellRun> run(const Cell& cell, const std::string& text) {
  Model model = read_model_text(text, "test.yaml");
  for (const bool fixed : {false, true}) {
    if (fixed) {
      model.simulation.tolerance.reset();
      model.simulation.step = 1e-3;
    }
    try {
      return run_cell(cell, model);
    } catch (const Failure& failure) {
      EXPECT_FALSE(failure.problems().empty());
    }
  }
  return std::nullopt;
}

void expect_finite(const CellRun& run) {
  for (std::size_t row = 0; row < run.trajectory.rows(0); ++row)
    for (const double x : run.trajectory.row(0, row)) ASSERT_TRUE(std::isfinite(x)) << "row " << row;
}

void expect_reason(const CellRun& run) {
  ASSERT_TRUE(run.result.failure);
  EXPECT_FALSE(run.result.failure->part.empty()) << to_text(*run.result.failure);
  EXPECT_FALSE(run.result.failure->causes.empty());
}

class RuleLastFreedom : public testing::TestWithParam<Cell> {
 protected:
  void expect_held(const char* text) {
    const std::optional<CellRun> done = run(GetParam(), text);
    if (!done) return;
    expect_finite(*done);
    if (done->result.status != RunStatus::finished) {
      expect_reason(*done);
      return;
    }
    // It may spring in its joints, and stays. CVODE takes joints as springs of 1 kHz, on which it sways by 0.0348 m,
    // and by half of it at 4 kHz: strain grows with the square of the way.
    const bool springs = GetParam().method == "cvode-bdf" && GetParam().formulation == "penalty-joints";
    for (const double x : done->trajectory.column("x")) EXPECT_NEAR(x, 1, springs ? 0.036 : 0.02);
    for (const double y : done->trajectory.column("y")) EXPECT_NEAR(y, 1, 0.02);
  }
  void expect_turning(double start) {
    const std::optional<CellRun> done =
        run(GetParam(),
            std::string(parallelogram).replace(std::string(parallelogram).find("START"), 5, std::to_string(start)));
    if (!done) return;
    expect_finite(*done);
    if (done->result.status != RunStatus::finished) {
      expect_reason(*done);
      return;
    }
    const std::vector<double> t = done->trajectory.time(0), x = done->trajectory.column("x"),
                              y = done->trajectory.column("y");
    for (std::size_t i = 0; i < t.size(); ++i) {
      EXPECT_NEAR(x[i], 1 + std::cos(start + 2 * t[i]), 0.02) << "t = " << t[i];
      EXPECT_NEAR(y[i], std::sin(start + 2 * t[i]), 0.02) << "t = " << t[i];
    }
  }
};

TEST_P(RuleLastFreedom, TheLastOneVanishes) { expect_held(locks); }
TEST_P(RuleLastFreedom, OneOfTwoVanishes) { expect_held(locks_beside_pendulum); }
TEST_P(RuleLastFreedom, OneAppearsForAMoment) { expect_turning(2.5); }
TEST_P(RuleLastFreedom, TheStartHasOneTooMany) { expect_turning(0); }

INSTANTIATE_TEST_SUITE_P(Cells, RuleLastFreedom, testing::ValuesIn(cells_to_try()), name_of_cell);

}  // namespace
}  // namespace trammel::rule_last_freedom_test
