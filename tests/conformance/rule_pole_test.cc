// Rule: no method steps over a place at which the solution ends. A torque that grows with the speed it drives makes the
// speed infinite in finite time: every run stops there and names the force, and none goes on beyond it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

#include "tests/conformance/cells.h"
#include "trammel/read/read_model.h"

namespace trammel::rule_pole_test {
namespace {

using testing::HasSubstr;

std::string hinge(const std::string& torque, const std::string& speed) {
  return R"(trammel: 1
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0], angular_velocity: [0, 0, )" +
         speed + R"(]}}
joints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}
forces: {drive: {type: torque, joint: j, tz: ")" +
         torque + R"("}}
simulation: {end: 1, tolerance: 1e-5, output_step: 0.01}
)";
}

// The run stops, or throws the reason why it does not begin.
class RulePole : public testing::TestWithParam<Cell> {
 protected:
  static void expect_stopped(const std::string& text, double pole, bool fixed) {
    Model model = read_model_text(text, "test.yaml");
    if (fixed) {
      model.simulation.tolerance.reset();
      model.simulation.step = pole / 20;
    }
    std::optional<CellRun> done;
    try {
      done = run_cell(GetParam(), model);
    } catch (const Failure& failure) {
      EXPECT_FALSE(failure.problems().empty());
      return;
    }
    ASSERT_EQ(done->result.status, RunStatus::failed)
        << "energy imbalance " << done->result.summary.energy.largest_imbalance;
    ASSERT_TRUE(done->result.failure);
    const std::string said = to_text(*done->result.failure);
    // Methods that control the errors of positions only see the pole when it moves something.
    EXPECT_LT(done->result.summary.reached, 10 * pole) << said;
    EXPECT_THAT(said, HasSubstr("force 'drive'")) << said;
    EXPECT_TRUE(std::isfinite(done->result.summary.energy.kinetic));
  }
};

// w' = 10 exp(100 w): the pole is at 1e-3 s.
TEST_P(RulePole, ExponentialControlled) { expect_stopped(hinge("exp(100*rate)", "0"), 1e-3, false); }
TEST_P(RulePole, ExponentialFixed) { expect_stopped(hinge("exp(100*rate)", "0"), 1e-3, true); }
// w' = 10 w^2 from w = 1: the pole is at 0.1 s.
TEST_P(RulePole, SquareControlled) { expect_stopped(hinge("rate^2", "1"), 0.1, false); }
TEST_P(RulePole, SquareFixed) { expect_stopped(hinge("rate^2", "1"), 0.1, true); }

INSTANTIATE_TEST_SUITE_P(Cells, RulePole, testing::ValuesIn(cells_to_try()), name_of_cell);

}  // namespace
}  // namespace trammel::rule_pole_test
