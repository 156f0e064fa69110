// Lines of model files: the bodies, joints and forces that they become, and how their sections, curves and ends are
// read.
#include "trammel/elements/lines/line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "trammel/check/check_model.h"
#include "trammel/elements/lines/drawn_curve.h"
#include "trammel/flexible/beam_section.h"
#include "trammel/model/mass_properties.h"
#include "trammel/read/read_model.h"

namespace trammel::lines_test {
namespace {

Model read(const std::string& text) { return read_model_text("trammel: 1\n" + text, "line.yaml"); }

std::string bar(const std::string& more) {
  return "lines:\n  bar: {type: round, radius: 10 mm, youngs_modulus: 210 GPa, shear_modulus: 81 GPa, density: 7850, " +
         more + "}\n";
}

TEST(Lines, BecomeBodiesJointsAndForces) {
  const Model model = read("bodies:\n  block: {mass: 1, inertia: [1, 1, 1], position: [2, 0, 0.1]}\n" +
                           bar("points: [[0, 0, 0], [2, 0, 0]], elements: 4, start: ground, end: block"));
  require_sound(model);
  ASSERT_EQ(model.bodies.size(), 6u);
  ASSERT_EQ(model.forces.size(), 4u);
  ASSERT_EQ(model.joints.size(), 2u);
  for (int i = 0; i <= 4; ++i) {
    const Body& node = model.bodies[i + 1];
    EXPECT_EQ(node.name, "bar." + std::to_string(i + 1));
    EXPECT_LT((node.pose.position - Vec3(0.5 * i, 0, 0)).norm(), 1e-15);
  }
  EXPECT_EQ(model.forces[3].name, "bar.4");
  EXPECT_EQ(model.forces[3].type, "beam");
  EXPECT_EQ(model.joints[0].name, "bar.start");
  EXPECT_EQ(model.joints[1].name, "bar.end");
  EXPECT_EQ(model.joints[1].type, "fixed");
  for (const Item& joint : model.joints)
    EXPECT_LT((model.frame_pose(joint.frames[0]).position - model.frame_pose(joint.frames[1]).position).norm(), 1e-15);
  EXPECT_LT((model.frames[model.joints[1].frames[0]].local.position - Vec3(0, 0, -0.1)).norm(), 1e-15);
}

// The slices together are the bar: its mass, its centre, and its inertia.
TEST(Lines, SlicesHaveTheMassOfTheWhole) {
  const double r = 0.01, L = 1.5, mass = 7850 * std::numbers::pi * r * r * L;
  for (const int elements : {1, 2, 7}) {
    const Model model = read(bar("points: [[0, 0, 0], [1.5, 0, 0]], elements: " + std::to_string(elements)));
    std::vector<MassProperties> slices;
    for (const Body& body : model.bodies)
      slices.push_back(moved({body.mass, body.center_of_mass, body.inertia}, body.pose));
    const MassProperties whole = sum(slices);
    EXPECT_NEAR(whole.mass, mass, 1e-13 * mass);
    EXPECT_LT((whole.center - Vec3(0.5 * L, 0, 0)).norm(), 1e-14);
    const Vec3 expected = mass * Vec3(r * r / 2, r * r / 4 + L * L / 12, r * r / 4 + L * L / 12);
    EXPECT_LT((whole.inertia.diagonal() - expected).norm(), 1e-13 * expected.norm());
  }
}

TEST(Lines, SectionsHaveTheirConstants) {
  const auto section = [](const std::string& entries) {
    const Model model = read(
        "lines:\n  bar: {points: [[0, 0, 0], [1, 0, 0]], elements: 1, youngs_modulus: 2, "
        "shear_modulus: 1, density: 3, " +
        entries + "}\n");
    return model.forces[0].fields;
  };
  const double pi = std::numbers::pi;
  const Fields round = section("type: round, radius: 2");
  EXPECT_NEAR(round.number("area"), 4 * pi, 1e-13);
  EXPECT_NEAR(round.number("second_moment_y"), 4 * pi, 1e-13);
  EXPECT_NEAR(round.number("torsion_constant"), 8 * pi, 1e-13);
  EXPECT_NEAR(round.number("shear_coefficient_y"), 7.0 / 6, 1e-13);
  const Fields tube = section("type: tube, radius: 2, inner_radius: 1.999999");
  EXPECT_NEAR(tube.number("area"), 4 * pi * 1e-6, 1e-11);
  EXPECT_NEAR(tube.number("shear_coefficient_z"), 2, 1e-5);
  const Fields strip = section("type: rectangle, width: 3, height: 2");
  EXPECT_NEAR(strip.number("second_moment_y"), 2, 1e-13);
  EXPECT_NEAR(strip.number("second_moment_z"), 4.5, 1e-13);
  // Timoshenko, Goodier: Theory of Elasticity, table 7: 0.196 a b^3 for 3 : 2, 0.1406 for a square, 1/3 for thin
  // strips.
  EXPECT_NEAR(strip.number("torsion_constant") / 24, 0.196, 5e-4);
  EXPECT_NEAR(section("type: rectangle, width: 1, height: 1").number("torsion_constant"), 0.1406, 5e-5);
  EXPECT_NEAR(section("type: rectangle, width: 1, height: 1e-4").number("torsion_constant"), 1e-12 / 3, 1e-15);
}

// A tube is the same beam as a line and as part of a body that bends, in any material.
TEST(Lines, SectionsAreThoseOfBodiesThatBend) {
  const BeamMaterial steel{210e9, 81e9, 7850};
  const auto compare = [&](const std::string& entries, const BeamSection& expected) {
    const Model model = read(
        "lines:\n  bar: {points: [[0, 0, 0], [1, 0, 0]], elements: 1, youngs_modulus: 210e9, shear_modulus: 81e9, "
        "density: 7850, " +
        entries + "}\n");
    const Fields& line = model.forces[0].fields;
    const auto near = [](double found, double wanted) { EXPECT_NEAR(found / wanted, 1, 1e-13); };
    near(line.number("area"), expected.area);
    near(line.number("second_moment_y"), expected.Iy);
    near(line.number("second_moment_z"), expected.Iz);
    near(line.number("torsion_constant"), expected.torsion);
    near(line.number("shear_coefficient_y"), expected.shear_coefficient_y(steel));
    near(line.number("shear_coefficient_z"), expected.shear_coefficient_z(steel));
  };
  compare("type: round, radius: 10 mm", tube_section(0.02, 0.01));
  compare("type: tube, radius: 12.7 mm, inner_radius: 9.5 mm", tube_section(0.0254, 0.0032));
  compare("type: rectangle, width: 40 mm, height: 3 mm", rectangle_section(0.04, 0.003));
  // Not those of a material without Poisson's effect, 7/6 and more.
  EXPECT_LT(tube_section(0.02, 0.01).shear_coefficient_y(steel), 1.14);
}

// Numbers of every field in the units of the file, and with units of their own; plain ones were taken for SI.
TEST(Lines, AreGivenInTheUnitsOfTheFile) {
  const auto fields = [](const std::string& units, const std::string& numbers) {
    return read(units + "lines:\n  bar: {type: section, elements: 2, " + numbers + "}\n").forces[0].fields;
  };
  const Fields si = fields("",
                           "points: [[0, 0, 0], [2, 0, 0]], axial_stiffness: 3e5, bending_stiffness_y: 40, "
                           "bending_stiffness_z: 50, torsional_stiffness: 60, mass_per_length: 1.5");
  const Fields mm = fields("units: {length: mm, mass: t}\n",
                           "points: [[0, 0, 0], [2000, 0, 0]], axial_stiffness: 3e5, bending_stiffness_y: 40e6, "
                           "bending_stiffness_z: 50e6, torsional_stiffness: 60e6, mass_per_length: 1.5e-6");
  const Fields own = fields("units: {flexural_rigidity: kN mm^2, mass_per_length: g/mm}\n",
                            "points: [[0, 0, 0], [2, 0, 0]], axial_stiffness: 300 kN, bending_stiffness_y: 40 N m^2, "
                            "bending_stiffness_z: 50e3, torsional_stiffness: 60 N m^2, mass_per_length: 1.5 kg/m");
  for (const Fields* other : {&mm, &own})
    for (const char* name : {"area", "second_moment_y", "second_moment_z", "torsion_constant"})
      EXPECT_NEAR(other->number(name) / si.number(name), 1, 1e-14) << name;
  const auto mass = [](const std::string& units, const std::string& number) {
    return read(units +
                "lines:\n  bar: {type: cable, elements: 1, points: [[0, 0, 0], [2 m, 0, 0]], axial_stiffness: 1, "
                "mass_per_length: " +
                number + "}\n")
        .bodies[0]
        .mass;
  };
  EXPECT_NEAR(mass("", "1.5"), 1.5, 1e-14);
  EXPECT_NEAR(mass("units: {length: mm, mass: t}\n", "1.5e-6"), 1.5, 1e-14);
  EXPECT_NEAR(mass("units: {length: mm}\n", "1.5 kg/m"), 1.5, 1e-14);
}

TEST(Lines, CurvatureOfABeamIsGivenInTheUnitsOfTheFile) {
  const auto curvature = [](const std::string& units, const std::string& value) {
    return read(units +
                "bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"
                "forces:\n  leaf: {type: beam, between: [ground, a], at: [[1 m, 0, 0], [0, 0, 0]], "
                "youngs_modulus: 1, shear_modulus: 1, area: 1, second_moment_y: 1, second_moment_z: 1, "
                "torsion_constant: 1, curvature: " +
                value + "}\n")
        .forces[0]
        .fields.get<Vec3>("curvature");
  };
  const Vec3 expected(0, 0.5, -0.25);
  EXPECT_LT((curvature("", "[0, 0.5, -0.25]") - expected).norm(), 1e-15);
  EXPECT_LT((curvature("units: {length: mm}\n", "[0, 0.5e-3, -0.25e-3]") - expected).norm(), 1e-15);
  EXPECT_LT((curvature("units: {length: mm}\n", "[0, 0.5 1/m, -0.25 1/m]") - expected).norm(), 1e-15);
}

TEST(Lines, ThreePointsGiveAnArc) {
  const DrawnCurve arc = draw_curve({Vec3(1, 0, 1), Vec3(0, 1, 1), Vec3(-1, 0, 1)}, 6, {});
  EXPECT_NEAR(arc.length, std::numbers::pi, 1e-14);
  for (int i = 0; i <= 6; ++i) {
    const double angle = i * std::numbers::pi / 6, c = std::cos(angle), s = std::sin(angle);
    EXPECT_LT((arc.nodes[i].position - Vec3(c, s, 1)).norm(), 1e-14) << i;
    EXPECT_LT((arc.nodes[i].rotation * Vec3::UnitX() - Vec3(-s, c, 0)).norm(), 1e-14) << i;
    EXPECT_LT((arc.nodes[i].rotation * Vec3::UnitZ() - Vec3::UnitZ()).norm(), 1e-14) << i;
  }
  const DrawnCurve straight = draw_curve({Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(3, 0, 0)}, 3, {});
  EXPECT_NEAR(straight.length, 3, 1e-15);
  EXPECT_LT((straight.nodes[1].position - Vec3(1, 0, 0)).norm(), 1e-15);
}

// A helix through ever more points: length and nodes come near to its own with order four, and the section does not
// spin about the curve.
TEST(Lines, MorePointsGiveASmoothCurve) {
  double before = 0;
  for (const int count : {9, 17, 33}) {
    std::vector<Vec3> points;
    for (int i = 0; i < count; ++i) {
      const double t = 4.0 * i / (count - 1);
      points.emplace_back(std::cos(t), std::sin(t), 0.5 * t);
    }
    const DrawnCurve curve = draw_curve(points, 20, {});
    ASSERT_TRUE(curve.fault.empty()) << curve.fault;
    double error = std::abs(curve.length - 4 * std::sqrt(1.25));
    for (int i = 0; i <= 20; ++i) {
      const double t = 0.2 * i;
      error = std::max(error, (curve.nodes[i].position - Vec3(std::cos(t), std::sin(t), 0.5 * t)).norm());
      const Quat turn = i == 0 ? Quat::Identity() : curve.nodes[i - 1].rotation.conjugate() * curve.nodes[i].rotation;
      EXPECT_LT(std::abs(turn.x()), 0.02) << i;
    }
    if (before > 0) {
      EXPECT_LT(error, before / 10) << count;
    }
    before = error;
  }
  EXPECT_LT(before, 1e-5);
}

TEST(Lines, StandInTheirSubsystem) {
  const Model model =
      read("subsystems:\n  half:\n    " +
           std::string("lines: {bar: {type: cable, axial_stiffness: 1, "
                       "mass_per_length: 1, points: [[0, 0, 0], [1, 0, 0]], elements: 2, start: ground}}\n") +
           "use:\n  left: {subsystem: half, position: [0, 5, 0], orientation: {axis: [0, 0, 1], angle: "
           "90 deg}}\n" +
           "forces:\n  push: {type: force, frames: [ground, left.bar.3], fx: dy(left.bar.2)}\n"
           "initial: {bodies: {left.bar.3: {velocity: [1, 0, 0]}}}\n");
  require_sound(model);
  const Body& tip = model.bodies[model.find_body("left.bar.3")];
  EXPECT_EQ(tip.kind, "point");
  EXPECT_LT((tip.pose.position - Vec3(0, 6, 0)).norm(), 1e-15);
  EXPECT_EQ(tip.velocity, Vec3(Vec3::UnitX()));
  EXPECT_EQ(model.joints[0].name, "left.bar.start");
  EXPECT_EQ(model.joints[0].type, "spherical");
  EXPECT_EQ(model.forces[0].type, "translational_spring_damper");
}

TEST(Lines, EndAtEachOther) {
  const Model model = read(
      "lines:\n  one: {type: cable, axial_stiffness: 1, mass_per_length: 1, points: [[0, 0, 0], "
      "[1, 0, 0]], elements: 2, end: two.1}\n  two: {type: cable, axial_stiffness: 1, "
      "mass_per_length: 1, points: [[1, 0, 0], [2, 0, 0]], elements: 2}\n");
  require_sound(model);
  EXPECT_EQ(model.frames[model.joints[0].frames[0]].body, model.find_body("two.1"));
}

TEST(Lines, LengthAndShapeAtRest) {
  const Model taut = read(bar("points: [[0, 0, 0], [1, 0, 0]], elements: 4, length: 0.9"));
  EXPECT_NEAR(taut.forces[0].fields.number("length"), 0.225, 1e-15);
  EXPECT_FALSE(taut.forces[0].fields.has("curvature"));
  const Model bent = read(bar("points: [[1, 0, 0], [0, 1, 0], [-1, 0, 0]], elements: 4, straight_at_rest: true"));
  EXPECT_NEAR(bent.forces[0].fields.number("length"), std::numbers::pi / 4, 1e-15);
  EXPECT_EQ(bent.forces[0].fields.get<Vec3>("curvature"), Vec3(Vec3::Zero()));
}

}  // namespace
}  // namespace trammel::lines_test
