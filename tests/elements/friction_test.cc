// Friction in joints against closed solutions: running down, stopping, creeping, sliding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/elements/run_text.h"

namespace trammel::friction_test {
namespace {

constexpr double pi = std::numbers::pi;

// I w' = -T tanh(r w/u_t): w = w0 - T t/I far above the slip speed; the whole way is I/T (w0^2/2 + (u_t/r)^2 pi^2/12).
TEST(JointFriction, AWheelRunsDownAndStops) {
  const double I = 0.4, w0 = 12, r = 0.05, mu = 0.3, N = 200, T = mu * N * r, slip = 0.02;
  const double time = I * w0 / T;
  const TextRun run(R"yaml(
bodies: {wheel: {mass: 1, inertia: [1, 1, 0.4], angular_velocity: [0, 0, 12]}}
joints: {axle: {type: revolute, between: [ground, wheel], at: [0, 0, 0]}}
forces:
  bearing: {type: joint_friction, joint: axle, radius: 0.05, load: 200, static_coefficient: 0.3, slip_speed: 0.02}
outputs: {turned: angle(axle), rate: rate(axle)}
simulation: {end: 3, tolerance: 1e-7, greatest_step: 0.01, output_step: 0.02}
)yaml");
  const std::vector<double> t = run.time(), rate = run.column("rate");
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i] < 0.75 * time) {
      EXPECT_NEAR(rate[i], w0 - T / I * t[i], 1e-4) << t[i];
    }
    if (t[i] > time + 1) {
      EXPECT_LT(std::abs(rate[i]), 1e-3);
    }
  }
  EXPECT_NEAR(run.last("turned"), I / T * (w0 * w0 / 2 + slip * slip / (r * r) * pi * pi / 12), 1e-3);
  const EnergyBook& book = run.result.summary.energy;
  EXPECT_NEAR(book.dissipated, I * w0 * w0 / 2, 1e-4 * book.dissipated);
}

TEST(JointFriction, ViscousFrictionIsExponential) {
  const double m = 3, v0 = 2, F = 1.5, c = 4;
  const TextRun run(R"yaml(
bodies: {block: {mass: 3, inertia: [1, 1, 1], velocity: [0, 0, 2]}}
joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0]}}
forces: {oil: {type: joint_friction, joint: rail, motion: translation, force: 1.5, viscous: 4}}
outputs: {speed: vz(rail)}
simulation: {end: 1, tolerance: 1e-9, output_step: 0.05}
)yaml");
  const std::vector<double> t = run.time(), v = run.column("speed");
  for (std::size_t i = 0; i < t.size(); ++i) {
    EXPECT_NEAR(v[i], (v0 + F / c) * std::exp(-c * t[i] / m) - F / c, 2e-5) << t[i];
  }
}

// A slope of angle alpha: below the angle of friction the block creeps, above it slides.
TEST(JointFriction, SticksOnASlopeAndSlidesOnASteeperOne) {
  const double mu = 0.4, g = 9.81, slip = 1e-3;
  const auto slope = [&](double alpha, double end) {
    return TextRun("parameters: {alpha: " + std::to_string(alpha) + R"yaml(}
gravity: [0, -9.81*cos(alpha), 9.81*sin(alpha)]
bodies: {block: {mass: 2, inertia: [1, 1, 1]}}
joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0]}}
forces:
  rub: {type: joint_friction, joint: rail, motion: translation, load: 2*9.81*cos(alpha), static_coefficient: 0.4}
outputs: {z: dz(rail), speed: vz(rail)}
simulation: {end: )yaml" +
                   std::to_string(end) + ", tolerance: 1e-8, output_step: 0.1}\n");
  };
  const double gentle = 0.3, steep = 0.6;
  EXPECT_NEAR(slope(gentle, 1).last("speed"), slip * std::atanh(std::tan(gentle) / mu), 1e-8);
  const double a = g * (std::sin(steep) - mu * std::cos(steep));
  EXPECT_NEAR(slope(steep, 1).last("speed"), a, 2e-3);
}

// A mass pulled by a spring at constant speed breaks away at static friction and overshoots below kinetic friction;
// the same equation by Runge and Kutta's method with small steps.
TEST(JointFriction, SticksAndSlipsAsAnotherMethodSays) {
  const TextRun run(R"yaml(
bodies: {block: {mass: 1, inertia: [1, 1, 1]}}
joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0]}}
forces:
  pull: {type: force, joint: rail, fz: "200*(0.05*time - dz)"}
  rub:
    type: joint_friction
    joint: rail
    motion: translation
    load: 10
    static_coefficient: 0.5
    kinetic_coefficient: 0.3
    stribeck_speed: 0.01
    slip_speed: 1e-3
outputs: {z: dz(rail)}
simulation: {end: 1, tolerance: 1e-8, output_step: 0.01}
)yaml");
  const std::vector<double> t = run.time(), z = run.column("z");
  const auto acceleration = [](double time, double x, double u) {
    const double bell = std::exp(-u * u / 1e-4);
    return 200 * (0.05 * time - x) - (3 + 2 * bell) * std::tanh(u / 1e-3);
  };
  const double h = 2e-5;
  double x = 0, u = 0, now = 0, most = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    while (now < t[i] - h / 2) {
      const double a1 = acceleration(now, x, u), u2 = u + h / 2 * a1;
      const double a2 = acceleration(now + h / 2, x + h / 2 * u, u2), u3 = u + h / 2 * a2;
      const double a3 = acceleration(now + h / 2, x + h / 2 * u2, u3), u4 = u + h * a3;
      const double a4 = acceleration(now + h, x + h * u3, u4);
      x += h / 6 * (u + 2 * u2 + 2 * u3 + u4);
      u += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
      now += h;
    }
    EXPECT_NEAR(z[i], x, 2e-5) << t[i];  // of 50 mm
    most = std::max(most, 200 * (0.05 * t[i] - z[i]));
  }
  EXPECT_GT(most, 5);  // breaks away above mu_s N
}

}  // namespace
}  // namespace trammel::friction_test
