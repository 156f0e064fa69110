// Pairs of sets that are near: the same motion as with all pairs, whatever the method; the same bits after a run was
// saved; and work that grows with the spheres, not with their pairs.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::pair_lists_test {
namespace {

// A heap of n x across x across spheres, a little apart and out of line, which falls into a trough of two planes.
Model heap(int n, int across, const std::string& settings) {
  std::ostringstream text;
  text << "trammel: 1\ngravity: [0, 0, -9.81]\nbodies:\n";
  int count = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < across; ++j)
      for (int k = 0; k < across; ++k) {
        const double a = 0.7 * ++count;
        text << "  ball_" << count << ": {mass: 4, inertia: [4e-3, 4e-3, 4e-3], position: ["
             << 0.115 * i + 0.005 * std::sin(a) << ", " << 0.115 * j + 0.005 * std::cos(2 * a) << ", "
             << 0.16 + 0.115 * k << "], velocity: [" << 0.3 * std::sin(5 * a) << ", " << 0.3 * std::cos(3 * a)
             << ", -0.5]}\n";
      }
  text << "frames:\n  left: {body: ground, orientation: {x_axis: [0, 1, 0], z_axis: [0.3, 0, 1]}}\n"
          "  right: {body: ground, position: ["
       << 0.115 * (n - 1)
       << ", 0, 0], orientation: {x_axis: [0, 1, 0], z_axis: [-0.3, 0, 1]}}\n"
          "contacts:\n  balls: {frames_a: ball_*, frames_b: ball_*, shape_a: sphere, radius_a: 0.05, shape_b: sphere, "
          "radius_b: 0.05, stiffness: 1e7, damping: 0.3, friction: 0.3}\n"
          "  trough: {frames_a: [left, right], frames_b: ball_*, shape_a: plane, shape_b: sphere, radius_b: 0.05, "
          "stiffness: 1e7, damping: 0.3, friction: 0.3}\n"
          "simulation: {"
       << settings << "}\n";
  return read_model_text(text.str(), "heap.yaml");
}

RunResult go(Simulation& simulation, const RunOptions& options = {}) {
  MemoryTrajectory nothing;
  RunResult result = simulation.run(nothing, options);
  EXPECT_NE(result.status, RunStatus::failed);
  return result;
}

class PairLists : public testing::TestWithParam<const char*> {};

TEST_P(PairLists, MoveAsAllPairsDo) {
  const std::string settings =
      "end: 0.05, greatest_step: 3e-4, tolerance: 1e-5, length: 0.2, method: " + std::string(GetParam());
  Simulation all(heap(8, 1, settings), Pairs::all), near(heap(8, 1, settings));
  ASSERT_FALSE(all.equations().lists_pairs());
  const RunSummary of_all = go(all).summary, of_near = go(near).summary;
  EXPECT_EQ(of_all.steps, of_near.steps);
  EXPECT_EQ(of_all.counts.newton_iterations, of_near.counts.newton_iterations);
  EXPECT_GT(of_near.pair_lists, 1);
  EXPECT_LT(of_near.mean_pairs_near, 0.9 * of_near.pairs);
  EXPECT_GT(near.integrator().state().v.norm(), 0.1);
  const Vec &q = all.integrator().state().q, &v = all.integrator().state().v;
  EXPECT_LT((near.integrator().state().q - q).lpNorm<Eigen::Infinity>(), 1e-11);
  EXPECT_LT((near.integrator().state().v - v).lpNorm<Eigen::Infinity>(), 1e-8);
}

TEST_P(PairLists, GoOnBitForBitFromASavedRun) {
  const std::string settings =
      "end: 0.04, greatest_step: 3e-4, tolerance: 1e-5, length: 0.2, method: " + std::string(GetParam());
  Simulation whole(heap(8, 1, settings)), again(heap(8, 1, settings));
  for (const long steps : {37, 6}) {  // within the life of a list, and of old derivatives
    RunOptions first;
    first.leg = RunLeg{};
    first.leg->most_steps = steps;
    go(whole, first);
  }
  again.restore(whole.save());
  EXPECT_EQ(again.equations().forces_in_play(), whole.equations().forces_in_play());
  RunOptions rest;
  rest.leg = RunLeg{};
  const RunSummary a = go(whole, rest).summary, b = go(again, rest).summary;
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.pair_lists, b.pair_lists);
  EXPECT_EQ(whole.integrator().state().q, again.integrator().state().q);
  EXPECT_EQ(whole.integrator().state().v, again.integrator().state().v);
}

