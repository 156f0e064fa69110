// What a contact refuses and reports, by name, with what to do.
#include <gtest/gtest.h>

#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::contact_input_test {
namespace {

std::string model(const std::string& fields, double height = 1) {
  return "trammel: 1\ngravity: [0, 0, -9.81]\nbodies: {ball: {mass: 1, inertia: [1, 1, 1], position: [0, 0, " +
         std::to_string(height) + "]}}\nforces: {floor: {type: contact, frames: [ground, ball], " + fields +
         "}}\nsimulation: {end: 0.1}\n";
}

Problem refusal(const std::string& fields) {
  try {
    Simulation simulation(read_model_text(model(fields), "floor.yaml"));
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems()[0].where.line, 4) << fields;
    return failure.problems()[0];
  }
  ADD_FAILURE() << "taken: " << fields;
  return {};
}

void expect_refused(const std::string& fields, const std::string& id, const std::string& part) {
  const Problem problem = refusal(fields);
  EXPECT_EQ(problem.id, id) << problem.message;
  EXPECT_NE(problem.message.find(part), std::string::npos) << problem.message;
  EXPECT_NE(problem.message.find("'floor'"), std::string::npos) << problem.message;
  EXPECT_FALSE(problem.hint.empty());
}

const std::string ball = "shape_a: plane, shape_b: sphere, radius_b: 0.1";

TEST(ContactInput, ShapesAndTheirDimensions) {
  expect_refused("shape_a: plain, shape_b: sphere, radius_b: 0.1", "unknown-value", "shape_a is 'plain'");
  EXPECT_NE(refusal("shape_a: plain, shape_b: sphere, radius_b: 0.1").hint.find("did you mean 'plane'"),
            std::string::npos);
  expect_refused("shape_a: box, size_a: [1, 1, 1], rounding_a: 0.1, shape_b: sphere, radius_b: 0.1", "no-contact-pair",
                 "no contact of a box with a sphere");
  EXPECT_NE(refusal("shape_a: disc, shape_b: disc").hint.find("plane"), std::string::npos);
  expect_refused("shape_a: plane, shape_b: sphere", "missing-field", "needs 'radius_b'");
  expect_refused(ball + ", length_b: 1", "conflict", "has no 'length_b'");
  expect_refused(ball + ", radius_a: 1", "conflict", "has no 'radius_a'");
  expect_refused("shape_a: cylinder, radius_a: 1, length_a: 3, shape_b: sphere, radius_b: 0.1", "conflict", "length_a");
  expect_refused("shape_a: plane, shape_b: sphere, radius_b: 0", "out-of-range", "radius_b");
  expect_refused("shape_a: plane, shape_b: sphere, radius_b: -0.1", "out-of-range", "radius_b");
  expect_refused("shape_a: hollow_sphere, radius_a: 0.1, shape_b: sphere, radius_b: 0.1", "out-of-range",
                 "does not fit");
  expect_refused("shape_a: plane, shape_b: disc, radius_b: 0.1, rounding_b: 0.1", "out-of-range", "rounding_b");
  expect_refused("shape_a: plane, shape_b: box, size_b: [1, 1, 0.1], rounding_b: 0.1", "out-of-range", "rounding_b");
}

TEST(ContactInput, Sprockets) {
  const auto sprocket = [](const std::string& fields) {
    return "shape_a: sprocket, pitch_a: 0.25, shape_b: roller, stiffness: 1e9, " + fields;
  };
  expect_refused(sprocket("teeth_a: 11.5, pocket_a: 0.055, tip_a: 0.073, radius_b: 0.05"), "out-of-range",
                 "11.5 teeth");
  expect_refused(sprocket("teeth_a: 2, pocket_a: 0.055, tip_a: 0.073, radius_b: 0.05"), "out-of-range", "2 teeth");
  expect_refused(sprocket("teeth_a: 11, pocket_a: 0.055, tip_a: 0.06, radius_b: 0.05"), "out-of-range", "do not reach");
  expect_refused(sprocket("teeth_a: 11, pocket_a: 0.055, tip_a: 0.5, radius_b: 0.05"), "out-of-range", "in the middle");
  expect_refused(sprocket("teeth_a: 11, pocket_a: 0.055, tip_a: 0.073, radius_b: 0.06"), "out-of-range",
                 "does not fit");
  expect_refused(sprocket("teeth_a: 11, tip_a: 0.073, radius_b: 0.05"), "missing-field", "pocket_a");
  expect_refused("shape_a: rail, radius_a: 0.03, length_a: 0.26, shape_b: roller, radius_b: 0.12", "missing-field",
                 "along a line");
}

