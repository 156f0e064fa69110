// What is checked before a run, on models built in C++ and on model files.
#include "trammel/check/check_model.h"
#include "trammel/elements/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "trammel/model/modal_data.h"
#include "trammel/read/read_model.h"

namespace trammel::check_model_test {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

Body sound_body(const std::string& name) {
  Body body;
  body.name = name;
  body.mass = 2;
  body.inertia = Vec3(0.3, 0.4, 0.5).asDiagonal();
  return body;
}

// Two bodies on two joints, with nothing wrong.
Model sound_model() {
  Model model;
  const int a = model.add_body(sound_body("a")), b = model.add_body(sound_body("b"));
  add_joint(model, "revolute", "j1", ground, a, Vec3(0, 0, 0), Vec3(0, 1, 0));
  add_joint(model, "spherical", "j2", a, b, Vec3(1, 0, 0));
  return model;
}

void expect_problem(const Model& model, Severity severity, const std::string& id, const std::string& message) {
  const std::vector<Problem> problems = check_model(model);
  const auto found = std::find_if(problems.begin(), problems.end(), [&](const Problem& p) { return p.id == id; });
  ASSERT_NE(found, problems.end()) << id << " is not reported, but:\n" << Failure(problems).what();
  EXPECT_EQ(found->severity, severity) << to_text(*found);
  EXPECT_NE(found->message.find(message), std::string::npos) << to_text(*found);
  EXPECT_FALSE(found->hint.empty()) << to_text(*found);
  EXPECT_EQ(problems.size(), 1u) << Failure(problems).what();
}

TEST(CheckModel, SoundModelHasNoProblems) {
  const std::vector<Problem> problems = check_model(sound_model());
  EXPECT_TRUE(problems.empty()) << Failure(problems).what();
  EXPECT_TRUE(require_sound(sound_model()).empty());
}

TEST(CheckModel, Names) {
  Model model = sound_model();
  model.bodies[1].name = "a";
  expect_problem(model, Severity::error, "duplicate-name", "body 'a'");
  model.bodies[1].name = "";
  expect_problem(model, Severity::error, "empty-name", "a body has no name");
  model.bodies[1].name = "ground";
  expect_problem(model, Severity::error, "duplicate-name", "body 'ground'");
  model = sound_model();
  model.joints[1].name = "j1";
  expect_problem(model, Severity::error, "duplicate-name", "joint 'j1'");
  model.joints[1].name = "";
  expect_problem(model, Severity::error, "empty-name", "a joint");
}

TEST(CheckModel, AJointNamedLikeABodyIsDoubtfulInExpressions) {
  Model model = sound_model();
  model.joints[0].name = "a";
  EXPECT_TRUE(check_model(model).empty());
  model.outputs.push_back({"swing", "rad", {"angle(a)", {}}});
  expect_problem(model, Severity::warning, "ambiguous-name", "joint 'a'");
}

TEST(CheckModel, Mass) {
  Model model = sound_model();
  model.bodies[0].mass = -2;
  expect_problem(model, Severity::error, "negative-mass", "body 'a': mass is -2 kg");
  model.bodies[0].mass = nan_value;
  expect_problem(model, Severity::error, "bad-mass", "body 'a'");
  EXPECT_THROW(require_sound(model), Failure);
}

TEST(CheckModel, ImpossibleInertia) {
  Model model = sound_model();
  Mat3& inertia = model.bodies[0].inertia;
  inertia = Vec3(1, 2, 4).asDiagonal();
  expect_problem(model, Severity::error, "impossible-inertia", "principal values are 1, 2, 4 kg m^2");
  inertia = Vec3(1, 2, 3.4).asDiagonal();
  expect_problem(model, Severity::warning, "impossible-inertia", "principal values are 1, 2, 3.4 kg m^2");
  inertia = Vec3(1, -1, 1).asDiagonal();
  expect_problem(model, Severity::error, "impossible-inertia", "principal values are -1, 1, 1 kg m^2: one is negative");
  inertia = Vec3(1, 1, 1).asDiagonal();
  inertia(0, 1) = inertia(1, 0) = 3;  // only the products of inertia are too large: 1 +- 3
  expect_problem(model, Severity::error, "impossible-inertia", "principal values are -2, 1, 4 kg m^2");
  inertia(1, 0) = 0;
  expect_problem(model, Severity::error, "impossible-inertia", "not symmetric");
  inertia = Mat3::Constant(nan_value);
  expect_problem(model, Severity::error, "impossible-inertia", "not finite");
}

TEST(CheckModel, OneWarningForAllDoubtfulInertias) {
  Model model = sound_model();
  const Body first = model.bodies[0];
  for (const double largest : {3.1, 3.3, 3.2}) {
    Body more = first;
    more.name = "body" + std::to_string(model.bodies.size());
    more.inertia = Vec3(1, 2, largest).asDiagonal();
    model.add_body(more);
  }
  int count = 0;
  for (const Problem& problem : check_model(model)) count += problem.id == "impossible-inertia" ? 1 : 0;
  EXPECT_EQ(count, 1);
  expect_problem(model, Severity::warning, "impossible-inertia", "principal values are 1, 2, 3.3 kg m^2");
  expect_problem(model, Severity::warning, "impossible-inertia", "by 10 %; by no more also those of '");
}

TEST(CheckModel, PossibleInertias) {
  Model model = sound_model();
  for (const Vec3& values :
       {Vec3(0, 1, 1), Vec3(1, 1, 2), Vec3(0.333, 0.666, 1), Vec3(1, 1, 1), Vec3(0, 0, 0), Vec3(1e-12, 1e-12, 1e-12)}) {
    // In turned axes the same body has products of inertia.
    const Mat3 R = Quat(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized())).toRotationMatrix();
    model.bodies[0].inertia = R * values.asDiagonal() * R.transpose();
    const std::vector<Problem> problems = check_model(model);
    EXPECT_TRUE(problems.empty()) << values.transpose() << "\n" << Failure(problems).what();
  }
}

