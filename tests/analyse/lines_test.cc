// Lines bent far: a cantilever rolled up to a circle by a moment at its end, a strip under a dead load in space, the
// frequencies of a clamped strip, a beam that is spun up, hanging cables.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/problems/stepping.h"
#include "trammel/analyse/modes.h"
#include "trammel/analyse/statics.h"
#include "trammel/math/rotation.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::lines_test {
namespace {

constexpr InitialOptions positions_only{.analyse_rank = false, .accelerations = false};

Model read(const std::string& text) { return read_model_text("trammel: 1\n" + text, "line.yaml"); }

// The pose of a body's axes.
Pose pose_of(problems::Ready& ready, const std::string& name) {
  ready.equations->update(ready.state, ready.work);
  const Model& model = ready.equations->model();
  const int body = model.find_body(name);
  EXPECT_GE(body, 0) << name;
  const BodyState& now = ready.work.bodies[body];
  return {now.r - now.R * model.bodies[body].center_of_mass, Quat(now.R)};
}

// A strip with E I = L = 1 in axes that stand anywhere, under a moment about its y axis.
std::string roll_up(int elements) {
  return R"yaml(
subsystems:
  rolled:
    lines:
      strip:
        type: section
        points: [[0, 0, 0], [1, 0, 0]]
        elements: )yaml" +
         std::to_string(elements) + R"yaml(
        start: ground
        axial_stiffness: 1000
        bending_stiffness_y: 1
        bending_stiffness_z: 3
        torsional_stiffness: 2
        shear_stiffness_z: 500
        mass_per_length: 1
    forces:
      moment: {type: torque, frames: [ground, strip.)yaml" +
         std::to_string(elements + 1) + R"yaml(], ty: -2*pi}
use:
  level: {subsystem: rolled}
  turned: {subsystem: rolled, position: [3, 2, 1], orientation: {axis: [1, 2, 3], angle: 2}}
)yaml";
}

TEST(Lines, RollUpToACircle) {
  const Quat turn(Eigen::AngleAxisd(2, Vec3(1, 2, 3).normalized()));
  for (const int elements : {8, 16, 32}) {
    problems::Ready ready(read(roll_up(elements)), positions_only);
    StaticOptions options;
    options.way = StaticWay::load_steps;
    options.tolerance = 1e-13;
    const StaticReport report = find_equilibrium(*ready.equations, ready.state, ready.rates, ready.work, options);
    ASSERT_TRUE(report.found) << elements << "\n" << to_text(report);
    RecordProperty(std::to_string(elements) + " elements, iterations", report.iterations);
    double largest = 0;
    for (int i = 0; i <= elements; ++i) {
      const double angle = 2 * std::numbers::pi * i / elements, radius = 1 / (2 * std::numbers::pi);
      const Vec3 circle = radius * Vec3(std::sin(angle), 0, 1 - std::cos(angle));
      const Pose level = pose_of(ready, "level.strip." + std::to_string(i + 1)),
                 turned = pose_of(ready, "turned.strip." + std::to_string(i + 1));
      largest = std::max(
          {largest, (level.position - circle).norm(), (turned.position - Vec3(3, 2, 1) - turn * circle).norm()});
    }
    RecordProperty(std::to_string(elements) + " elements, error in 1e-15", static_cast<int>(largest / 1e-15));
    EXPECT_LT(largest, 1e-12) << elements;
  }
}

struct Tip {
  Vec3 position, rotation;
};

// L = 0.5, a dead force of 8.9 N at the tip at 45 degrees between the soft and the stiff direction.
Tip strip_tip(int elements) {
  problems::Ready ready(read(R"yaml(
lines:
  strip:
    type: section
    points: [[0, 0, 0], [0.5, 0, 0]]
    elements: )yaml" + std::to_string(elements) +
                             R"yaml(
    start: ground
    axial_stiffness: 2.8e6
    shear_stiffness_y: 9e5
    shear_stiffness_z: 9e5
    torsional_stiffness: 3.6
    bending_stiffness_y: 2.3
    bending_stiffness_z: 37
    mass_per_length: 1
forces:
  load:
    type: force
    frames: [ground, strip.)yaml" +
                             std::to_string(elements + 1) +
                             R"yaml(]
    axes: world
    fy: -8.9/sqrt(2)
    fz: -8.9/sqrt(2)
)yaml"),
                        positions_only);
  const StaticReport report = find_equilibrium(*ready.equations, ready.state, ready.rates, ready.work);
  EXPECT_TRUE(report.found) << elements << "\n" << to_text(report);
  const Pose tip = pose_of(ready, "strip." + std::to_string(elements + 1));
  return {tip.position, rotation_log(tip.rotation)};
}

