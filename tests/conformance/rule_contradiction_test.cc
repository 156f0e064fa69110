// Rule: no method goes on in silence where joints and motions contradict one another. A formulation that holds
// constraints stops and names those that do; one that is soft by choice stops where ten times its promise is lost, and
// before that says by how much they are violated and since when; one that drifts by choice warns. What is redundant and
// fits, or does not fit by as little as the start reported, runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/conformance/cells.h"
#include "trammel/read/read_model.h"
#include "trammel/run/constraint_watch.h"

namespace trammel::rule_contradiction_test {
namespace {

using testing::HasSubstr;

// Two motions of one hinge, which agree until 0.5 s.
constexpr const char* motions = R"(trammel: 1
gravity: [0, 0, -9.81]
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}}
joints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
motions:
  m1: {type: rotation, joint: j, angle: time}
  m2: {type: rotation, joint: j, angle: "time + max(0, time - 0.5)^3"}
simulation: {end: 1, tolerance: 1e-5, output_step: 0.1}
)";

// Two bars in a row, 2 m long together, whose end is pulled from 1.5 m away to 2.5 m.
constexpr const char* chain = R"(trammel: 1
gravity: [0, -9.81, 0]
bodies:
  a: {kind: planar, mass: 1, inertia: 0.1, position: [0.375, -0.33071891388], angle: -0.7227342478}
  b: {kind: planar, mass: 1, inertia: 0.1, position: [1.125, -0.33071891388], angle: 0.7227342478}
joints:
  left: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}
  middle: {type: revolute, between: [a, b], at: [0.75, -0.66143782777, 0], axis: [0, 0, 1]}
  level: {type: point_on_line, frames: [rail, tip]}
frames:
  rail: {body: ground, position: [0, 0, 0], orientation: {z_axis: [1, 0, 0], x_axis: [0, 1, 0]}}
  tip: {body: b, at: [1.5, 0, 0]}
motions:
  pull: {type: translation, frames: [rail, tip], displacement: 1.5 + time}
simulation: {end: 0.7, tolerance: 1e-5, output_step: 0.1, least_step: 1e-7}
)";

// A parallelogram with a third crank: one row too many. `gap` is what the third crank is too far away.
std::string three_cranks(const std::string& gap) {
  return R"(trammel: 1
gravity: [0, -9.81, 0]
bodies:
  a: {kind: planar, mass: 1, inertia: 0.1, position: [0, -0.5], angle: -1.5707963267948966}
  b: {kind: planar, mass: 1, inertia: 0.1, position: [1, -0.5], angle: -1.5707963267948966}
  c: {kind: planar, mass: 1, inertia: 0.1, position: [2, -0.5], angle: -1.5707963267948966}
  bar: {kind: planar, mass: 1, inertia: 0.3, position: [1, -1], velocity: [1, 0]}
joints:
  a0: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}
  b0: {type: revolute, between: [ground, b], at: [1, 0, 0], axis: [0, 0, 1]}
  c0: {type: revolute, between: [ground, c], at: [2, 0, 0], axis: [0, 0, 1]}
  a1: {type: revolute, between: [a, bar], at: [0, -1, 0], axis: [0, 0, 1]}
  b1: {type: revolute, between: [b, bar], at: [1, -1, 0], axis: [0, 0, 1]}
  c1: {type: revolute, between: [c, bar], at: [[2, -1, 0], [)" +
         gap + R"(, -1, 0]], axis: [0, 0, 1]}
simulation: {end: 0.4, tolerance: 1e-5, output_step: 0.1}
)";
}

// A run with controlled steps, or with fixed ones where the method takes no others; nothing if it refuses the model.
std::optional<CellRun> run(const Cell& cell, const std::string& text) {
  Model model = read_model_text(text, "test.yaml");
  for (const bool fixed : {false, true}) {
    if (fixed) {
      model.simulation.tolerance.reset();
      model.simulation.step = 5e-3;
    }
    try {
      return run_cell(cell, model);
    } catch (const Failure& failure) {
      EXPECT_FALSE(failure.problems().empty());
    }
  }
  return std::nullopt;
}

bool is_soft(const Cell& cell) {
  MethodSettings settings;
  settings.formulation = cell.formulation;
  return holds_softly(settings);
}

class RuleContradiction : public testing::TestWithParam<Cell> {
 protected:
  // Stops after `from` and names the parts, or is soft and warns.
  static void expect_told(const char* text, double from, const std::vector<std::string>& parts) {
    const std::optional<CellRun> done = run(GetParam(), text);
    ASSERT_TRUE(done);
    std::string said;
    if (done->result.failure) {
      said = to_text(*done->result.failure);
      EXPECT_GT(done->result.failure->t, from) << said;
      EXPECT_GT(done->trajectory.rows(0), 4U) << "what was computed is kept";
    } else {
      EXPECT_EQ(GetParam().formulation, "index-1") << "residual " << done->result.summary.position_residual;
    }
    for (const Problem& warning : done->result.warnings)
      if (warning.id == "constraints-loose") said += warning.message;
    for (const std::string& part : parts) EXPECT_THAT(said, HasSubstr(part));
  }
  static void expect_runs(const std::string& text) {
    const std::optional<CellRun> done = run(GetParam(), text);
    if (!done) return;
    EXPECT_EQ(done->result.status, RunStatus::finished) << (done->result.failure ? to_text(*done->result.failure) : "");
    if (is_soft(GetParam())) return;
    for (const Problem& warning : done->result.warnings) EXPECT_NE(warning.id, "constraints-loose") << warning.message;
  }
};

TEST_P(RuleContradiction, MotionsThatPart) { expect_told(motions, 0.5, {"motion 'm1'", "motion 'm2'"}); }
TEST_P(RuleContradiction, AChainPulledPastItsReach) { expect_told(chain, 0.45, {"motion 'pull'"}); }
TEST_P(RuleContradiction, WhatIsRedundantAndFitsRuns) { expect_runs(three_cranks("2")); }
TEST_P(RuleContradiction, AMisfitThatWasReportedRuns) { expect_runs(three_cranks("2 + 1e-7")); }

INSTANTIATE_TEST_SUITE_P(Cells, RuleContradiction, testing::ValuesIn(cells_to_try()), name_of_cell);

}  // namespace
}  // namespace trammel::rule_contradiction_test
