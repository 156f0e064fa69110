// Rows at velocity level, equation (4), and scalar coordinates: against closed solutions and a second algorithm.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "trammel/elements/build.h"
#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::nonholonomic_test {
namespace {

MemoryTrajectory run_file(const std::string& name, const ModelChanges& changes, RunResult& result) {
  Simulation simulation(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + name + ".yaml", changes));
  MemoryTrajectory trajectory;
  result = simulation.run(trajectory);
  return trajectory;
}

// The rolling disc in its angles. Frame e1 horizontal along the track, u up in the disc, b the axis; lean th from the
// vertical to b, spin nu about b, w2 about u, heading psi. From Newton and Euler with the contact force eliminated:
//   (A + m a^2) th'' = -w2 ((C + m a^2) nu - A w3) - m g a cos th,   w3 = w2 cot th
//   A w2' = th' (C nu - A w3),     (C + m a^2) nu' = m a^2 w2 th',   psi' = w2 / sin th
//   centre: v = a (-nu e1 + th' b)
struct Disc {
  double m = 0.8, a = 0.25, A = 0.0125, C = 0.025, g = 9.81;
  using Y = std::array<double, 8>;  // th, th', w2, nu, psi, x, y, z
  Y f(const Y& s) const {
    const double th = s[0], dth = s[1], w2 = s[2], nu = s[3], psi = s[4];
    const double w3 = w2 * std::cos(th) / std::sin(th);
    const double Am = A + m * a * a, Cm = C + m * a * a;
    // psi is the direction of e1; the horizontal part of b is at right angles: (sin psi, -cos psi) times sin th.
    const double vt = -a * nu, vb = a * dth;
    return {dth,
            (-w2 * (Cm * nu - A * w3) - m * g * a * std::cos(th)) / Am,
            dth * (C * nu - A * w3) / A,
            m * a * a * w2 * dth / Cm,
            w2 / std::sin(th),
            vt * std::cos(psi) + vb * std::sin(th) * std::sin(psi),
            vt * std::sin(psi) - vb * std::sin(th) * std::cos(psi),
            vb * std::cos(th)};
  }
  Y step(const Y& y, double h) const {
    const auto plus = [](const Y& p, double c, const Y& q) {
      Y out;
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = p[i] + c * q[i];
      return out;
    };
    const Y k1 = f(y), k2 = f(plus(y, h / 2, k1)), k3 = f(plus(y, h / 2, k2)), k4 = f(plus(y, h, k3));
    Y out = y;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    return out;
  }
};

// b = (0, sin th, cos th) at the start; n x b / sin th = (-1, 0, 0): the track runs along -x, psi = pi.
Disc::Y disc_start(const Model& model) {
  const Body& body = model.bodies[0];
  const Vec3 b = body.pose.rotation * Vec3::UnitZ(), n = Vec3::UnitZ();
  const double th = std::acos(b.z());
  const Vec3 e1 = n.cross(b) / std::sin(th), u = b.cross(e1), w = body.angular_velocity;
  const Vec3& r = body.pose.position;
  return {th, w.dot(e1), w.dot(u), w.dot(b), std::atan2(e1.y(), e1.x()), r.x(), r.y(), r.z()};
}

TEST(RollingDisc, MovesAsItsEquationsInAngles) {
  Model model = load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/rolling_disc.yaml");
  // Angular velocity kept, the centre's follows from rolling.
  model.bodies[0].keep_angular_velocity = true;
  const Disc disc;
  Disc::Y y = disc_start(model);
  RunResult result;
  model.simulation.tolerance = 1e-9;
  Simulation simulation(model);
  MemoryTrajectory trajectory;
  result = simulation.run(trajectory);
  ASSERT_EQ(result.status, RunStatus::finished);
  const int substeps = 200;
  for (std::size_t row = 0; row < trajectory.rows(0); ++row) {
    const char* names[] = {"x", "y", "height"};
    for (int i = 0; i < 3; ++i) {
      ASSERT_NEAR(trajectory.value(trajectory.at(names[i]), row), y[static_cast<std::size_t>(5 + i)], 2e-5)
          << names[i] << " at " << trajectory.row(0, row)[0];
    }
    for (int i = 0; i < substeps; ++i) y = disc.step(y, 0.01 / substeps);
  }
  EXPECT_LT(result.summary.energy.largest_imbalance, 1e-4);  // of 3.8 J
  EXPECT_LT(result.summary.velocity_residual, 1e-7);
}

TEST(RollingDisc, IsSecondOrder) {
  Model model = load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/rolling_disc.yaml");
  model.bodies[0].keep_angular_velocity = true;
  model.simulation.end = 1;
  model.simulation.output_step = 1;
  const Disc disc;
  Disc::Y y = disc_start(model);
  for (int i = 0; i < 20000; ++i) y = disc.step(y, 5e-5);
  std::vector<double> errors;
  for (const int steps : {200, 400, 800, 1600}) {
    model.simulation.step = 1.0 / steps;
    Simulation simulation(model);
    MemoryTrajectory trajectory;
    ASSERT_EQ(simulation.run(trajectory).status, RunStatus::finished);
    const std::size_t last = trajectory.rows(0) - 1;
    errors.push_back(std::hypot(trajectory.value(trajectory.at("x"), last) - y[5],
                                trajectory.value(trajectory.at("y"), last) - y[6]));
  }
  for (std::size_t i = 1; i < errors.size(); ++i)
    EXPECT_NEAR(std::log2(errors[i - 1] / errors[i]), 2, 0.1) << errors[i];
}

