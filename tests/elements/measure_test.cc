// Names in measures: what they mean, what is said when they mean nothing, and the wiring of frames.
#include "trammel/elements/measure.h"

#include <gtest/gtest.h>

#include <numbers>

#include "trammel/elements/registry.h"
#include "trammel/math/rotation.h"

namespace trammel::measure_test {
namespace {

// ground --hinge-- crank, and a slider; a frame 'tip' on the crank. Names 'both' are of a frame and of a joint.
Model sample() {
  Model model;
  for (const char* name : {"crank", "slider"}) {
    Body body;
    body.name = name;
    model.add_body(body);
  }
  model.add_frame(0, {Vec3(1, 0, 0), Quat::Identity()}, "tip");
  model.add_frame(1, {Vec3(0, 2, 0), Quat::Identity()}, "both");
  model.joints.push_back({"revolute",
                          "hinge",
                          {model.add_frame(ground, {Vec3(0, 0, 1), Quat::Identity()}),
                           model.add_frame(0, {Vec3(0, 0, 3), Quat::Identity()})},
                          {},
                          {}});
  model.joints.push_back({"revolute", "both", {2, 3}, {}, {}});
  model.parameters.push_back({"k", 4, {}, false, {}});
  return model;
}

int add_spring(Model& model, const std::string& force, const Location& where = {}) {
  Item item{"translational_spring_damper", "spring", {2, 3}, {}, {}};
  item.fields.set("free_length", 1.0);
  item.fields.set("force", ExpressionText{force, where});
  complete_fields(*find_element(Category::force, item.type), item);
  model.forces.push_back(item);
  return static_cast<int>(model.forces.size()) - 1;
}

std::vector<Problem> problems_of(Model model) {
  try {
    wire_measures(model);
  } catch (const Failure& failure) {
    return failure.problems();
  }
  return {};
}

// Value of an output over frames that stand where the model has them.
double output_value(const Model& model, const std::string& text, double t = 0) {
  PlaceNames names(model);
  std::vector<int> frames;
  const MeasuredExpression expression = MeasuredExpression::parse(Output{"sample", "", {text, {}}}, names, frames);
  std::vector<FrameState> states;
  for (const int frame : frames) {
    const Pose pose = model.frame_pose(frame);
    states.push_back({pose.position, pose.rotation.toRotationMatrix(), Vec3::Zero(), Vec3::Zero()});
  }
  const std::vector<double> memory(static_cast<std::size_t>(expression.memory()), 0.0);
  double value = 0;
  EXPECT_TRUE(expression.evaluate({t, states.data(), memory.data()}, value));
  return value;
}

TEST(Measure, ReadsPositionsOfFramesBodiesAndJoints) {
  Model model = sample();
  model.bodies[0].pose = {Vec3(10, 0, 0), Quat(Eigen::AngleAxisd(0.5, Vec3::UnitZ()))};
  model.bodies[1].pose.position = Vec3(4, 5, 6);
  for (const char* text : {"dx(slider)", "dx(tip, crank)", "distance(slider, crank)"})
    model.outputs.push_back({"o", "", {text, {}}});
  wire_measures(model);
  EXPECT_NEAR(output_value(model, "dx(slider)"), 4, 1e-14);
  EXPECT_NEAR(output_value(model, "dy(slider, ground)"), 5, 1e-14);
  EXPECT_NEAR(output_value(model, "dz(both)"), 6, 1e-14);  // the frame, not the joint
  EXPECT_NEAR(output_value(model, "dx(tip, crank)"), 1, 1e-14);
  EXPECT_NEAR(output_value(model, "dy(tip)"), std::sin(0.5), 1e-14);
  EXPECT_NEAR(output_value(model, "dz(hinge)"), 2, 1e-14);
  EXPECT_NEAR(output_value(model, "angle(hinge)"), 0.5, 1e-14);
  EXPECT_NEAR(output_value(model, "angle(ground, tip)"), -0.5, 1e-14);
  EXPECT_NEAR(output_value(model, "k*distance(slider, crank)^2 + time", 3), 4 * (36 + 25 + 36) + 3, 1e-12);
}

TEST(Measure, CountsTurnsFromMemory) {
  const double turn = 2 * std::numbers::pi;
  FrameState a{Vec3::Zero(), Mat3::Identity(), Vec3::Zero(), Vec3::Zero()}, b = a;
  b.R = Eigen::AngleAxisd(0.3, Vec3::UnitZ());
  double value = 0;
  ASSERT_TRUE(evaluate_measure(MeasureKind::angle, a, b, 5 * turn - 1, value));
  EXPECT_NEAR(value, 5 * turn + 0.3, 1e-12);
  ASSERT_TRUE(evaluate_measure(MeasureKind::angle, a, b, -2 * turn, value));
  EXPECT_NEAR(value, -2 * turn + 0.3, 1e-12);
}

TEST(Measure, RefusesWhereItHasNoDerivative) {
  FrameState a{Vec3::Zero(), Mat3::Identity(), Vec3::Zero(), Vec3::Zero()}, b = a;
  double value = 7;
  EXPECT_FALSE(evaluate_measure(MeasureKind::distance, a, b, 0, value));
  EXPECT_EQ(value, 0);
  EXPECT_FALSE(evaluate_measure(MeasureKind::speed, a, b, 0, value));
  b.R = Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitY());  // b_x along a_z
  EXPECT_FALSE(evaluate_measure(MeasureKind::angle, a, b, 0, value));
  EXPECT_FALSE(evaluate_measure(MeasureKind::rate, a, b, 0, value));
}

TEST(Wiring, AddsOnlyTheFramesThatAreMissing) {
  Model model = sample();
  const std::size_t before = model.frames.size();
  add_spring(model, "k*dx(tip) + dx(slider) + distance + angle(hinge)");
  wire_measures(model);
  EXPECT_EQ(model.frames.size(), before + 2);  // origins of ground and slider
  EXPECT_EQ(model.forces[0].frames,
            (std::vector<int>{2, 3, static_cast<int>(before), 0, static_cast<int>(before) + 1}));
  const Model once = model;
  wire_measures(model);
  EXPECT_EQ(model.frames.size(), once.frames.size());
  EXPECT_EQ(model.forces[0].frames, once.forces[0].frames);
}

TEST(Wiring, IsAskedForWhenForgotten) {
  Model model = sample();
  add_spring(model, "dx(tip, both)");
  const ElementDescription& description = *find_element(Category::force, "translational_spring_damper");
  EXPECT_THROW(description.make_force(model.forces[0], {model}), Failure);
  wire_measures(model);
  EXPECT_EQ(description.make_force(model.forces[0], {model})->frames(), 4);
}

TEST(Wiring, NamesWhatIsUnknownWithItsColumn) {
  Model model = sample();
  add_spring(model, "2*dx(tip, crnk)", {intern("model.yaml"), 7, 20});
  const auto problems = problems_of(model);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].where.line, 7);
  EXPECT_EQ(problems[0].where.column, 30);
  EXPECT_NE(problems[0].message.find("force 'spring'"), std::string::npos) << problems[0].message;
  EXPECT_NE(problems[0].message.find("did you mean 'crank'?"), std::string::npos) << problems[0].message;
}

