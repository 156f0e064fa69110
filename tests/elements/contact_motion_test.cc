// Bodies in contact against closed forms, the balance of energy, and methods of several families against each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "tests/elements/run_text.h"

namespace trammel::contact_motion_test {
namespace {

std::string text(double x) {
  std::ostringstream out;
  out.precision(17);
  out << x;
  return out.str();
}

double relative_imbalance(const TextRun& run) {
  const EnergyBook& book = run.result.summary.energy;
  return book.largest_imbalance / book.exchanged();
}

// ---- Hertz
// -----------------------------------------------------------------------------------------------------------

// A ball of radius 50 mm meets a floor at the speed of a fall from 1 m, E* = 1e8 Pa, with its weight. Quadrature to 30
// digits: 0.00648087450031307 m deep, 0.00430048924508427 s long.
TEST(Contact, HertzImpactIsAsDeepAndLongAsItShould) {
  const TextRun run(R"(
gravity: [0, 0, -9.81]
bodies:
  ball: {mass: 4.084070449666731, inertia: [0.0041, 0.0041, 0.0041], position: [0, 0, 0.051], velocity: [0, 0, -4.427231640653107]}
forces:
  floor: {type: contact, frames: [ground, ball], shape_a: plane, shape_b: sphere, radius_b: 0.05,
          modulus_a: 2e8, modulus_b: 2e8, poisson_a: 0, poisson_b: 0}
simulation: {end: 5 ms, method: radau-iia-3, tolerance: 1e-9, events: located, length: 0.01, output_step: 5e-6}
)");
  const std::vector<double> depth = run.column("force.floor.penetration"), events = run.trajectory.time(2);
  // speed at the floor: sqrt(2 g 1 m) = 4.42944691807; it begins 1 mm above
  EXPECT_NEAR(*std::max_element(depth.begin(), depth.end()), 0.00648087450031307, 1e-7);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_NEAR(events[1] - events[0], 0.00430048924508427, 1e-8);
  const std::vector<double> force = run.column("force.floor.normal_force");
  EXPECT_NEAR(*std::max_element(force.begin(), force.end()), 15555.1483073400623, 0.3);
  EXPECT_LT(relative_imbalance(run), 1e-6);
}

// A ball in a hollow ball of nearly the same size is softer in approach but stiffer in force: K grows with sqrt(R_eff).
TEST(Contact, StiffnessIsHertzsForTheShapesOfBothSides) {
  const auto load_at_10_um = [](const std::string& shapes, double height) {
    const TextRun run("bodies: {ball: {mass: 1, inertia: [1, 1, 1], position: [0, 0, " + text(height) +
                      "]}}\nforces: {c: {type: contact, frames: [ground, ball], shape_b: sphere, radius_b: 0.01, " +
                      shapes + "}}\nsimulation: {end: 1e-9, output_step: 1e-9}\n");
    return run.column("force.c.normal_force")[0];
  };
  const double E = 206e9 / (2 * (1 - 0.09)), e = 1e-5;
  const auto sphere = [&](double R) { return 4.0 / 3 * E * std::sqrt(R) * std::pow(e, 1.5); };
  const auto near = [](double found, double expected) { EXPECT_NEAR(found, expected, 1e-9 * expected); };
  near(load_at_10_um("shape_a: plane", 0.01 - e), sphere(0.01));
  near(load_at_10_um("shape_a: sphere, radius_a: 0.03", 0.04 - e), sphere(0.01 * 0.03 / 0.04));
  near(load_at_10_um("shape_a: hollow_sphere, radius_a: 0.03", 0.02 + e), sphere(0.01 * 0.03 / 0.02));
}

// ---- friction
// --------------------------------------------------------------------------------------------------------

// It rolls from 2 v0/(7 mu g) on, after 12 v0^2/(49 mu g), with 5/7 v0. With m v + 2/5 m R w about the contact place
// conserved; the place lies half the depth, 5e-8 m, inside.
TEST(Contact, ABallSlipsAndThenRolls) {
  const double g = 9.81, mu = 0.2, v0 = 2, end = 0.6;
  const TextRun run(R"(
gravity: [0, 0, -9.81]
bodies:
  ball: {mass: 1, inertia: [4e-3, 4e-3, 4e-3], position: [0, 0, 0.0999999], velocity: [2, 0, 0]}
forces:
  table: {type: contact, frames: [ground, ball], shape_a: plane, shape_b: sphere, radius_b: 0.1,
          load: 9.81, depth: 1e-7, friction: 0.2, slip_speed: 2e-4, damping: 100}
outputs: {v: vx(ball), x: dx(ball), w: wy(ball)}
simulation: {end: 0.6, tolerance: 1e-8, output_step: 0.01}
)");
  const double rolls = 2 * v0 / (7 * mu * g), way = 12 * v0 * v0 / (49 * mu * g), v = 5 * v0 / 7;
  EXPECT_NEAR(run.last("v"), v, 1e-5);
  EXPECT_NEAR(run.last("w") * 0.1, v, 1e-5);
  EXPECT_NEAR(run.last("x"), way + v * (end - rolls), 1e-4);
  const std::vector<double> time = run.time(), speed = run.column("v");
  for (std::size_t i = 0; i < time.size(); ++i)
    EXPECT_NEAR(speed[i], time[i] < rolls ? v0 - mu * g * time[i] : v, 1e-3) << time[i];
  EXPECT_NEAR(run.result.summary.energy.dissipated, v0 * v0 / 2 * 2 / 7, 1e-4);
}

// Below tan = mu it creeps with v_s atanh(tan/mu), above it slides with g (sin - mu cos).
TEST(Contact, ABoxSlidesFromTheAngleOfFrictionOn) {
  const auto slide = [](double tangent) {
    const double angle = std::atan(tangent);
    const TextRun run("gravity: [" + text(9.81 * std::sin(angle)) + ", 0, " + text(-9.81 * std::cos(angle)) + R"(]
bodies:
  box: {mass: 2, inertia: [2e-3, 5e-3, 6e-3], position: [0, 0, 0.02999]}
forces:
  slope: {type: contact, frames: [ground, box], shape_a: plane, shape_b: box, size_b: [0.2, 0.1, 0.06], rounding_b: 5 mm,
          load: 5, depth: 1e-5, damping: 50, friction: 0.3, slip_speed: 1e-3}
outputs: {v: vx(box), x: dx(box), y: dy(box)}
simulation: {end: 1, tolerance: 1e-7, output_step: 0.1, length: 0.1}
)");
    EXPECT_LT(std::abs(run.last("y")), 1e-9);
    return run.last("v");
  };
  EXPECT_NEAR(slide(0.27), 1e-3 * std::atanh(0.9), 1e-6);
  EXPECT_NEAR(slide(0.29), 1e-3 * std::atanh(0.29 / 0.3), 1e-6);
  const double angle = std::atan(0.4);
  EXPECT_NEAR(slide(0.4), 9.81 * (std::sin(angle) - 0.3 * std::cos(angle)), 5e-3);
}

// A solid cylinder lying on a slope rolls with 2/3 g sin; a ball on one with 5/7.
TEST(Contact, ACylinderAndABallRollDownASlope) {
  const auto roll = [](const std::string& body, const std::string& shape) {
    const TextRun run(
        "gravity: [2, 0, -9]\nbodies: {b: {" + body +
        ", position: [0, 0, 0.0999999]}}\nforces: {slope: {type: contact, frames: [ground, b], shape_a: plane, " +
        shape + R"(, load: 9, depth: 1e-7, damping: 100, friction: 0.9, slip_speed: 1e-3}}
outputs: {v: vx(b)}
simulation: {end: 0.5, tolerance: 1e-7, output_step: 0.1}
)");
    return run.last("v") / 0.5;
  };
  EXPECT_NEAR(roll("mass: 1, inertia: [0.004, 0.004, 0.004]", "shape_b: sphere, radius_b: 0.1"), 2 * 5.0 / 7, 2e-3);
  EXPECT_NEAR(roll("mass: 1, inertia: [0.01, 0.01, 0.005], orientation: {axis: [1, 0, 0], angle: 90 deg}",
                   "shape_b: cylinder, radius_b: 0.1, length_b: 0.3, rounding_b: 5 mm"),
              2 * 2.0 / 3, 2e-3);
}

// A ball rolling to and fro in a hollow cylinder: period 2 pi sqrt(7 (R - r)/(5 g)), times 1 + amplitude^2/16. After
// five quarters it passes the middle.
TEST(Contact, ABallSwingsInAHollowCylinder) {
  const double r = 0.1, R = 0.5, amplitude = 0.05, period = 2 * std::numbers::pi * std::sqrt(7 * (R - r) / (5 * 9.81));
  const std::string end = text(1.25 * period * (1 + amplitude * amplitude / 16));
  const TextRun run(R"(
gravity: [0, -9.81, 0]
bodies:
  ball: {mass: 1, inertia: [4e-3, 4e-3, 4e-3], position: [)" +
                    text((R - r) * std::sin(amplitude)) + ", " + text(-(R - r) * std::cos(amplitude)) + R"(, 0]}
forces:
  bowl: {type: contact, frames: [ball, ground], shape_a: sphere, radius_a: 0.1, shape_b: hollow_cylinder, radius_b: 0.5,
         load: 9.81, depth: 1e-6, damping: 100, friction: 0.5, slip_speed: 1e-4}
outputs: {x: dx(ball)}
simulation: {tolerance: 1e-8, end: )" +
                    end + ", output_step: " + end + "}\n");
  EXPECT_NEAR(run.time().back(), 1.25 * period, 1e-3);
  EXPECT_LT(std::abs(run.last("x")), 2e-3 * (R - r) * amplitude);  // 3e-4 of the period
}

// ---- two balls
// -------------------------------------------------------------------------------------------------------

// A rolling ball meets one at rest: it stops at once but keeps its spin, which drives it on, to 2/7 of its speed; the
// other slides and then rolls with 5/7 of it.
TEST(Contact, BilliardBallsShareTheSpeedOfARollingOne) {
  const TextRun run(R"(
gravity: [0, 0, -9.81]
bodies:
  cue: {mass: 0.17, inertia: [5.5624e-5, 5.5624e-5, 5.5624e-5], position: [0, 0, 0.02859999], velocity: [1, 0, 0], angular_velocity: [0, 34.965034965, 0]}
  ball: {mass: 0.17, inertia: [5.5624e-5, 5.5624e-5, 5.5624e-5], position: [0.06, 0, 0.02859999]}
forces:
  table_1: {type: contact, frames: [ground, cue], shape_a: plane, shape_b: sphere, radius_b: 28.6 mm,
            load: 1.6677, depth: 1e-8, damping: 100, friction: 0.2, slip_speed: 1e-3}
  table_2: {type: contact, frames: [ground, ball], shape_a: plane, shape_b: sphere, radius_b: 28.6 mm,
            load: 1.6677, depth: 1e-8, damping: 100, friction: 0.2, slip_speed: 1e-3}
  clack: {type: contact, frames: [cue, ball], shape_a: sphere, radius_a: 28.6 mm, shape_b: sphere, radius_b: 28.6 mm}
outputs: {cue_v: vx(cue), ball_v: vx(ball), cue_y: dy(cue)}
simulation: {end: 0.4, tolerance: 1e-8, method: radau-iia-3, output_step: 0.01}
)");
  EXPECT_NEAR(run.last("cue_v"), 2.0 / 7, 3e-3);
  EXPECT_NEAR(run.last("ball_v"), 5.0 / 7, 3e-3);
  EXPECT_LT(std::abs(run.last("cue_y")), 1e-12);
}

// Struck off-centre with friction, it is thrown: sliding all through the impact, the impulse along the surface is mu
// times the normal one, J = m v cos, and spins both balls the same way, each with 5/2 mu J/(m R). It slides as long as
// 7 mu < tan. The normal turns by 4e-4 during the impact.
TEST(Contact, AnObliqueImpactThrowsAndSpins) {
  const double angle = 0.6, mu = 0.05, R = 0.03, m = 0.2, v = 2;
  const TextRun run(R"(
bodies:
  one: {mass: 0.2, inertia: [7.2e-5, 7.2e-5, 7.2e-5], position: [-0.0001, 0, 0], velocity: [)" +
                    text(v * std::cos(angle)) + ", " + text(v * std::sin(angle)) + R"(, 0]}
  two: {mass: 0.2, inertia: [7.2e-5, 7.2e-5, 7.2e-5], position: [0.06, )" +
                    text(1e-4 * std::tan(angle)) + R"(, 0]}
forces:
  clack: {type: contact, frames: [one, two], shape_a: sphere, radius_a: 0.03, shape_b: sphere, radius_b: 0.03,
          stiffness: 1e12, friction: 0.05, slip_speed: 1e-4}
outputs: {x1: vx(one), y1: vy(one), x2: vx(two), y2: vy(two), w1: wz(one), w2: wz(two)}
simulation: {end: 2e-4, tolerance: 1e-9, method: radau-iia-3, length: 1e-3}
)");
  const double normal = v * std::cos(angle), along = mu * normal, spin = 2.5 * along / R;
  EXPECT_NEAR(run.last("x1"), 0, 1e-3);
  EXPECT_NEAR(run.last("x2"), normal, 1e-3);
  EXPECT_NEAR(run.last("y2"), along, 1e-3);
  EXPECT_NEAR(run.last("y1"), v * std::sin(angle) - along, 1e-3);
  EXPECT_NEAR(run.last("w1"), -spin, 0.02 * spin);
  EXPECT_NEAR(run.last("w2"), -spin, 0.02 * spin);
  // momentum, and angular momentum about the origin
  EXPECT_NEAR(run.last("x1") + run.last("x2"), normal, 1e-9);
  EXPECT_NEAR(run.last("y1") + run.last("y2"), v * std::sin(angle), 1e-9);
  const auto at = [&](const char* name) { return run.last(name); };
  const double before = m * (-1e-4 * v * std::sin(angle) - 0 * v);
  const double after = m * (at("body.one.position.x") * at("y1") - at("body.one.position.y") * at("x1") +
                            at("body.two.position.x") * at("y2") - at("body.two.position.y") * at("x2")) +
                       7.2e-5 * (at("w1") + at("w2"));
  EXPECT_NEAR(after, before, 1e-9);
}

// ---- energy and methods
// ----------------------------------------------------------------------------------------------

const char* const thrown = R"(
gravity: [0, 0, -9.81]
bodies:
  ball: {mass: 0.5, inertia: [5e-4, 6e-4, 7e-4], position: [0, 0, 0.3], velocity: [1, 0.3, 0], angular_velocity: [3, -10, 5]}
forces:
  floor: {type: contact, frames: [ground, ball], shape_a: plane, shape_b: disc, radius_b: 0.08, rounding_b: 0.02,
          load: 500, depth: 5 mm, damping: 0.3, friction: 0.4, slip_speed: 0.05}
outputs: {x: dx(ball), z: dz(ball), v: vx(ball), u: vz(ball)}
)";

TEST(Contact, BalancesItsEnergyWithFrictionAndDamping) {
  const TextRun run(std::string(thrown) +
                    "simulation: {end: 0.6, method: radau-iia-3, tolerance: 1e-10, greatest_step: 0.005}\n");
  EXPECT_GT(run.result.summary.energy.dissipated, 0.1);
  EXPECT_LT(relative_imbalance(run), 1e-6);
}

// Methods that test positions only pass a short impact in too few steps, and it is said which.
TEST(Contact, WarnsOfImpactsThatATestOfPositionsHardlySees) {
  const auto warned = [](const std::string& method, double tolerance) {
    const TextRun run(R"(
gravity: [0, 0, -9.81]
bodies: {ball: {mass: 4, inertia: [0.004, 0.004, 0.004], position: [0, 0, 0.35]}}
forces: {floor: {type: contact, frames: [ground, ball], shape_a: plane, shape_b: sphere, radius_b: 0.05, stiffness: 3e7}}
simulation: {end: 0.4, length: 1, greatest_step: 0.02, method: )" +
                      method + ", tolerance: " + text(tolerance) + "}\n");
    const std::vector<Problem>& all = run.result.warnings;
    return std::any_of(all.begin(), all.end(), [](const Problem& problem) {
      return problem.id == "shallow-impacts" && problem.message.find("'floor'") != std::string::npos;
    });
  };
  EXPECT_TRUE(warned("hht-i3", 3e-5));  // 4 mm are 130 of it
  EXPECT_FALSE(warned("hht-i3", 1e-6));
  EXPECT_FALSE(warned("radau-iia-3", 3e-5));
}

// A ball falls 0.3 m, meets the floor at 2.4 m/s, is damped, and rises 0.22 m. Control by the error of a step that sees
// the force once took it 1.5 m up.
TEST(Contact, SplittingGainsNothingAtAnImpact) {
  for (const std::string control : {"error", "stability"}) {
    const TextRun run(R"(
gravity: [0, 0, -9.81]
bodies: {ball: {mass: 4.084, inertia: [0.004, 0.004, 0.004], position: [0, 0, 0.35]}}
forces: {floor: {type: contact, frames: [ground, ball], shape_a: plane, shape_b: sphere, radius_b: 0.05, stiffness: 2.98e7, damping: 0.1}}
outputs: {z: dz(ball)}
simulation: {end: 1, length: 1, tolerance: 1e-5, output_step: 0.005, method: split, options: {control: )" +
                      control + ", bound: 0.02}}\n");
    const std::vector<double> z = run.column("z"), time = run.time();
    double top = 0;
    for (std::size_t i = 0; i < z.size(); ++i)
      if (time[i] > 0.3) top = std::max(top, z[i]);
    EXPECT_LT(top, 0.3) << control;
    EXPECT_GT(top, 0.2) << control;
  }
}

// Forces are evaluated side by side and summed in their order.
TEST(Contact, GivesTheSameBitsWithTwoThreads) {
  const auto path = [](const char* threads) {
    return TextRun(std::string(thrown) +
                   "simulation: {end: 0.3, method: split, tolerance: 1e-4, output_step: 0.01, options: {threads: " +
                   threads + "}}\n");
  };
  const TextRun one = path("1"), two = path("2");
  for (const char* signal : {"x", "z", "v", "u", "force.floor.penetration"})
    EXPECT_EQ(one.column(signal), two.column(signal)) << signal;
}

// Saved in flight and while the disc touches, and continued in another simulation.
TEST(Contact, AContinuedRunGivesTheSameBits) {
  const std::string model =
      "trammel: 1\n" + std::string(thrown) + "simulation: {end: 0.4, tolerance: 1e-6, output_step: 0.01}\n";
  for (const double until : {0.1, 0.2255}) {
    Simulation first(read_model_text(model, "test.yaml")), second(read_model_text(model, "test.yaml"));
    MemoryTrajectory a, b;
    RunOptions options;
    options.leg = RunLeg{};
    options.leg->until = until;
    first.run(a, options);
    second.restore(first.save());
    RunOptions rest;
    rest.continue_result = true;
    EXPECT_EQ(first.run(a, rest).status, RunStatus::finished);
    EXPECT_EQ(second.run(b).status, RunStatus::finished);
    for (const char* signal : {"x", "z", "v", "u", "force.floor.penetration"})
      EXPECT_EQ(a.column(signal).back(), b.column(signal).back()) << signal << " " << until;
  }
}

class Families : public testing::TestWithParam<const char*> {};

// Each method comes nearer to the same motion as its tolerance shrinks.
TEST_P(Families, ConvergeToTheSameMotion) {
  static const TextRun truth(
      std::string(thrown) + "simulation: {end: 0.4, method: dormand-prince-853, tolerance: 1e-12, output_step: 0.1}\n");
  const auto error = [&](double tolerance) {
    const TextRun run(std::string(thrown) + "simulation: {end: 0.4, method: " + GetParam() +
                      ", tolerance: " + text(tolerance) + ", output_step: 0.1}\n");
    double worst = 0;
    for (const char* signal : {"x", "z", "v", "u"})
      worst = std::max(worst, std::abs(run.last(signal) - truth.last(signal)));
    return worst;
  };
  const double loose = error(1e-6), tight = error(1e-9);
  EXPECT_LT(tight, 1e-4);
  EXPECT_LT(tight, 0.1 * loose);
}

// A thin bar in the way of a fast ball is not jumped over, whatever the method.
TEST_P(Families, DoNotJumpOverABar) {
  const TextRun run(R"(
bodies: {ball: {mass: 1, inertia: [0.01, 0.01, 0.01], position: [-2, 0, 0], velocity: [20, 0, 0]}}
forces:
  bar: {type: contact, frames: [ground, ball], shape_a: capsule, radius_a: 5 mm, length_a: 1, shape_b: sphere, radius_b: 10 mm, stiffness: 1e8}
outputs: {v: vx(ball)}
simulation: {end: 0.3, tolerance: 1e-6, method: )" +
                    std::string(GetParam()) + "}\n");
  EXPECT_NEAR(run.last("v"), -20, 0.5);
}

INSTANTIATE_TEST_SUITE_P(All, Families,
                         testing::Values("hht-i3", "bdf-i3", "radau-iia-3", "rosenbrock-nystrom-4",
                                         "dormand-prince-54"),
                         [](const auto& method) {
                           std::string name = method.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace trammel::contact_motion_test
