// Sets of contacts become forces: which pairs there are, what they are called, what is left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trammel/check/check_model.h"
#include "trammel/equations/equations.h"
#include "trammel/read/read_model.h"

namespace trammel::contact_sets_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string machine = R"yaml(trammel: 1
bodies:
  link_1: {mass: 1, inertia: [1, 1, 1]}
  link_2: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}
  link_3: {mass: 1, inertia: [1, 1, 1], position: [2, 0, 0]}
  wheel: {mass: 1, inertia: [1, 1, 1], position: [1, 3, 0]}
frames:
  rim_1: {body: wheel, position: [0, 0, 0.1]}
  rim_2: {body: wheel, position: [0, 0, -0.1]}
joints:
  pin: {type: revolute, between: [link_1, link_2], at: [0.5, 0, 0]}
  axle: {type: revolute, between: [ground, wheel], at: [1, 3, 0]}
)yaml";
const std::string balls = "shape_a: sphere, radius_a: 0.1, shape_b: sphere, radius_b: 0.1, stiffness: 1e6";

Model read(const std::string& contacts) { return read_model_text(machine + "contacts:\n" + contacts, "set.yaml"); }

std::vector<std::string> names(const Model& model) {
  std::vector<std::string> out;
  for (const Item& force : model.forces) out.push_back(force.name);
  return out;
}

TEST(ContactSets, AreForcesOfEachWithEach) {
  const Model model = read("  touch: {frames_a: [link_1, link_3], frames_b: rim_*, " + balls + ", part: implicit}\n");
  EXPECT_THAT(names(model),
              ElementsAre("touch.link_1.rim_1", "touch.link_1.rim_2", "touch.link_3.rim_1", "touch.link_3.rim_2"));
  for (const Item& force : model.forces) {
    EXPECT_EQ(force.type, "contact");
    EXPECT_TRUE(force.implicit);
    EXPECT_EQ(force.fields.number("stiffness"), 1e6);
    EXPECT_EQ(force.where.line, 14);
  }
  EXPECT_EQ(model.frames[static_cast<std::size_t>(model.forces[1].frames[1])].name, "rim_2");
  EXPECT_EQ(model.frames[static_cast<std::size_t>(model.forces[2].frames[0])].body, 2);
  EXPECT_EQ(Equations(model).force_count(), 4);
}

// A pair that a joint holds together is left out, with a note, and each of two equal shapes meets the other once.
TEST(ContactSets, LeaveOutWhatIsJoinedAndTakePairsOnce) {
  const Model model = read("  among: {frames_a: link_*, frames_b: link_*, " + balls + "}\n");
  EXPECT_THAT(names(model), ElementsAre("among.link_1.link_3", "among.link_2.link_3"));
  ASSERT_EQ(model.contact_sets.size(), 1U);
  EXPECT_EQ(model.contact_sets[0].joined, 1);
  int notes = 0;
  for (const Problem& problem : check_model(model)) {
    if (problem.id != "joined-contacts") continue;
    ++notes;
    EXPECT_EQ(problem.severity, Severity::note);
    EXPECT_THAT(problem.message, HasSubstr("'among': 1 of its 3 pairs"));
  }
  EXPECT_EQ(notes, 1);
  EXPECT_EQ(read("  among: {frames_a: link_*, frames_b: link_*, joined: true, " + balls + "}\n").forces.size(), 3U);
}

TEST(ContactSets, TakeWhatAPatternFits) {
  const auto taken = [](const std::string& pattern) {
    std::vector<std::string> out;
    for (const std::string& name : names(read("  c: {frames_a: ground, frames_b: \"" + pattern +
                                              "\", joined: true, shape_a: plane, shape_b: "
                                              "sphere, radius_b: 0.1, stiffness: 1e6}\n")))
      out.push_back(name.substr(std::string("c.ground.").size()));
    return out;
  };
  EXPECT_THAT(taken("link_*"), ElementsAre("link_1", "link_2", "link_3"));
  EXPECT_THAT(taken("*_1"), ElementsAre("rim_1", "link_1"));
  EXPECT_THAT(taken("*i*_2"), ElementsAre("rim_2", "link_2"));
  EXPECT_THAT(taken("*e*"), ElementsAre("wheel"));
  EXPECT_EQ(taken("*").size(), 6U);
  EXPECT_THAT(taken("**l**"), ElementsAre("link_1", "link_2", "link_3", "wheel"));
}

// The same list on both sides with two shapes: both ways.
TEST(ContactSets, OfTwoShapesGoBothWays) {
  EXPECT_THAT(
      names(read(
          "  c: {frames_a: [link_1, link_3], frames_b: [link_1, link_3], shape_a: plane, shape_b: sphere, radius_b: "
          "0.1, stiffness: 1e6}\n")),
      ElementsAre("c.link_1.link_3", "c.link_3.link_1"));
}

TEST(ContactSets, InSubsystemsBelongToThem) {
  const Model model = read_model_text(R"yaml(trammel: 1
subsystems:
  pair:
    bodies:
      ball_1: {mass: 1, inertia: [1, 1, 1]}
      ball_2: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}
    contacts:
      clack: {frames_a: ball_1, frames_b: ball_*, shape_a: sphere, radius_a: 0.1, shape_b: sphere, radius_b: 0.1, stiffness: 1e6}
use:
  left: {subsystem: pair}
  right: {subsystem: pair, position: [0, 3, 0]}
)yaml",
                                      "set.yaml");
  EXPECT_THAT(names(model), ElementsAre("left.clack.ball_1.ball_2", "right.clack.ball_1.ball_2"));
}

Problem refusal(const std::string& set) {
  try {
    read("  touch: {" + set + "}\n");
  } catch (const Failure& failure) {
    return failure.problems()[0];
  }
  ADD_FAILURE() << "taken: " << set;
  return {};
}

TEST(ContactSets, SayWhatIsWrong) {
  EXPECT_EQ(refusal("frames_a: link_1, " + balls).id, "missing-key");
  EXPECT_THAT(refusal("frames_a: link_1, frames_b: roller_*, " + balls).message, HasSubstr("'roller_*'"));
  EXPECT_EQ(refusal("frames_a: link_1, frames_b: rim_7, " + balls).id, "unknown-frame");
  EXPECT_EQ(refusal("frames_a: [link_1, link_1], frames_b: rim_1, " + balls).id, "duplicate-name");
  EXPECT_EQ(refusal("frames_a: rim_1, frames_b: rim_2, " + balls).id, "no-contact-pair");
  EXPECT_THAT(refusal("frames_a: link_1, frames_b: link_2, " + balls).hint, HasSubstr("joined: true"));
  EXPECT_EQ(refusal("frames_a: link_1, frames_b: rim_1, colour: red, " + balls).id, "unknown-key");
  EXPECT_EQ(refusal("frames_a: link_1, frames_b: rim_1, shape_a: sphere").id, "missing-key");
}

}  // namespace
}  // namespace trammel::contact_sets_test
