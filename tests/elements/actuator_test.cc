// Actuators: saturation in closed form, limits that depend on speed, what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/elements/run_text.h"

namespace trammel::actuator_test {
namespace {

std::string rotor(const std::string& drive, const std::string& simulation) {
  return R"yaml(
bodies: {rotor: {mass: 1, inertia: [1, 1, 0.2]}}
joints: {axle: {type: revolute, between: [ground, rotor], at: [0, 0, 0]}}
forces: {drive: {type: rotational_actuator, joint: axle, )yaml" +
         drive + "}}\noutputs: {rate: rate(axle)}\nsimulation: " + simulation + "\n";
}

// I w' = min(T, k (W - w)): uniform up to w = W - T/k, then exponential.
TEST(Actuator, HardLimitsMakeTwoPhases) {
  const double I = 0.2, T = 5, k = 2, W = 20, knee = W - T / k, when = I * knee / T;
  const TextRun run(
      rotor("torque: 2*(20 - rate), limit: 5, saturation: hard", "{end: 2, tolerance: 1e-8, output_step: 0.05}"));
  const std::vector<double> t = run.time(), w = run.column("rate"), torque = run.column("force.drive.torque");
  for (std::size_t i = 0; i < t.size(); ++i) {
    const double expected = t[i] < when ? T / I * t[i] : W - (W - knee) * std::exp(-k * (t[i] - when) / I);
    EXPECT_NEAR(w[i], expected, 1e-4) << t[i];
    EXPECT_LE(torque[i], T);
  }
}

// A motor whose limit falls linearly with speed: w = W (1 - exp(-T t/(I W))).
TEST(Actuator, SpeedDependentLimitsAreAMotorsCurve) {
  const double I = 0.2, T = 5, W = 40;
  const TextRun run(rotor("torque: 1000, limit: \"5*max(0, 1 - rate/40)\", saturation: hard",
                          "{end: 2, tolerance: 1e-8, output_step: 0.1}"));
  const std::vector<double> t = run.time(), w = run.column("rate");
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_NEAR(w[i], W * (1 - std::exp(-T * t[i] / (I * W))), 1e-4) << t[i];
}

TEST(Actuator, SmoothSaturationStaysInsideAndNearTheCommand) {
  const TextRun run(R"yaml(
bodies: {block: {mass: 1e9, inertia: [1, 1, 1]}}
joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0]}}
forces:
  both: {type: translational_actuator, joint: rail, force: "40*sin(time)", limit: 10}
  one: {type: translational_actuator, joint: rail, force: "40*sin(time)", limit: 30, lower_limit: -10}
  free: {type: translational_actuator, joint: rail, force: "40*sin(time)"}
outputs: {command: "40*sin(time)"}
simulation: {end: 6.3, step: 0.01, output_step: 0.01}
)yaml");
  const std::vector<double> u = run.column("command"), f = run.column("force.both.force"),
                            g = run.column("force.one.force"), free = run.column("force.free.force");
  for (std::size_t i = 0; i < u.size(); ++i) {
    EXPECT_LT(std::abs(f[i]), 10);
    EXPECT_GT(g[i], -10);
    EXPECT_LT(g[i], 30);
    EXPECT_EQ(free[i], u[i]);
    if (std::abs(u[i]) < 5) {
      EXPECT_NEAR(f[i], u[i], 0.016 * std::abs(u[i]) + 1e-12);
    }
    if (std::abs(u[i]) > 30) {
      EXPECT_NEAR(f[i], std::copysign(10, u[i]), 0.04);
    }
    if (u[i] > 0 && u[i] < 20) {
      EXPECT_NEAR(g[i], u[i], 0.02 * 20);
    }
  }
}

TEST(Actuator, RefusesWhatItCannotMean) {
  const auto id_of = [](const std::string& drive) -> std::string {
    try {
      Simulation simulation(read_model_text("trammel: 1" + rotor(drive, "{end: 1}"), "test.yaml"));
    } catch (const Failure& failure) {
      return failure.problems()[0].id;
    }
    return "";
  };
  EXPECT_EQ(id_of("torque: 1"), "");
  EXPECT_EQ(id_of("limit: 1"), "missing-key");
  EXPECT_EQ(id_of("torque: 1, lower_limit: -1"), "missing-field");
  EXPECT_EQ(id_of("torque: 1, limit: 2, saturation: soft"), "unknown-value");
}

}  // namespace
}  // namespace trammel::actuator_test
