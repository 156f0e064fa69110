// A set of contacts has one record: how many touch, the deepest, and sums.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/elements/run_text.h"

namespace trammel::run_contact_sets_test {
namespace {

// Three balls above a floor: 10 and 20 um deep, and half a metre above it.
const std::string balls = R"(
bodies:
  ball_1: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0.09999]}
  ball_2: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0.09998]}
  ball_3: {mass: 1, inertia: [1, 1, 1], position: [2, 0, 0.6]}
)";
const std::string law = "shape_a: plane, shape_b: sphere, radius_b: 0.1, load: 10, depth: 1e-5, damping: 1";

TEST(ContactSets, AreRecordedAsOne) {
  const TextRun run(balls + "contacts: {floor: {frames_a: ground, frames_b: ball_*, " + law +
                    "}}\nsimulation: {end: 1e-6, output_step: 1e-6}\n");
  const auto first = [&](const char* name) { return run.column(std::string("force.floor.") + name).front(); };
  EXPECT_EQ(first("touching"), 2);
  EXPECT_NEAR(first("penetration"), 2e-5, 1e-15);
  EXPECT_EQ(first("deepest_pair"), 1);
  EXPECT_NEAR(first("normal_force"), 10 * (1 + std::pow(2, 1.5)), 1e-8);
  EXPECT_EQ(first("traction"), 0);
  EXPECT_FALSE(run.trajectory.find("force.floor.ground.ball_1.penetration"));
}

// The same forces, one by one.
TEST(ContactSets, MoveBodiesAsTheirContactsDo) {
  const std::string rest = "gravity: [0, 0, -9.81]\nsimulation: {end: 0.1, output_step: 0.01, length: 1}\n";
  const TextRun set(balls + "contacts: {floor: {frames_a: ground, frames_b: ball_*, " + law + "}}\n" + rest);
  std::string forces = "forces:\n";
  for (int i = 1; i <= 3; ++i)
    forces += "  floor_" + std::to_string(i) + ": {type: contact, frames: [ground, ball_" + std::to_string(i) + "], " +
              law + "}\n";
  const TextRun single(balls + forces + rest);
  for (const char* signal :
       {"body.ball_1.position.z", "body.ball_2.position.z", "body.ball_3.velocity.z", "energy.dissipated"})
    EXPECT_EQ(set.column(signal), single.column(signal)) << signal;
}

}  // namespace
}  // namespace trammel::run_contact_sets_test
