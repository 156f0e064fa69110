// Stops: continuous, never pulling, the times of bounces in closed form, and the energy they take.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/elements/run_text.h"
#include "trammel/elements/build.h"
#include "trammel/elements/registry.h"

namespace trammel::stops_test {
namespace {

constexpr double pi = std::numbers::pi;

std::unique_ptr<Force> make_stop(double exponent, double damping) {
  Model model;
  model.add_body({});
  Fields fields;
  fields.set("lower", -0.1);
  fields.set("upper", 0.2);
  fields.set("stiffness", 1000.0);
  fields.set("exponent", exponent);
  fields.set("damping", damping);
  fields.set("depth", 0.01);
  add_force(model, "translational_stop", "sample", {model.add_frame(ground, {}), model.add_frame(0, {})}, fields);
  return find_element(Category::force, "translational_stop")->make_force(model.forces[0], {model});
}

double force_at(const Force& force, double z, double speed) {
  const FrameState frames[2] = {{Vec3::Zero(), Mat3::Identity(), Vec3::Zero(), Vec3::Zero()},
                                {Vec3(0, 0, z), Mat3::Identity(), Vec3(0, 0, speed), Vec3::Zero()}};
  double wrench[12];
  EXPECT_TRUE(force.evaluate({0, frames, nullptr}, wrench));
  return wrench[8];
}

TEST(Stops, FollowTheirLaw) {
  const auto stop = make_stop(1.5, 40);
  EXPECT_EQ(force_at(*stop, 0.1, 3), 0);
  EXPECT_NEAR(force_at(*stop, 0.21, 0), -1000 * 0.01, 1e-12);  // secant stiffness at the full depth
  EXPECT_NEAR(force_at(*stop, 0.2025, 0), -1000 * 0.0025 * std::sqrt(0.25), 1e-12);
  EXPECT_NEAR(force_at(*stop, 0.22, 0.1), -1000 * 0.02 * std::sqrt(2) - 40 * 0.1, 1e-12);
  EXPECT_NEAR(force_at(*stop, 0.205, 0.1), -1000 * 0.005 * std::sqrt(0.5) - 0.5 * 40 * 0.1, 1e-12);
  EXPECT_NEAR(force_at(*stop, -0.12, -0.1), 1000 * 0.02 * std::sqrt(2) + 40 * 0.1, 1e-12);
}

TEST(Stops, AreContinuousAndNeverPull) {
  for (const double exponent : {1.0, 1.5, 2.2}) {
    const auto stop = make_stop(exponent, 40);
    for (double speed = -3; speed < 3; speed += 0.25) {
      double before = 0;
      for (double z = 0.19; z < 0.23; z += 1e-5) {
        const double now = force_at(*stop, z, speed);
        EXPECT_LE(now, 0);
        EXPECT_LT(std::abs(now - before), 0.2) << z;  // the slope is bounded: no jump
        before = now;
      }
      for (double z = -0.13; z < -0.09; z += 1e-4) EXPECT_GE(force_at(*stop, z, speed), 0);
    }
  }
}

// A ball falls by H on a stop of exponent 1: in contact e = g/w^2 (1 - cos w t) + v/w sin w t, back at 0 after
// (2/w) (pi - atan(v w/g)).
TEST(Stops, ABallBouncesInClosedForm) {
  const double g = 9.81, H = 0.1, k = 1e5, m = 2;
  const double v = std::sqrt(2 * g * H), w = std::sqrt(k / m);
  const double period = 2 * v / g + 2 / w * (pi - std::atan(v * w / g));
  const TextRun run(R"yaml(
gravity: [0, 0, -9.81]
bodies: {ball: {mass: 2, inertia: [1, 1, 1], position: [0, 0, 0]}}
joints: {rail: {type: translational, between: [ground, ball], at: [0, 0, 0]}}
forces: {floor: {type: translational_stop, joint: rail, lower: -0.1, stiffness: 1e5}}
outputs: {z: dz(rail)}
simulation: {end: )yaml" +
                    std::to_string(5.05 * period) + ", tolerance: 1e-8, output_step: " + std::to_string(period / 4) +
                    "}\n");
  const std::vector<double> z = run.column("z"), t = run.time();
  ASSERT_GE(z.size(), 21u);
  for (std::size_t i = 0; i < z.size(); i += 4) EXPECT_NEAR(z[i], 0, 2e-4) << t[i];
  EXPECT_NEAR(z[2], -H - (g / w / w + std::hypot(g / w / w, v / w)), 2e-4);  // deepest, half a period on
}

// Free flight between stops that are 40 turns apart, half a swing of sqrt(I/k) in each.
TEST(Stops, AWheelTurnsBetweenStopsFarApart) {
  const double w0 = 100, range = 80 * pi, I = 0.5, k = 2000, period = 2 * range / w0 + 2 * pi * std::sqrt(I / k);
  const TextRun run(R"yaml(
bodies: {wheel: {mass: 1, inertia: [1, 1, 0.5], angular_velocity: [0, 0, 100]}}
joints: {axle: {type: revolute, between: [ground, wheel], at: [0, 0, 0]}}
forces: {stops: {type: rotational_stop, joint: axle, lower: -20*pi, upper: 60*pi, stiffness: 2000}}
outputs: {turned: angle(axle)}
simulation: {end: )yaml" +
                    std::to_string(2.01 * period) +
                    ", tolerance: 1e-7, greatest_step: 0.01, output_step: " + std::to_string(period) + "}\n");
  for (const double angle : run.column("turned")) EXPECT_NEAR(angle, 0, 0.05);  // of 251 rad between the stops
}

TEST(Stops, DampingTakesWhatItBooks) {
  const TextRun run(R"yaml(
gravity: [0, 0, -9.81]
bodies: {ball: {mass: 2, inertia: [1, 1, 1]}}
joints: {rail: {type: translational, between: [ground, ball], at: [0, 0, 0]}}
forces: {floor: {type: translational_stop, joint: rail, lower: -0.1, stiffness: 1e5, exponent: 1.5, damping: 100}}
simulation: {end: 1.5, tolerance: 1e-7, greatest_step: 2e-4, output_step: 0.01}
)yaml");
  const EnergyBook& book = run.result.summary.energy;
  EXPECT_GT(book.dissipated, 0.3);
  EXPECT_LT(std::abs(book.imbalance()), 2e-3 * book.dissipated);
}

// The method split, which chooses its steps by the stiffness of the step before, meets stops with small steps: a
// carriage and a wheel come back with the speed they had.
TEST(Stops, AreSeenComing) {
  for (const char* exponent : {"1", "1.5"}) {
    const TextRun run(R"yaml(
bodies:
  carriage: {mass: 1, inertia: [1, 1, 1], velocity: [0, 0, 1]}
  wheel: {mass: 1, inertia: [1, 1, 0.01], position: [1, 0, 0], angular_velocity: [0, 0, 10]}
joints:
  rail: {type: translational, between: [ground, carriage], at: [0, 0, 0]}
  axle: {type: revolute, between: [ground, wheel], at: [1, 0, 0]}
forces:
  end: {type: translational_stop, joint: rail, upper: 0.1, stiffness: 1e6, exponent: )yaml" +
                      std::string(exponent) + R"yaml(}
  peg: {type: rotational_stop, joint: axle, upper: 1.5, stiffness: 1e4, exponent: )yaml" +
                      exponent + R"yaml(}
outputs: {speed: vz(rail), turning: rate(axle)}
simulation:
  end: 0.2
  method: split
  options: {control: stability, bound: 0.02, epsilon: 0.05, beta: 0.5}
)yaml");
    EXPECT_NEAR(run.last("speed"), -1, 2e-3);
    EXPECT_NEAR(run.last("turning"), -10, 2e-2);
    EXPECT_LT(run.result.summary.counts.explicit_evaluations, 1000);
  }
}

// A force that sets in by an expression cannot be seen coming, so such steps are refused, by name.
TEST(Stops, ByExpressionAreNotSeenComing) {
  Simulation simulation(read_model_text(R"yaml(trammel: 1
bodies: {ball: {kind: point, mass: 1, velocity: [0, 0, -1]}}
forces: {floor: {type: force, between: [ground, ball], at: [[0, 0, 0], [0, 0, 0]], fz: "max(0, -1e6*(dz() + 0.1))"}}
simulation: {end: 0.2, method: split, options: {control: stability, bound: 0.02}}
)yaml",
                                        "test.yaml"));
  try {
    simulation.start({});
    FAIL() << "not refused";
  } catch (const Failure& failure) {
    EXPECT_NE(failure.problems()[0].message.find("'floor'"), std::string::npos);
  }
}

TEST(Stops, NeedALimit) {
  Model model;
  model.add_body({});
  const auto id_of = [&model](Fields fields) -> std::string {
    fields.set("stiffness", 1.0);
    model.forces.clear();
    add_force(model, "rotational_stop", "sample", {model.add_frame(ground, {}), model.add_frame(0, {})}, fields);
    try {
      find_element(Category::force, "rotational_stop")->make_force(model.forces[0], {model});
    } catch (const Failure& failure) {
      return failure.problems()[0].id;
    }
    return "";
  };
  Fields fields;
  EXPECT_EQ(id_of(fields), "missing-field");
  fields.set("lower", 1.0);
  EXPECT_EQ(id_of(fields), "");
  fields.set("upper", 0.5);
  EXPECT_EQ(id_of(fields), "conflict");
}

}  // namespace
}  // namespace trammel::stops_test