// Of another program, two families of elements extrapolated, equal to 5e-9.
const Vec3 strip_position(0.48528479, -0.00820255, -0.10943072), strip_rotation(-0.0221211, 0.3323953, -0.0219214);

TEST(Lines, BendInSpaceWithOrderTwo) {
  const std::vector<double> counts = {4, 8, 16, 32};
  std::vector<double> position, rotation;
  std::vector<Tip> tips;
  for (const double count : counts) {
    tips.push_back(strip_tip(static_cast<int>(count)));
    position.push_back((tips.back().position - strip_position).lpNorm<Eigen::Infinity>());
    rotation.push_back((tips.back().rotation - strip_rotation).lpNorm<Eigen::Infinity>());
    const std::string what = std::to_string(static_cast<int>(count)) + " elements, error in ";
    RecordProperty(what + "nm", static_cast<int>(1e9 * position.back()));
    RecordProperty(what + "nrad", static_cast<int>(1e9 * rotation.back()));
  }
  EXPECT_NEAR(problems::fitted_slope(counts, position), -2, 0.1);
  EXPECT_NEAR(problems::fitted_slope(counts, rotation), -2, 0.1);
  EXPECT_LT(position[0], 3e-5);
  EXPECT_LT(rotation[0], 8e-4);
  EXPECT_LT((4 * tips[3].position - tips[2].position - 3 * strip_position).norm() / 3, 1e-7);
  EXPECT_LT((4 * tips[3].rotation - tips[2].rotation - 3 * strip_rotation).norm() / 3, 1e-6);
}

// An arc without stress: a moment that takes its curvature away makes it straight, one end where it was.
TEST(Lines, AnArcIsMadeStraightByAMoment) {
  problems::Ready ready(read(R"yaml(
lines:
  arc:
    type: section
    points: [[0, 0, 0], [2*sin(0.75), 0, 2 - 2*cos(0.75)], [2*sin(1.5), 0, 2 - 2*cos(1.5)]]
    elements: 6
    start: ground
    axial_stiffness: 1e4
    bending_stiffness_y: 1
    bending_stiffness_z: 1
    torsional_stiffness: 1
    mass_per_length: 1
forces:
  moment: {type: torque, frames: [ground, arc.7], ty: 0.5}
)yaml"),
                        positions_only);
  const StaticReport report = find_equilibrium(*ready.equations, ready.state, ready.rates, ready.work);
  ASSERT_TRUE(report.found) << to_text(report);
  const Pose tip = pose_of(ready, "arc.7");
  EXPECT_LT((tip.position - Vec3(3, 0, 0)).norm(), 1e-9);
  EXPECT_LT(rotation_log(tip.rotation).norm(), 1e-9);
}

// Drawn as an arc and straight at rest, it needs the same moment to stay there, and springs straight without.
TEST(Lines, ALineThatIsDrawnBentSpringsStraight) {
  problems::Ready ready(read(R"yaml(
lines:
  whip:
    type: section
    points: [[0, 0, 0], [2*sin(0.75), 0, 2 - 2*cos(0.75)], [2*sin(1.5), 0, 2 - 2*cos(1.5)]]
    elements: 6
    start: ground
    straight_at_rest: true
    axial_stiffness: 1e4
    bending_stiffness_y: 1
    bending_stiffness_z: 1
    torsional_stiffness: 1
    mass_per_length: 1
)yaml"),
                        positions_only);
  const StaticReport report = find_equilibrium(*ready.equations, ready.state, ready.rates, ready.work);
  ASSERT_TRUE(report.found) << to_text(report);
  EXPECT_LT((pose_of(ready, "whip.7").position - Vec3(3, 0, 0)).norm(), 1e-9);
}

// The first frequency of a clamped strip, 1.875104^2 sqrt(E I/(rho A L^4)), and of a free one, 4.730041^2 ...: slices
// of the line as rigid bodies, with an error of order two.
double first_frequency(int elements, const char* start, double root) {
  const double E = 210e9, rho = 7850, t = 2e-3, L = 0.5;
  problems::Ready ready(read(R"yaml(
lines:
  strip:
    type: rectangle
    points: [[0, 0, 0], [0.5, 0, 0]]
    elements: )yaml" + std::to_string(elements) +
                             start + R"yaml(
    width: 10 mm
    height: 2 mm
    youngs_modulus: 210 GPa
    shear_modulus: 81 GPa
    density: 7850
)yaml"));
  const double wanted = root * root * std::sqrt(E * t * t / 12 / rho) / (L * L);
  double error = 1;
  for (const auto& mode : find_modes(*ready.equations, ready.state, ready.rates).undamped) {
    const double now = 2 * std::numbers::pi * mode.frequency / wanted - 1;
    if (std::abs(now) < std::abs(error)) error = now;
  }
  return error;
}

