// Events: steps end where switches change, velocities jump at impacts, in every family of methods.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "trammel/base/literal.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::events_test {
namespace {

struct Outcome {
  MemoryTrajectory trajectory;
  RunResult result;
  std::vector<double> times() const { return trajectory.time(2); }
  double last(const char* name) const { return trajectory.column(name).back(); }
};

Outcome run(const std::string& text, const std::string& method, double tolerance = 1e-12,
            std::optional<double> step = {}) {
  Model model = read_model_text("trammel: 1\n" + text, "events.yaml");
  model.simulation.method = method;
  model.simulation.tolerance = tolerance;
  model.simulation.step = step;
  Outcome out;
  Simulation simulation(std::move(model));
  out.result = simulation.run(out.trajectory);
  return out;
}

const char* const ball =
    "gravity: [0, 0, -9.81]\n"
    "bodies: {ball: {kind: point, mass: 2, position: [0, 0, 1]}}\n"
    "forces: {floor: {type: impact, frames: [ground, ball], restitution: 0.8}}\n";

class Methods : public testing::TestWithParam<const char*> {};

// A ball falls from 1 m: the first impact after sqrt(2 H / g), then flights of 2 e^k v / g.
TEST_P(Methods, BouncingBallKeepsTheSeriesOfItsTimes) {
  const Outcome r = run(std::string(ball) + "simulation: {end: 4.02, length: 1}\n", GetParam(), 1e-13);
  ASSERT_EQ(r.result.status, RunStatus::finished) << (r.result.failure ? r.result.failure->what : "");
  const std::vector<double> times = r.times();
  ASSERT_GE(times.size(), 20U);
  double t = std::sqrt(2 / 9.81), v = std::sqrt(2 * 9.81);
  for (int k = 0; k < 20; ++k) {
    EXPECT_NEAR(times[static_cast<std::size_t>(k)], t, 1e-9) << k;
    v *= 0.8;
    t += 2 * v / 9.81;
  }
  EXPECT_LT(r.result.summary.energy.largest_imbalance, 1e-6);
}

// A block is braked to rest by a force that pushes it back from either side of its own corner: no step ends behind it.
TEST_P(Methods, AForceThatDrivesBackOverItsCornerIsNamed) {
  const Outcome r =
      run("bodies: {block: {kind: point, mass: 1, velocity: [0.5, 0, 0]}}\n"
          "forces: {rub: {type: force, frames: [ground, block], fx: 'if(vx(block) > 0, -1, 1)'}}\n"
          "simulation: {end: 2, length: 1, events: located}\n",
          GetParam(), 1e-6);
  ASSERT_EQ(r.result.status, RunStatus::failed);
  EXPECT_EQ(r.result.failure->id, "events-chatter") << r.result.failure->what;
  EXPECT_EQ(r.result.failure->part, "force 'rub'");
  EXPECT_NEAR(r.result.failure->t, 0.5, 1e-3);
  EXPECT_LT(r.result.summary.steps, 20000);
}
INSTANTIATE_TEST_SUITE_P(Events, Methods,
                         testing::Values("hht-i3", "bdf-i3", "bdf-si2", "generalized-alpha-si2", "radau-iia-3",
                                         "rosenbrock-nystrom-4", "dormand-prince-54", "adams", "bdf", "sdirk-4",
                                         "gauss", "newmark-i3", "hht"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// A grain of dust, a mountain and a ball far from the origin rebound as often.
TEST(Events, ImpactsDoNotAskForUnitsOrPlace) {
  const auto bounce = [](double S, double far) {
    const auto text = [](double x) { return shortest(x); };
    return run(
        "gravity: [0, 0, -9.81]\n"
        "bodies: {ball: {kind: point, mass: 2, position: [" +
            text(far) + ", 0, " + text(far + S) +
            "]}}\n"
            "frames: {floor: {body: ground, position: [" +
            text(far) + ", 0, " + text(far) +
            "]}}\n"
            "forces: {floor: {type: impact, frames: [floor, ball], restitution: 0.8}}\n"
            "simulation: {end: " +
            text(3 * std::sqrt(S)) + "}\n",
        "dormand-prince-54", 1e-9);
  };
  const Outcome usual = bounce(1, 0);
  ASSERT_GE(usual.times().size(), 6U);
  for (const auto& [S, far] : {std::pair(std::ldexp(1.0, -20), 0.0), {std::ldexp(1.0, 20), 0.0}, {1.0, 1e6}}) {
    const Outcome other = bounce(S, far);
    ASSERT_EQ(other.result.status, RunStatus::finished) << S << " " << far;
    ASSERT_EQ(other.times().size(), usual.times().size()) << S << " " << far;
    for (std::size_t k = 0; k < usual.times().size(); ++k)
      EXPECT_NEAR(other.times()[k] / std::sqrt(S), usual.times()[k], 1e-6) << S << " " << far;
  }
}

// Steps are refused at many corners that are passed all the same: nothing is in vain, however long the run is to be.
TEST(Events, ManyContactsDoNotChatterInALongRun) {
  std::string bodies = "gravity: [0, 0, -9.81]\nbodies:\n", forces = "forces:\n";
  for (int i = 0; i < 5; ++i) {
    const std::string number = std::to_string(i), height = std::to_string(0.3 + 0.07 * i);
    bodies += "  ball" + number + ": {kind: point, mass: 1, position: [0, 0, " + height + "]}\n";
    forces += "  floor" + number + ": {type: contact, frames: [ground, ball" + number +
              "], shape_a: plane, shape_b: sphere, radius_b: 0.1, stiffness: 1e7}\n";
  }
  Model model = read_model_text(
      "trammel: 1\n" + bodies + forces + "simulation: {end: 1e5, length: 1, events: located}\n", "balls.yaml");
  model.simulation.method = "radau-iia-3";
  model.simulation.tolerance = 1e-6;
  Simulation simulation(std::move(model));
  MemoryTrajectory sink;
  RunOptions options;
  options.leg.emplace();
  options.leg->until = 1.5;
  const RunResult result = simulation.run(sink, options);
  EXPECT_FALSE(result.failure) << result.failure->what;
  EXPECT_NEAR(simulation.integrator().state().t, 1.5, 1e-9);
}

// The ball comes to rest in a finite time by infinitely many impacts: said, not stepped for ever.
TEST(Events, ChatterIsAFailureThatNamesTheElement) {
  const Outcome r = run(std::string(ball) + "simulation: {end: 10, length: 1}\n", "dormand-prince-54", 1e-8);
  ASSERT_EQ(r.result.status, RunStatus::failed);
  EXPECT_EQ(r.result.failure->id, "events-chatter");
  EXPECT_EQ(r.result.failure->part, "force 'floor'");
  const double rest = std::sqrt(2 / 9.81) * (1 + 2 * 0.8 / 0.2);
  EXPECT_NEAR(r.result.failure->t, rest, 1e-4);
}

TEST(Events, BodiesThatOverlapAtTheStartAreRefused) {
  try {
    run("bodies: {ball: {kind: point, mass: 2, position: [0, 0, -0.5]}}\n"
        "forces: {floor: {type: impact, frames: [ground, ball]}}\n",
        "hht-i3");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems().front().message, "force 'floor': impact: its bodies overlap at the start by 0.5 m");
  }
}

// A mass on a spring, x = -cos(10 t), against a wall at x = 0.9 that throws it back: the gap is closed for a time of
// 0.09 s, less than a step, so that most step ends are on the open side of it; in others it is already opening.
TEST(Events, GapsThatCloseAndOpenWithinAStepAreSeen) {
  const std::string text =
      "bodies: {block: {kind: point, mass: 1, position: [0, 0, -1]}}\n"
      "frames: {wall: {body: ground, position: [0, 0, 0.9], axis: [0, 0, -1]}, end: {body: ground, position: [0, 0, "
      "-10]}}\n"
      "forces: {spring: {type: translational_spring_damper, frames: [end, block], stiffness: 100, free_length: 10},\n"
      "         wall: {type: impact, frames: [wall, block]}}\n"
      "simulation: {end: 5, length: 1}\n";
  const double first = (std::numbers::pi - std::acos(0.9)) / 10;
  for (const double step : {0.08, 0.097, 0.11, 0.125, 0.15}) {
    for (const char* method : {"gauss", "dormand-prince-853"}) {
      const Outcome r = run(text, method, 1e-6, step);
      ASSERT_EQ(r.result.status, RunStatus::finished) << method << " " << step;
      const std::vector<double> times = r.times();
      ASSERT_EQ(times.size(), 9U) << method << " " << step;
      // Gauss with two stages runs late by (10 step)^4 / 720 of the time, 0.7 % with the longest step.
      for (int k = 0; k < 9; ++k) {
        const double exact = first * (2 * k + 1);
        EXPECT_NEAR(times[static_cast<std::size_t>(k)], exact, 0.01 * exact) << method << " " << step;
      }
    }
  }
}

// The block comes to 1e-3 m of the wall and turns: nothing is struck, whatever the cubic suspects.
TEST(Events, ANearMissIsNoImpact) {
  const Outcome r = run(
      "bodies: {block: {kind: point, mass: 1, position: [0, 0, -1]}}\n"
      "frames: {wall: {body: ground, position: [0, 0, 1.001], axis: [0, 0, -1]}, end: {body: ground, position: [0, 0, "
      "-10]}}\n"
      "forces: {spring: {type: translational_spring_damper, frames: [end, block], stiffness: 100, free_length: 10},\n"
      "         wall: {type: impact, frames: [wall, block]}}\n"
      "simulation: {end: 5, length: 1}\n",
      "gauss", 1e-6, 0.03);
  ASSERT_EQ(r.result.status, RunStatus::finished);
  EXPECT_EQ(r.times().size(), 0U);
}

// A bar on a hinge falls on a peg: e v of the struck point, with the hinge holding.
TEST(Events, ImpactsAreSolvedWithTheJoints) {
  const Outcome r =
      run("gravity: [0, -9.81, 0]\n"
          "bodies: {bar: {kind: planar, mass: 3, inertia: 0.25, center_of_mass: [0.5, 0], position: [0, 0], angle: 60 "
          "deg}}\n"
          "joints: {pin: {type: revolute, between: [ground, bar], at: [0, 0, 0]}}\n"
          "frames: {peg: {body: ground, position: [0.8, 0, 0], axis: [0, 1, 0]}, spot: {body: bar, position: [0.8, 0, "
          "0]}}\n"
          "forces: {stop: {type: impact, frames: [peg, spot], restitution: 0.5}}\n"
          "simulation: {end: 0.6, length: 1}\n",
          "radau-iia-3");
  ASSERT_EQ(r.result.status, RunStatus::finished);
  ASSERT_GE(r.times().size(), 1U);
  const double inertia = 0.25 + 3 * 0.25,
               speed = std::sqrt(2 * 3 * 9.81 * 0.5 * std::sin(std::numbers::pi / 3) / inertia);
  EXPECT_NEAR(r.trajectory.column("event.impulse")[0], 1.5 * speed * inertia / 0.8, 1e-6);
}

// The motion of a mass that is driven by a force with a jump in time, in closed form: no step lies across it.
TEST(Events, CornersOverTimeEndSteps) {
  const std::string text =
      "bodies: {block: {kind: point, mass: 2}}\n"
      "forces: {push: {type: force, frames: [ground, block], axes: world, fx: \"if(time < 0.3, 0, 10) + "
      "step(time, 0.5, 0, 0.7, 4)\"}}\n"
      "simulation: {end: 1, length: 1, first_step: 0.2}\n";
  for (const char* method : {"hht-i3", "radau-iia-3", "dormand-prince-853", "bdf-si2"}) {
    const Outcome r = run(text, method, 1e-11);
    ASSERT_EQ(r.result.status, RunStatus::finished) << method;
    const std::vector<double> times = r.times();
    ASSERT_EQ(times.size(), 3U) << method;
    EXPECT_NEAR(times[0], 0.3, 1e-15);
    EXPECT_NEAR(times[1], 0.5, 1e-15);
    EXPECT_NEAR(times[2], 0.7, 1e-15);
    // x'' = 5 from 0.3 on, and 2 (3 s^2 - 2 s^3) over [0.5, 0.7], 2 behind
    const double ramp = 2 * 0.04 * (0.25 - 0.1), after = 2 * 0.2 * 0.5 * 0.3 + 0.5 * 2 * 0.09;
    EXPECT_NEAR(r.last("body.block.position.x"), 0.5 * 5 * 0.49 + ramp + after, 1e-7) << method;
  }
}

// A block of 2 kg that a force drives whose law changes at 0.5 s, in ways that once declared no corner: steps of 0.03 s
// lay across it, and there was no event.
TEST(Events, EveryElementDeclaresItsCornersOverTime) {
  struct Case {
    const char* name;
    std::string rest;
    double x;  // at 1 s
  };
  // Of 20 t N up to 0.5 s, and 10 N behind.
  const double ramp = 10 * 0.125 / 6 + 1.25 * 0.5 + 0.5 * 5 * 0.25;
  const std::string push = "forces: {push: {type: force, frames: [ground, block], axes: world, fx: ";
  const std::vector<Case> cases{
      {"variable", "variables: {v: '2*time'}\n" + push + "'if(v < 1, 0, 10)'}}\n", 0.625},
      {"two variables",
       "variables: {w: {expression: '2*v', unit: 1}, v: {expression: time, unit: 1}, one: {expression: '1', unit: "
       "1}}\n" +
           push + "'if(w < one, 0, 10)'}}\n",
       0.625},
      {"constant spline",
       "splines: {s: {type: cubic, points: [[0, 0], [0.5, 10]], extrapolation: constant}}\n" + push +
           "'spline(s, time)'}}\n",
       ramp},
      {"constant table",
       "tables: {s: {x: [0, 0.5], y: [0, 1], values: [[0, 0], [10, 10]], extrapolation: constant}}\n" + push +
           "'table(s, time, 0.5)'}}\n",
       ramp},
      {"hard limit",
       "joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
       "forces: {push: {type: translational_actuator, joint: rail, force: '20*time', limit: 10, saturation: hard}}\n",
       ramp},
      {"velocity",
       "joints: {push: {type: velocity_condition, between: [ground, block], at: [0, 0, 0], linear: [1, 0, 0], value: "
       "'max(time, 0.5)'}}\n",
       0.5 * 0.5 + 0.5 * 0.75},
      // 2 w' = -w^2 of the speed w = 2 - v against the wind
      {"wind",
       "forces: {push: {type: drag, frames: [ground, block], density: 2, area: 1, wind_x: 'if(time < 0.5, 0, 2)'}}\n",
       1 - 2 * std::log(1.5)},
      {"load",
       "joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
       "forces: {push: {type: joint_friction, joint: rail, motion: translation, load: '1 - 2*time', "
       "static_coefficient: 0.1}}\n",
       0},
  };
  for (const Case& each : cases) {
    const Outcome r =
        run("bodies: {block: {mass: 2, inertia: [1, 1, 1]}}\n" + each.rest + "simulation: {end: 1, length: 1}\n",
            "radau-iia-3", 1e-11, 0.03);
    ASSERT_EQ(r.result.status, RunStatus::finished) << each.name;
    ASSERT_EQ(r.times().size(), 1U) << each.name;
    EXPECT_NEAR(r.times()[0], 0.5, 1e-12) << each.name;
    EXPECT_NEAR(r.last("body.block.position.x"), each.x, 1e-8) << each.name;
  }
}

// A bead runs along a wire that is straight up to x = 0 and a parabola behind: its curvature jumps there.
TEST(Events, CornersOfCurvesAreLocated) {
  const Outcome r =
      run("bodies: {bead: {mass: 1, inertia: [1, 1, 1], position: [-0.5, 0, 0], velocity: [1, 0, 0]}}\n"
          "frames: {line: {body: ground}, eye: {body: bead}}\n"
          "joints: {wire: {type: point_on_curve, frames: [line, eye], y: 'if(x < 0, 0, x^2)'}}\n"
          "simulation: {end: 1, length: 1, events: located}\n",
          "radau-iia-3", 1e-9, 0.03);
  ASSERT_EQ(r.result.status, RunStatus::finished);
  ASSERT_EQ(r.times().size(), 1U);
  EXPECT_NEAR(r.times()[0], 0.5, 1e-9);
}

// No step fits between two corners so near to each other: both are events, and the step behind begins behind both. The
// second was once passed over without a word: the explicit method then began its step with the force before it, which
// makes 35/384 of the step, 0.018 m/s, and one event was recorded. The output row at 3*0.1 lies between the two.
TEST(Events, CornersThatNoStepFitsBetweenAreBothEvents) {
  for (const char* second : {"0.1*3", "0.3 + 2e-16", "0.3 + 5e-13", "0.3 + 9.9e-13"}) {
    for (const char* method : {"dormand-prince-54", "radau-iia-3", "hht-i3"}) {
      const Outcome r =
          run(std::string("bodies: {block: {kind: point, mass: 2}}\n"
                          "forces: {push: {type: force, frames: [ground, block], axes: world, fx: 'if(time < 0.3, 0, "
                          "10) + if(time > ") +
                  second + ", 4, 0)'}}\nsimulation: {end: 1, length: 1, output_step: 0.1}\n",
              method, 1e-11, 0.1);
      ASSERT_EQ(r.result.status, RunStatus::finished) << method << " " << second;
      const std::vector<double> times = r.times(), rows = r.trajectory.time(0);
      ASSERT_EQ(times.size(), 2U) << method << " " << second;
      EXPECT_NEAR(times[0], 0.3, 2e-12);
      EXPECT_NEAR(times[1], 0.3, 2e-12);
      ASSERT_EQ(rows.size(), 11U) << method << " " << second;
      for (std::size_t k = 0; k < rows.size(); ++k) EXPECT_NEAR(rows[k], 0.1 * static_cast<double>(k), 2e-12);
      // x'' = 7 from 0.3 on; what the methods leave with this step is below, what they may leave of the corner above.
      EXPECT_NEAR(r.last("body.block.velocity.x"), 7 * 0.7, 1e-9) << method << " " << second;
      EXPECT_NEAR(r.last("body.block.position.x"), 0.5 * 7 * 0.49, 1e-9) << method << " " << second;
    }
  }
}

// At 1 s exactly floor has jumped already, and a step of 0.25 s that ends there saw 10 N in its last stages: 11/84 of
// the step, 0.16 m/s. Steps end at the number before.
TEST(Events, StepsEndBeforeARoundingJumps) {
  for (const char* law : {"10*floor(time)", "10*trunc(time)", "10*(time - mod(time, 1))"}) {
    const Outcome r = run(std::string("bodies: {block: {kind: point, mass: 2}}\n"
                                      "forces: {push: {type: force, frames: [ground, block], axes: world, fx: '") +
                              law + "'}}\nsimulation: {end: 1.9, length: 1}\n",
                          "dormand-prince-54", 1e-11, 0.25);
    ASSERT_EQ(r.result.status, RunStatus::finished) << law;
    ASSERT_EQ(r.times().size(), 1U) << law;
    EXPECT_NEAR(r.times()[0], 1, 1e-12) << law;
    EXPECT_NEAR(r.last("body.block.velocity.x"), 5 * 0.9, 1e-11) << law;
    EXPECT_NEAR(r.last("body.block.position.x"), 0.5 * 5 * 0.81, 1e-11) << law;
  }
}

// Eight steps of 0.1 end at 0.7999999999999999, the last number before the corner, which no step has seen ahead. It was
// once passed over without an event, and with the force before it at the start of the next step.
TEST(Events, AStepThatEndsJustBeforeACornerBySteppingMeetsIt) {
  const Outcome r =
      run("bodies: {block: {kind: point, mass: 2}}\n"
          "forces: {push: {type: force, frames: [ground, block], axes: world, fx: 'if(time < 0.8, 0, 10)'}}\n"
          "simulation: {end: 1, length: 1}\n",
          "dormand-prince-54", 1e-11, 0.1);
  ASSERT_EQ(r.result.status, RunStatus::finished);
  ASSERT_EQ(r.times().size(), 1U);
  EXPECT_NEAR(r.times()[0], 0.8, 1e-12);
  EXPECT_NEAR(r.last("body.block.velocity.x"), 5 * 0.2, 1e-11);
  EXPECT_NEAR(r.last("body.block.position.x"), 0.5 * 5 * 0.04, 1e-11);
}

// A mass against an elastic stop: half a period in contact. Located, a fixed step sees each piece alone.
TEST(Events, LocatedStopsAreSharper) {
  const std::string start =
      "bodies: {block: {kind: point, mass: 1, position: [0, 0, -0.1], velocity: [0, 0, 1]}}\n"
      "joints: {}\n"
      "forces: {stop: {type: translational_stop, frames: [ground, block], upper: 0, stiffness: 100}}\n";
  // Out at 0.1 s, back at 0.1 + pi/10.
  const double out = 0.1 + std::numbers::pi / 10, exact = -(0.6 - out);
  const Outcome plain = run(start + "simulation: {end: 0.6, length: 1}\n", "radau-iia-3", 1e-6, 0.02);
  const Outcome located =
      run(start + "simulation: {end: 0.6, length: 1, events: located}\n", "radau-iia-3", 1e-6, 0.02);
  ASSERT_EQ(located.result.status, RunStatus::finished);
  ASSERT_EQ(located.times().size(), 2U);
  EXPECT_NEAR(located.times()[0], 0.1, 1e-9);
  EXPECT_NEAR(located.times()[1], out, 1e-7);
  const double error = std::abs(located.last("body.block.position.z") - exact);
  EXPECT_LT(error, 1e-6);
  EXPECT_GT(std::abs(plain.last("body.block.position.z") - exact), 20 * error);
}

// Two blocks meet their stops at 0.1 and 0.11 s, within one step of 0.03 s, and leave them half a period later.
TEST(Events, TwoStopsInOneStepAreTwoEvents) {
  const std::string text =
      "bodies: {near: {kind: point, mass: 1, position: [0, 0, -0.1], velocity: [0, 0, 1]},\n"
      "         far: {kind: point, mass: 1, position: [0, 0, -0.11], velocity: [0, 0, 1]}}\n"
      "forces: {first: {type: translational_stop, frames: [ground, near], upper: 0, stiffness: 100},\n"
      "         second: {type: translational_stop, frames: [ground, far], upper: 0, stiffness: 100}}\n"
      "simulation: {end: 0.6, length: 1, events: located}\n";
  const double half = std::numbers::pi / 10;
  for (const char* method : {"radau-iia-3", "dormand-prince-853"}) {
    const Outcome r = run(text, method, 1e-8, 0.03);
    ASSERT_EQ(r.result.status, RunStatus::finished) << method;
    const std::vector<double> times = r.times();
    ASSERT_EQ(times.size(), 4U) << method;
    EXPECT_NEAR(times[0], 0.1, 1e-11) << method;
    EXPECT_NEAR(times[1], 0.11, 1e-11) << method;
    EXPECT_NEAR(times[2], 0.1 + half, 1e-6) << method;
    EXPECT_NEAR(times[3], 0.11 + half, 1e-6) << method;
    EXPECT_NEAR(r.last("body.near.position.z"), -(0.6 - 0.1 - half), 1e-6) << method;
    EXPECT_NEAR(r.last("body.far.position.z"), -(0.6 - 0.11 - half), 1e-6) << method;
  }
}

// A ball flies into the corner between two walls and strikes both in the same instant, each by its own law.
TEST(Events, ABallInACornerStrikesBothWalls) {
  for (const char* method : {"hht-i3", "radau-iia-3", "dormand-prince-54"}) {
    const Outcome r =
        run("bodies: {ball: {kind: point, mass: 2, position: [1, 1, 0], velocity: [-1, -1, 0]}}\n"
            "frames: {wall: {body: ground, axis: [1, 0, 0]}, other: {body: ground, axis: [0, 1, 0]}}\n"
            "forces: {wall: {type: impact, frames: [wall, ball], restitution: 0.8},\n"
            "         other: {type: impact, frames: [other, ball], restitution: 0.5}}\n"
            "simulation: {end: 2, length: 1}\n",
            method, 1e-9);
    ASSERT_EQ(r.result.status, RunStatus::finished) << method;
    ASSERT_EQ(r.times().size(), 2U) << method;
    for (const double t : r.times()) EXPECT_NEAR(t, 1, 1e-9) << method;
    EXPECT_NEAR(r.trajectory.column("event.impulse")[0], 2 * 1.8, 1e-9) << method;
    EXPECT_NEAR(r.trajectory.column("event.impulse")[1], 2 * 1.5, 1e-9) << method;
    EXPECT_NEAR(r.last("body.ball.position.x"), 0.8, 1e-8) << method;
    EXPECT_NEAR(r.last("body.ball.position.y"), 0.5, 1e-8) << method;
  }
}

// Four steps of 0.25 s end where the gap is exactly zero: one impact, not none and not two.
TEST(Events, AnImpactAtTheEndOfAStepIsOne) {
  for (const char* method : {"radau-iia-3", "dormand-prince-54"}) {
    const Outcome r =
        run("bodies: {ball: {kind: point, mass: 2, position: [0, 0, 1], velocity: [0, 0, -1]}}\n"
            "forces: {floor: {type: impact, frames: [ground, ball], restitution: 0.8}}\n"
            "simulation: {end: 2, length: 1}\n",
            method, 1e-9, 0.25);
    ASSERT_EQ(r.result.status, RunStatus::finished) << method;
    ASSERT_EQ(r.times().size(), 1U) << method;
    EXPECT_NEAR(r.times()[0], 1, 1e-11) << method;
    EXPECT_NEAR(r.trajectory.column("event.impulse")[0], 2 * 1.8, 1e-11) << method;
    EXPECT_NEAR(r.last("body.ball.position.z"), 0.8, 1e-10) << method;
  }
}

// A mass comes in with 1 m/s and meets each kind of corner at dz = 0, after 0.1 s; behind it a spring of 100 N/m throws
// it back after pi/10 s.
TEST(Events, CornersOfExpressionsAreLocated) {
  const std::string start =
      "splines: {bent: {type: linear, points: [[-1, 0], [0, 0], [1, -100]]}}\n"
      "bodies: {block: {kind: point, mass: 1, position: [0, 0, -0.1], velocity: [0, 0, 1]}}\n"
      "forces: {push: {type: force, frames: [ground, block], axes: world, fz: \"";
  const std::string end = "\"}}\nsimulation: {end: 0.6, length: 1, events: located}\n";
  for (const char* law : {"if(dz < 0, 0, -100*dz)", "-100*max(dz, 0)", "-50*(dz + abs(dz))", "spline(bent, dz)",
                          "dz > 0 ? -100*dz : 0"}) {
    const Outcome r = run(start + law + end, "radau-iia-3", 1e-6, 0.03);
    ASSERT_EQ(r.result.status, RunStatus::finished) << law;
    ASSERT_EQ(r.times().size(), 2U) << law;
    EXPECT_NEAR(r.times()[0], 0.1, 1e-11) << law;
    EXPECT_NEAR(r.times()[1], 0.1 + std::numbers::pi / 10, 1e-5) << law;
  }
  // A ramp of 0.1 m has two ends; under -1 N over all of it the mass goes on.
  const Outcome ramp = run(start + "step(dz, 0, 0, 0.1, -1)" + end, "radau-iia-3", 1e-6, 0.03);
  ASSERT_EQ(ramp.times().size(), 2U);
  EXPECT_NEAR(ramp.times()[0], 0.1, 1e-11);
  EXPECT_GT(ramp.times()[1], 0.2);
}

TEST(Events, RotationalStopsAreLocated) {
  const Outcome r =
      run("bodies: {wheel: {kind: planar, mass: 1, inertia: 1, angular_velocity: 1}}\n"
          "joints: {pin: {type: revolute, between: [ground, wheel], at: [0, 0, 0]}}\n"
          "forces: {stop: {type: rotational_stop, joint: pin, upper: 0.25, stiffness: 100}}\n"
          "simulation: {end: 0.8, length: 1, events: located}\n",
          "radau-iia-3", 1e-6, 0.03);
  ASSERT_EQ(r.result.status, RunStatus::finished);
  ASSERT_EQ(r.times().size(), 2U);
  EXPECT_NEAR(r.times()[0], 0.25, 1e-11);
  EXPECT_NEAR(r.times()[1], 0.25 + std::numbers::pi / 10, 1e-5);
}

// A ball 0.05 mm off the middle of a hollow with 0.2 mm of play flies outward with 0.1 m/s: it meets the wall after 1.5
// ms and comes back with the same speed. Located, it leaves on the same line.
TEST(Events, BearingContactsAreLocated) {
  for (const char* contact :
       {"type: ball_in_pocket, pocket_radius: 4.9 mm, ball_radius: 4.7 mm",
        "type: ball_in_groove, center_radius: 50 mm, groove_radius: 4.9 mm, ball_radius: 4.7 mm"}) {
    const bool groove = std::string(contact).find("groove") != std::string::npos;
    const Outcome r = run(std::string("bodies: {ball: {mass: 0.004, inertia: [3e-8, 3e-8, 3e-8], position: [") +
                              (groove ? "0.05005" : "0.00005") +
                              ", 0, 0], velocity: [0.1, 0, 0]}}\n"
                              "forces: {hollow: {frames: [ground, ball], " +
                              contact + "}}\nsimulation: {end: 2 ms, events: located}\n",
                          "radau-iia-3", 1e-8);
    ASSERT_EQ(r.result.status, RunStatus::finished) << contact;
    ASSERT_EQ(r.times().size(), 2U) << contact;
    EXPECT_NEAR(r.times()[0], 1.5e-3, 1e-12) << contact;
    EXPECT_NEAR(r.last("body.ball.velocity.x"), -0.1, 1e-5) << contact;
  }
}

// Without location an impact takes place at the end of the step in which the gap closes.
TEST(Events, ImpactsAtStepsAreLate) {
  const Outcome r =
      run(std::string(ball) + "simulation: {end: 0.6, length: 1, events: at_steps}\n", "radau-iia-3", 1e-6, 0.02);
  ASSERT_EQ(r.result.status, RunStatus::finished);
  ASSERT_EQ(r.times().size(), 1U);
  EXPECT_NEAR(r.times()[0], 0.46, 1e-12);  // sqrt(2/g) = 0.4515
  EXPECT_NEAR(r.trajectory.column("event.impulse")[0], 1.8 * 2 * 9.81 * 0.46, 1e-9);
}

}  // namespace
}  // namespace trammel::events_test
