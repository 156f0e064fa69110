// The place of a mechanism is of no consequence: the same one 1e6 m away takes the same steps, and moves the same as
// far as the round-off of its coordinates lets it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/conformance/cells.h"
#include "tests/conformance/scaled_model.h"

namespace trammel::rule_translation_test {
namespace {

class RuleTranslation : public testing::TestWithParam<Cell> {};

TEST_P(RuleTranslation, StepsAndMotionAreThoseAtTheOrigin) {
  const double far = 1e6, round_off = std::numeric_limits<double>::epsilon() * far;
  const CellRun here = run_cell(GetParam(), scaled_model({})),
                there = run_cell(GetParam(), scaled_model({1, 1, 1, far}));
  ASSERT_EQ(here.result.status, RunStatus::finished);
  ASSERT_EQ(there.result.status, RunStatus::finished);
  const double steps = static_cast<double>(here.result.summary.steps);
  EXPECT_NEAR(static_cast<double>(there.result.summary.steps), steps, 0.1 * steps + 2);
  ASSERT_EQ(here.trajectory.rows(0), there.trajectory.rows(0));
  for (const char* body : {"crank", "rod", "slider", "arm"}) {
    for (const char* axis : {"x", "y", "z"}) {
      const std::string name = std::string("body.") + body + ".position." + axis;
      const std::vector<double> a = here.trajectory.column(name), b = there.trajectory.column(name);
      // Round-off changes error estimates and so the steps a little, and the errors by what a few steps may make.
      for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_NEAR(b[i] - far, a[i], 1000 * round_off + 1e-4 * here.result.summary.length) << name << " in row " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RuleTranslation, testing::ValuesIn(cells_to_try()), name_of_cell);

}  // namespace
}  // namespace trammel::rule_translation_test
