// The track and the belt of the HHT paper, as they are made: the counts of the paper, and that they run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/belt.h"
#include "app/laid_path.h"
#include "app/track.h"
#include "trammel/base/data_directory.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::machines_test {
namespace {

RunSummary go(Simulation& simulation, MemoryTrajectory& out) {
  const RunResult result = simulation.run(out);
  EXPECT_EQ(result.status, RunStatus::finished);
  return result.summary;
}

TEST(Track, HasTheCountsOfThePaper) {
  const Equations equations(read_model_text(track_model({}), "track.yaml"), Pairs::near);
  EXPECT_EQ(equations.model().bodies.size(), 61U);
  EXPECT_EQ(equations.sizes().nv - equations.sizes().multipliers(), 61);
  EXPECT_EQ(equations.pairs_in_sets() + 45 + 15, 690);  // and stops between links, and guides
  EXPECT_LT(equations.pairs_in_play(), 200);
}

TEST(Track, TheSmallOneIsTheModelAmongTheExamples) {
  EXPECT_EQ(read_file_text((data_directory() / "models/track.yaml").string()), track_model(small_track()));
}

// It settles on the ground, and the sprocket then draws it along: by its teeth, and the ground creeps a little.
TEST(Track, TravelsByTheTeethOfItsSprocket) {
  const Track track = small_track();
  Model model = read_model_text(track_model(track), "track.yaml");
  model.simulation.end = 2.4;
  model.simulation.output_step = 0.1;
  Simulation simulation(std::move(model));
  MemoryTrajectory run;
  const RunSummary summary = go(simulation, run);
  const std::vector<double> x = run.column("body.frame.position.x");
  const double speed = (x.back() - x[x.size() - 6]) / 0.5;
  EXPECT_NEAR(speed, track.teeth * 0.25 * track.speed / (2 * std::numbers::pi), 0.03);
  EXPECT_LT(summary.mean_pairs_near, 0.9 * summary.pairs);
  EXPECT_GT(summary.pair_lists, 2);
}

TEST(Track, MovesAsWithAllPairs) {
  Model model = read_model_text(track_model(small_track()), "track.yaml");
  model.simulation.end = 0.1;
  Simulation near(model), all(model, Pairs::all);
  MemoryTrajectory a, b;
  EXPECT_EQ(go(near, a).steps, go(all, b).steps);
  EXPECT_LT((near.integrator().state().q - all.integrator().state().q).lpNorm<Eigen::Infinity>(), 1e-8);
}

// 400 elements of three components between 100 segments; laid so that it closes, and under its tension at rest.
TEST(Belt, IsLaidUnderTension) {
  const Model model = read_model_text(belt_model({}), "belt.yaml");
  const Equations equations(model, Pairs::near);
  EXPECT_EQ(std::count_if(model.forces.begin(), model.forces.end(), [](const Item& f) { return f.type == "bushing"; }),
            400);
  EXPECT_EQ(equations.sizes().nv, 630);
  EXPECT_EQ(equations.sizes().multipliers(), 25);
  EXPECT_LT(equations.pairs_in_play(), 0.5 * equations.pairs_in_sets());
  Workspace work = equations.make_workspace();
  const State state = equations.initial_state();
  equations.update(state, work);
  Vec3 of_four = Vec3::Zero();  // one behind the other
  int ties = 0;
  for (int i = 0; i < equations.force_count(); ++i) {
    if (model.forces[i].type != "bushing") continue;
    double wrench[6 * max_frames], observed[32];
    equations.observe_force(i, state, work, wrench, observed);
    of_four += Vec3(wrench[6], wrench[7], wrench[8]);
    if (++ties % 4 != 0) continue;
    EXPECT_NEAR(of_four.norm(), 350, 10) << ties;
    of_four.setZero();
  }
}

TEST(Belt, BeginsToRun) {
  Model model = read_model_text(belt_model({}), "belt.yaml");
  model.simulation.end = 5e-4;
  Simulation simulation(std::move(model));
  MemoryTrajectory run;
  go(simulation, run);
  EXPECT_GT(run.column("force.on_crank.touching").back(), 0);
}

TEST(LaidPath, GoesRoundCirclesOnBothSides) {
  // Two equal circles: straight parts as long as their distance, and two half circles.
  const LaidPath belt({{{0, 0}, 1}, {{3, 0}, 1}});
  EXPECT_NEAR(belt.length(), 6 + 2 * std::numbers::pi, 1e-12);
  // An eight: the path crosses between them.
  const LaidPath eight({{{0, 0}, 1}, {{4, 0}, -1}});
  const double cross = std::sqrt(12.0), turn = std::numbers::pi + 2 * std::asin(0.5);
  EXPECT_NEAR(eight.length(), 2 * cross + 2 * turn, 1e-12);
  const Chords chords = lay_chords(belt, 0.3, 0.1, 20);
  for (std::size_t i = 1; i < chords.nodes.size(); ++i)
    EXPECT_NEAR((chords.nodes[i] - chords.nodes[i - 1]).norm(), 0.1, 1e-12);
}

}  // namespace
}  // namespace trammel::machines_test
