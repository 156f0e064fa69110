// Beams against the textbook: the 12 x 12 matrix, deflections of cantilevers, a cantilever bent to a circle by a moment
// at its end, beams bent without load, the same beam seen from its other end.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "tests/elements/run_text.h"
#include "trammel/elements/build.h"
#include "trammel/elements/measure.h"
#include "trammel/elements/registry.h"
#include "trammel/math/rotation.h"

namespace trammel::beam_test {
namespace {

constexpr double E = 70e9, G = 27e9, A = 3e-4, Iy = 2e-9, Iz = 9e-9, J = 5e-9, ky = 1.2, kz = 1.5;

Fields beam_fields(double length = -1) {
  Fields fields;
  fields.set("youngs_modulus", E);
  fields.set("shear_modulus", G);
  fields.set("area", A);
  fields.set("second_moment_y", Iy);
  fields.set("second_moment_z", Iz);
  fields.set("torsion_constant", J);
  fields.set("shear_coefficient_y", ky);
  fields.set("shear_coefficient_z", kz);
  if (length > 0) fields.set("length", length);
  return fields;
}

// A beam along x from the origin, between frames with the given axes.
std::unique_ptr<Force> make_beam(double L, const Mat3& R_a = Mat3::Identity(), const Mat3& R_b = Mat3::Identity()) {
  Model model;
  for (const char* name : {"first", "second"}) {
    Body body;
    body.name = name;
    model.add_body(body);
  }
  model.bodies[0].pose.rotation = Quat(R_a);
  model.bodies[1].pose = {Vec3(L, 0, 0), Quat(R_b)};
  add_force(model, "beam", "sample", {model.add_frame(0, {}), model.add_frame(1, {})}, beam_fields());
  return find_element(Category::force, "beam")->make_force(model.forces[0], {model});
}

FrameState at(const Vec3& p, const Mat3& R = Mat3::Identity()) { return {p, R, Vec3::Zero(), Vec3::Zero()}; }

Mat stiffness_of(const Force& force, double L) {
  const std::vector<FrameState> frames{at(Vec3::Zero()), at(Vec3(L, 0, 0))};
  ForcePartials partials;
  force.linearise({0, frames.data(), nullptr}, partials);
  return -partials.pose;
}

// Przemieniecki's matrix, entry by entry.
Mat textbook_matrix(double L) {
  const double Py = 12 * E * Iz * ky / (G * A * L * L), Pz = 12 * E * Iy * kz / (G * A * L * L);
  Mat K = Mat::Zero(12, 12);
  const auto set = [&K](int i, int j, double value) { K(i, j) = K(j, i) = value; };
  const double bz = E * Iz / (1 + Py), by = E * Iy / (1 + Pz);
  set(0, 0, E * A / L);
  set(6, 6, E * A / L);
  set(0, 6, -E * A / L);
  set(3, 3, G * J / L);
  set(9, 9, G * J / L);
  set(3, 9, -G * J / L);
  // in the plane x y: displacement 1, rotation 5
  set(1, 1, 12 * bz / (L * L * L));
  set(7, 7, 12 * bz / (L * L * L));
  set(1, 7, -12 * bz / (L * L * L));
  set(1, 5, 6 * bz / (L * L));
  set(1, 11, 6 * bz / (L * L));
  set(5, 7, -6 * bz / (L * L));
  set(7, 11, -6 * bz / (L * L));
  set(5, 5, (4 + Py) * bz / L);
  set(11, 11, (4 + Py) * bz / L);
  set(5, 11, (2 - Py) * bz / L);
  // in the plane x z: displacement 2, rotation 4, of the other sign
  set(2, 2, 12 * by / (L * L * L));
  set(8, 8, 12 * by / (L * L * L));
  set(2, 8, -12 * by / (L * L * L));
  set(2, 4, -6 * by / (L * L));
  set(2, 10, -6 * by / (L * L));
  set(4, 8, 6 * by / (L * L));
  set(8, 10, 6 * by / (L * L));
  set(4, 4, (4 + Pz) * by / L);
  set(10, 10, (4 + Pz) * by / L);
  set(4, 10, (2 - Pz) * by / L);
  return K;
}

TEST(Beam, HasTheMatrixOfTheTextbook) {
  for (const double L : {0.05, 0.4, 2.0}) {
    const Mat K = stiffness_of(*make_beam(L), L), expected = textbook_matrix(L);
    EXPECT_LT((K - expected).cwiseAbs().maxCoeff(), 1e-12 * expected.cwiseAbs().maxCoeff());
  }
}

TEST(Beam, CantileversBendAsTheTextbookSays) {
  const double L = 0.8, F = 3, M = 0.5;
  for (const int count : {1, 2, 8}) {
    const double h = L / count;
    const Mat one = stiffness_of(*make_beam(h), h);
    Mat K = Mat::Zero(6 * (count + 1), 6 * (count + 1));
    for (int i = 0; i < count; ++i) K.block<12, 12>(6 * i, 6 * i) += one;
    const Mat free = K.bottomRightCorner(6 * count, 6 * count);
    Vec load = Vec::Zero(6 * count);
    load[6 * count - 6] = F;  // pull
    load[6 * count - 5] = F;  // across, along y
    load[6 * count - 4] = F;  // along z
    load[6 * count - 3] = M;  // twist
    const Vec u = free.partialPivLu().solve(load);
    const auto tip = u.tail<6>();
    EXPECT_NEAR(tip[0], F * L / (E * A), 1e-9 * tip[0]);
    EXPECT_NEAR(tip[1], F * L * L * L / (3 * E * Iz) + ky * F * L / (G * A), 1e-9 * tip[1]);
    EXPECT_NEAR(tip[2], F * L * L * L / (3 * E * Iy) + kz * F * L / (G * A), 1e-9 * tip[2]);
    EXPECT_NEAR(tip[3], M * L / (G * J), 1e-9 * tip[3]);
    EXPECT_NEAR(tip[5], F * L * L / (2 * E * Iz), 1e-9 * tip[5]);
    EXPECT_NEAR(tip[4], -F * L * L / (2 * E * Iy), 1e-9 * std::abs(tip[4]));
  }
}

// Under a moment M at its end a cantilever becomes an arc of radius E I / M. The helix of a beam is that arc, so that
// beams are in equilibrium with their ends on it, however few they are.
TEST(Beam, RollsUpToACircleUnderAnEndMoment) {
  const double L = 1.2;
  for (const double phi : {0.5 * std::numbers::pi, std::numbers::pi, 2 * std::numbers::pi}) {
    const double M = phi * E * Iz / L, radius = L / phi;
    for (const int count : {3, 8, 16, 32}) {
      const double h = L / count, turn = phi / count;
      const auto beam = make_beam(h);
      std::vector<FrameState> nodes;
      for (int i = 0; i <= count; ++i) {
        const double angle = i * turn;
        nodes.push_back(at(radius * Vec3(std::sin(angle), 1 - std::cos(angle), 0),
                           Eigen::AngleAxisd(angle, Vec3::UnitZ()).toRotationMatrix()));
      }
      Vec wrench = Vec::Zero(6 * (count + 1));
      for (int i = 0; i < count; ++i) {
        const FrameState pair[2] = {nodes[static_cast<std::size_t>(i)], nodes[static_cast<std::size_t>(i + 1)]};
        Eigen::Matrix<double, 12, 1> one;
        ASSERT_TRUE(beam->evaluate({0, pair, nullptr}, one.data()));
        wrench.segment<12>(6 * i) += one;
      }
      wrench[6 * count + 5] += M;
      // Round-off of the nodes' places times the stiffness against stretch.
      EXPECT_LT(wrench.tail(6 * count).cwiseAbs().maxCoeff(), 1e-15 * E * A * L / h) << phi << " " << count;
    }
  }
}

// A beam that is bent and twisted without load: its frames along it as drawn, or its curvature given.
TEST(Beam, MayBeBentWithoutLoad) {
  const double L = 0.5;
  const Vec3 curvature(0.7, -1.1, 1.6);
  const Mat3 R = rotation_exp(L * curvature).toRotationMatrix();
  const Vec3 d = rotation_tangent(-L * curvature) * Vec3(L, 0, 0);  // of a helix of length L
  Model model;
  for (const char* name : {"first", "second"}) {
    Body body;
    body.name = name;
    model.add_body(body);
  }
  model.bodies[1].pose = {d, Quat(R)};
  Fields as_drawn = beam_fields(), given = beam_fields(L);
  as_drawn.set("section_axes", std::string("frames"));
  given.set("section_axes", std::string("frames"));
  given.set("curvature", curvature);
  const int a = model.add_frame(0, {}), b = model.add_frame(1, {});
  add_force(model, "beam", "as drawn", {a, b}, as_drawn);
  add_force(model, "beam", "given", {a, b}, given);
  const Mat3 turn = rotation_exp(Vec3(0.4, 1, -0.3)).toRotationMatrix(),
             bent = rotation_exp(Vec3(0.1, -0.2, 0.3)).toRotationMatrix();
  const FrameState rest[2] = {at(Vec3(1, 2, 3), turn), at(Vec3(1, 2, 3) + turn * d, turn * R)},
                   loaded[2] = {rest[0], at(rest[1].p + Vec3(0.01, 0.02, 0), rest[1].R * bent)};
  Eigen::Matrix<double, 12, 1> none, one, other;
  const auto& make = find_element(Category::force, "beam")->make_force;
  const auto first = make(model.forces[0], {model}), second = make(model.forces[1], {model});
  for (const Force* beam : {first.get(), second.get()}) {
    ASSERT_TRUE(beam->evaluate({0, rest, nullptr}, none.data()));
    EXPECT_LT(none.cwiseAbs().maxCoeff(), 1e-14 * E * A);
  }
  ASSERT_TRUE(first->evaluate({0, loaded, nullptr}, one.data()));
  ASSERT_TRUE(second->evaluate({0, loaded, nullptr}, other.data()));
  EXPECT_LT((one - other).cwiseAbs().maxCoeff(), 1e-12 * one.cwiseAbs().maxCoeff());
}

// The logarithm ends at half a turn between the ends: no force is better than a wrong one, and nothing is a NaN.
TEST(Beam, RefusesHalfATurnBetweenItsEnds) {
  const auto beam = make_beam(0.5);
  for (const double angle : {3.0, 3.1, std::numbers::pi, 3.3, 6.0}) {
    const FrameState pair[2] = {at(Vec3::Zero()),
                                at(Vec3(0.1, 0.2, 0), rotation_exp(Vec3(0, 0, angle)).toRotationMatrix())};
    // Of what is refused nothing is written; what is not refused has a force.
    constexpr double untouched = 7;
    Eigen::Matrix<double, 12, 1> wrench = Eigen::Matrix<double, 12, 1>::Constant(untouched);
    const bool evaluated = std::abs(std::numbers::pi - angle) > 0.1;
    ASSERT_EQ(beam->evaluate({0, pair, nullptr}, wrench.data()), evaluated) << angle;
    EXPECT_TRUE(wrench.allFinite());
    EXPECT_EQ((wrench.array() == untouched).all(), !evaluated) << angle;
    // Force and its reaction, with the moment about the first end.
    if (evaluated) {
      EXPECT_LT((wrench.head<3>() + wrench.segment<3>(6)).norm(), 1e-12 * wrench.norm());
      EXPECT_LT((wrench.segment<3>(3) + wrench.tail<3>() + pair[1].p.cross(Vec3(wrench.segment<3>(6)))).norm(),
                1e-12 * wrench.norm());
    }
    EXPECT_TRUE(std::isfinite(beam->potential_energy({0, pair, nullptr}))) << angle;
    double observed[10];
    beam->observe({0, pair, nullptr}, observed);
    for (const double value : observed) EXPECT_TRUE(std::isfinite(value)) << angle;
  }
}

TEST(Beam, KnowsNoFirstEnd) {
  const Mat3 R_a = rotation_exp(Vec3(0.3, -0.2, 0.4)).toRotationMatrix(),
             R_b = rotation_exp(Vec3(-0.5, 0.1, 0.2)).toRotationMatrix();
  const double L = 0.5;
  Model model;
  for (const char* name : {"first", "second"}) {
    Body body;
    body.name = name;
    model.add_body(body);
  }
  model.bodies[0].pose.rotation = Quat(R_a);
  model.bodies[1].pose = {Vec3(L, 0, 0), Quat(R_b)};
  // z of both frames along the same section axis, so that both see the same section.
  const int a = model.add_frame_at(0, Vec3::Zero(), Vec3::UnitZ()),
            b = model.add_frame_at(1, Vec3(L, 0, 0), Vec3::UnitZ());
  add_force(model, "beam", "there", {a, b}, beam_fields());
  add_force(model, "beam", "back", {b, a}, beam_fields());
  const auto& make = find_element(Category::force, "beam")->make_force;
  const auto there = make(model.forces[0], {model}), back = make(model.forces[1], {model});
  const FrameState first = at(Vec3(0.1, 0.2, 0.3), rotation_exp(Vec3(1, 2, 0.5)).toRotationMatrix());
  const FrameState second =
      at(first.p + first.R * Vec3(0.55, 0.1, -0.05), first.R * rotation_exp(Vec3(0.2, -0.3, 0.4)).toRotationMatrix());
  const FrameState forward[2] = {first, second}, backward[2] = {second, first};
  Eigen::Matrix<double, 12, 1> one, other;
  ASSERT_TRUE(there->evaluate({0, forward, nullptr}, one.data()));
  ASSERT_TRUE(back->evaluate({0, backward, nullptr}, other.data()));
  const double scale = one.cwiseAbs().maxCoeff();
  EXPECT_LT((one.head<6>() - other.tail<6>()).cwiseAbs().maxCoeff(), 1e-12 * scale);
  EXPECT_LT((one.tail<6>() - other.head<6>()).cwiseAbs().maxCoeff(), 1e-12 * scale);
}

// Frames turned anyhow make no difference to an undeformed beam, nor do rigid motions.
TEST(Beam, IsRelaxedAsDrawn) {
  const Mat3 R_a = rotation_exp(Vec3(0.3, -0.2, 0.4)).toRotationMatrix(),
             R_b = rotation_exp(Vec3(-0.5, 1.1, 0.2)).toRotationMatrix();
  const auto beam = make_beam(0.5, R_a, R_b);
  const Mat3 turn = rotation_exp(Vec3(2, -1, 0.5)).toRotationMatrix();
  const FrameState pair[2] = {at(Vec3(1, 2, 3), turn * R_a), at(Vec3(1, 2, 3) + turn * Vec3(0.5, 0, 0), turn * R_b)};
  Eigen::Matrix<double, 12, 1> wrench;
  ASSERT_TRUE(beam->evaluate({0, pair, nullptr}, wrench.data()));
  EXPECT_LT(wrench.cwiseAbs().maxCoeff(), 1e-14 * E * A);
}

std::string refusal(const Pose& second, const Fields& fields) {
  Model model;
  Body body;
  body.pose = second;
  model.add_body(body);
  add_force(model, "beam", "sample", {model.add_frame(ground, {}), model.add_frame(0, {})}, fields);
  try {
    find_element(Category::force, "beam")->make_force(model.forces[0], {model});
  } catch (const Failure& failure) {
    EXPECT_NE(failure.problems()[0].message.find("force 'sample'"), std::string::npos);
    return failure.problems()[0].id;
  }
  return "";
}

TEST(Beam, RefusesWhatHasNoDirection) {
  Fields frames = beam_fields();
  frames.set("section_axes", std::string("frames"));
  const Pose beside{Vec3(0, 1, 0), Quat::Identity()}, ahead{Vec3(1, 0, 0), Quat::Identity()},
      turned{Vec3(1, 0, 0), rotation_exp(Vec3(0, 0, 3.1))};
  EXPECT_EQ(refusal({}, beam_fields()), "no-direction");
  EXPECT_EQ(refusal(beside, beam_fields()), "");
  EXPECT_EQ(refusal(beside, frames), "no-direction");
  EXPECT_EQ(refusal(ahead, frames), "");
  EXPECT_EQ(refusal(turned, frames), "turned-too-far");
  // 0.97 pi over a metre is the most, in any direction; further the ends would count as turned the other way.
  frames.set("curvature", Vec3(0, 0, 3.04));
  EXPECT_EQ(refusal(ahead, frames), "");
  for (const Vec3& curvature : {Vec3(0, 0, 3.06), Vec3(0, -4, 0), Vec3(2, 2, 2), Vec3(6.3, 0, 0)}) {
    frames.set("curvature", curvature);
    EXPECT_EQ(refusal(ahead, frames), "turned-too-far") << curvature.transpose();
  }
  frames.set("length", 0.5);
  frames.set("curvature", Vec3(0, 0, 6));
  EXPECT_EQ(refusal(ahead, frames), "");
  frames.set("section_axes", std::string("sideways"));
  EXPECT_EQ(refusal(ahead, frames), "unknown-value");
  Fields negative = beam_fields();
  negative.set("length", -1.0);
  EXPECT_EQ(refusal(ahead, negative), "negative-length");
}

// A mass on a leaf: (w/2 pi) of the first mode, from the time of many swings; small damping of the stated fraction.
TEST(Beam, SwingsWithTheFrequencyOfItsStiffness) {
  const TextRun run(R"yaml(
bodies:
  block: {mass: 2, inertia: [1e-9, 1e-9, 1e-9], position: [0.3, 0, 0], velocity: [0, 0, 1e-3]}
forces:
  leaf:
    type: beam
    between: [ground, block]
    at: [[0, 0, 0], [0.3, 0, 0]]
    youngs_modulus: 210e9
    shear_modulus: 81e9
    area: 20e-6
    second_moment_y: 1.67e-12
    second_moment_z: 667e-12
    torsion_constant: 6.3e-12
outputs: {z: dz(block)}
simulation: {end: 2.2, tolerance: 1e-9, output_step: 0.001}
)yaml");
  const double k = 3 * 210e9 * 1.67e-12 / (0.3 * 0.3 * 0.3), w = std::sqrt(k / 2);
  const std::vector<double> t = run.time(), z = run.column("z");
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_NEAR(z[i], 1e-3 / w * std::sin(w * t[i]), 2e-3 * 1e-3 / w) << t[i];
}

}  // namespace
}  // namespace trammel::beam_test