TEST(CheckModel, PlanarAndPointBodies) {
  Model model;
  Body planar;
  planar.name = "p";
  planar.kind = "planar";
  planar.mass = 1;
  planar.inertia(2, 2) = 0.1;
  planar.pose.position = Vec3(1, 2, 3);
  planar.pose.rotation = Quat(Eigen::AngleAxisd(1, Vec3::UnitZ()));
  Body point;
  point.name = "q";
  point.kind = "point";
  point.mass = 1;
  model.bodies = {planar, point};
  EXPECT_TRUE(check_model(model).empty());
  model.bodies[0].inertia(2, 2) = -1;
  expect_problem(model, Severity::error, "impossible-inertia", "-1 kg m^2");
  model.bodies[0] = planar;
  model.bodies[0].pose.rotation = Quat(Eigen::AngleAxisd(0.1, Vec3::UnitX()));
  expect_problem(model, Severity::error, "not-planar", "is turned out of it");
  model.bodies[0] = planar;
  model.bodies[0].velocity.z() = 1;
  expect_problem(model, Severity::error, "not-planar", "moves out of it");
  model.bodies[0] = planar;
  model.bodies[0].angular_velocity.x() = 1;
  expect_problem(model, Severity::error, "not-planar", "moves out of it");
  model.bodies[0] = planar;
  model.bodies[1].inertia(0, 0) = 1;
  expect_problem(model, Severity::error, "impossible-inertia", "a point has no inertia");
}

TEST(CheckModel, MasslessBodies) {
  Model model = sound_model();
  model.bodies[1].mass = 0;
  model.bodies[1].inertia.setZero();
  EXPECT_TRUE(check_model(model).empty());  // joint j2 holds it
  model.joints.pop_back();
  expect_problem(model, Severity::warning, "massless-body", "body 'b'");
  EXPECT_EQ(require_sound(model).size(), 1u);
}

