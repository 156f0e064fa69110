// Stress that is watched over a run: a cantilever at rest under its load, and one on which the load is hung at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trammel/model/modal_data.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::stress_test {
namespace {

using testing::HasSubstr;

// 1 m of 20 mm by 10 mm, 10 N at the tip: at the root 10 N m, F L (h/2)/I = 30 MPa.
constexpr double at_rest = 10 * 0.005 / (0.02 * 1e-6 / 12);

Model cantilever(const std::string& more) {
  return read_model_text(R"yaml(trammel: 1
bodies:
  strip:
    kind: modal
    flexible:
      materials: {steel: {youngs_modulus: 210e9, poisson_ratio: 0.3, density: 7850}}
      sections: {flat: {type: rectangle, width: 0.02, height: 0.01}}
      nodes: {root: [0, 0, 0], tip: [1, 0, 0]}
      beams: [{nodes: [root, tip]}]
      element_length: 0.0625
      interfaces: [root, tip]
      normal_modes: 2
      stress: {hot_spots: 3}
frames: {end: {body: strip, node: tip}}
joints: {clamp: {type: fixed, between: [ground, strip], at: [0, 0, 0]}}
forces: {load: {type: force, frames: [ground, end], fz: -10}}
)yaml" + more,
                         "cantilever.yaml");
}

std::vector<HotSpot> hot_spots(Simulation& simulation, const RunOptions& options = {}) {
  MemoryTrajectory sink;
  return simulation.run(sink, options).summary.hot_spots;
}

TEST(Stress, OfACantileverAtRest) {
  Simulation simulation(
      cantilever("initial: {equilibrium: true}\nsimulation: {end: 0.01, method: radau-iia-3, tolerance: 1e-8}\n"));
  MemoryTrajectory sink;
  const RunResult result = simulation.run(sink);
  ASSERT_EQ(result.status, RunStatus::finished);
  const std::vector<HotSpot>& spots = result.summary.hot_spots;
  ASSERT_EQ(spots.size(), 2u);  // one beam has two ends
  EXPECT_EQ(spots[0].body, "strip");
  EXPECT_EQ(spots[0].place, "beam 'root' - 'tip', at 'root'");
  EXPECT_LT(spots[0].position.norm(), 1e-12);
  EXPECT_NEAR(spots[0].von_mises / at_rest, 1, 2e-3);
  // The farthest from the tip that is nearer to it than to the root.
  EXPECT_EQ(spots[1].place, "beam 'root' - 'tip', 0.438 m from 'tip'");
  EXPECT_NEAR(spots[1].von_mises / at_rest, 0.4375, 2e-3);
  EXPECT_THAT(to_text(result.summary), HasSubstr("MPa in body 'strip', beam 'root' - 'tip', at 'root'"));
  EXPECT_THAT(to_json(result.summary), HasSubstr("\"von_mises\""));
}

// In the first swing the moment at the root is 4/3.516 (1 - cos w_1 t) - 4/22.03 (1 - cos w_2 t) + ... of that at rest:
// about twice it, and a little more, after half a period of 8.35 Hz.
TEST(Stress, IsTheGreatestOfTheRunAndItsTime) {
  const std::string settings = "simulation: {end: 0.07, method: radau-iia-3, tolerance: 1e-7}\n";
  Simulation whole(cantilever(settings));
  const HotSpot spot = hot_spots(whole).at(0);
  EXPECT_EQ(spot.place, "beam 'root' - 'tip', at 'root'");
  EXPECT_GT(spot.von_mises, 1.8 * at_rest);
  EXPECT_LT(spot.von_mises, 2.8 * at_rest);
  EXPECT_GT(spot.t, 0.045);
  EXPECT_LT(spot.t, 0.07);
}

// What was seen before a run was saved is not forgotten.
TEST(Stress, GoesOnWithASavedRun) {
  const std::string settings = "simulation: {end: 0.13, method: radau-iia-3, tolerance: 1e-7}\n";
  Simulation early(cantilever(settings));
  RunOptions options;
  options.leg = RunLeg{};
  options.leg->until = 0.09;
  const HotSpot before = hot_spots(early, options).at(0);
  EXPECT_LT(before.t, 0.09);
  Simulation late(cantilever(settings));
  late.restore(early.save());
  // Back at the start of the swing it is slack.
  const HotSpot after = hot_spots(late).at(0);
  EXPECT_EQ(after.von_mises, before.von_mises);
  EXPECT_EQ(after.t, before.t);
}

TEST(Stress, IsNotWatchedUnlessAsked) {
  Model model = cantilever("simulation: {end: 0.001, method: radau-iia-3}\n");
  ModalData data = *model.bodies[0].modal;
  data.stress_points.clear();
  model.bodies[0].modal = std::make_shared<const ModalData>(std::move(data));
  Simulation simulation(std::move(model));
  EXPECT_TRUE(hot_spots(simulation).empty());
}

}  // namespace
}  // namespace trammel::stress_test
