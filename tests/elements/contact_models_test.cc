// The models of bodies in contact, against what is known of their motion.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "trammel/base/data_directory.h"
#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::contact_models_test {
namespace {

MemoryTrajectory run(const std::string& model, double end) {
  ModelChanges changes;
  changes.end = end;
  Simulation simulation(load_model((data_directory() / "models" / (model + ".yaml")).string(), changes));
  MemoryTrajectory trajectory;
  EXPECT_EQ(simulation.run(trajectory).status, RunStatus::finished);
  return trajectory;
}

// It stands on its head after two seconds (computed independently, with the classical Runge-Kutta method: the cosine of
// its lean is -0.9995 at 2.5 s, and Jellett's integral falls by 6e-4, because the contact lies inside the ball).
TEST(ContactModels, TheTippeTopTurnsOverAndKeepsJellettsIntegral) {
  const MemoryTrajectory top = run("tippe_top", 2.5);
  const std::vector<double> upright = top.column("upright"), jellett = top.column("jellett");
  EXPECT_NEAR(upright.front(), std::cos(0.1), 1e-12);
  EXPECT_LT(upright.back(), -0.95);
  for (const double value : jellett) EXPECT_NEAR(value, jellett.front(), 1e-3 * std::abs(jellett.front()));
}

// Each ball passes its speed on, but for what damping takes: 0.09825 m of 0.1 m, at 0.457 s (computed independently),
// while the others hang within half a millimetre of their places.
TEST(ContactModels, NewtonsCradlePassesItsSwingOn) {
  const MemoryTrajectory cradle = run("newtons_cradle", 0.9);
  const std::vector<double> time = cradle.time(0), first = cradle.column("first"), last = cradle.column("last");
  const auto at = std::max_element(last.begin(), last.end()) - last.begin();
  EXPECT_NEAR(first.front(), -0.1, 1e-6);
  EXPECT_NEAR(last[at], 0.09825, 5e-4);
  EXPECT_NEAR(time[at], 0.457, 0.006);
  EXPECT_LT(std::abs(first[at]), 1e-3);
}

// 5/7 of its speed from 2 v0/(7 mu g) on, after 12 v0^2/(49 mu g).
TEST(ContactModels, TheBallRollsAsSoonAsItShould) {
  const MemoryTrajectory ball = run("slip_to_roll", 0.6);
  const double g = 9.80665, mu = 0.2, v0 = 2, rolls = 2 * v0 / (7 * mu * g), v = 5 * v0 / 7;
  EXPECT_NEAR(ball.column("speed").back(), v, 1e-3);
  EXPECT_NEAR(ball.column("rim_speed").back(), v, 1e-3);
  EXPECT_NEAR(ball.column("distance").back(), 12 * v0 * v0 / (49 * mu * g) + v * (0.6 - rolls), 2e-3);
}

}  // namespace
}  // namespace trammel::contact_models_test