TEST(Lines, FrequenciesHaveOrderTwo) {
  const std::vector<double> counts = {4, 8, 16};
  for (const auto& [start, root] : {std::pair("\n    start: ground", 1.8751040687), std::pair("", 4.7300407449)}) {
    std::vector<double> errors;
    for (const double count : counts) {
      errors.push_back(std::abs(first_frequency(static_cast<int>(count), start, root)));
      RecordProperty(std::to_string(root) + ", " + std::to_string(static_cast<int>(count)) + " elements, error in 1e-6",
                     static_cast<int>(1e6 * errors.back()));
    }
    EXPECT_NEAR(problems::fitted_slope(counts, errors), -2, 0.3) << root;
    EXPECT_LT(errors[2], 0.005) << root;
  }
}

// models/spin_up.yaml: how far the tip lags behind at most; the time of it lies between outputs, so that it is the top
// of a parabola. Extrapolated by another program: 0.5739 m.
double greatest_lag(int elements) {
  ReadOptions options;
  options.set("n=" + std::to_string(elements));
  Model model = read_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/spin_up.yaml", options);
  model.simulation.end = 7;
  model.simulation.tolerance = 1e-7;
  Simulation simulation(std::move(model));
  MemoryTrajectory trajectory;
  EXPECT_EQ(simulation.run(trajectory).status, RunStatus::finished);
  const std::vector<double> y = trajectory.column("deflection");
  const auto least = std::min_element(y.begin(), y.end()) - y.begin();
  const double before = y[least - 1], now = y[least], after = y[least + 1];
  const double slope = 0.5 * (after - before), bend = before - 2 * now + after;
  return -(now - 0.5 * slope * slope / bend);
}

TEST(Lines, SpinUpHasOrderTwo) {
  const double four = greatest_lag(4), eight = greatest_lag(8), sixteen = greatest_lag(16);
  RecordProperty("16 elements, lag in 1e-6 m", static_cast<int>(1e6 * sixteen));
  EXPECT_NEAR(std::log2((eight - four) / (sixteen - eight)), 2, 0.2);
  EXPECT_NEAR(sixteen + (sixteen - eight) / 3, 0.5739, 5e-5);
}

// A cable of 2 m between two pins 1.6 m apart hangs as a catenary: z = a (cosh(x/a) - cosh(b/a)), a sinh(b/a) = 1 with
// b = 0.8 half the span. A chain of points with stiff links hangs above it by an error of order two.
TEST(Lines, ACableHangsAsACatenary) {
  double a = 0.5;
  for (int pass = 0; pass < 50; ++pass) {
    const double f = a * std::sinh(0.8 / a) - 1, slope = std::sinh(0.8 / a) - 0.8 / a * std::cosh(0.8 / a);
    a -= f / slope;
  }
  const double sag = a * (std::cosh(0.8 / a) - 1);
  std::vector<double> counts = {8, 16, 32}, errors;
  for (const double count : counts) {
    const std::string half = std::to_string(static_cast<int>(count) / 2 + 1);
    problems::Ready ready(read("gravity: [0, 0, -9.81]\nlines:\n  cable: {type: cable, elements: " +
                               std::to_string(static_cast<int>(count)) +
                               ", points: [[-0.8, 0, 0], [0, 0, -0.6], [0.8, 0, 0]], length: 2, start: ground, "
                               "end: ground, axial_stiffness: 1e7, mass_per_length: 0.3}\n"),
                          positions_only);
    const StaticReport report = find_equilibrium(*ready.equations, ready.state, ready.rates, ready.work);
    ASSERT_TRUE(report.found) << to_text(report);
    const Vec3 middle = pose_of(ready, "cable." + half).position;
    EXPECT_NEAR(middle.x(), 0, 1e-7);
    errors.push_back(std::abs(middle.z() + sag));
  }
  EXPECT_NEAR(problems::fitted_slope(counts, errors), -2, 0.15);
  EXPECT_LT(errors[2], 1e-3 * sag);
}

}  // namespace
}  // namespace trammel::lines_test