TEST(CheckModel, StatesOfBodies) {
  Model model = sound_model();
  model.bodies[0].pose.rotation = Quat(2, 0, 0, 0);
  expect_problem(model, Severity::error, "quaternion-norm", "length 2");
  model = sound_model();
  model.bodies[0].velocity.x() = nan_value;
  expect_problem(model, Severity::error, "not-finite", "body 'a'");
  model = sound_model();
  model.gravity.x() = nan_value;
  expect_problem(model, Severity::error, "not-finite", "gravity");
}

TEST(CheckModel, Items) {
  Model model = sound_model();
  add_joint(model, "fixed", "loop", 0, 0, Vec3(0, 0, 0));
  expect_problem(model, Severity::error, "same-body", "joint 'loop' connects 'a' with itself");
  model = sound_model();
  add_joint(model, "fixed", "loop", ground, ground, Vec3(0, 0, 0));
  expect_problem(model, Severity::error, "same-body", "'ground' with itself");
  model = sound_model();
  const int f = model.add_frame(0, {}), g = model.add_frame(0, {Vec3(1, 0, 0), Quat::Identity()});
  add_force(model, "translational_spring_damper", "s", {f, g});
  expect_problem(model, Severity::warning, "same-body", "force 's'");
  model = sound_model();
  model.joints[0].type = "gluon";
  expect_problem(model, Severity::error, "unknown-type", "'gluon'");
  model = sound_model();
  model.joints[0].frames[1] = 77;
  expect_problem(model, Severity::error, "missing-frame", "joint 'j1'");
  model.joints[0].frames = {0};
  expect_problem(model, Severity::error, "missing-frame", "joint 'j1'");
}

TEST(CheckModel, FieldsOfItems) {
  Model model = sound_model();
  const int f = model.add_frame(ground, {}), g = model.add_frame(0, {Vec3(1, 0, 0), Quat::Identity()});
  add_force(model, "translational_spring_damper", "s", {f, g});
  EXPECT_TRUE(check_model(model).empty());
  model.forces[0].fields.set("damping", -1.0);
  expect_problem(model, Severity::error, "out-of-range", "force 's': 'damping'");
  model.forces[0].fields.set("damping", nan_value);
  expect_problem(model, Severity::error, "out-of-range", "force 's': 'damping'");
  model.forces[0].fields = {};
  EXPECT_FALSE(check_model(model).empty());
  EXPECT_EQ(check_model(model)[0].id, "missing-field");
}

TEST(CheckModel, SaysThatMoreNormalModesAreTaken) {
  const auto of_section = [](const char* section) {
    return read_model_text(
        std::string("trammel: 1\nbodies:\n  bar:\n    kind: modal\n    flexible:\n"
                    "      materials: {steel: {youngs_modulus: 210e9, poisson_ratio: 0.3, density: 7850}}\n"
                    "      sections: {s: {") +
            section +
            "}}\n      nodes: {a: [0, 0, 0], b: [1, 0, 0]}\n      beams: [{nodes: [a, b]}]\n"
            "      element_length: 0.25\n      interfaces: [a, b]\n      normal_modes: 3\n",
        "bar.yaml");
  };
  // Bending modes of a round bar come in pairs.
  expect_problem(of_section("type: round, diameter: 0.02"), Severity::note, "more-normal-modes",
                 "body 'bar': 4 normal modes are taken instead of 3");
  for (const Problem& problem : check_model(of_section("type: rectangle, width: 0.02, height: 0.01")))
    EXPECT_NE(problem.id, "more-normal-modes") << to_text(problem);
}

