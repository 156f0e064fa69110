// Runs that must fail, each for a reason of its own: the report names the part of the model, the time, and puts the
// true cause first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/problems/mechanisms.h"
#include "trammel/base/messages.h"
#include "trammel/elements/build.h"
#include "trammel/read/read_model.h"
#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::diagnose_test {
namespace {

using testing::HasSubstr;

// A bar on a hinge, for forces and motions to act on.
Model bar() {
  Model m = problems::pendulum();
  m.simulation.end = 1;
  m.simulation.tolerance = 1e-6;
  return m;
}

int frame_at_tip(Model& m) { return m.add_frame(0, {Vec3(0.5, 0, 0), Quat::Identity()}, "tip"); }

void add_force(Model& m, const std::string& name, const std::string& fz) {
  Fields fields;
  fields.set("fz", ExpressionText{fz, {}});
  fields.set("axes", std::string("world"));
  add_force(m, "force", name, {m.add_frame(ground, {}), frame_at_tip(m)}, fields);
}

FailureReport failing(const Model& m) {
  Simulation simulation(m);
  MemoryTrajectory sink;
  const RunResult result = simulation.run(sink);
  EXPECT_EQ(result.status, RunStatus::failed);
  if (!result.failure) return {};
  const FailureReport& f = *result.failure;
  EXPECT_FALSE(f.causes.empty());
  EXPECT_FALSE(f.try_next.empty());
  EXPECT_FALSE(f.attempts.empty());
  EXPECT_NE(find_message(f.id), nullptr) << f.id;
  for (const Cause& cause : f.causes) EXPECT_NE(find_message(cause.id), nullptr) << cause.id;
  for (std::size_t i = 1; i < f.causes.size(); ++i) EXPECT_GE(f.causes[i - 1].weight, f.causes[i].weight);
  const auto json = nlohmann::json::parse(to_json(f));
  EXPECT_EQ(json["id"], f.id);
  EXPECT_EQ(json["causes"].size(), f.causes.size());
  EXPECT_THAT(to_text(f), HasSubstr("[" + f.id + "]"));
  EXPECT_EQ(sink.status(), RunStatus::failed);
  return f;
}

std::string first_cause(const FailureReport& f) { return f.causes.empty() ? "" : f.causes[0].id; }

TEST(Diagnose, MotionOutOfReachIsNamedNotItsNeighbour) {
  const FailureReport f = failing(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/tests/app/data/out_of_reach.yaml"));
  EXPECT_EQ(first_cause(f), "motion-out-of-reach") << to_text(f);
  EXPECT_EQ(f.part, "motion 'pull'");
  EXPECT_NEAR(f.t, 0.5, 1e-3);
  EXPECT_EQ(f.id, "energy-unexplained") << "the speed grows without bound towards the stretched position";
  bool singular = false;
  for (const Cause& cause : f.causes) singular = singular || cause.id == "singular-position";
  EXPECT_TRUE(singular) << "the bar is stretched: " << to_text(f);
}

// Soft formulations give way at steps and speeds that are too large for them, without any contradiction; smaller steps
// help. Where motions do contradict one another, that is said of them too.
TEST(Diagnose, SoftJointsThatGiveWay) {
  for (const char* formulation : {"index-1-baumgarte", "penalty"}) {
    Model m = read_model_text(R"(trammel: 1
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0], angular_velocity: [0, 10, 0], velocity: [0, 0, -5]}}
joints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
simulation: {end: 0.2, step: 0.01, method: euler}
)",
                              "soft.yaml");
    m.simulation.formulation = formulation;
    const FailureReport f = failing(m);
    EXPECT_EQ(f.id, "constraints-violated");
    EXPECT_EQ(first_cause(f), "joints-give-way") << to_text(f);
    EXPECT_EQ(f.part, "joint 'j'");
    for (const Cause& cause : f.causes) EXPECT_NE(cause.id, "mechanism-locked") << to_text(f);
    m.simulation.step = 1e-4;
    MemoryTrajectory sink;
    EXPECT_EQ(Simulation(m).run(sink).status, RunStatus::finished);

    Model apart = read_model_text(R"(trammel: 1
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}}
joints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
motions:
  m1: {type: rotation, joint: j, angle: time}
  m2: {type: rotation, joint: j, angle: "time + max(0, time - 0.5)^3"}
simulation: {end: 1, tolerance: 1e-5, method: dormand-prince-54}
)",
                                  "apart.yaml");
    apart.simulation.formulation = formulation;
    const FailureReport g = failing(apart);
    EXPECT_EQ(first_cause(g), "mechanism-locked") << to_text(g);
  }
}

// In steps of microseconds a corrector that stops by positions leaves more of a rolling wheel's rows, which moves
// nothing.
TEST(Diagnose, ShortStepsOfARollingWheelAreNoViolation) {
  Model m = load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/bicycle.yaml");
  m.simulation.method = "hht-i3";
  m.simulation.tolerance = 1e-9;
  m.simulation.greatest_step = 2e-6;
  m.simulation.output_step = 1e-3;
  m.simulation.end = 0.006;
  MemoryTrajectory sink;
  const RunResult result = Simulation(m).run(sink);
  EXPECT_EQ(result.status, RunStatus::finished) << (result.failure ? to_text(*result.failure) : "");
}

TEST(Diagnose, ForceThatIsNotANumber) {
  Model m = bar();
  add_force(m, "lift", "5*sqrt(0.1 - time)");
  const FailureReport f = failing(m);
  EXPECT_EQ(first_cause(f), "value-not-finite") << to_text(f);
  EXPECT_EQ(f.part, "force 'lift'");
  EXPECT_NEAR(f.t, 0.1, 1e-6);
}

