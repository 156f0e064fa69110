// Good model files give the model they say, in SI.
#include "trammel/read/read_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <set>

#include "trammel/check/check_model.h"
#include "trammel/math/rotation.h"

namespace trammel::read_model_test {
namespace {

constexpr double degree = std::numbers::pi / 180;

Model read(const std::string& text, const ReadOptions& options = {}) {
  return read_model_text("trammel: 1\n" + text, "model.yaml", options);
}

std::string one_body(const std::string& entries) {
  return "bodies: {b: {mass: 1, inertia: [1, 1, 1], " + entries + "}}\n";
}

void expect_vector(const Vec3& v, double x, double y, double z) {
  const double scale = std::max({std::abs(x), std::abs(y), std::abs(z), 1e-300});
  EXPECT_LE((v - Vec3(x, y, z)).norm(), 1e-14 * scale) << v.transpose() << " against " << x << " " << y << " " << z;
}

void expect_rotation(const Quat& q, const Quat& expected) { EXPECT_LE(q.angularDistance(expected), 1e-14); }

TEST(ReadModel, SmallestFile) {
  const Model model = read("");
  EXPECT_TRUE(model.bodies.empty());
  EXPECT_EQ(model.file, "model.yaml");
  EXPECT_EQ(model.text, "trammel: 1\n");
  EXPECT_EQ(model.gravity, Vec3(Vec3::Zero()));
}

TEST(ReadModel, EmptySectionsAreFine) {
  const Model model = read("parameters:\nbodies:\njoints: {}\nforces: ~\ninitial:\nsimulation:\noutputs:\nshapes:\n");
  EXPECT_TRUE(model.bodies.empty());
}

TEST(ReadModel, SpatialBody) {
  const Model model = read(
      "title: 'A: test'\ngravity: [0, 0, -9.81]\nbodies:\n  b:\n    mass: 2.5\n    inertia: [1, 2, 3, 0.1, 0.2, 0.3]\n"
      "    center_of_mass: [0.1, 0.2, 0.3]\n    position: [1, -2, 3e-1]\n    velocity: [+4, .5, 6.]\n"
      "    angular_velocity: [1, 2, 3]\n");
  EXPECT_EQ(model.title, "A: test");
  EXPECT_EQ(model.gravity.z(), -9.81);
  ASSERT_EQ(model.bodies.size(), 1u);
  const Body& body = model.bodies[0];
  EXPECT_EQ(body.name, "b");
  EXPECT_EQ(body.kind, "spatial");
  EXPECT_EQ(body.mass, 2.5);
  Mat3 inertia;
  inertia << 1, 0.1, 0.2, 0.1, 2, 0.3, 0.2, 0.3, 3;
  EXPECT_EQ(body.inertia, inertia);
  EXPECT_EQ(body.center_of_mass, Vec3(0.1, 0.2, 0.3));
  EXPECT_EQ(body.pose.position, Vec3(1, -2, 0.3));
  EXPECT_EQ(body.velocity, Vec3(4, 0.5, 6));
  EXPECT_EQ(body.angular_velocity, Vec3(1, 2, 3));
  EXPECT_EQ(body.where.line, 5);
  EXPECT_EQ(body.where.column, 3);
  EXPECT_EQ(*body.where.file, "model.yaml");
}

TEST(ReadModel, InertiaAsMatrix) {
  const Model model = read("bodies: {b: {mass: 1, inertia: [[1, 4, 5], [4, 2, 6], [5, 6, 3]]}}");
  Mat3 inertia;
  inertia << 1, 4, 5, 4, 2, 6, 5, 6, 3;
  EXPECT_EQ(model.bodies[0].inertia, inertia);
}

TEST(ReadModel, PlanarAndPointBodies) {
  const Model model = read(
      "bodies:\n  link: {kind: planar, mass: 1, inertia: 0.1, position: [1, 2], angle: 30 deg, velocity: [3, 4], "
      "angular_velocity: 5, center_of_mass: [0.5, 0]}\n"
      "  deep: {kind: planar, mass: 1, inertia: 0.1, position: [1, 2, 3]}\n"
      "  bob: {kind: point, mass: 2, position: [1, 2, 3], velocity: [4, 5, 6]}\n");
  const Body& link = model.bodies[0];
  EXPECT_EQ(link.kind, "planar");
  EXPECT_EQ(link.inertia(2, 2), 0.1);
  EXPECT_EQ(link.pose.position, Vec3(1, 2, 0));
  expect_rotation(link.pose.rotation, Quat(Eigen::AngleAxisd(30 * degree, Vec3::UnitZ())));
  EXPECT_EQ(link.velocity, Vec3(3, 4, 0));
  EXPECT_EQ(link.angular_velocity, Vec3(0, 0, 5));
  EXPECT_EQ(link.center_of_mass, Vec3(0.5, 0, 0));
  EXPECT_EQ(model.bodies[1].pose.position.z(), 3);
  EXPECT_EQ(model.bodies[2].kind, "point");
  EXPECT_EQ(model.bodies[2].velocity, Vec3(4, 5, 6));
}

TEST(ReadModel, Orientations) {
  const auto rotation = [](const std::string& text) {
    return read(one_body("orientation: " + text)).bodies[0].pose.rotation;
  };
  const Quat x90(Eigen::AngleAxisd(90 * degree, Vec3::UnitX())), z30(Eigen::AngleAxisd(30 * degree, Vec3::UnitZ()));
  expect_rotation(rotation("{axis: [0, 0, 2], angle: 30 deg}"), z30);
  expect_rotation(rotation("{axis: [1, 0, 0], angle: pi/2}"), x90);
  expect_rotation(rotation("{quaternion: [0.8, 0.6, 0, 0]}"), Quat(0.8, 0.6, 0, 0));
  expect_rotation(rotation("{quaternion: [0.70711, 0.70711, 0, 0]}"), x90);  // rounded digits are made exact
  expect_rotation(rotation("{x_axis: [1, 0, 0], z_axis: [0, -1, 0]}"), x90);
  expect_rotation(rotation("{x_axis: [1, 7, 0], z_axis: [0, -2, 0]}"), x90);
  expect_rotation(rotation("{matrix: [[1, 0, 0], [0, 0, -1], [0, 1, 0]]}"), x90);
  expect_rotation(rotation("{euler: [30 deg, 90 deg, 0], sequence: zxz}"), z30 * x90);
  expect_rotation(rotation("{euler: [90 deg, 0, 30 deg], sequence: xyz}"), x90 * z30);
}

TEST(ReadModel, NumbersWithUnits) {
  EXPECT_DOUBLE_EQ(read("bodies: {b: {kind: point, mass: 250 g}}").bodies[0].mass, 0.25);
  EXPECT_DOUBLE_EQ(read("bodies: {b: {kind: point, mass: 250g}}").bodies[0].mass, 0.25);
  EXPECT_DOUBLE_EQ(read("bodies: {b: {kind: point, mass: {value: 250, unit: g}}}").bodies[0].mass, 0.25);
  EXPECT_DOUBLE_EQ(read("parameters: {n: 5}\nbodies: {b: {kind: point, mass: {value: n*50, unit: g}}}").bodies[0].mass,
                   0.25);
  const auto position = [](const std::string& text) {
    return read(one_body("position: " + text)).bodies[0].pose.position;
  };
  expect_vector(position("[1 mm, 2 cm, 3]"), 1e-3, 2e-2, 3);
  expect_vector(position("{value: [1, 2, 3], unit: mm}"), 1e-3, 2e-3, 3e-3);
  expect_vector(position("'[1, 2, 3] mm'"), 1e-3, 2e-3, 3e-3);
  expect_vector(position("'[1, max(1, 2), 3]'"), 1, 2, 3);
  expect_vector(position("[{value: 1, unit: mm}, 2 m, 3]"), 1e-3, 2, 3);
}

TEST(ReadModel, FileUnitsConvertEverything) {
  const Model model = read(
      "units: {length: mm, angle: deg, mass: g, time: ms, force: kN}\n"
      "gravity: [0, 0, -2]\n"
      "bodies:\n  a: {mass: 1, inertia: [3, 4, 5], center_of_mass: [1, 2, 3], position: [4, 5, 6],\n"
      "      orientation: {axis: [0, 0, 1], angle: 90}, velocity: [1, 0, 0], angular_velocity: [0, 0, 180]}\n"
      "  b: {mass: 1 kg, inertia: [1, 1, 1]}\n"
      "forces:\n"
      "  s: {type: translational_spring_damper, between: [a, b], at: [[0, 0, 0], [0, 0, 2 m]], stiffness: 3, damping: "
      "5,"
      " free_length: 7}\n"
      "  r: {type: rotational_spring_damper, between: [a, b], at: [0, 0, 0], stiffness: 3, damping: 5, free_angle: "
      "90}\n"
      "simulation: {end: 3000, step: 2, length: 500, time_scale: 250}\n");
  EXPECT_DOUBLE_EQ(model.gravity.z(), -2e3);
  const Body& a = model.bodies[0];
  EXPECT_DOUBLE_EQ(a.mass, 1e-3);
  EXPECT_DOUBLE_EQ(a.inertia(0, 0), 3e-9);
  expect_vector(a.center_of_mass, 1e-3, 2e-3, 3e-3);
  expect_vector(a.pose.position, 4e-3, 5e-3, 6e-3);
  expect_rotation(a.pose.rotation, Quat(Eigen::AngleAxisd(90 * degree, Vec3::UnitZ())));
  EXPECT_DOUBLE_EQ(a.velocity.x(), 1);
  EXPECT_DOUBLE_EQ(a.angular_velocity.z(), 1000 * std::numbers::pi);
  EXPECT_DOUBLE_EQ(model.bodies[1].mass, 1);
  const Fields& s = model.forces[0].fields;
  EXPECT_DOUBLE_EQ(s.number("stiffness"), 3e6);
  EXPECT_DOUBLE_EQ(s.number("damping"), 5e3);
  EXPECT_DOUBLE_EQ(s.number("free_length"), 7e-3);
  EXPECT_DOUBLE_EQ(model.frame_pose(model.forces[0].frames[1]).position.z(), 2);
  const Fields& r = model.forces[1].fields;
  EXPECT_NEAR(r.number("stiffness"), 3 / degree, 1e-12 / degree);
  EXPECT_NEAR(r.number("damping"), 5e-3 / degree, 1e-14 / degree);
  EXPECT_DOUBLE_EQ(r.number("free_angle"), 90 * degree);
  EXPECT_DOUBLE_EQ(model.simulation.end, 3);
  EXPECT_DOUBLE_EQ(*model.simulation.step, 2e-3);
  EXPECT_DOUBLE_EQ(*model.simulation.length, 0.5);
  EXPECT_DOUBLE_EQ(*model.simulation.time_scale, 0.25);
}

TEST(ReadModel, DerivedUnitsCanBeGiven) {
  const Model model =
      read("units: {length: mm, inertia: kg m^2}\nbodies: {b: {mass: 1, inertia: [1, 1, 1], position: [1, 1, 1]}}");
  EXPECT_EQ(model.bodies[0].inertia(0, 0), 1);
  EXPECT_DOUBLE_EQ(model.bodies[0].pose.position.x(), 1e-3);
}

TEST(ReadModel, ParametersInOrder) {
  const Model model = read(
      "parameters: {L: 0.5, rho: 7800, m: rho*L, half: (L + L)/4, spare: 1}\n"
      "bodies: {b: {kind: point, mass: m, position: [half, -L, 2*pi*L]}}");
  ASSERT_EQ(model.parameters.size(), 5u);
  EXPECT_EQ(model.parameters[2].name, "m");
  EXPECT_DOUBLE_EQ(model.parameters[2].value, 3900);
  EXPECT_DOUBLE_EQ(model.bodies[0].mass, 3900);
  expect_vector(model.bodies[0].pose.position, 0.25, -0.5, std::numbers::pi);
  EXPECT_TRUE(model.parameters[1].used);
  EXPECT_FALSE(model.parameters[4].used);
}

TEST(ReadModel, ParametersWithUnits) {
  // In fields they count in the file's units, in expressions of the run in SI.
  const Model model = read(
      "units: {length: mm}\nparameters: {L: 0.5 m, half: L/2, k: {value: 3, unit: N/mm}, n: {value: 4, unit: 1}}\n"
      "bodies: {b: {kind: point, mass: 1, position: [L, half, 1]}}\n"
      "forces: {f: {type: force, between: [ground, b], at: [0, 0, 0], fx: n*k*half}}\n");
  expect_vector(model.bodies[0].pose.position, 0.5, 0.25, 1e-3);
  EXPECT_DOUBLE_EQ(model.parameters[0].value, 0.5);
  EXPECT_DOUBLE_EQ(model.parameters[1].value, 0.25);
  EXPECT_DOUBLE_EQ(model.parameters[2].value, 3000);
  EXPECT_DOUBLE_EQ(model.parameters[3].value, 4);
  EXPECT_EQ(model.forces[0].fields.get<ExpressionText>("fx").text, "n*k*half");
  // Any unit will do where the file is in SI.
  EXPECT_DOUBLE_EQ(read("parameters: {E: 210 GPa, rho: 7.8 g/cm^3}").parameters[1].value, 7800);
}

TEST(ReadModel, OverridesComeFirst) {
  ReadOptions options;
  options.set("L=2");
  options.set("a=45 deg");
  const std::string text =
      "parameters: {L: 0.5, m: 3*L, a: 30 deg}\nbodies: {b: {kind: point, mass: m, position: [a, 0, 0]}}";
  const Model model = read(text, options);
  EXPECT_EQ(model.bodies[0].mass, 6);
  EXPECT_DOUBLE_EQ(model.parameters[2].value, 45 * degree);
  options.set("L=1/4");  // the last one counts
  EXPECT_EQ(read(text, options).bodies[0].mass, 0.75);
  ReadOptions plain;
  plain.set("a=60");  // in the unit the file gives it
  EXPECT_DOUBLE_EQ(read(text, plain).parameters[2].value, 60 * degree);
}

TEST(ReadModel, FramesInBodyAndWorld) {
  const Model model = read(
      "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0], orientation: {axis: [0, 0, 1], angle: 90 deg}}}\n"
      "frames:\n"
      "  own: {body: b, position: [1, 0, 0]}\n"
      "  world: {body: b, at: [1, 1, 0]}\n"
      "  fixed: {body: ground, position: [1, 2, 3], orientation: {axis: [1, 0, 0], angle: 90 deg}}\n"
      "  axes: {body: b, at: [0, 0, 0], axis: [1, 0, 0], x_axis: [0, 1, 1]}\n"
      "  origin: {body: b}\n");
  ASSERT_EQ(model.frames.size(), 5u);
  expect_vector(model.frame_pose(0).position, 1, 1, 0);
  EXPECT_LE((model.frames[1].local.position - Vec3(1, 0, 0)).norm(), 1e-15);
  expect_rotation(model.frame_pose(1).rotation, Quat::Identity());  // given in the world
  EXPECT_EQ(model.frames[2].body, ground);
  expect_vector(model.frame_pose(2).position, 1, 2, 3);
  const Mat3 axes = model.frame_pose(3).rotation.toRotationMatrix();
  EXPECT_LE((axes.col(2) - Vec3(1, 0, 0)).norm(), 1e-15);
  EXPECT_LE((axes.col(0) - Vec3(0, 1, 1).normalized()).norm(), 1e-15);
  EXPECT_EQ(model.frames[4].local.position, Vec3(Vec3::Zero()));
  EXPECT_EQ(model.find_frame("axes"), 3);
}

TEST(ReadModel, JointFramesCoincide) {
  const Model model = read(
      "bodies:\n  a: {mass: 1, inertia: [1, 1, 1], position: [1, 2, 3], orientation: {axis: [1, 1, 0], angle: 40 "
      "deg}}\n"
      "  b: {mass: 1, inertia: [1, 1, 1], position: [-1, 0, 1], orientation: {axis: [0, 1, 3], angle: 100 deg}}\n"
      "joints:\n  pin: {type: revolute, between: [a, b], at: [0.5, 0.6, 0.7], axis: [0, 3, 4], x_axis: [1, 0, 0]}\n");
  const Item& pin = model.joints[0];
  EXPECT_EQ(pin.type, "revolute");
  EXPECT_EQ(pin.where.line, 6);
  const Pose a = model.frame_pose(pin.frames[0]), b = model.frame_pose(pin.frames[1]);
  EXPECT_LE((a.position - Vec3(0.5, 0.6, 0.7)).norm(), 1e-15);
  EXPECT_LE((b.position - Vec3(0.5, 0.6, 0.7)).norm(), 1e-15);
  expect_rotation(a.rotation, b.rotation);
  EXPECT_LE((a.rotation * Vec3::UnitZ() - Vec3(0, 0.6, 0.8)).norm(), 1e-15);
  EXPECT_LE((a.rotation * Vec3::UnitX() - Vec3(1, 0, 0)).norm(), 1e-15);
}

TEST(ReadModel, UniversalHasTwoAxes) {
  const Model model = read(
      "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
      "joints: {u: {type: universal, between: [ground, b], at: [1, 0, 0], axis: [0, 1, 0], axis_b: [0, 0, 1]}}");
  const Item& joint = model.joints[0];
  EXPECT_LE((model.frame_pose(joint.frames[0]).rotation * Vec3::UnitZ() - Vec3::UnitY()).norm(), 1e-15);
  EXPECT_LE((model.frame_pose(joint.frames[1]).rotation * Vec3::UnitZ() - Vec3::UnitZ()).norm(), 1e-15);
}

TEST(ReadModel, AttachmentByFramesBodiesAndJoints) {
  const Model model = read(
      "bodies:\n  a: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}\n  b: {kind: planar, mass: 1, inertia: 1}\n"
      "frames: {tip: {body: a, position: [0, 1, 0]}}\n"
      "joints:\n  j1: {type: spherical, frames: [tip, ground]}\n  j2: {type: revolute, between: [ground, b], at: [2, "
      "3]}\n"
      "motions:\n  m1: {type: rotation, joint: j2, angle: 2*pi*time}\n  m2: {type: translation, frames: [ground, a], "
      "displacement: 0.1}\n"
      "forces:\n  f1: {type: translational_spring_damper, frames: [tip, b], stiffness: 2}\n"
      "  f2: {type: rotational_spring_damper, joint: j2, stiffness: 5}\n");
  EXPECT_EQ(model.joints[0].frames[0], 0);
  EXPECT_EQ(model.frames[static_cast<std::size_t>(model.joints[0].frames[1])].body, ground);
  expect_vector(model.frame_pose(model.joints[1].frames[0]).position, 2, 3, 0);
  EXPECT_EQ(model.motions[0].frames, model.joints[1].frames);
  EXPECT_EQ(model.motions[0].fields.get<ExpressionText>("angle").text, "2*pi*time");
  EXPECT_EQ(model.motions[1].fields.get<ExpressionText>("displacement").text, "0.1");
  EXPECT_EQ(model.frames[static_cast<std::size_t>(model.motions[1].frames[1])].body, 0);
  EXPECT_EQ(model.forces[0].frames[0], 0);
  EXPECT_EQ(model.forces[0].fields.number("damping"), 0);  // its default
  EXPECT_EQ(model.forces[1].frames, model.joints[1].frames);
}

TEST(ReadModel, ExpressionFields) {
  const Model model = read(
      "units: {angle: deg}\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
      "joints: {j: {type: revolute, between: [ground, b], at: [0, 0, 0]}}\n"
      "motions:\n  m1: {type: rotation, joint: j, angle: 90}\n  m2: {type: rotation, joint: j, angle: 1 rev}\n"
      "  m3: {type: rotation, joint: j, angle: {value: 360*time, unit: deg}}\n"
      "  m4: {type: rotation, joint: j, angle: {value: \"2*time\", unit: rad}}\n");
  const auto text = [&](std::size_t i) { return model.motions[i].fields.get<ExpressionText>("angle").text; };
  EXPECT_DOUBLE_EQ(std::strtod(text(0).c_str(), nullptr), std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(std::strtod(text(1).c_str(), nullptr), 2 * std::numbers::pi);
  EXPECT_EQ(text(2), "(360*time)*0.017453292519943295");
  EXPECT_EQ(text(3), "2*time");
}

// An angle that states its unit is the same in every file; functions take and give it so.
TEST(ReadModel, AnglesKeepTheirUnitInFunctions) {
  const std::string rest =
      "parameters:\n  a: 180 deg\n  c: cos(a)\n  half: a/2\n  list: {value: [30, 90], unit: deg}\n"
      "  w: 360 deg/s\n  T: 0.25 s\n  slope: atan2(1, 1)\n  mu: {value: 0.5, unit: 1}\n  n: 6\n"
      "bodies:\n"
      "  b1: {mass: 2 + c, inertia: [1, 1, 1], position: [cos(a), c, sin(half)]}\n"
      "  b2: {mass: 2, inertia: [1, 1, 1], position: [sin(list(1)), cos(2*a - half), tan(slope)]}\n"
      "  b3: {mass: exp(mu*a), inertia: [1, 1, 1], position: [cos(w*T), cos(30*DTOR), cos(2*pi/n)]}\n"
      "  b4: {mass: a*RTOD, inertia: [1, 1, 1], position: [a/half, cos(acos(0.3)), \"a > half ? 1 : 0\"],\n"
      "       orientation: {axis: [0, 0, 1], angle: \"atan2(1, 1)\"}}\n"
      "  b5: {mass: 1, inertia: [1, 1, 1], orientation: {axis: [0, 0, 1], angle: slope + half}}\n"
      "  b6: {mass: 1, inertia: [1, 1, 1], orientation: {axis: [0, 0, 1], angle: {value: \"atan2(1, 1)\", unit: "
      "rad}}}\n"
      "  b7: {mass: 1, inertia: [1, 1, 1], orientation: {axis: [0, 0, 1], angle: 30*DTOR}}\n"
      "joints: {j: {type: revolute, between: [ground, b1], at: [0, 0, 0]}}\n"
      "motions: {m: {type: rotation, joint: j, angle: {value: \"slope*time\", unit: rad}}}\n";
  const double pi = std::numbers::pi;
  for (const std::string unit : {"rad", "deg", "rev", "mrad"}) {
    const Model model = read("units: {angle: " + unit + "}\n" + rest);
    SCOPED_TRACE(unit);
    const auto expect = [&](std::size_t body, double mass, double x, double y, double z) {
      const Body& b = model.bodies[body];
      EXPECT_NEAR(b.mass, mass, 1e-13 * mass);
      EXPECT_NEAR((b.pose.position - Vec3(x, y, z)).norm(), 0, 1e-14);
    };
    expect(0, 1, -1, -1, 1);
    expect(1, 2, 0.5, 0, 1);
    expect(2, std::exp(0.5 * pi), 0, std::sqrt(0.75), 0.5);
    expect(3, 180, 2, 0.3, 1);
    const auto turned = [&](std::size_t body) {
      return 2 * std::atan2(model.bodies[body].pose.rotation.z(), model.bodies[body].pose.rotation.w());
    };
    EXPECT_NEAR(turned(3), pi / 4, 1e-14);
    EXPECT_NEAR(turned(4), 3 * pi / 4, 1e-14);
    EXPECT_NEAR(turned(5), pi / 4, 1e-14);
    // Plain numbers of expressions with DTOR are radians, in fields of angle too.
    EXPECT_NEAR(turned(6), pi / 6, 1e-14);
    for (const Parameter& p : model.parameters) {
      const double wanted = p.name == "c" ? -1 : p.name == "slope" ? pi / 4 : p.value;  // in SI
      EXPECT_NEAR(p.value, wanted, 1e-15) << p.name;
    }
  }
}

// A unit of angular speed of its own: rpm times seconds are sixtieths of a turn.
TEST(ReadModel, AnglesFromNamedSpeeds) {
  const Model model = read(
      "units: {angle: deg, angular_speed: rpm, time: ms}\nparameters: {w: 60 rpm, T: 0.25 s}\n"
      "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [cos(w*T), sin(w*T), 0],\n"
      "             orientation: {axis: [0, 0, 1], angle: w*T}, angular_velocity: [0, 0, w]}}\n");
  EXPECT_NEAR((model.bodies[0].pose.position - Vec3::UnitY()).norm(), 0, 1e-14);
  EXPECT_NEAR(model.bodies[0].pose.rotation.z(), std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(model.bodies[0].angular_velocity.z(), 2 * std::numbers::pi, 1e-13);
}

TEST(ReadModel, BushingMatrices) {
  const Model model = read(
      "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\nforces:\n"
      "  f: {type: bushing, between: [ground, b], at: [0, 0, 0], stiffness: [1, 2, 3], stiffness_matrix: [1, 2, 3, 4, "
      "5, 6],\n"
      "      damping_matrix: [[1, 0, 0, 0, 0, 7], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, "
      "0, 0, 1, 0],"
      " [8, 0, 0, 0, 0, 1]]}\n");
  const Fields& fields = model.forces[0].fields;
  EXPECT_EQ(fields.get<Vec3>("stiffness"), Vec3(1, 2, 3));
  EXPECT_EQ(fields.get<Mat6>("stiffness_matrix")(3, 3), 4);
  EXPECT_EQ(fields.get<Mat6>("stiffness_matrix")(0, 1), 0);
  EXPECT_EQ(fields.get<Mat6>("damping_matrix")(0, 5), 7);
  EXPECT_EQ(fields.get<Mat6>("damping_matrix")(5, 0), 8);
}

TEST(ReadModel, InitialValues) {
  const Model model = read(
      "bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}, c: {kind: point, mass: 1}}\n"
      "joints:\n  pin: {type: revolute, between: [ground, b], at: [0, 0, 0], axis: [0, 1, 0]}\n"
      "  slide: {type: translational, between: [ground, c], at: [0, 0, 0]}\n"
      "initial:\n  joints:\n    pin: {angle: 30 deg, angular_speed: 2}\n    slide: {displacement: 0.1, speed: -1}\n"
      "  bodies:\n    b: {position: [0, 0, 1], orientation: {axis: [0, 1, 0], angle: 90 deg}, velocity: [1, 2, 3],\n"
      "        angular_velocity: [0, 4, 0], keep: [position, angular_velocity]}\n    c: {keep: [velocity]}\n");
  ASSERT_EQ(model.initial_joints.size(), 2u);
  EXPECT_EQ(model.initial_joints[0].joint, 0);
  EXPECT_DOUBLE_EQ(*model.initial_joints[0].angle, 30 * degree);
  EXPECT_EQ(*model.initial_joints[0].angular_speed, 2);
  EXPECT_FALSE(model.initial_joints[0].speed);
  EXPECT_EQ(*model.initial_joints[1].displacement, 0.1);
  EXPECT_EQ(*model.initial_joints[1].speed, -1);
  const Body& b = model.bodies[0];
  EXPECT_EQ(b.pose.position, Vec3(0, 0, 1));
  EXPECT_EQ(b.velocity, Vec3(1, 2, 3));
  EXPECT_EQ(b.angular_velocity, Vec3(0, 4, 0));
  EXPECT_TRUE(b.keep_position && b.keep_angular_velocity);
  EXPECT_FALSE(b.keep_orientation || b.keep_velocity);
  EXPECT_TRUE(model.bodies[1].keep_velocity);
  EXPECT_FALSE(model.bodies[1].drawn);
  // The joint was placed on the body as drawn, at (-1, 0, 0) in its axes, not where the body starts.
  ASSERT_TRUE(b.drawn);
  EXPECT_EQ(b.drawn->position, Vec3(1, 0, 0));
  expect_vector(model.frames[static_cast<std::size_t>(model.joints[0].frames[1])].local.position, -1, 0, 0);
  EXPECT_LE(model.frame_pose(model.joints[0].frames[1]).position.norm(), 1e-15);
}

TEST(ReadModel, Simulation) {
  const Model model = read(
      "parameters: {T: 2}\nsimulation: {end: 2.5*T, method: bdf-si2, tolerance: 1e-6, first_step: 1e-5, least_step: "
      "1e-9,\n"
      "  greatest_step: 1e-2, output_step: 10 ms, options: {alpha: -0.3, smooth: true, name: abc, quoted: \"7\"}}\n");
  const SimulationSettings& s = model.simulation;
  EXPECT_EQ(s.end, 5);
  EXPECT_EQ(s.method, "bdf-si2");
  EXPECT_EQ(*s.tolerance, 1e-6);
  EXPECT_EQ(*s.first_step, 1e-5);
  EXPECT_EQ(*s.least_step, 1e-9);
  EXPECT_EQ(*s.greatest_step, 1e-2);
  EXPECT_DOUBLE_EQ(*s.output_step, 1e-2);
  EXPECT_FALSE(s.step);
  EXPECT_EQ(s.options.number("alpha"), -0.3);
  EXPECT_TRUE(s.options.get<bool>("smooth"));
  EXPECT_EQ(s.options.get<std::string>("name"), "abc");
  EXPECT_EQ(s.options.get<std::string>("quoted"), "7");
  EXPECT_EQ(s.where.line, 3);
}

TEST(ReadModel, OutputsAndShapes) {
  const Model model = read(
      "bodies: {b: {kind: point, mass: 1}}\n"
      "outputs:\n  x: \"dx(ground, b)\"\n  e: {expression: 0.5*time^2, unit: J}\n"
      "shapes:\n  s: {body: b, type: box, size: [1, 2, 3], position: [1, 0, 0], color: steel}\n"
      "  c: {body: ground, type: cylinder, size: [10 mm, 1], orientation: {axis: [0, 1, 0], angle: 90 deg}}\n");
  ASSERT_EQ(model.outputs.size(), 2u);
  EXPECT_EQ(model.outputs[0].name, "x");
  EXPECT_EQ(model.outputs[0].expression.text, "dx(ground, b)");
  EXPECT_EQ(model.outputs[0].expression.where.line, 4);
  EXPECT_EQ(model.outputs[0].expression.where.column, 7);  // behind the quote
  EXPECT_EQ(model.outputs[1].unit, "J");
  ASSERT_EQ(model.shapes.size(), 2u);
  EXPECT_EQ(model.shapes[0].size, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(model.shapes[0].color, "steel");
  EXPECT_EQ(model.shapes[1].body, ground);
  EXPECT_DOUBLE_EQ(model.shapes[1].size[0], 0.01);
}

TEST(ReadModel, AliasesRepeatValues) {
  const Model model =
      read("bodies:\n  a: &rod {mass: 1, inertia: &i [1, 1, 1]}\n  b: *rod\n  c: {mass: 2, inertia: *i}\n");
  EXPECT_EQ(model.bodies[1].inertia(1, 1), 1);
  EXPECT_EQ(model.bodies[1].name, "b");
  EXPECT_EQ(model.bodies[2].mass, 2);
}

TEST(ReadModel, JsonGivesTheSameModel) {
  const Model yaml = read(
      "parameters: {L: 2}\nbodies: {b: {mass: L, inertia: [1, 1, 1], position: [L/2, 0, 0]}}\n"
      "joints: {j: {type: revolute, between: [ground, b], at: [0, 0, 0], axis: [0, 1, 0]}}\n");
  const Model json = read_model_text(
      "{\n\t\"trammel\": 1,\n\t\"parameters\": {\"L\": 2},\n\t\"bodies\": {\n\t\t\"b\": {\"mass\": \"L\", \"inertia\": "
      "[1, 1, 1],"
      " \"position\": [\"L/2\", 0, 0]}\n\t},\n\t\"joints\": {\"j\": {\"type\": \"revolute\", \"between\": [\"ground\", "
      "\"b\"],"
      " \"at\": [0, 0, 0], \"axis\": [0, 1, 0]}}\n}\n",
      "model.json");
  EXPECT_EQ(json.bodies[0].mass, yaml.bodies[0].mass);
  EXPECT_EQ(json.bodies[0].pose.position, yaml.bodies[0].pose.position);
  EXPECT_EQ(json.frames[1].local.position, yaml.frames[1].local.position);
  EXPECT_EQ(json.bodies[0].where.column, 3);  // a tab is one character
}

TEST(ReadModel, ModelFilesAreSound) {
  for (const char* name : {"pendulum", "slider_crank"}) {
    const std::string path = std::string(TRAMMEL_SOURCE_DIR) + "/models/" + name + ".yaml";
    const Model model = read_model(path);
    EXPECT_EQ(model.file, path);
    for (const Problem& problem : check_model(model)) ADD_FAILURE() << to_text(problem);
  }
}

TEST(ReadModel, SliderCrankIsDrawnClosed) {
  const Model model = read_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/slider_crank.yaml");
  ASSERT_EQ(model.joints.size(), 4u);
  for (const Item& joint : model.joints) {
    const Vec3 gap = model.frame_pose(joint.frames[1]).position - model.frame_pose(joint.frames[0]).position;
    EXPECT_LE(gap.norm(), 1e-15) << joint.name;
  }
  expect_vector(model.frame_pose(model.find_frame("crank_end")).position, 0.09, 0, 0.12);
  EXPECT_EQ(*model.initial_joints[0].angular_speed, 10);
  EXPECT_EQ(model.simulation.end, 3);
}

// The fenced examples of the guide: a whole model, and sections that together make another.
TEST(ReadModel, ExamplesOfTheGuide) {
  std::ifstream file(std::string(TRAMMEL_SOURCE_DIR) + "/docs/guide/model-files.md");
  std::string whole, sections, block;
  // One model of the first example of each section; what makes models of several parts has its own tests.
  std::set<std::string> seen{"units", "splines", "coordinates", "inputs", "include", "subsystems", "lines"};
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```yaml") {
      inside = true;
      block.clear();
    } else if (line == "```" && inside) {
      inside = false;
      if (block.rfind("trammel:", 0) == 0) {
        whole = block;
      } else if (seen.insert(block.substr(0, block.find(':'))).second) {
        sections += block;
      }
    } else if (inside) {
      block += line + "\n";
    }
  }
  EXPECT_EQ(read_model_text(whole, "guide").joints.size(), 1u);
  const Model model = read(sections);
  EXPECT_EQ(model.bodies.size(), 4u);
  EXPECT_EQ(model.forces.size(), 2u);
  EXPECT_EQ(model.shapes.size(), 1u);
  EXPECT_NO_THROW(require_sound(model));
}

// ---- Files ---------------------------------------------------------------------------------------------------------

Problem problem_of_file(const std::string& path) {
  try {
    read_model(path);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit_code(), ExitCode::bad_model);
    return failure.problems().front();
  }
  return {};
}

TEST(ReadModel, FilesThatCannotBeRead) {
  const Problem missing = problem_of_file("/nowhere/model.yaml");
  EXPECT_EQ(missing.id, "cannot-read");
  EXPECT_EQ(*missing.where.file, "/nowhere/model.yaml");
  EXPECT_NE(missing.message.find("No such file"), std::string::npos);
  EXPECT_NE(missing.hint, "");
  EXPECT_EQ(problem_of_file(std::filesystem::temp_directory_path()).id, "not-a-file");
  EXPECT_EQ(problem_of_file("/dev/null").id, "not-a-file");
  EXPECT_EQ(problem_of_file("").id, "cannot-read");
}

TEST(ReadModel, LongTextIsRefusedUnread) {
  const std::string huge(std::size_t{130} << 20, ' ');
  try {
    read_model_text(huge, "huge.yaml");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems()[0].id, "too-large");
  }
}

TEST(ReadModel, TenThousandBodies) {
  constexpr int n = 10000;
  std::string text = "gravity: [0, 0, -9.81]\nparameters: {L: 0.1}\nbodies:\n";
  for (int i = 0; i < n; ++i) {
    text += "  link" + std::to_string(i) + ":\n    mass: 0.1\n    inertia: [1e-5, 8.333e-05, 8.333e-05]\n" +
            "    center_of_mass: [L/2, 0, 0]\n    position: [" + std::to_string(0.1 * i) + ", 0, 0]\n";
  }
  text += "joints:\n";
  for (int i = 0; i < n; ++i) {
    const std::string a = i == 0 ? "ground" : "link" + std::to_string(i - 1), b = "link" + std::to_string(i);
    text += "  pin" + std::to_string(i) + ": {type: revolute, between: [" + a + ", " + b + "], at: [" +
            std::to_string(0.1 * i) + ", 0, 0], axis: [0, 1, 0]}\n";
  }
  const Model model = read(text);
  ASSERT_EQ(model.bodies.size(), static_cast<std::size_t>(n));
  ASSERT_EQ(model.joints.size(), static_cast<std::size_t>(n));
  EXPECT_EQ(model.bodies.back().center_of_mass.x(), 0.05);
  EXPECT_EQ(model.frames[static_cast<std::size_t>(model.joints.back().frames[1])].body, n - 1);
  EXPECT_TRUE(check_model(model).empty());
}

TEST(ReadModel, Settings) {
  ReadOptions options;
  EXPECT_THROW(options.set("L"), Failure);
  EXPECT_THROW(options.set("=3"), Failure);
  EXPECT_THROW(options.set("L="), Failure);
  options.set("L=a=b");
  EXPECT_EQ(options.parameters[0].second, "a=b");
}

}  // namespace
}  // namespace trammel::read_model_test