TEST(ContactInput, Laws) {
  expect_refused(ball + ", law: kelvin_voigt", "unknown-value", "kelvin_voigt");
  expect_refused(ball + ", load: 10", "missing-field", "'load' needs 'depth'");
  expect_refused(ball + ", load: 10, depth: 1 mm, stiffness: 1e6", "conflict", "stiffness");
  expect_refused(ball + ", exponent: 2", "missing-field", "'exponent' 2");
  expect_refused(ball + ", restitution: 0.5", "missing-field", "impact_speed");
  expect_refused(ball + ", restitution: 0.5, impact_speed: 1, damping: 1", "conflict", "damping");
  expect_refused(ball + ", law: impact, damping: 10", "missing-field", "ramp");
  expect_refused(ball + ", law: impact, restitution: 0.5, impact_speed: 1", "conflict", "restitution");
  expect_refused(ball + ", ramp: 1 mm", "conflict", "ramp");
  expect_refused(ball + ", friction: 0.3, static_friction: 0.2", "out-of-range", "static_friction");
}

// What would change nothing is refused: it was taken, and ignored.
TEST(ContactInput, FieldsWithoutEffect) {
  for (const std::string field : {"modulus_a: 1e9", "poisson_a: 0.2", "modulus_b: 1e9", "poisson_b: 0.2"}) {
    const std::string name = field.substr(0, field.find(':'));
    expect_refused(ball + ", stiffness: 1e6, " + field, "conflict", name);
    expect_refused(ball + ", load: 10, depth: 1 mm, " + field, "conflict", name);
  }
  expect_refused(ball + ", law: impact, ramp: 1 mm", "conflict", "ramp");
  expect_refused(ball + ", slip_speed: 0.1", "conflict", "slip_speed");
  // Values that switch something off, as in a sweep, stay.
  for (const char* fields : {", law: impact, damping: 0, ramp: 1 mm", ", friction: 0, slip_speed: 0.1",
                             ", static_friction: 0.3, slip_speed: 0.1", ", modulus_a: 1e9, poisson_b: 0.2"})
    EXPECT_NO_THROW(Simulation(read_model_text(model(ball + fields), "floor.yaml"))) << fields;
}

TEST(ContactInput, AbsurdStiffness) {
  expect_refused(ball + ", stiffness: 1e25", "out-of-range", "stiffness is absurd");
  expect_refused(ball + ", modulus_a: 1e40, modulus_b: 1e40", "out-of-range", "stiffness is absurd");
}

TEST(ContactInput, OverlapAtTheStartIsReported) {
  const auto warnings = [](double height, const char* more) {
    Simulation simulation(read_model_text(model(ball + ", load: 10, depth: 1 mm", height) + more, "floor.yaml"));
    simulation.start();
    return simulation.initial().warnings;
  };
  const std::vector<Problem> found = warnings(0.08, "");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, "overlap-at-start");
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_NE(found[0].message.find("'floor'"), std::string::npos) << found[0].message;
  EXPECT_NE(found[0].message.find("0.02 m"), std::string::npos) << found[0].message;
  EXPECT_TRUE(warnings(0.0995, "").empty());
  EXPECT_TRUE(warnings(0.2, "").empty());
  EXPECT_TRUE(warnings(0.08, "initial: {equilibrium: true}\n").empty());
}

// Bodies about the same point were taken to be apart, and stayed inside each other.
TEST(ContactInput, ShapesAboutTheSamePointOverlap) {
  for (const std::string shape_a : {"sphere", "cylinder", "capsule, length_a: 1"}) {
    for (const std::string shape_b : {"sphere", "capsule, length_b: 1"}) {
      if (shape_a == "cylinder" && shape_b != "sphere") continue;
      Simulation simulation(read_model_text(model("shape_a: " + shape_a + ", radius_a: 0.2, shape_b: " + shape_b +
                                                      ", radius_b: 0.1, load: 10, depth: 1 mm",
                                                  0),
                                            "floor.yaml"));
      simulation.start();
      const std::vector<Problem>& found = simulation.initial().warnings;
      ASSERT_EQ(found.size(), 1U) << shape_a << ", " << shape_b;
      EXPECT_EQ(found[0].id, "overlap-at-start");
      EXPECT_NE(found[0].message.find("0.3 m"), std::string::npos) << found[0].message;
    }
  }
}

}  // namespace
}  // namespace trammel::contact_input_test