TEST(CheckModel, Frames) {
  Model model = sound_model();
  model.frames[0].body = 9;
  expect_problem(model, Severity::error, "missing-body", "a frame is on a body");
  model = sound_model();
  model.frames[1].local.rotation.coeffs().setZero();  // what a zero axis leaves behind
  expect_problem(model, Severity::error, "bad-orientation", "orientation");
  model = sound_model();
  model.add_frame(0, {}, "spare");
  expect_problem(model, Severity::note, "unused-frame", "frame 'spare'");
  model.outputs.push_back({"x", "m", {"dx(ground, spare)", {}}});
  EXPECT_TRUE(check_model(model).empty());
  model = sound_model();
  model.add_frame(0, {}, "left-wheel");
  model.outputs.push_back({"x", "m", {"dx(ground, left-wheel)", {}}});
  EXPECT_TRUE(check_model(model).empty());
}

TEST(CheckModel, Parameters) {
  Model model = sound_model();
  model.parameters.push_back({"k", 3, {}, false, {}});
  expect_problem(model, Severity::warning, "unused-parameter", "parameter 'k'");
  model.outputs.push_back({"x", "", {"2*k + 1e3", {}}});
  EXPECT_TRUE(check_model(model).empty());
}

TEST(CheckModel, Simulation) {
  const auto with = [](auto change) {
    Model model = sound_model();
    change(model.simulation);
    return model;
  };
  expect_problem(with([](SimulationSettings& s) { s.end = 0; }), Severity::error, "not-positive", "end is 0 s");
  expect_problem(with([](SimulationSettings& s) { s.end = nan_value; }), Severity::error, "not-positive", "end");
  expect_problem(with([](SimulationSettings& s) { s.tolerance = -1e-3; }), Severity::error, "not-positive",
                 "tolerance is -0.001");
  expect_problem(with([](SimulationSettings& s) { s.step = 0; }), Severity::error, "not-positive", "step is 0 s");
  expect_problem(with([](SimulationSettings& s) { s.output_step = -1; }), Severity::error, "not-positive",
                 "output_step");
  expect_problem(with([](SimulationSettings& s) { s.least_step = 2, s.greatest_step = 1; }), Severity::error,
                 "conflict", "least_step");
}

TEST(CheckModel, StartValuesAndShapes) {
  Model model = sound_model();
  model.initial_joints.push_back({5, {}, {}, {}, {}, {}});
  expect_problem(model, Severity::error, "missing-joint", "joint that does not exist");
  model.initial_joints[0] = {1, nan_value, {}, {}, {}, {}};
  expect_problem(model, Severity::error, "not-finite", "joint 'j2'");
  model = sound_model();
  Shape shape;
  shape.name = "s";
  shape.body = 4;
  model.shapes.push_back(shape);
  expect_problem(model, Severity::error, "missing-body", "shape 's'");
}

TEST(CheckModel, ErrorsComeFirst) {
  Model model = sound_model();
  model.add_frame(0, {}, "spare");
  model.parameters.push_back({"k", 3, {}, false, {}});
  model.bodies[0].mass = -1;
  const std::vector<Problem> problems = check_model(model);
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0].severity, Severity::error);
  EXPECT_EQ(problems[1].severity, Severity::warning);
  EXPECT_EQ(problems[2].severity, Severity::note);
  try {
    require_sound(model);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems().size(), 1u);
  }
}

TEST(CheckModel, ProblemsOfAFileKnowTheirPlace) {
  const Model model = read_model_text(
      "trammel: 1\nparameters: {spare: 1}\nbodies:\n  crank: {mass: -2, inertia: [1, 2, 9]}\n"
      "joints:\n  j: {type: fixed, frames: [crank, crank]}\nsimulation:\n  end: -1\n",
      "model.yaml");
  std::vector<std::string> places;
  for (const Problem& problem : check_model(model)) {
    places.push_back(problem.id + " " + std::to_string(problem.where.line) + ":" +
                     std::to_string(problem.where.column));
  }
  EXPECT_EQ(places, (std::vector<std::string>{"same-body 6:3", "negative-mass 4:3", "impossible-inertia 4:3",
                                              "not-positive 8:3", "unused-parameter 2:14"}));
}

}  // namespace
}  // namespace trammel::check_model_test