TEST(Diagnose, ForceThatIsNotANumberAtTheStart) {
  Model m = bar();
  add_force(m, "kick", "1/time");
  try {
    Simulation simulation(m);
    simulation.start();
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems().front().id, "value-not-finite");
    EXPECT_THAT(failure.problems().front().message, HasSubstr("force 'kick'"));
    EXPECT_FALSE(failure.problems().front().hint.empty());
  }
}

TEST(Diagnose, SpringWhoseEndsMeet) {
  Model m;
  Body mass;
  mass.name = "mass";
  mass.kind = "point";
  mass.mass = 1;
  mass.pose.position = Vec3(1, 0, 0);
  mass.velocity = Vec3(-1, 0, 0);
  mass.name = "mass";
  m.add_body(mass);
  Fields fields;
  fields.set("stiffness", 1000.0);
  fields.set("free_length", 0.5);
  add_force(m, "translational_spring_damper", "spring", {m.add_frame(ground, {}), m.add_frame(0, {})}, fields);
  fields = {};
  // Held on its course, straight through the other end of the spring.
  fields.set("displacement", ExpressionText{"1 - time", {}});
  add_motion(m, "translation", "course", {m.add_frame_at(ground, Vec3::Zero(), Vec3::UnitX()), m.add_frame(0, {})},
             fields);
  m.simulation.end = 2;
  m.simulation.step = 0.5;
  const FailureReport f = failing(m);
  EXPECT_EQ(first_cause(f), "cannot-evaluate") << to_text(f);
  EXPECT_EQ(f.part, "force 'spring'");
}

TEST(Diagnose, MotionThatJumps) {
  Model m = bar();
  Fields fields;
  fields.set("angle", ExpressionText{"time < 0.2 ? 0.1*time : 0.3 + 0.1*time", {}});
  add_motion(m, "rotation", "drive", m.joints[0].frames, fields);
  const FailureReport f = failing(m);
  EXPECT_EQ(first_cause(f), "motion-jumps") << to_text(f);
  EXPECT_EQ(f.part, "motion 'drive'");
  EXPECT_THAT(f.causes[0].evidence, HasSubstr("0.2 s")) << to_text(f);
}

// Over time alone a jump is an event, which no step lies across.
TEST(Diagnose, ForceThatJumpsOverTimeAloneStopsNothing) {
  Model m = bar();
  add_force(m, "hammer", "time < 0.15 ? 0 : 5000");
  m.simulation.least_step = 1e-5;
  MemoryTrajectory sink;
  Simulation simulation(m);
  EXPECT_EQ(simulation.run(sink).status, RunStatus::finished);
}

TEST(Diagnose, ForceThatJumpsAgainstTheLeastStep) {
  Model m = bar();
  add_force(m, "hammer", "time + 1e-9*dz(tip) < 0.15 ? 0 : 5000");  // not of time alone: not located
  m.simulation.least_step = 1e-4;
  const FailureReport f = failing(m);
  EXPECT_EQ(f.id, "step-below-least");
  EXPECT_EQ(first_cause(f), "force-jumps") << to_text(f);
  EXPECT_EQ(f.part, "force 'hammer'");
  EXPECT_THAT(f.causes[0].evidence, HasSubstr("t = 0.15 s"));
  EXPECT_THAT(f.causes[0].text, HasSubstr("in time"));
}

TEST(Diagnose, ForceThatJumpsInSpace) {
  Model m = bar();
  add_force(m, "floor", "dz(tip, ground) > -0.25 ? 0 : 50000");
  m.simulation.least_step = 1e-4;
  const FailureReport f = failing(m);
  EXPECT_EQ(first_cause(f), "force-jumps") << to_text(f);
  EXPECT_EQ(f.part, "force 'floor'");
  EXPECT_THAT(f.causes[0].text, HasSubstr("where the mechanism passes"));
}

TEST(Diagnose, ToleranceBelowRoundOff) {
  Model m = problems::four_bar(problems::Build::redundant);
  m.simulation.end = 1;
  m.simulation.tolerance = 1e-17;
  Simulation simulation(m);
  try {
    simulation.start();
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems().front().id, "tolerance-below-round-off");
  }
}

TEST(Diagnose, FixedStepThatIsTooLarge) {
  Model m = problems::spatial_slider_crank();
  m.simulation.end = 5;
  m.simulation.step = 0.2;
  const FailureReport f = failing(m);
  bool found = false;
  for (const Cause& cause : f.causes) found = found || cause.id == "fixed-step-too-large";
  EXPECT_TRUE(found) << to_text(f);
}

TEST(Diagnose, StepsThatTheClockDoesNotFeel) {
  Model m = bar();
  m.simulation.tolerance.reset();
  m.simulation.step = 1e-17;
  m.simulation.first_step.reset();
  Simulation simulation(m);
  MemoryTrajectory sink;
  const RunResult result = simulation.run(sink);
  ASSERT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.failure->id, "time-stalled");
}

// An output that cannot be evaluated is not a number, never 0, and is counted.
TEST(Diagnose, OutputsWithoutAValue) {
  Model m = bar();
  m.simulation.end = 0.1;
  m.outputs.push_back({"bad", "", {"log(0.05 - time)", {}}});
  Simulation simulation(m);
  MemoryTrajectory sink;
  const RunResult result = simulation.run(sink);
  EXPECT_EQ(result.status, RunStatus::finished);
  EXPECT_GT(result.summary.values_missing, 0);
  EXPECT_TRUE(std::isnan(sink.column("bad").back()));
  EXPECT_NEAR(sink.column("bad").front(), std::log(0.05), 1e-15);
  EXPECT_THAT(to_text(result.summary), HasSubstr("could not be evaluated"));
}

}  // namespace
}  // namespace trammel::diagnose_test
