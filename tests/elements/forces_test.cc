// Forces against closed forms, and what they refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "trammel/elements/build.h"
#include "trammel/elements/measure.h"
#include "trammel/elements/registry.h"
#include "trammel/elements/remembered_angle.h"
#include "trammel/math/rotation.h"

namespace trammel::forces_test {
namespace {

const FrameState at_rest{Vec3::Zero(), Mat3::Identity(), Vec3::Zero(), Vec3::Zero()};

// A force between the origin of the ground and that of a body at (1, 2, 3).
std::unique_ptr<Force> make_force(const std::string& type, Fields fields) {
  Model model;
  Body body;
  body.name = "ball";
  body.pose.position = Vec3(1, 2, 3);
  model.add_body(body);
  const int a = model.add_frame(ground, {}), b = model.add_frame(0, {});
  model.parameters.push_back({"K", 1e4, {}, false, {}});
  add_force(model, type, "sample", {a, b}, std::move(fields));
  wire_measures(model);
  return find_element(Category::force, type)->make_force(model.forces[0], {model});
}

Eigen::Matrix<double, 12, 1> wrench_of(const Force& force, const FrameState& a, const FrameState& b, double t = 0,
                                       const std::vector<double>& memory = {0, 0, 0, 0, 0, 0}) {
  const std::vector<FrameState> frames{a, b};
  Eigen::Matrix<double, 12, 1> wrench;
  EXPECT_TRUE(force.evaluate({t, frames.data(), memory.data()}, wrench.data()));
  return wrench;
}

TEST(TranslationalSpringDamper, PullsWhenLong) {
  Fields fields;
  fields.set("stiffness", 100.0);
  fields.set("damping", 5.0);
  fields.set("free_length", 2.0);
  fields.set("force", 3.0);  // a plain number will do
  const auto force = make_force("translational_spring_damper", fields);
  FrameState b = at_rest;
  b.p = Vec3(0, 3, 4);
  b.v = Vec3(0, 0.6, 0.8);
  const auto wrench = wrench_of(*force, at_rest, b);
  const double tension = 100 * 3 + 5 * 1 + 3;
  EXPECT_TRUE(wrench.head<3>().isApprox(tension * Vec3(0, 0.6, 0.8), 1e-14));
  EXPECT_TRUE(wrench.segment<3>(6).isApprox(-tension * Vec3(0, 0.6, 0.8), 1e-14));
  const std::vector<FrameState> frames{at_rest, b};
  double seen[3];
  force->observe({0, frames.data(), nullptr}, seen);
  EXPECT_NEAR(seen[0], 5, 1e-14);
  EXPECT_NEAR(seen[1], 1, 1e-14);
  EXPECT_NEAR(seen[2], tension, 1e-12);
  EXPECT_FALSE(force->energy_is_complete());
}

TEST(TranslationalSpringDamper, IsRelaxedAsDrawn) {
  Fields fields;
  fields.set("stiffness", 100.0);
  const auto force = make_force("translational_spring_damper", fields);
  FrameState b = at_rest;
  b.p = Vec3(3, 1, 2);  // as long as drawn, in another direction
  EXPECT_LT(wrench_of(*force, at_rest, b).norm(), 1e-12);
  EXPECT_FALSE(force->uses_velocity());
  EXPECT_TRUE(force->energy_is_complete());
}

TEST(TranslationalSpringDamper, RefusesNoLength) {
  const auto force = make_force("translational_spring_damper", {});
  const std::vector<FrameState> frames{at_rest, at_rest};
  double wrench[12];
  EXPECT_FALSE(force->evaluate({0, frames.data(), nullptr}, wrench));
}

TEST(TranslationalSpringDamper, RefusesNegativeLength) {
  Fields fields;
  fields.set("free_length", -0.5);
  EXPECT_THROW(make_force("translational_spring_damper", fields), Failure);
}

TEST(RotationalSpringDamper, WindsUpOverTurns) {
  Fields fields;
  fields.set("stiffness", 2.0);
  fields.set("damping", 0.5);
  fields.set("free_angle", 0.25);
  const auto force = make_force("rotational_spring_damper", fields);
  ASSERT_EQ(force->memory(), RememberedAngle::size);
  std::vector<FrameState> frames{at_rest, at_rest};
  frames[1].w = Vec3(0, 0, 3);
  std::vector<double> memory(RememberedAngle::size, 0);
  const double turned = 6.7 * std::numbers::pi;
  for (int i = 1; i <= 20; ++i) {
    frames[1].R = Eigen::AngleAxisd(turned * i / 20, Vec3::UnitZ());
    force->accept({0, frames.data(), memory.data()}, memory.data());
  }
  EXPECT_NEAR(memory[0], turned, 1e-12);
  const auto wrench = wrench_of(*force, frames[0], frames[1], 0, memory);
  EXPECT_NEAR(wrench[11], -2 * (turned - 0.25) - 0.5 * 3, 1e-12);
  EXPECT_NEAR(wrench[5], -wrench[11], 1e-15);
  EXPECT_NEAR(force->potential_energy({0, frames.data(), memory.data()}), (turned - 0.25) * (turned - 0.25), 1e-11);
}

TEST(RotationalSpringDamper, ActuatorTurnsTheSecondFrameForward) {
  Fields fields;
  fields.set("torque", ExpressionText{"3*time", {}});
  const auto force = make_force("rotational_spring_damper", fields);
  const auto wrench = wrench_of(*force, at_rest, at_rest, 2);
  EXPECT_NEAR(wrench[11], 6, 1e-15);
  EXPECT_NEAR(wrench[5], -6, 1e-15);
}

TEST(Bushing, IsLinearForSmallMotions) {
  Fields fields;
  fields.set("stiffness", Vec3(10, 20, 30));
  fields.set("angular_stiffness", Vec3(1, 2, 3));
  fields.set("damping", Vec3(0.1, 0.2, 0.3));
  fields.set("preload_force", Vec3(0, 0, 5));
  const auto force = make_force("bushing", fields);
  FrameState a = at_rest;
  a.R = Eigen::AngleAxisd(1.1, Vec3(1, 2, 3).normalized());
  FrameState b = a;
  EXPECT_TRUE(wrench_of(*force, a, b).segment<3>(6).isApprox(a.R * Vec3(0, 0, 5), 1e-14));
  const Vec3 d(1e-3, 2e-3, -1e-3), turn(1e-6, -2e-6, 3e-6);
  b.p = a.R * d;
  b.R = a.R * rotation_exp(turn).toRotationMatrix();
  b.v = a.R * Vec3(1, 1, 1);
  const auto wrench = wrench_of(*force, a, b);
  EXPECT_TRUE((a.R.transpose() * wrench.segment<3>(6))
                  .isApprox(Vec3(0, 0, 5) - Vec3(10e-3, 40e-3, -30e-3) - Vec3(0.1, 0.2, 0.3), 1e-12));
  EXPECT_TRUE((a.R.transpose() * wrench.segment<3>(9)).isApprox(-Vec3(1e-6, -4e-6, 9e-6), 1e-5));
}

TEST(Bushing, ActsLikeATorsionSpringAboutAnAxis) {
  Fields fields;
  fields.set("angular_stiffness", Vec3(2, 2, 2));
  const auto force = make_force("bushing", fields);
  FrameState b = at_rest;
  const Vec3 axis = Vec3(1, -2, 2) / 3;
  b.R = Eigen::AngleAxisd(2.9, axis);
  EXPECT_TRUE(wrench_of(*force, at_rest, b).segment<3>(9).isApprox(-2 * 2.9 * axis, 1e-12));
  const std::vector<FrameState> frames{at_rest, b};
  EXPECT_NEAR(force->potential_energy({0, frames.data(), nullptr}), 2.9 * 2.9, 1e-12);
  double seen[12];
  force->observe({0, frames.data(), nullptr}, seen);
  EXPECT_NEAR(seen[3], 2.9 * axis.x(), 1e-12);
  EXPECT_NEAR(seen[9], -2 * 2.9 * axis.x(), 1e-12);
}

TEST(Bushing, RefusesHalfATurn) {
  const auto force = make_force("bushing", {});
  std::vector<FrameState> frames{at_rest, at_rest};
  double wrench[12];
  frames[1].R = Eigen::AngleAxisd(0.96 * std::numbers::pi, Vec3::UnitX());
  EXPECT_TRUE(force->evaluate({0, frames.data(), nullptr}, wrench));
  frames[1].R = Eigen::AngleAxisd(0.98 * std::numbers::pi, Vec3::UnitX());
  EXPECT_FALSE(force->evaluate({0, frames.data(), nullptr}, wrench));
}

TEST(Bushing, RefusesMatricesThatMakeEnergy) {
  const auto with = [](const char* field, double coupling_up, double coupling_down) {
    Mat6 m = Mat6::Identity();
    m(0, 4) = coupling_up;
    m(4, 0) = coupling_down;
    Fields fields;
    fields.set(field, m);
    return fields;
  };
  for (const char* field : {"stiffness_matrix", "damping_matrix"}) {
    EXPECT_NO_THROW(make_force("bushing", with(field, 0.9, 0.9)));
    EXPECT_NO_THROW(make_force("bushing", with(field, 1, 1)));  // one direction free
    EXPECT_THROW(make_force("bushing", with(field, 1.1, 1.1)), Failure);
    EXPECT_THROW(make_force("bushing", with(field, 0.9, 0.8)), Failure);
  }
}

// A ball pressed into the floor: Hertz' law by an expression.
TEST(AppliedForce, IsContactByExpression) {
  Fields fields;
  fields.set("fz", ExpressionText{"K*max(0, 0.05 - dz(ball))^1.5", {}});
  const auto force = make_force("force", fields);
  FrameState b = at_rest;
  b.p = Vec3(0.3, 0, 0.04);
  const auto wrench = wrench_of(*force, at_rest, b);
  EXPECT_NEAR(wrench[8], 1e4 * std::pow(0.01, 1.5), 1e-12);
  EXPECT_NEAR(wrench[2], -wrench[8], 1e-15);
  EXPECT_NEAR(wrench[4], 0.3 * wrench[8], 1e-12);  // the reaction acts where the ball is: (d x -F)_y = x F
  b.p.z() = 0.06;
  EXPECT_EQ(wrench_of(*force, at_rest, b).norm(), 0);
  EXPECT_FALSE(force->uses_velocity());
}

TEST(AppliedForce, FollowsTheAxesItIsGiven) {
  FrameState a = at_rest, b = at_rest;
  a.R = Eigen::AngleAxisd(0.7, Vec3::UnitX());
  b.R = Eigen::AngleAxisd(1.3, Vec3::UnitY());
  for (const auto& [axes, R] : {std::pair<const char*, Mat3>{"a", a.R}, {"b", b.R}, {"world", Mat3::Identity()}}) {
    for (const char* type : {"force", "torque"}) {
      const bool is_force = std::string(type) == "force";
      Fields fields;
      fields.set(is_force ? "fy" : "ty", 2.0);
      fields.set("axes", std::string(axes));
      const auto force = make_force(type, fields);
      EXPECT_TRUE(wrench_of(*force, a, b).segment<3>(is_force ? 6 : 9).isApprox(R * Vec3(0, 2, 0), 1e-14))
          << type << axes;
      EXPECT_EQ(force->objective(), std::string(axes) != "world");
    }
  }
  Fields wrong;
  wrong.set("axes", std::string("c"));
  EXPECT_THROW(make_force("force", wrong), Failure);
}

TEST(AppliedForce, IsRejectedWhereItsExpressionHasNoValue) {
  Fields fields;
  fields.set("fx", ExpressionText{"sqrt(dx)", {}});
  const auto force = make_force("force", fields);
  std::vector<FrameState> frames{at_rest, at_rest};
  double wrench[12];
  frames[1].p.x() = -1;
  EXPECT_FALSE(force->evaluate({0, frames.data(), nullptr}, wrench));
  frames[1].p.x() = 4;
  ASSERT_TRUE(force->evaluate({0, frames.data(), nullptr}, wrench));
  EXPECT_NEAR(wrench[6], 2, 1e-15);
}

}  // namespace
}  // namespace trammel::forces_test
