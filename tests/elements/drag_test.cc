// Drag against closed solutions: falling, coasting, blown by the wind.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/elements/run_text.h"

namespace trammel::drag_test {
namespace {

TEST(Drag, AFallReachesItsTerminalSpeedAsTanh) {
  const double g = 9.81, m = 0.5, rho = 1.225, c = 0.47, A = 0.02, end = std::sqrt(2 * m * g / (rho * c * A));
  const TextRun run(R"yaml(
gravity: [0, 0, -9.81]
bodies: {ball: {mass: 0.5, inertia: [1e-3, 2e-3, 2e-3], orientation: {axis: [1, 2, 3], angle: 1}}}
forces: {air: {type: drag, frames: [ground, ball], area: 0.02, coefficient: [0.47, 0.47, 0.47]}}
outputs: {z: dz(ball), speed: vz(ball)}
simulation: {end: 10, tolerance: 1e-8, output_step: 0.5}
)yaml");
  const std::vector<double> t = run.time(), z = run.column("z"), v = run.column("speed");
  for (std::size_t i = 0; i < t.size(); ++i) {
    EXPECT_NEAR(v[i], -end * std::tanh(g * t[i] / end), 2e-4) << t[i];
    EXPECT_NEAR(z[i], -end * end / g * std::log(std::cosh(g * t[i] / end)), 1e-3) << t[i];
  }
  EXPECT_LT(std::abs(run.result.summary.energy.imbalance()), 1e-4 * run.result.summary.energy.dissipated);
}

TEST(Drag, ABodyCoastsHyperbolically) {
  const double m = 2, v0 = 20, k = 0.5 * 1000 * 0.01 * 0.8;
  const TextRun run(R"yaml(
bodies: {hull: {kind: point, mass: 2, velocity: [12, 16, 0]}}
forces: {water: {type: drag, frames: [ground, hull], density: 1000, area: 0.01, coefficient: [0.8, 0.8, 0.8]}}
outputs: {speed: "hypot(vx(hull), vy(hull))"
}
simulation: {end: 2, tolerance: 1e-7, output_step: 0.1}
)yaml");
  const std::vector<double> t = run.time(), v = run.column("speed");
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_NEAR(v[i], v0 / (1 + k * v0 * t[i] / m), 1e-4 * v0) << t[i];
}

// From rest, the speed against a steady wind falls as that of a coasting body.
TEST(Drag, TheWindCarriesALeaf) {
  const double W = 5, m = 0.01, k = 0.5 * 1.225 * 0.01;
  const TextRun run(R"yaml(
bodies: {leaf: {kind: point, mass: 0.01}}
forces: {air: {type: drag, frames: [ground, leaf], area: 0.01, wind_x: 3, wind_y: 4}}
outputs: {speed: "hypot(vx(leaf), vy(leaf))"
}
simulation: {end: 3, tolerance: 1e-7, output_step: 0.1}
)yaml");
  const std::vector<double> t = run.time(), v = run.column("speed");
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_NEAR(v[i], W - W / (1 + k * W * t[i] / m), 1e-4 * W) << t[i];
  EXPECT_LT(std::abs(run.result.summary.energy.imbalance()), 1e-4 * run.result.summary.energy.external);
}

// Broadside a plate is braked more than edgewise: it drifts off the direction of flight.
TEST(Drag, DiffersAlongTheAxesOfTheBody) {
  const TextRun run(R"yaml(
bodies: {plate: {mass: 1, inertia: [1e6, 1e6, 1e6], velocity: [10, 0, 0], orientation: {axis: [0, 0, 1], angle: 45 deg}}}
forces: {air: {type: drag, frames: [ground, plate], area: 1, coefficient: [0.01, 1, 0.01]}}
simulation: {end: 0.001, tolerance: 1e-6, output_step: 0.001}
)yaml");
  // u = 10/sqrt(2) (1, -1) in the plate: f = -rho/2 |u| (0.01 u_x, u_y).
  const double scale = 0.5 * 1.225 * 10 * 10 / std::sqrt(2);
  EXPECT_NEAR(run.column("force.air.fx")[0], -0.01 * scale, 1e-9);
  EXPECT_NEAR(run.column("force.air.fy")[0], scale, 1e-9);
}

}  // namespace
}  // namespace trammel::drag_test
