// Contacts: Hertz's constants against independent values and limits, and what the laws say.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "trammel/elements/contacts/hertz.h"
#include "trammel/elements/registry.h"

namespace trammel::contacts_test {
namespace {

// The grooves of a 6206 bearing at 17.039 degrees, computed independently to five digits (Harris' formulas).
TEST(Hertz, ConstantsOfABearing) {
  const double D = 9.525e-3, pitch = 46e-3, f = 0.52, c = 2 * (1 - 0.09) / 206e9;
  const double gamma = D * std::cos(17.0392 * std::numbers::pi / 180) / pitch;
  const double inner = 2 * gamma / (1 - gamma), outer = -2 * gamma / (1 + gamma);
  const HertzContact i = hertz_contact((4 - 1 / f + inner) / D, (1 / f + inner) / D, c),
                     o = hertz_contact((4 - 1 / f + outer) / D, (1 / f + outer) / D, c);
  EXPECT_NEAR(i.axis_ratio, 9.303, 1e-3);
  EXPECT_NEAR(o.axis_ratio, 7.285, 1e-3);
  EXPECT_NEAR(i.deflection, 0.60274, 1e-5);
  EXPECT_NEAR(o.deflection, 0.66032, 1e-5);
  EXPECT_NEAR(i.stiffness, 2.7763e10, 1e6);
  EXPECT_NEAR(o.stiffness, 2.9375e10, 1e6);
}

// A sphere on a plane: Q = 4/3 E* sqrt(R) depth^1.5; a slightly oval contact differs little.
TEST(Hertz, TwoSpheres) {
  const double R = 0.02, c = 1e-11;
  const double exact = 4.0 / 3 / c * std::sqrt(R);
  EXPECT_NEAR(hertz_contact(2 / R, 0, c).stiffness, exact, 1e-12 * exact);
  EXPECT_NEAR(hertz_contact(2 / R, 1e-3 / R, c).stiffness, exact, 1e-6 * exact);
  // continuous where the series takes over
  EXPECT_NEAR(hertz_contact(2 / R, 1.6e-4 / R, c).stiffness, hertz_contact(2 / R, 1.4e-4 / R, c).stiffness,
              1e-8 * exact);
}

Eigen::Matrix<double, 12, 1> wrench_at(const Force& force, const Vec3& place, const Vec3& velocity = Vec3::Zero()) {
  const FrameState frames[2] = {{Vec3::Zero(), Mat3::Identity(), Vec3::Zero(), Vec3::Zero()},
                                {place, Mat3::Identity(), velocity, Vec3::Zero()}};
  Eigen::Matrix<double, 12, 1> out;
  force.evaluate({0, frames, nullptr, nullptr}, out.data());
  return out;
}

// The force of two steel shapes that reach 10 um into each other, B about `place` and turned.
double pressed(const std::string& shape_a, const std::string& shape_b,
               const std::vector<std::pair<std::string, double>>& sizes, const Vec3& place,
               const Mat3& turn = Mat3::Identity()) {
  const ElementDescription& d = *find_element(Category::force, "contact");
  Item item;
  item.type = d.key;
  item.name = "pair";
  item.fields.set("shape_a", shape_a);
  item.fields.set("shape_b", shape_b);
  for (const auto& [name, size] : sizes) item.fields.set(name, size);
  if (shape_b == "box") item.fields.set("size_b", Vec3(0.1, 0.1, 0.1));
  complete_fields(d, item);
  Model model;
  const FrameState frames[2] = {{Vec3::Zero(), Mat3::Identity(), Vec3::Zero(), Vec3::Zero()},
                                {place, turn, Vec3::Zero(), Vec3::Zero()}};
  const Force::Overlap overlap = d.make_force(item, {model})->overlap({0, frames, nullptr, nullptr});
  EXPECT_NEAR(overlap.depth, 1e-5, 1e-14);
  return overlap.force;
}

TEST(Hertz, CurvaturesAreThoseWhereShapesTouch) {
  const double e = 1e-5, c = 2 * (1 - 0.09) / 206e9;
  const auto expect_load = [&](double found, double sum, double difference) {
    const double expected = hertz_contact(sum, difference, c).stiffness * std::pow(e, 1.5);
    EXPECT_NEAR(found, expected, 1e-8 * expected) << sum << " " << difference;
  };
  const Mat3 lying = Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX()).toRotationMatrix();
  const double r = 0.01, R = 0.03;
  const std::vector<std::pair<std::string, double>> round{{"radius_a", R}, {"radius_b", r}};
  auto bar = round, bars = round;
  bar.emplace_back("length_a", 0.2);
  bars.emplace_back("length_a", 0.2);
  bars.emplace_back("length_b", 0.2);
  expect_load(pressed("cylinder", "sphere", round, {R + r - e, 0, 0}), 2 / r + 1 / R, 1 / R);
  expect_load(pressed("hollow_cylinder", "sphere", round, {R - r + e, 0, 0}), 2 / r - 1 / R, 1 / R);
  expect_load(pressed("capsule", "sphere", bar, {R + r - e, 0, 0}), 2 / r + 1 / R, 1 / R);
  expect_load(pressed("capsule", "capsule", bars, {R + r - e, 0, 0}, lying), 1 / r + 1 / R, 1 / r - 1 / R);
  expect_load(pressed("plane", "capsule", {{"radius_b", r}, {"length_b", 0.2}}, {0, 0, 0.1 + r - e}), 2 / r, 0);
  expect_load(pressed("plane", "box", {{"rounding_b", r}}, {0, 0, 0.05 - e}), 2 / r, 0);
  // The rim of a domed disc is an ellipse with half axes 40 and 4 mm, thickened by 10 mm: along its axis it is curved
  // by 1/(10 mm + 4^2/40 mm), not by 1/10 mm.
  const double across = 1 / 0.0104;
  expect_load(
      pressed("plane", "disc", {{"radius_b", 0.05}, {"rounding_b", r}, {"crown_b", 0.004}}, {0, 0, 0.05 - e}, lying),
      1 / 0.05 + across, across - 1 / 0.05);
  expect_load(
      pressed("plane", "cylinder", {{"radius_b", 0.05}, {"length_b", 0.2}, {"rounding_b", r}, {"crown_b", 0.004}},
              {0, 0, 0.05 - e}, lying),
      1 / 0.05 + across, across - 1 / 0.05);
}

// Two places stand for a line: together they have the stiffness that is given, and the damping.
TEST(Rollers, BearWithTheirWholeStiffnessOverTwoPlaces) {
  const ElementDescription& d = *find_element(Category::force, "contact");
  const auto load = [&](const std::string& law, double length, const Vec3& velocity) {
    Item item;
    item.type = d.key;
    item.name = "pair";
    item.fields.set("shape_a", std::string("rail"));
    item.fields.set("radius_a", 0.03);
    item.fields.set("length_a", 0.26);
    item.fields.set("shape_b", std::string("roller"));
    item.fields.set("radius_b", 0.12);
    if (length > 0) item.fields.set("length_b", length);
    item.fields.set("stiffness", 1e10);
    item.fields.set("law", law);
    if (law == "impact") item.fields.set("ramp", 1e-6);
    item.fields.set("damping", law == "impact" ? 1000.0 : 0.5);
    complete_fields(d, item);
    Model model;
    const auto force = d.make_force(item, {model});
    EXPECT_EQ(force->switches().size(), length > 0 ? 2U : 1U);
    return wrench_at(*force, {0.05, 0.15 - 1e-5, 0.4}, velocity)[7];
  };
  const double elastic = 1e10 * std::pow(1e-5, 1.5);
  for (const double length : {0.0, 0.3}) {
    EXPECT_NEAR(load("hunt_crossley", length, Vec3::Zero()), elastic, 1e-8 * elastic);
    EXPECT_NEAR(load("impact", length, {0, -0.1, 0}), elastic + 100, 1e-8 * elastic);
  }
}

TEST(Hertz, ConformingSurfacesAreRefused) {
  const ElementDescription& d = *find_element(Category::force, "ball_in_pocket");
  Item item;
  item.type = d.key;
  item.name = "tight";
  item.fields.set("pocket_radius", 0.01);
  item.fields.set("ball_radius", 0.03);
  complete_fields(d, item);
  Model model;
  try {
    d.make_force(item, {model});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems()[0].id, "conforming-surfaces");
  }
}