TEST(KnifeEdge, WandersSidewaysOnACycloid) {
  RunResult result;
  ModelChanges changes;
  changes.tolerance = 1e-9;
  const MemoryTrajectory trajectory = run_file("skate_on_slope", changes, result);
  ASSERT_EQ(result.status, RunStatus::finished);
  EXPECT_EQ(result.summary.sizes.nk, 1);
  const double G = 3.355017622, w = 2;
  for (std::size_t row = 0; row < trajectory.rows(0); ++row) {
    const double t = trajectory.row(0, row)[0];
    ASSERT_NEAR(trajectory.value(trajectory.at("x"), row), G / (2 * w * w) * std::pow(std::sin(w * t), 2), 2e-5);
    ASSERT_NEAR(trajectory.value(trajectory.at("y"), row), G / (2 * w * w) * (w * t - std::sin(2 * w * t) / 2), 2e-5);
  }
}

// A ball rolling down a slope of 30 degrees: 5/7 of the acceleration of a sliding point.
TEST(RollingSphere, RollsDownASlope) {
  Model model;
  model.gravity = 9.81 * Vec3(0.5, 0, -std::sqrt(0.75));
  Body ball;
  ball.name = "ball";
  ball.mass = 2;
  ball.inertia = 0.4 * 2 * 0.09 * Mat3::Identity();
  ball.pose.position = Vec3(0, 0, 0.3);
  model.add_body(ball);
  Fields fields;
  fields.set("radius", 0.3);
  add_joint(model, "rolling_sphere", "rolls", {model.add_frame(ground, {}), model.add_frame(0, {})}, fields);
  model.outputs.push_back({"x", "m", {"dx(ball)", {}}});
  model.simulation.end = 2;
  Simulation simulation(model);
  MemoryTrajectory trajectory;
  ASSERT_EQ(simulation.run(trajectory).status, RunStatus::finished);
  const std::size_t last = trajectory.rows(0) - 1;
  EXPECT_NEAR(trajectory.value(trajectory.at("x"), last), 0.5 * 4 * 5.0 / 7 * 9.81 * 0.5, 1e-6);
}

// A scalar coordinate with inertia is an oscillator by itself; a force on it is an expression of its value.
TEST(ScalarCoordinate, OscillatesByItself) {
  Model model;
  Body s;
  s.name = "s";
  s.kind = "scalar";
  s.mass = 2;
  s.pose.position.x() = 0.3;
  model.add_body(s);
  Fields fields;
  fields.set("fx", ExpressionText{"-8*s", {}});
  const int world = model.add_frame(ground, {}), own = model.add_frame(0, {});
  add_force(model, "general_force", "pull", {world, own}, fields);
  model.outputs.push_back({"value", "", {"s", {}}});
  model.simulation.end = 3;
  model.simulation.tolerance = 1e-8;
  Simulation simulation(model);
  MemoryTrajectory trajectory;
  ASSERT_EQ(simulation.run(trajectory).status, RunStatus::finished);
  const std::size_t last = trajectory.rows(0) - 1;
  EXPECT_NEAR(trajectory.value(trajectory.at("value"), last), 0.3 * std::cos(2 * 3.0), 1e-5);
  EXPECT_NEAR(trajectory.value(trajectory.at("coordinate.s"), last), 0.3 * std::cos(2 * 3.0), 1e-5);
}

// An external input enters a force by its name, and B of the linearised equations is exact.
TEST(Input, EntersByItsName) {
  Model model;
  Body cart;
  cart.name = "cart";
  cart.mass = 4;
  model.add_body(cart);
  model.inputs.push_back({"push", "N", 2, {}});
  Fields fields;
  fields.set("fx", ExpressionText{"3*push + push^2", {}});
  const int world = model.add_frame(ground, {}), own = model.add_frame(0, {});
  add_force(model, "general_force", "drive", {world, own}, fields);
  const Equations equations(model);
  EXPECT_EQ(equations.sizes().nu, 1);
  Workspace work = equations.make_workspace();
  State state = equations.initial_state();
  EXPECT_EQ(state.u[0], 2);
  Residual residual = equations.make_residual();
  equations.residual(state, equations.make_rates(), everything, residual, work);
  EXPECT_NEAR(residual.force[0], -10, 1e-12);
  Vec by_input;
  equations.force_by_input(state, 0, by_input, work);
  EXPECT_NEAR(by_input[0], -(3 + 2 * 2), 1e-12);
  EXPECT_NEAR(by_input.tail(5).norm(), 0, 1e-12);
}

}  // namespace
}  // namespace trammel::nonholonomic_test
