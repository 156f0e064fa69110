// How many steps a method takes, and how many it throws away, where that once said that something was wrong with it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "trammel/ode/solve.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::steps_taken_test {
namespace {

RunSummary run(Model model, const char* method, const char* formulation, double tolerance) {
  model.simulation.method = method;
  model.simulation.formulation = formulation;
  model.simulation.options = {};
  model.simulation.step.reset();
  model.simulation.tolerance = tolerance;
  MemoryTrajectory trajectory;
  Simulation simulation(std::move(model));
  const RunResult result = simulation.run(trajectory);
  EXPECT_EQ(result.status, RunStatus::finished) << method << " on " << formulation;
  return result.summary;
}

Model model_file(const char* name) { return read_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + name); }

// The redundant row of the Bricard loop is another combination of the rest at every position. Its twin has none.
TEST(StepsTaken, RadauIgnoresARedundancyThatMoves) {
  for (const char* formulation : {"index-3", "stabilised-index-2"}) {
    const RunSummary loop = run(model_file("bricard.yaml"), "radau-iia-3", formulation, 1e-6),
                     twin = run(model_file("bricard_twin.yaml"), "radau-iia-3", formulation, 1e-6);
    EXPECT_LT(5 * loop.steps, 6 * twin.steps) << formulation;
    EXPECT_LE(loop.rejected_newton, twin.rejected_newton + 5) << formulation;
  }
}

class Pendulum final : public SecondOrderProblem {
 public:
  int freedoms() const override { return 1; }
  Eval acceleration(double, const Vec& y, const Vec&, Vec& a) override {
    a = -9.81 * y.array().sin().matrix();
    return Eval::ok;
  }
};

// Their own acceleration is that of another time, a part of a step away: it has to follow the step size. Then errors
// rise too fast for the steps only where the motion makes them, about 2.5 times in each quarter of a period, 15 in all,
// at any tolerance; otherwise ever more often as the tolerance falls, 40, 200 and 1000 times here.
TEST(StepsTaken, AlphaMethodsRejectFewOnSmoothMotions) {
  for (const char* method : {"hht", "generalized-alpha"}) {
    for (const double tolerance : {1e-4, 1e-5, 1e-6}) {
      Pendulum pendulum;
      Vec start(2);
      start << 2, 0;
      SolveOptions options;
      options.tolerance = tolerance;
      const SolveResult result = solve(pendulum, method, 0, start, 10, options);
      EXPECT_EQ(result.status, SolveStatus::finished);
      EXPECT_LT(result.rejected, 50) << method << " at " << tolerance;
    }
    const RunSummary swings = run(model_file("rn_double_pendulum.yaml"), method, "state-space", 1e-5);
    EXPECT_LT(swings.rejected_error, 0.05 * static_cast<double>(swings.steps)) << method;
  }
}

// Orders above 2 let vibrations grow that nothing damps; order 2 does not.
TEST(StepsTaken, BdfKeepsToOrderTwoWhereVibrationsAreUndamped) {
  Model beams = model_file("cantilever_beams.yaml");
  for (Item& force : beams.forces) force.fields.set("damping_ratio", 0.0);
  beams.simulation.end = 0.05;
  // 411 and 916; with orders up to 5 throughout 18,737 and 22,279
  EXPECT_LT(run(beams, "bdf-si2", "stabilised-index-2", 1e-5).steps, 1000);
  EXPECT_LT(run(beams, "bdf", "state-space", 1e-5).steps, 2000);
}

// On smooth motions they keep their orders: order 2 alone needs 650 steps here.
TEST(StepsTaken, BdfKeepsItsOrdersOnSmoothMotions) {
  EXPECT_LT(run(model_file("slider_crank.yaml"), "bdf-i3", "index-3", 1e-5).steps, 400);
}

// A chart that turned with the top only now and then made 1717 and 1910 of them.
TEST(StepsTaken, BdfDoesNotChangeTheChartOfATopToAndFro) {
  EXPECT_LT(run(model_file("heavy_top.yaml"), "bdf-i3", "index-3", 1e-5).steps, 1000);
  EXPECT_LT(run(model_file("heavy_top.yaml"), "bdf", "state-space", 1e-5).steps, 1400);
}

// Newton's method contracts slowly where a step reaches over a singular position. Steps that become ever smaller
// because of that end in it.
TEST(StepsTaken, RadauStepsOverTheSingularPositionsOfALadder) {
  for (const double tolerance : {1e-6, 1e-7, 1e-8}) {
    const RunSummary ladder = run(model_file("iftomm_a02_nfourbar_N2.yaml"), "radau-iia-3", "index-3", tolerance);
    EXPECT_LT(ladder.steps, 3000) << tolerance;
  }
}

}  // namespace
}  // namespace trammel::steps_taken_test
