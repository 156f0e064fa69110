// Parts of a run: stepping by hand gives what a run gives, and goes on from states that were set.
#include <gtest/gtest.h>

#include <limits>

#include "trammel/base/data_directory.h"
#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::legs_test {
namespace {

Model slider_crank(const ModelChanges& changes) {
  return load_model((data_directory() / "models/slider_crank.yaml").string(), changes);
}

RunResult go(Simulation& simulation, MemoryTrajectory& sink, const RunLeg& leg, bool first) {
  RunOptions options;
  options.leg = leg;
  options.continue_result = !first;
  return simulation.run(sink, options);
}

TEST(RunLegs, SingleStepsAreThoseOfTheRun) {
  const ModelChanges changes{.end = 0.2, .output_step = 0};
  Simulation whole(slider_crank(changes)), steps(slider_crank(changes));
  MemoryTrajectory a, b;
  const RunResult run = whole.run(a);
  for (long i = 0; i < run.summary.steps; ++i)
    ASSERT_EQ(go(steps, b, {.until = {}, .most_steps = 1, .step = {}}, i == 0).summary.steps, i + 1);
  EXPECT_EQ(a.column("body.slider.position.x"), b.column("body.slider.position.x"));
  EXPECT_EQ(a.column("solver.step_size"), b.column("solver.step_size"));
  EXPECT_EQ(steps.output_row().back(), b.row(0, b.rows(0) - 1).back());
}

TEST(RunLegs, APartEndsAtItsTimeAndDoesNotShortenTheNextStep) {
  Simulation whole(slider_crank({.end = 1.0})), parts(slider_crank({.end = 1.0}));
  MemoryTrajectory a, b;
  const long uncut = whole.run(a).summary.steps;
  RunResult last;
  for (int i = 1; i <= 20; ++i) {
    last = go(parts, b, {.until = i / 20.0, .most_steps = 0, .step = {}}, i == 1);
    ASSERT_DOUBLE_EQ(parts.integrator().state().t, i / 20.0);
  }
  EXPECT_EQ(a.rows(0), b.rows(0));
  EXPECT_LE(last.summary.steps, uncut + 40);
}

TEST(RunLegs, AFixedStepMayHaveAnotherSizeOnce) {
  Simulation simulation(slider_crank({.step = 1e-3}));
  MemoryTrajectory sink;
  go(simulation, sink, {.until = {}, .most_steps = 1, .step = {}}, true);
  go(simulation, sink, {.until = 1.5e-3, .most_steps = 0, .step = 5e-4}, false);
  EXPECT_DOUBLE_EQ(simulation.integrator().last_step(), 5e-4);
  go(simulation, sink, {.until = {}, .most_steps = 1, .step = {}}, false);
  EXPECT_DOUBLE_EQ(simulation.integrator().state().t, 2.5e-3);
}

TEST(RunLegs, AStateThatIsSetIsBroughtOntoTheConstraints) {
  Simulation simulation(slider_crank({}));
  MemoryTrajectory sink;
  go(simulation, sink, {.until = 0.1, .most_steps = 0, .step = {}}, true);
  State state = simulation.integrator().state();
  state.v.setConstant(1);
  const std::vector<StageReport> stages = simulation.change_state(state, true);
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_GT(stages[1].moved, 0.1);
  const Equations& equations = simulation.equations();
  Workspace work = equations.make_workspace();
  Vec gdot(equations.sizes().multipliers());
  equations.update(simulation.integrator().state(), work);
  equations.velocity_residual(simulation.integrator().state(), gdot, work);
  EXPECT_LT(gdot.lpNorm<Eigen::Infinity>(), 1e-9);
  EXPECT_EQ(go(simulation, sink, {.until = 0.2, .most_steps = 0, .step = {}}, false).status, RunStatus::finished);
}

// The failure of a state that is set, as its identifier and message; nothing may have moved.
std::string refusal(Simulation& simulation, const State& state, bool consistent) {
  const Vec q = simulation.integrator().state().q;
  try {
    simulation.change_state(state, consistent);
  } catch (const Failure& failure) {
    EXPECT_EQ(simulation.integrator().state().q, q);
    return failure.problems()[0].id + ": " + failure.problems()[0].message;
  }
  return "";
}

// All of these were taken: Newton's method for the constraints ended somewhere, and its residual was not looked at.
TEST(RunLegs, AStateThatIsNoneIsRefused) {
  Simulation simulation(slider_crank({}));
  simulation.start();
  const Equations& equations = simulation.equations();
  const int crank = 0, first = equations.first_coordinate(crank), speed = equations.first_velocity(crank);
  ASSERT_TRUE(equations.body(crank).rotation());
  const State good = simulation.integrator().state();
  for (const bool consistent : {false, true}) {
    State state = good;
    state.q[first + 2] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(refusal(simulation, state, consistent).find("not-finite: body '"), std::string::npos);
    state = good;
    state.v[speed + 4] = std::numeric_limits<double>::infinity();
    EXPECT_NE(refusal(simulation, state, consistent).find("rotation"), std::string::npos);
    state = good;
    state.q.segment<4>(first + 3) *= 1.1;
    EXPECT_NE(refusal(simulation, state, consistent).find("length 1.1"), std::string::npos);
  }
  State far = good;
  far.q[first] += 1e4;
  EXPECT_NE(refusal(simulation, far, true).find("loop-does-not-close"), std::string::npos);
  State rounded = good;
  rounded.q.segment<4>(first + 3) *= 1 + 1e-8;
  simulation.change_state(rounded, false);
  EXPECT_NEAR(simulation.integrator().state().q.segment<4>(first + 3).norm(), 1, 1e-15);
  simulation.change_state(good, false);
  EXPECT_EQ(simulation.integrator().state().q, good.q);
}

TEST(RunLegs, WithoutOutputsTheStepsAreTheSame) {
  Simulation kept(slider_crank({.end = 0.2})), dropped(slider_crank({.end = 0.2}));
  MemoryTrajectory a, b;
  go(kept, a, {.until = 0.1, .most_steps = 0, .step = {}}, true);
  go(dropped, b, {.until = 0.1, .most_steps = 0, .step = {}, .no_outputs = true}, true);
  EXPECT_EQ(b.rows(0), 0);
  EXPECT_EQ(a.rows(1), b.rows(1));
  EXPECT_EQ(kept.integrator().state().q, dropped.integrator().state().q);
  go(dropped, b, {.until = 0.2, .most_steps = 0, .step = {}}, false);
  ASSERT_GT(b.rows(0), 0);
  EXPECT_GT(b.value({0, 0}, 0), 0.1) << "those of the first part are not made up for";
}

}  // namespace
}  // namespace trammel::legs_test