INSTANTIATE_TEST_SUITE_P(Methods, PairLists,
                         testing::Values("hht-i3", "hht-si2", "bdf-i3", "bdf-si2", "generalized-alpha-i3",
                                         "radau-iia-3", "rosenbrock-nystrom-4", "split", "dormand-prince-54", "bdf"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

// Five times the spheres: as much more work, where their pairs are 28 times as many.
TEST(PairList, GrowsWithTheSpheres) {
  Equations small(heap(4, 4, "end: 1"), Pairs::near), large(heap(7, 7, "end: 1"), Pairs::near);
  const Equations all(heap(4, 4, "end: 1"));
  for (Equations* equations : {&small, &large}) equations->list_pairs(equations->initial_state().q, 0.03);
  EXPECT_EQ(small.pairs_in_sets(), 64 * 63 / 2 + 2 * 64);
  EXPECT_EQ(all.pairs_in_play(), all.pairs_in_sets());
  EXPECT_LT(small.pairs_in_play(), 0.15 * small.pairs_in_sets());
  const double pairs = static_cast<double>(large.pairs_in_play()) / small.pairs_in_play(),
               entries = static_cast<double>(large.vv().size()) / small.vv().size();
  EXPECT_LT(pairs, 7);
  EXPECT_LT(entries, 7);
  EXPECT_LT(small.vv().size(), 0.3 * all.vv().size());
}

// Whatever the list leaves out is open, wherever the spheres went since: no touching pair is missing while shapes have
// not come nearer than by the margin, and what is left out adds nothing.
TEST(PairList, MissesNothingThatTouches) {
  Equations near(heap(3, 3, "end: 1"), Pairs::near);
  const Equations all(heap(3, 3, "end: 1"));
  Workspace work = near.make_workspace();
  Residual a = all.make_residual(), b = a;
  State state = near.initial_state();
  Rates rates = near.make_rates();
  rates.a.setZero();
  const Vec start = state.q;
  near.list_pairs(start, 0.03);
  int looked_at = 0;
  for (int k = 1; k <= 40; ++k) {
    Vec delta = Vec::Zero(near.sizes().nv);
    for (int i = 0; i < delta.size(); ++i) delta[i] = 0.0004 * k * std::sin(0.37 * i * i + k);
    near.retract(start, delta, state.q);
    if (near.approached(state, work) > 0.03) continue;
    ++looked_at;
    all.residual(state, rates, everything, a, work);
    near.residual(state, rates, everything, b, work);
    ASSERT_EQ(a.force, b.force) << k;
  }
  EXPECT_GT(looked_at, 10);
  near.take_all_pairs();
  EXPECT_EQ(near.vv().row(), all.vv().row());
}

// Spheres that stand start a list that lasts; one that is thrown goes on with new ones and meets what was far away.
TEST(PairList, FollowsAFlight) {
  const char* const text = R"(
trammel: 1
bodies:
  thrown: {mass: 1, inertia: [1e-3, 1e-3, 1e-3], position: [0, 0, 0], velocity: [10, 0, 0]}
  ball_1: {mass: 1, inertia: [1e-3, 1e-3, 1e-3], position: [3, 0, 0]}
  ball_2: {mass: 1, inertia: [1e-3, 1e-3, 1e-3], position: [0, 3, 0]}
contacts:
  balls: {frames_a: thrown, frames_b: ball_*, shape_a: sphere, radius_a: 0.05, shape_b: sphere, radius_b: 0.05,
          stiffness: 1e7}
simulation: {end: 0.4, tolerance: 1e-8, length: 1, method: radau-iia-3}
)";
  Simulation simulation(read_model_text(text, "thrown.yaml"));
  go(simulation);
  EXPECT_NEAR(simulation.integrator().state().v[0], 0, 1e-5);
  EXPECT_NEAR(simulation.integrator().state().v[6], 10, 1e-5);
}

}  // namespace
}  // namespace trammel::pair_lists_test
