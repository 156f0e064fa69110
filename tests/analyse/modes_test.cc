// Natural frequencies against closed forms: pendulum, mass-spring chains, hanging chains, damped oscillators, rotors.
#include "trammel/analyse/modes.h"
#include "trammel/elements/build.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/analyse/statics.h"

namespace trammel::modes_test {
namespace {

constexpr double pi = std::numbers::pi;

struct Found {
  problems::Ready ready;
  Modes modes;
  Found(Model model, bool equilibrium, const ModeOptions& options = {}) : ready(std::move(model)) {
    if (equilibrium) {
      StaticSolver solver(*ready.equations);
      StaticOptions statics;
      statics.judge_stability = false;
      const StaticReport report = solver.solve(ready.state, ready.rates, ready.work, statics);
      EXPECT_TRUE(report.found) << to_text(report);
    }
    modes = find_modes(*ready.equations, ready.state, ready.rates, options);
  }
};

TEST(Modes, Pendulum) {
  const Found f(problems::pendulum(), true);  // bar of 1 m: w^2 = 3 g / 2 l
  ASSERT_EQ(f.modes.undamped.size(), 1u);
  EXPECT_NEAR(f.modes.undamped[0].frequency, std::sqrt(1.5 * 9.81) / (2 * pi), 1e-10);
  EXPECT_EQ(f.modes.undamped[0].bodies, std::vector<std::string>{"bar"});
  EXPECT_TRUE(f.modes.damped.empty());
}

TEST(Modes, PendulumUpsideDown) {
  Model m = problems::pendulum();
  m.gravity = Vec3(-9.81, 0, 0);
  const Found f(m, true);
  EXPECT_FALSE(f.modes.undamped[0].oscillates);
  EXPECT_NEAR(f.modes.undamped[0].eigenvalue.real(), std::sqrt(1.5 * 9.81), 1e-9);
}

// N points of mass m in a row along x, springs k between them and to walls: w_j = 2 sqrt(k/m) sin(j pi / 2 (N + 1)).
Model spring_row(int n, double k, double damping, bool walls) {
  Model m;
  for (int i = 0; i < n; ++i) {
    Body b;
    b.name = "m" + std::to_string(i);
    b.kind = "point";
    b.mass = 0.5;
    b.pose.position = Vec3(i + 1, 0, 0);
    m.add_body(b);
    add_joint(m, "point_on_line", "rail" + std::to_string(i), ground, i, b.pose.position, Vec3::UnitX());
  }
  for (int i = 0; i <= n; ++i) {
    if (!walls && (i == 0 || i == n)) continue;
    Fields spring;
    spring.set("stiffness", k);
    spring.set("damping", damping);
    spring.set("free_length", 1.0);
    add_force(m, "translational_spring_damper", "s" + std::to_string(i),
              {m.add_frame_at(i == 0 ? ground : i - 1, Vec3(i, 0, 0)),
               m.add_frame_at(i == n ? ground : i, Vec3(i + 1, 0, 0))},
              spring);
  }
  return m;
}

TEST(Modes, SpringRowDense) {
  const int n = 12;
  const Found f(spring_row(n, 200, 0, true), false);
  ASSERT_EQ(f.modes.undamped.size(), 12u);
  for (int j = 1; j <= n; ++j)
    EXPECT_NEAR(2 * pi * f.modes.undamped[static_cast<std::size_t>(j - 1)].frequency,
                2 * std::sqrt(200 / 0.5) * std::sin(j * pi / (2 * (n + 1))), 1e-10);
  EXPECT_EQ(f.modes.rigid, 0);
  // Shape: sin(j pi i / (N + 1))
  const Eigen::MatrixXcd shape = shape_of_bodies(*f.ready.equations, f.ready.state, f.modes.undamped[1]);
  for (int i = 0; i < n; ++i)
    EXPECT_NEAR(shape(i, 0).real() / shape(0, 0).real(),
                std::sin(2 * pi * (i + 1) / (n + 1)) / std::sin(2 * pi / (n + 1)), 1e-9);
}

TEST(Modes, FreeRowHasARigidMode) {
  const Found f(spring_row(5, 200, 0, false), false);
  EXPECT_EQ(f.modes.rigid, 1);
  EXPECT_TRUE(f.modes.undamped[0].rigid);
  EXPECT_NEAR(2 * pi * f.modes.undamped[1].frequency, 2 * std::sqrt(400.0) * std::sin(pi / 10), 1e-9);
}

// Dampers in parallel with the springs, c = beta k: zeta_j = beta w_j / 2.
TEST(Modes, DampedRow) {
  const double beta = 2e-3;
  for (const ModeSolver solver : {ModeSolver::dense, ModeSolver::sparse}) {
    const int n = 30;
    ModeOptions options;
    options.solver = solver;
    options.count = 6;
    const Found f(spring_row(n, 200, beta * 200, true), false, options);
    ASSERT_GE(f.modes.damped.size(), 6u) << (f.modes.notes.empty() ? "" : f.modes.notes[0]);
    for (int j = 1; j <= 6; ++j) {
      const Mode& mode = f.modes.damped[static_cast<std::size_t>(j - 1)];
      const double w = 2 * std::sqrt(400.0) * std::sin(j * pi / (2 * (n + 1)));
      EXPECT_NEAR(2 * pi * mode.frequency, w, 1e-7 * w);
      EXPECT_NEAR(mode.damping, 0.5 * beta * w, 1e-8);
      EXPECT_TRUE(mode.stable);
    }
  }
}

TEST(Modes, SpringRowSparse) {
  const int n = 1000;  // 3000 velocities
  ModeOptions options;
  options.count = 8;
  const Found f(spring_row(n, 200, 0, true), false, options);
  EXPECT_TRUE(f.modes.sparse);
  ASSERT_EQ(f.modes.undamped.size(), 8u);
  for (int j = 1; j <= 8; ++j)
    EXPECT_NEAR(2 * pi * f.modes.undamped[static_cast<std::size_t>(j - 1)].frequency,
                2 * std::sqrt(400.0) * std::sin(j * pi / (2 * (n + 1))), 1e-9);
}

// A chain of n points on massless rods: the roots of the Laguerre polynomial, L_n(w^2 l / g) = 0, here as eigenvalues
// of its recurrence's symmetric tridiagonal matrix (Golub and Welsch); in the limit zeros of J_0.
Model hanging_points(int n, double length) {
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  for (int i = 0; i < n; ++i) {
    Body b;
    b.name = "p" + std::to_string(i);
    b.kind = "point";
    b.mass = 0.3;
    b.pose.position = Vec3(0, 0, -length / n * (i + 1));
    m.add_body(b);
    Fields rod;
    rod.set("length", length / n);
    add_joint(m, "distance", "rod" + std::to_string(i), {m.add_frame(i - 1, {}), m.add_frame(i, {})}, rod);
    add_joint(m, "point_in_plane", "plane" + std::to_string(i), ground, i, b.pose.position, Vec3::UnitY());
  }
  return m;
}

Vec laguerre_roots(int n) {
  Mat T = Mat::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    T(i, i) = 2 * i + 1;
    if (i + 1 < n) T(i, i + 1) = T(i + 1, i) = i + 1;
  }
  return Eigen::SelfAdjointEigenSolver<Mat>(T).eigenvalues();
}

TEST(Modes, HangingChainOfPoints) {
  const int n = 10;
  const double length = 2;
  const Found f(hanging_points(n, length), true);
  const Vec roots = laguerre_roots(n);
  ASSERT_EQ(f.modes.undamped.size(), 10u);
  for (int j = 0; j < n; ++j)
    EXPECT_NEAR(2 * pi * f.modes.undamped[static_cast<std::size_t>(j)].frequency,
                std::sqrt(roots[j] * 9.81 / (length / n)), 1e-8);
}

TEST(Modes, LongChainTendsToBessel) {
  const double length = 2, zeros[] = {2.404825557695773, 5.520078110286311, 8.653727912911013};
  std::vector<double> h, error;
  for (const int n : {20, 40, 80, 400}) {
    ModeOptions options;
    options.count = 3;
    if (n == 400) options.solver = ModeSolver::sparse;
    const Found f(hanging_points(n, length), true, options);
    const double w = 2 * pi * f.modes.undamped[0].frequency, exact = zeros[0] / 2 * std::sqrt(9.81 / length);
    h.push_back(1.0 / n);
    error.push_back(std::abs(w - exact));
    for (int j = 0; j < 3; ++j) {
      const double limit = zeros[j] / 2 * std::sqrt(9.81 / length);
      EXPECT_NEAR(2 * pi * f.modes.undamped[static_cast<std::size_t>(j)].frequency, limit, 3.0 * limit * (j + 1) / n);
    }
    // Against the discrete roots as well.
    EXPECT_NEAR(w, std::sqrt(laguerre_roots(n)[0] * 9.81 * n / length), 1e-7);
  }
  EXPECT_NEAR(problems::fitted_slope(h, error), 1, 0.1);
}

// A disc on a bearing whose seat tilts against springs: Jt phi'' - i Jp W phi' + k phi = 0 for phi = phi_x + i phi_y,
// w = (Jp W +- sqrt(Jp^2 W^2 + 4 Jt k)) / 2 Jt: backward and forward whirl.
TEST(Modes, WhirlOfASpinningDisc) {
  const double Jt = 0.02, Jp = 0.035, seat = 0.003, k = 80, W = 120;
  Model m;
  Body hub, disc;
  hub.name = "hub";
  hub.mass = 0.5;
  hub.inertia = Vec3(seat, seat, seat).asDiagonal();
  disc.name = "disc";
  disc.mass = 2;
  disc.inertia = Vec3(Jt, Jt, Jp).asDiagonal();
  disc.angular_velocity = Vec3(0, 0, W);
  m.add_body(hub);
  m.add_body(disc);
  Fields bushing;
  bushing.set("stiffness", Vec3(1e4, 1e4, 1e4));
  bushing.set("angular_stiffness", Vec3(k, k, k));
  add_force(m, "bushing", "seat", {m.add_frame(ground, {}), m.add_frame(0, {})}, bushing);
  add_joint(m, "revolute", "bearing", 0, 1, Vec3::Zero());
  const Found f(m, false);
  EXPECT_TRUE(f.modes.undamped.empty());
  EXPECT_FALSE(f.modes.at_rest);
  const double J = Jt + seat, root = std::sqrt(Jp * Jp * W * W + 4 * J * k);
  const std::vector<double> expected{(root - Jp * W) / (2 * J), (root + Jp * W) / (2 * J), std::sqrt(k / seat),
                                     std::sqrt(1e4 / 2.5)};
  for (const double w : expected) {
    double nearest = 1e9;
    for (const Mode& mode : f.modes.damped)
      nearest = std::min(nearest, std::abs(mode.eigenvalue.imag() - w) + std::abs(mode.eigenvalue.real()));
    EXPECT_LT(nearest, 1e-6 * w) << w;
  }
}

}  // namespace
}  // namespace trammel::modes_test