TEST(Wiring, ReportsEveryWrongExpression) {
  Model model = sample();
  add_spring(model, "dx(nobody)");
  add_spring(model, "angl(hinge)");
  add_spring(model, "angle(tip, hinge)");
  add_spring(model, "dx(tip, both, slider)");
  add_spring(model, "distance(tip, tip)");
  model.outputs.push_back({"o", "m", {"distance", {}}});
  const auto problems = problems_of(model);
  ASSERT_EQ(problems.size(), 6u);
  EXPECT_NE(problems[1].hint.find("angle"), std::string::npos) << to_text(problems[1]);
  EXPECT_NE(problems[2].message.find("angle(hinge)"), std::string::npos) << to_text(problems[2]);
  EXPECT_NE(problems[5].message.find("output 'o'"), std::string::npos) << to_text(problems[5]);
}

TEST(Wiring, RefusesMoreFramesThanAnElementTakes) {
  Model model = sample();
  std::string sum = "0";
  for (int i = 0; i < max_frames; ++i) {
    model.add_frame(0, {Vec3(i, 7, 7), Quat::Identity()}, "f" + std::to_string(i));
    sum += " + dx(f" + std::to_string(i) + ", tip)";
  }
  add_spring(model, sum);
  model.outputs.push_back({"o", "m", {sum, {}}});
  const auto problems = problems_of(model);
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].id, "too-many-frames");
  EXPECT_EQ(problems[1].id, "too-many-frames");
  EXPECT_NE(problems[0].message.find("11 frames"), std::string::npos) << problems[0].message;
}

// The index finds what the plain search finds.
TEST(Wiring, IndexAgreesWithSearch) {
  Model model = sample();
  const PlaceNames plain(model);
  PlaceNames indexed(model);
  indexed.index();
  for (const char* name : {"ground", "crank", "slider", "tip", "both", "hinge", "nobody", ""}) {
    EXPECT_EQ(plain.find(name).kind, indexed.find(name).kind) << name;
    EXPECT_EQ(plain.find(name).index, indexed.find(name).index) << name;
  }
}

}  // namespace
}  // namespace trammel::measure_test