std::unique_ptr<Force> groove(const char* ring, double damping) {
  const ElementDescription& d = *find_element(Category::force, "ball_in_groove");
  Item item;
  item.type = d.key;
  item.name = "groove";
  item.fields.set("ring", std::string(ring));
  item.fields.set("center_radius", 0.05);
  item.fields.set("groove_radius", 0.0105);
  item.fields.set("ball_radius", 0.01);
  item.fields.set("stiffness", 1e9);
  item.fields.set("damping", damping);
  complete_fields(d, item);
  Model model;
  return d.make_force(item, {model});
}

TEST(BallInGroove, PushesTowardsTheMiddleOfItsProfile) {
  const double s = 0.00051, force = 1e9 * std::pow(1e-5, 1.5);
  EXPECT_NEAR(wrench_at(*groove("outer", 0), {0.05 + s, 0, 0})[6], -force, 1e-9 * force);
  EXPECT_NEAR(wrench_at(*groove("inner", 0), {0.05 - s, 0, 0})[6], force, 1e-9 * force);
  EXPECT_TRUE(wrench_at(*groove("outer", 0), {0.0504, 0, 0}).isZero(0));
}

TEST(BallInGroove, NeverPulls) {
  const std::unique_ptr<Force> force = groove("outer", 2);
  EXPECT_TRUE(wrench_at(*force, {0.05051, 0, 0}, {-1, 0, 0}).isZero(0));  // away at 1 m/s: 1 + 2 u < 0
  EXPECT_LT(wrench_at(*force, {0.05051, 0, 0}, {-0.4, 0, 0})[6], 0);
}

}  // namespace
}  // namespace trammel::contacts_test
