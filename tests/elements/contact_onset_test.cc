// No step jumps over a contact, whatever the method and however the bodies come to meet; what rolls or lies down is not
// held up, and is not taken for an impact.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/elements/run_text.h"

namespace trammel::contact_onset_test {
namespace {

std::string text(double x) {
  std::ostringstream out;
  out.precision(17);
  out << x;
  return out.str();
}

const std::string point = "mass: 1, inertia: [0.01, 0.01, 0.01]";
// A bar across the way of a ball about the frame's origin, 15 mm from centre to centre where they touch.
std::string bar(const std::string& body, double stiffness) {
  return "{type: contact, frames: [ground, " + body +
         "], shape_a: capsule, radius_a: 5 mm, length_a: 1, shape_b: sphere, radius_b: 10 mm, stiffness: " +
         text(stiffness) + "}";
}

class Onset : public testing::TestWithParam<const char*> {
 protected:
  static std::string simulation(const std::string& rest) {
    return "simulation: {tolerance: 1e-6, length: 1, method: " + std::string(GetParam()) + ", " + rest + "}\n";
  }
  // A ball comes at 20 m/s: how fast it is behind the meeting. Beside it, `more` bodies and forces.
  static double thrown_back(double stiffness, const std::string& bodies = "", const std::string& forces = "") {
    const TextRun run("bodies:\n  ball: {" + point + ", position: [-2, 0, 0], velocity: [20, 0, 0]}\n" + bodies +
                      "forces:\n  bar: " + bar("ball", stiffness) + "\n" + forces + "outputs: {v: vx(ball)}\n" +
                      simulation("end: 0.3"));
    return run.last("v");
  }
};

// At rest at first: at the present speed it would never come. The step of free flight grew to half a
// second and ended a metre below.
TEST_P(Onset, OfABallThatFallsFromRest) {
  for (int i = 1; i <= 10; ++i) {
    const double height = 0.2 * i + 0.0137 * i * i;
    const TextRun run("gravity: [0, 0, -9.81]\nbodies: {ball: {" + point + ", position: [0, 0, " + text(height) +
                      "]}}\nframes: {bar: {body: ground, position: [0, 0, 0], axis: [0, 1, 0]}}\nforces: {bar: {type: "
                      "contact, frames: [bar, "
                      "ball], shape_a: capsule, radius_a: 5 mm, length_a: 1, shape_b: sphere, radius_b: 10 mm, "
                      "stiffness: 1e8}}\noutputs: {z: dz(ball)}\n" +
                      simulation("end: 1, output_step: 0.01"));
    const std::vector<double> z = run.column("z");
    EXPECT_GT(*std::min_element(z.begin(), z.end()), 0.005) << height;
    // It was there: a fall through the height takes less than 0.85 s.
    EXPECT_LT(*std::min_element(z.begin(), z.end()), 0.9 * height);
  }
}

// Thrown up first, it comes back.
TEST_P(Onset, OfABallThatIsThrownUp) {
  const TextRun run("gravity: [0, 0, -9.81]\nbodies: {ball: {" + point +
                    ", position: [0, 0, 0.1], velocity: [0, 0, 4]}}\nframes: {bar: {body: ground, position: [0, 0, 0], "
                    "axis: [0, 1, 0]}}\n"
                    "forces: {bar: {type: contact, frames: [bar, ball], shape_a: capsule, radius_a: 5 mm, length_a: 1, "
                    "shape_b: sphere, radius_b: 10 mm, stiffness: 1e8}}\noutputs: {z: dz(ball)}\n" +
                    simulation("end: 1.2, output_step: 0.01"));
  const std::vector<double> z = run.column("z");
  EXPECT_GT(*std::min_element(z.begin(), z.end()), 0.005);
}

TEST_P(Onset, OfAFastBall) { EXPECT_NEAR(thrown_back(1e8), -20, 0.5); }

// 0.08 mm deep, less than the hundred errors from which on a depth counts: the ball flew through. Its rebound is
// another matter.
TEST_P(Onset, OfAStiffBar) {
  const double v = thrown_back(1e13);
  EXPECT_LT(v, 0);
  EXPECT_GT(v, -25);
}

// The lightest body of the model, 1e-9 kg, is not in the contact; with its mass the impact was 2 um deep and not seen.
TEST_P(Onset, BesideAMoteOfDust) {
  EXPECT_NEAR(thrown_back(1e8, "  mote: {kind: point, mass: 1e-9, position: [0, 1, 0]}\n"), -20, 0.5);
}

// Another ball comes to a plane just before, at 0.01 m/s: so slowly that its contact does not count. It was the first
// and the only one to be asked.
TEST_P(Onset, BehindOneThatDoesNotCount) {
  EXPECT_NEAR(thrown_back(1e8, "  slow: {" + point + ", position: [0, 1, 0.01099], velocity: [0, 0, -0.01]}\n",
                          "  floor: {type: contact, frames: [ground, slow], shape_a: plane, shape_b: sphere, radius_b: "
                          "10 mm, stiffness: 1e8}\n"),
              -20, 0.5);
}

INSTANTIATE_TEST_SUITE_P(All, Onset,
                         testing::Values("hht-i3", "bdf-i3", "bdf-si2", "radau-iia-3", "rosenbrock-nystrom-4",
                                         "dormand-prince-54", "split"),
                         [](const auto& method) {
                           std::string name = method.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// ---- what must not be held up --------------------------------------------------------------------------------------

// A ball passes over a row of rollers, a hundredth of a millimetre above each: they close at up to 1 m/s, but would be
// met less than a hundred errors deep. Ended before each of them, the steps were 80.
TEST(ContactSteps, DoNotCreepOverRollers) {
  std::string frames = "frames:\n", forces = "forces:\n";
  for (int i = 1; i <= 15; ++i) {
    const std::string number = std::to_string(i);
    frames +=
        "  row_" + number + ": {body: ground, position: [" + text(0.02 * i) + ", 0, -0.11001], axis: [0, 1, 0]}\n";
    forces += "  roller_" + number + ": {type: contact, frames: [row_" + number +
              ", ball], shape_a: capsule, radius_a: 0.01, length_a: 1, shape_b: sphere, radius_b: 0.1, stiffness: "
              "3.2e8}\n";
  }
  const TextRun run("bodies: {ball: {" + point + ", position: [0, 0, 0], velocity: [1, 0, 0]}}\n" + frames + forces +
                    "outputs: {x: dx(ball)}\nsimulation: {tolerance: 1e-5, length: 1, end: 0.3, method: hht-i3}\n");
  EXPECT_NEAR(run.last("x"), 0.3, 1e-12);
  EXPECT_LT(run.result.summary.steps, 50);
}

// ---- which impacts are in doubt ------------------------------------------------------------------------------------

std::vector<Problem> doubts(const std::string& bodies, const std::string& forces) {
  const TextRun run("bodies:\n" + bodies + "forces:\n" + forces +
                    "simulation: {end: 0.4, length: 1, greatest_step: 0.02, method: hht-i3, tolerance: 3e-5}\n");
  std::vector<Problem> found;
  for (const Problem& problem : run.result.warnings)
    if (problem.id == "shallow-impacts") found.push_back(problem);
  return found;
}

std::string ball_and_wall(const std::string& name, double y, double gap, double speed, std::string& forces) {
  forces += "  wall_" + name + ": {type: contact, frames: [ground, " + name +
            "], shape_a: plane, shape_b: sphere, radius_b: 0.05, stiffness: 3e7}\n";
  return "  " + name + ": {mass: 4, inertia: [0.004, 0.004, 0.004], position: [0, " + text(y) + ", " +
         text(0.05 + gap) + "], velocity: [0, 0, " + text(-speed) + "]}\n";
}

// 8 um deep, a quarter of the error that is allowed: it has no rebound to be wrong, and was warned about.
TEST(ShallowImpacts, AreNotThoseThatNobodyWouldSee) {
  std::string forces;
  const std::string bodies = ball_and_wall("slow", 0, 1e-4, 1e-3, forces);
  EXPECT_TRUE(doubts(bodies, forces).empty());
}

// Three balls at 0.5, 1 and 2.4 m/s make one warning, which names that of the third; it was one for each.
TEST(ShallowImpacts, AreOneWarningThatNamesTheDeepest) {
  std::string forces, bodies;
  bodies += ball_and_wall("first", 0, 0.05, 0.5, forces);
  bodies += ball_and_wall("second", 1, 0.05, 1, forces);
  bodies += ball_and_wall("third", 2, 0.05, 2.4, forces);
  const std::vector<Problem> found = doubts(bodies, forces);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].message.find("'wall_third'"), std::string::npos) << found[0].message;
  EXPECT_NE(found[0].message.find("deepest of 3 contacts"), std::string::npos) << found[0].message;
}

// The run is saved while the ball is on its way back: the impact was before, the warning comes after.
TEST(ShallowImpacts, AreRememberedInASavedRun) {
  std::string forces;
  const std::string bodies = ball_and_wall("ball", 0, 0.05, 2.4, forces);
  const std::string model = "trammel: 1\nbodies:\n" + bodies + "forces:\n" + forces +
                            "simulation: {end: 0.4, length: 1, greatest_step: 0.02, method: hht-i3, tolerance: 3e-5}\n";
  Simulation first(read_model_text(model, "test.yaml"));
  MemoryTrajectory before, after;
  RunOptions options;
  options.leg = RunLeg{};
  options.leg->until = 0.1;  // the impact is at 0.02
  first.run(before, options);
  Simulation second(read_model_text(model, "test.yaml"));
  second.restore(first.save());
  const RunResult result = second.run(after);
  EXPECT_EQ(result.status, RunStatus::finished);
  EXPECT_TRUE(std::any_of(result.warnings.begin(), result.warnings.end(),
                          [](const Problem& problem) { return problem.id == "shallow-impacts"; }));
}

}  // namespace
}  // namespace trammel::contact_onset_test
