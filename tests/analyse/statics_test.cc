// Static equilibrium: hanging chains against the exact polygon and the catenary, springs, redundant joints, and what is
// said when there is no equilibrium.
#include "trammel/analyse/statics.h"
#include "trammel/elements/build.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/analyse/quasi_static.h"
#include "trammel/read/read_model.h"

namespace trammel::statics_test {
namespace {

using ::testing::HasSubstr;

struct Solved {
  problems::Ready ready;
  StaticReport report;
  explicit Solved(Model model, const StaticOptions& options = {}) : ready(std::move(model)) {
    StaticSolver solver(*ready.equations);
    report = solver.solve(ready.state, ready.rates, ready.work, options);
    ready.equations->update(ready.state, ready.work);
  }
  const BodyState& body(int i) const { return ready.work.bodies[static_cast<std::size_t>(i)]; }
};

Body bar(const std::string& name, const Vec3& from, const Vec3& to, double mass, const std::string& kind) {
  Body b = problems::rod(name, from, to, mass, Vec3::UnitZ());
  b.kind = kind;
  return b;
}

// `links` equal bars of total length S and total mass `mass` between (0, 0) and (X, 0) in the xy plane; drawn as a
// triangle.
Model hanging_chain(int links, double S, double X, double mass, const std::string& kind = "planar") {
  Model m;
  m.gravity = Vec3(0, -9.81, 0);
  const double depth = std::sqrt(S * S - X * X) / 2, n = links;
  const auto point = [&](int i) {
    const double s = i / n;
    return Vec3(X * s, -depth * (s < 0.5 ? 2 * s : 2 - 2 * s), 0);
  };
  for (int i = 0; i < links; ++i) m.add_body(bar("link" + std::to_string(i), point(i), point(i + 1), mass / n, kind));
  for (int i = 0; i <= links; ++i)
    add_joint(m, "revolute", "pin" + std::to_string(i), i == 0 ? ground : i - 1, i == links ? ground : i, point(i));
  return m;
}

// tan(phi_i) = (i + 1/2 - N/2) m g / H for link i; H from sum l cos(phi_i) = X.
struct Polygon {
  double H = 0;
  std::vector<double> phi;
};
Polygon exact_polygon(int links, double S, double X, double mass) {
  const double w = mass / links * 9.81, l = S / links;
  Polygon out;
  double low = 1e-9, high = 1e6;
  for (int k = 0; k < 200; ++k) {
    out.H = std::sqrt(low * high);
    double width = 0;
    for (int i = 0; i < links; ++i) width += l * std::cos(std::atan((i + 0.5 - 0.5 * links) * w / out.H));
    (width < X ? low : high) = out.H;
  }
  for (int i = 0; i < links; ++i) out.phi.push_back(std::atan((i + 0.5 - 0.5 * links) * w / out.H));
  return out;
}

double catenary_sag(double S, double X) {
  double low = 1e-3, high = 1e3;  // a: S = 2 a sinh(X / 2a)
  for (int k = 0; k < 200; ++k) {
    const double a = 0.5 * (low + high);
    (2 * a * std::sinh(X / (2 * a)) > S ? low : high) = a;
  }
  return low * (std::cosh(X / (2 * low)) - 1);
}

double sag(const Solved& s, int links, double S) {
  double lowest = 0;
  for (int i = 0; i < links; ++i) {
    const BodyState& b = s.body(i);
    lowest = std::min({lowest, (b.r + 0.5 * S / links * b.R.col(0)).y(), (b.r - 0.5 * S / links * b.R.col(0)).y()});
  }
  return -lowest;
}

TEST(Statics, ChainTakesTheExactPolygon) {
  for (const std::string kind : {"planar", "spatial"}) {
    const int links = 16;
    const Solved s(hanging_chain(links, 3, 2, 4, kind));
    ASSERT_TRUE(s.report.found) << to_text(s.report);
    const Polygon exact = exact_polygon(links, 3, 2, 4);
    for (int i = 0; i < links; ++i) {
      const Vec3 x = s.body(i).R.col(0);
      EXPECT_NEAR(std::atan2(x.y(), x.x()), exact.phi[static_cast<std::size_t>(i)], 1e-9);
    }
    Vec3 force, torque;
    s.ready.equations->reaction(links, s.ready.state, s.ready.rates, s.ready.work, force, torque);
    // Force of the last link on the ground's side, here on the second body (ground): pulled inwards and down.
    EXPECT_NEAR(std::abs(force.x()), exact.H, 1e-7);
    EXPECT_NEAR(std::abs(force.y()), 0.5 * 4 * 9.81, 1e-7);
    // In the plane a chain hangs stably; spatial links on hinges cannot leave it.
    EXPECT_EQ(s.report.stability, Stability::stable) << to_text(s.report);
    EXPECT_EQ(s.report.freedoms, links - 2);
  }
}

TEST(Statics, SagConvergesToTheCatenary) {
  const double S = 3, X = 2, exact = catenary_sag(S, X);
  std::vector<double> h, error;
  for (const int links : {8, 16, 32, 64}) {
    const Solved s(hanging_chain(links, S, X, 4));
    ASSERT_TRUE(s.report.found) << to_text(s.report);
    h.push_back(1.0 / links);
    error.push_back(std::abs(sag(s, links, S) - exact));
  }
  EXPECT_LT(error.back(), 1e-3 * exact);
  EXPECT_NEAR(problems::fitted_slope(h, error), 2, 0.15);
}

TEST(Statics, LargeChainIsJudgedByPivots) {
  const int links = 600;  // 1800 velocities
  const Solved s(hanging_chain(links, 3, 2, 4));
  ASSERT_TRUE(s.report.found) << to_text(s.report);
  EXPECT_EQ(s.report.stability, Stability::stable);
  EXPECT_NEAR(sag(s, links, 3), catenary_sag(3, 2), 1e-5);
}

TEST(Statics, PendulumHangs) {
  const Solved s(problems::pendulum());
  ASSERT_TRUE(s.report.found) << to_text(s.report);
  EXPECT_NEAR(s.body(0).r.z(), -0.5, 1e-10);
  EXPECT_EQ(s.report.stability, Stability::stable);
  EXPECT_EQ(s.report.freedoms, 1);
  // m g l of a small rotation: 2 kg, 0.5 m, projected on a motion of size 1 in L and rad
  EXPECT_GT(s.report.least_stiffness, 0);
}

TEST(Statics, UpsideDownIsUnstable) {
  Model m = problems::pendulum();
  m.gravity = Vec3(9.81, 0, 0).eval() * -1;  // the bar lies along +x: straight up
  const Solved s(m);
  ASSERT_TRUE(s.report.found);
  EXPECT_EQ(s.report.stability, Stability::unstable);
  EXPECT_EQ(s.report.unstable_directions, 1);
  ASSERT_EQ(s.report.weak.size(), 1u);
  // The bar's angle: -m g l/2 = -2 * 9.81 * 0.5 N m/rad, if measured by the angle; by the centre, over (l/2)^2.
  const FreeDirection& way = s.report.weak[0];
  EXPECT_NEAR(way.stiffness, way.quantity == Quantity::angle ? -9.81 : -9.81 / 0.25, 1e-6);
}

TEST(Statics, NothingHoldsATurntable) {
  Model m = problems::pendulum();
  m.gravity = Vec3(0, 9.81, 0);  // along the hinge
  const Solved s(m);
  ASSERT_TRUE(s.report.found);
  EXPECT_EQ(s.report.stability, Stability::neutral);
  EXPECT_EQ(s.report.neutral_directions, 1);
}

// A table on three uneven springs that only push upwards: it sinks and tilts. Nothing holds it along the floor or
// against a turn about the vertical, so it does not move that way.
TEST(Statics, WhatNothingHoldsStays) {
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  Body b;
  b.name = "table";
  b.mass = 40;
  b.inertia = Vec3(3, 4, 5).asDiagonal();
  b.pose.position = Vec3(20, -30, 0.7);
  m.add_body(b);
  const Vec3 feet[] = {{0.6, 0.1, -0.4}, {-0.4, 0.5, -0.3}, {-0.2, -0.7, -0.5}};
  for (int i = 0; i < 3; ++i) {
    const std::string name = "foot" + std::to_string(i);
    const int foot = m.add_frame(0, {feet[i], Quat::Identity()}, name);
    Fields fields;
    fields.set("fz", ExpressionText{std::to_string(1000 + 700 * i) + "*(0.3 - dz(" + name + ", ground))", {}});
    fields.set("axes", std::string("world"));
    add_force(m, "force", "spring" + std::to_string(i), {m.add_frame(ground, {}), foot}, fields);
  }
  const Solved s(m);
  ASSERT_TRUE(s.report.found) << to_text(s.report);
  EXPECT_EQ(s.report.neutral_directions, 3) << to_text(s.report);
  const Equations& equations = *s.ready.equations;
  Vec change(6);
  equations.local(equations.initial_state().q, s.ready.state.q, change);
  EXPECT_GT(change.segment<2>(3).norm(), 0.01);  // it tilts
  EXPECT_NEAR(change[0], 0, 1e-14);
  EXPECT_NEAR(change[1], 0, 1e-14);
  EXPECT_NEAR(change[5], 0, 1e-11);  // the unbalanced force that is left turns the neutral direction a little
  EXPECT_LE(s.report.residual, 1e-10 * s.report.scale);
}

TEST(Statics, FreeBodyHasNone) {
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  Body b;
  b.name = "stone";
  b.mass = 2;
  b.inertia = Mat3::Identity();
  m.add_body(b);
  const Solved s(m);
  EXPECT_FALSE(s.report.found);
  EXPECT_THAT(s.report.why, HasSubstr("body 'stone': position z"));
  EXPECT_THAT(s.report.why, HasSubstr("19.62 N"));
  EXPECT_THAT(s.report.why, HasSubstr("nothing holds it"));
}

Fields expression(const char* name, const char* text) {
  Fields fields;
  fields.set(name, ExpressionText{text, {}});
  return fields;
}

TEST(Statics, MotorOnATurntableHasNone) {
  Model m = problems::pendulum();
  m.gravity = Vec3::Zero();
  add_force(m, "torque", "motor", m.joints[0].frames, expression("tz", "3"));
  const Solved s(m);
  EXPECT_FALSE(s.report.found);
  EXPECT_THAT(s.report.why, HasSubstr("body 'bar'"));
  EXPECT_EQ(s.report.attempts.size(), 4u);
}

// A torque as large as half of m g l/2 holds the bar at 30 degrees; twice of it holds it nowhere.
TEST(Statics, TorqueAgainstWeight) {
  Model m = problems::pendulum();
  add_force(m, "torque", "motor", m.joints[0].frames, expression("tz", "-0.5*2*9.81*0.5"));
  for (const StaticWay way : {StaticWay::automatic, StaticWay::newton, StaticWay::load_steps, StaticWay::relaxation}) {
    StaticOptions options;
    options.way = way;
    const Solved s(m, options);
    if (way == StaticWay::load_steps && !s.report.found) continue;  // the drawn position may turn the wrong way round
    ASSERT_TRUE(s.report.found) << to_text(s.report);
    // From the horizontal both 30 degrees off the vertical (stable) and its mirror image above exist.
    EXPECT_NEAR(std::abs(s.body(0).r.x()), 0.25, 1e-8) << to_text(way);
    if (way == StaticWay::automatic) {
      EXPECT_EQ(s.report.stability, Stability::stable);
    }
  }
  Model strong = problems::pendulum();
  add_force(strong, "torque", "motor", strong.joints[0].frames, expression("tz", "-2*2*9.81*0.5"));
  EXPECT_FALSE(Solved(strong).report.found);
}

TEST(Statics, SpringCarriesTheWeight) {
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  Body b;
  b.name = "mass";
  b.kind = "point";
  b.mass = 3;
  b.pose.position = Vec3(0.2, -0.1, -1);
  m.add_body(b);
  Fields spring;
  spring.set("stiffness", 500.0);
  spring.set("free_length", 0.8);
  add_force(m, "translational_spring_damper", "spring", {m.add_frame(ground, {}), m.add_frame(0, {})}, spring);
  const Solved s(m);
  ASSERT_TRUE(s.report.found) << to_text(s.report);
  EXPECT_NEAR(s.body(0).r.z(), -0.8 - 3 * 9.81 / 500, 1e-9);
  EXPECT_NEAR(s.body(0).r.head<2>().norm(), 0, 1e-9);
  EXPECT_EQ(s.report.stability, Stability::stable);
}

// The shallow arch of two springs: loaded beyond its limit it snaps through; the energy leads there.
TEST(Statics, ArchSnapsThrough) {
  for (const double load : {20.0, 400.0}) {
    Model m;
    m.gravity = Vec3(0, 0, -load);
    Body b;
    b.name = "apex";
    b.kind = "point";
    b.mass = 1;
    b.pose.position = Vec3(0, 0, 0.2);
    m.add_body(b);
    Fields spring;
    spring.set("stiffness", 1e4);
    spring.set("free_length", std::hypot(1.0, 0.2));
    for (const double x : {-1.0, 1.0}) {
      Pose at;
      at.position = Vec3(x, 0, 0);
      add_force(m, "translational_spring_damper", x < 0 ? "left" : "right",
                {m.add_frame(ground, at), m.add_frame(0, {})}, spring);
    }
    add_joint(m, "point_in_plane", "plane", ground, 0, b.pose.position, Vec3::UnitY());
    const Solved s(m);
    ASSERT_TRUE(s.report.found) << to_text(s.report);
    const double z = s.body(0).r.z(), l = std::hypot(1, z), l0 = std::hypot(1, 0.2);
    EXPECT_NEAR(2 * 1e4 * (l - l0) * z / l + load, 0, 1e-6 * load);
    EXPECT_EQ(s.report.stability, Stability::stable);
    EXPECT_EQ(z > 0, load < 30);
  }
}

// Redundant hinges: the same position as the twin without redundancy; reactions add up to the weight.
TEST(Statics, RedundantFourBar) {
  Vec3 rocker[3];
  int k = 0;
  for (const problems::Build build :
       {problems::Build::planar, problems::Build::redundant, problems::Build::independent}) {
    Model m = problems::four_bar(build, build != problems::Build::planar);
    m.initial_joints.clear();
    Fields torsion;
    torsion.set("stiffness", 30.0);
    add_force(m, "rotational_spring_damper", "torsion", m.joints[0].frames, torsion);
    const Solved s(m);
    ASSERT_TRUE(s.report.found) << to_text(s.report);
    EXPECT_EQ(s.report.freedoms, 1);
    EXPECT_EQ(s.report.stability, Stability::stable);
    Vec3 sum = Vec3::Zero(), force, torque;
    for (const int c : {0, 3}) {
      s.ready.equations->reaction(c, s.ready.state, s.ready.rates, s.ready.work, force, torque);
      sum += force;
    }
    EXPECT_NEAR((sum + 4.5 * m.gravity).norm(), 0, 1e-6) << static_cast<int>(build);
    rocker[k++] = s.body(2).r;
  }
  EXPECT_NEAR((rocker[1] - rocker[2]).norm(), 0, 1e-8);
  EXPECT_NEAR(rocker[0].norm(), rocker[1].norm(), 1e-8);
}

// Rows at velocity level bind the way to the equilibrium: the ball rolls upright, which takes its middle by r times the
// angle, up to the slip of finite steps. That it may turn about the normal makes the equilibrium neutral. Nothing but
// its weight is left in the contact.
TEST(Statics, ABallRollsToItsEquilibrium) {
  const double r = 0.3, lean = 0.7;
  const Solved s(problems::weighted_ball(2, r, 0.1, 0.05, lean));
  ASSERT_TRUE(s.report.found) << to_text(s.report);
  EXPECT_EQ(s.report.stability, Stability::neutral);
  EXPECT_NEAR((s.body(0).R.col(2) - Vec3::UnitZ()).norm(), 0, 1e-8);
  EXPECT_NEAR(s.body(0).r.z(), r - 0.1, 1e-12);
  EXPECT_NEAR(s.body(0).r.y(), 0, 1e-12);
  EXPECT_NEAR(s.body(0).r.x(), -r * lean, 0.03 * r * lean);
  Vec3 force, torque;
  s.ready.equations->reaction(0, s.ready.state, s.ready.rates, s.ready.work, force, torque);
  EXPECT_NEAR((force - Vec3(0, 0, 2 * 9.81)).norm(), 0, 1e-7);
}

// A strip of steel along x, clamped at the origin, of `count` beams between nodes without mass, with a force at its tip
// in units of E I/L^2 for bending about y.
constexpr double strip_length = 0.5, strip_EI = 210e9 * 10e-3 * 8e-9 / 12;

Model strip(int count, const Vec3& force, const std::string& axes = "world") {
  const double b = 10e-3, t = 2e-3;
  Model model;
  Fields beam;
  beam.set("youngs_modulus", 210e9);
  beam.set("shear_modulus", 81e9);
  beam.set("area", b * t);
  beam.set("second_moment_y", b * t * t * t / 12);
  beam.set("second_moment_z", t * b * b * b / 12);
  beam.set("torsion_constant", 0.281 * b * t * t * t);
  int before = model.add_frame(ground, {});
  const int clamp = before;
  for (int i = 1; i <= count; ++i) {
    Body node;
    node.name = "s" + std::to_string(i);
    node.pose.position.x() = i * strip_length / count;
    const int here = model.add_frame(model.add_body(node), {});
    add_force(model, "beam", "b" + std::to_string(i), {before, here}, beam);
    before = here;
  }
  const Vec3 f = force * strip_EI / (strip_length * strip_length);
  Fields load;
  load.set("fx", f.x());
  load.set("fy", f.y());
  load.set("fz", f.z());
  load.set("axes", axes);
  add_force(model, "force", "load", {clamp, before}, load);
  return model;
}

constexpr InitialOptions positions_only{.analyse_rank = false, .accelerations = false};

// The elastica in the xz plane: EI theta'' = fx sin(theta) - fz cos(theta), theta(0) = 0, theta'(L) = 0, with
// L = EI = 1; by shooting from the tip, near a slope of it that is known.
Vec3 elastica_tip(double fx, double fz, double tip_slope) {
  Vec3 tip;
  const auto slope_at_root = [&](double slope) {
    constexpr int steps = 4000;
    const double h = -1.0 / steps;
    using Four = Eigen::Vector4d;  // theta, theta', x, z, from s = 1 down
    Four y(slope, 0, 0, 0);
    const auto rate = [&](const Four& u) {
      return Four(u[1], fx * std::sin(u[0]) - fz * std::cos(u[0]), std::cos(u[0]), std::sin(u[0]));
    };
    for (int i = 0; i < steps; ++i) {
      const Four k1 = rate(y), k2 = rate(y + 0.5 * h * k1), k3 = rate(y + 0.5 * h * k2), k4 = rate(y + h * k3);
      y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    tip = Vec3(-y[2], 0, -y[3]);
    return y[0];
  };
  double a = tip_slope, b = tip_slope + 1e-3, fa = slope_at_root(a), fb = slope_at_root(b);
  for (int i = 0; i < 60 && std::abs(fb) > 1e-13 && fb != fa; ++i) {
    const double c = b - fb * (b - a) / (fb - fa);
    a = b;
    fa = fb;
    b = c;
    fb = slope_at_root(b);
  }
  EXPECT_LT(std::abs(fb), 1e-10);
  return tip;
}

struct Bent {
  problems::Ready ready;
  StaticReport report;
  Bent(Model model, const StaticOptions& options = {}) : ready(std::move(model), positions_only) {
    report = find_equilibrium(*ready.equations, ready.state, ready.rates, ready.work, options);
    ready.equations->update(ready.state, ready.work);
  }
  const BodyState& tip() const { return ready.work.bodies.back(); }
};

// Large deflections under a dead load, in all directions of the plane.
TEST(Statics, AStripBendsFarUnderADeadForceInAnyDirection) {
  for (const int count : {16, 32}) {
    for (int k = 0; k < 12; ++k) {
      const double angle = k * std::numbers::pi / 6 + 0.1, fx = 5 * std::cos(angle), fz = 5 * std::sin(angle);
      const Bent s(strip(count, Vec3(fx, 0, fz)));
      const std::string what = std::to_string(count) + " beams, direction " + std::to_string(k);
      ASSERT_TRUE(s.report.found) << what << "\n" << to_text(s.report);
      RecordProperty(what, s.report.iterations);
      EXPECT_EQ(s.report.stability, Stability::stable) << what;
      const Vec3 x = s.tip().R.col(0);
      const Vec3 tip = strip_length * elastica_tip(fx, fz, std::atan2(x.z(), x.x()));
      EXPECT_LT((s.tip().r - tip).norm(), 1.2 / (count * count) * strip_length) << what;
    }
  }
}

// Load steps alone, with Newton's steps as they are, reach the same positions.
TEST(Statics, LoadStepsCarryAStripFar) {
  StaticOptions steps;
  steps.way = StaticWay::load_steps;
  for (const int count : {16, 32}) {
    for (int k = 0; k < 12; ++k) {
      const double angle = k * std::numbers::pi / 6 + 0.1, fx = 5 * std::cos(angle), fz = 5 * std::sin(angle);
      const Bent s(strip(count, Vec3(fx, 0, fz)), steps);
      const std::string what = std::to_string(count) + " beams, direction " + std::to_string(k);
      ASSERT_TRUE(s.report.found) << what << "\n" << to_text(s.report);
      RecordProperty(what, s.report.iterations);
      const Vec3 x = s.tip().R.col(0);
      const Vec3 tip = strip_length * elastica_tip(fx, fz, std::atan2(x.z(), x.x()));
      EXPECT_LT((s.tip().r - tip).norm(), 1.2 / (count * count) * strip_length) << what;
    }
  }
}

// The elastica under a follower load (fx, fz) in the axes of its tip, L = EI = 1. Seen from the tip the load is
// constant and slope and curvature are zero there: an initial value problem, so that there is one solution for each
// load.
Vec3 follower_tip(double fx, double fz) {
  constexpr int steps = 4000;
  const double h = -1.0 / steps;
  using Four = Eigen::Vector4d;  // slope against the tip, its rate, x, z in the axes of the tip, from s = 1 down
  Four y = Four::Zero();
  const auto rate = [&](const Four& u) {
    return Four(u[1], fx * std::sin(u[0]) - fz * std::cos(u[0]), std::cos(u[0]), std::sin(u[0]));
  };
  for (int i = 0; i < steps; ++i) {
    const Four k1 = rate(y), k2 = rate(y + 0.5 * h * k1), k3 = rate(y + 0.5 * h * k2), k4 = rate(y + h * k3);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  const double c = std::cos(y[0]), s = std::sin(y[0]);  // the root is level: turned back by its slope
  return Vec3(-(c * y[2] + s * y[3]), 0, -(c * y[3] - s * y[2]));
}

// Follower loads have no potential and a stiffness that is not symmetric.
TEST(Statics, AStripBendsFarUnderAFollowerForce) {
  for (const StaticWay way : {StaticWay::automatic, StaticWay::load_steps}) {
    StaticOptions options;
    options.way = way;
    for (const int count : {16, 32}) {
      for (int k = 0; k < 13; ++k) {
        const double angle = k * std::numbers::pi / 6 + 0.1, size = k < 12 ? 5 : 20;
        const double fx = size * std::cos(angle), fz = size * std::sin(angle);
        const Bent s(strip(count, Vec3(fx, 0, fz), "b"), options);
        const std::string what =
            std::string(to_text(way)) + ", " + std::to_string(count) + " beams, direction " + std::to_string(k);
        ASSERT_TRUE(s.report.found) << what << "\n" << to_text(s.report);
        RecordProperty(what, s.report.iterations);
        EXPECT_FALSE(s.report.symmetric) << what;
        EXPECT_LT((s.tip().r - strip_length * follower_tip(fx, fz)).norm(), 0.1 * size / (count * count) * strip_length)
            << what;
      }
    }
  }
}

// What a failed search advises: loads that grow with time, followed by `trammel quasi-static`.
TEST(Statics, LoadsThatGrowWithTimeAreFollowed) {
  const double angle = 5 * std::numbers::pi / 6 + 0.1, fx = 5 * std::cos(angle), fz = 5 * std::sin(angle);
  StaticOptions short_of_steps;
  short_of_steps.way = StaticWay::newton;
  short_of_steps.most_iterations = 10;
  const Bent failed(strip(16, Vec3(fx, 0, fz)), short_of_steps);
  ASSERT_FALSE(failed.report.found);
  EXPECT_THAT(failed.report.advice, HasSubstr("quasi-static"));
  for (const char* axes : {"world", "b"}) {
    Model model = strip(16, Vec3(fx, 0, fz), axes);
    const double unit = strip_EI / (strip_length * strip_length);
    model.forces.back().fields.set("fx", ExpressionText{std::to_string(fx * unit) + "*time", {}});
    model.forces.back().fields.set("fz", ExpressionText{std::to_string(fz * unit) + "*time", {}});
    problems::Ready ready(std::move(model), positions_only);
    QuasiStaticOptions options;
    options.end = 1;
    options.outputs = 20;
    const QuasiStaticReport report = run_quasi_static(*ready.equations, ready.state, ready.rates, ready.work, options,
                                                      [](const State&, const Rates&) {});
    ASSERT_TRUE(report.finished) << axes << ": " << report.why;
    ready.equations->update(ready.state, ready.work);
    const BodyState& tip = ready.work.bodies.back();
    const Vec3 x = tip.R.col(0), closed = std::string(axes) == "b" ? follower_tip(fx, fz)
                                                                   : elastica_tip(fx, fz, std::atan2(x.z(), x.x()));
    EXPECT_LT((tip.r - strip_length * closed).norm(), 1.2 / (16 * 16) * strip_length) << axes;
  }
}

// Across the strip in space: the stiff and the soft direction of bending, with torsion between them.
TEST(Statics, AStripBendsInSpace) {
  for (int k = 0; k < 12; ++k) {
    const double angle = k * std::numbers::pi / 6 + 0.1;
    const Bent s(strip(16, Vec3(0, 20 * std::cos(angle), 5 * std::sin(angle))));
    EXPECT_TRUE(s.report.found) << k << "\n" << to_text(s.report);
  }
}

// What is kept stays, and only that.
TEST(Statics, KeepsComponents) {
  Model m = read_model_text(R"yaml(
trammel: 1
gravity: [0, 0, -10]
bodies:
  car: {mass: 3, inertia: [1, 1, 1], center_of_mass: [0.1, 0, 0], position: [0.3, 0.2, 0.1]}
forces:
  spring: {type: bushing, between: [ground, car], at: [0, 0, 0], stiffness: [0, 1000, 1000], angular_stiffness: [100, 100, 0]}
initial: {bodies: {car: {keep: [position.x, orientation.z]}}}
)yaml",
                            "car.yaml");
  const Bent s(m);
  ASSERT_TRUE(s.report.found) << to_text(s.report);
  const Vec3 origin = s.tip().r - s.tip().R * Vec3(0.1, 0, 0);
  EXPECT_NEAR(origin.x(), 0.3, 1e-14);
  EXPECT_NEAR(s.tip().R(1, 0), 0, 1e-14);
  EXPECT_GT(std::abs(origin.z() - 0.1), 1e-3);
  EXPECT_EQ(s.report.kept.size(), 2u);
  m.bodies[0].keep_position = m.bodies[0].keep_orientation = true;
  const Bent all(m);
  ASSERT_TRUE(all.report.found) << to_text(all.report);
  EXPECT_NEAR((all.tip().r - Vec3(0.4, 0.2, 0.1)).norm(), 0, 1e-14);
  EXPECT_NEAR((all.tip().R - Mat3::Identity()).norm(), 0, 1e-14);
}

// Units come from what moves, not from its name.
TEST(Statics, UnitsOfABodyCalledRotation) {
  Model m;
  m.gravity = Vec3(0, 0, -10);
  Body stone;
  stone.name = "rotation_stone";
  stone.mass = 2;
  stone.inertia = Mat3::Identity();
  m.add_body(stone);
  const Bent s(m);
  EXPECT_FALSE(s.report.found);
  EXPECT_THAT(s.report.why, HasSubstr("unbalanced force of 20 N,"));
  ASSERT_EQ(s.report.weak.size(), 1u);
  EXPECT_EQ(s.report.weak[0].quantity, Quantity::length);
}

}  // namespace
}  // namespace trammel::statics_test
