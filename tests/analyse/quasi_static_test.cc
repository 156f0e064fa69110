// Equilibrium along changing loads and motions.
#include "trammel/analyse/quasi_static.h"
#include "trammel/elements/build.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"

namespace trammel::quasi_static_test {
namespace {

Fields expression(const char* name, const char* text) {
  Fields fields;
  fields.set(name, ExpressionText{text, {}});
  return fields;
}

// A torque that grows turns the bar: sin(angle from the vertical) = T / (m g l/2). At t = 1 it would need more.
TEST(QuasiStatic, BarUnderAGrowingTorque) {
  Model m = problems::pendulum();
  add_force(m, "torque", "motor", m.joints[0].frames, expression("tz", "-9.81*time"));
  problems::Ready ready(m);
  double error = 0;
  const auto each = [&](const State& state, const Rates&) {
    ready.equations->update(state, ready.work);
    error = std::max(error, std::abs(std::abs(ready.work.bodies[0].r.x()) - 0.5 * state.t));
  };
  QuasiStaticOptions options;
  options.end = 0.99;
  options.outputs = 33;
  Workspace work = ready.equations->make_workspace();
  const QuasiStaticReport report = run_quasi_static(*ready.equations, ready.state, ready.rates, work, options, each);
  EXPECT_TRUE(report.finished) << report.why;
  EXPECT_EQ(report.outputs, 34);
  EXPECT_LT(error, 1e-8);
  EXPECT_EQ(report.first.stability, Stability::stable);
  EXPECT_TRUE(report.jumps.empty());
}

TEST(QuasiStatic, EndsWhereNothingHolds) {
  Model m = problems::pendulum();
  add_force(m, "torque", "motor", m.joints[0].frames, expression("tz", "-9.81*time"));
  problems::Ready ready(m);
  QuasiStaticOptions options;
  options.end = 1.2;
  options.outputs = 12;
  options.statics.most_iterations = 40;
  Workspace work = ready.equations->make_workspace();
  const QuasiStaticReport report =
      run_quasi_static(*ready.equations, ready.state, ready.rates, work, options, [](const State&, const Rates&) {});
  EXPECT_FALSE(report.finished);
  EXPECT_NEAR(report.reached, 1, 0.11);
  EXPECT_THAT(report.why, ::testing::HasSubstr("equilibrium ends at t = 1"));
}

// The arch of two springs whose apex a motion presses down: the force of the motion is the known load curve, through
// the unstable part as well, because the motion holds it.
TEST(QuasiStatic, ArchPressedByAMotion) {
  Model m;
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
    add_force(m, "translational_spring_damper", x < 0 ? "left" : "right", {m.add_frame(ground, at), m.add_frame(0, {})},
              spring);
  }
  add_joint(m, "point_in_plane", "plane", ground, 0, b.pose.position, Vec3::UnitY());
  add_motion(m, "translation", "press", {m.add_frame_at(ground, Vec3::Zero(), Vec3::UnitZ()), m.add_frame(0, {})},
             expression("displacement", "0.2 - 0.4*time"));
  problems::Ready ready(m);
  double error = 0;
  Workspace work = ready.equations->make_workspace();
  QuasiStaticOptions options;
  options.outputs = 40;
  const QuasiStaticReport report = run_quasi_static(
      *ready.equations, ready.state, ready.rates, work, options, [&](const State& state, const Rates& rates) {
        Workspace inner = ready.equations->make_workspace();
        ready.equations->update(state, inner);
        Vec3 force, torque;
        ready.equations->reaction(1, state, rates, inner, force, torque);
        const double z = 0.2 - 0.4 * state.t, l = std::hypot(1.0, z), l0 = std::hypot(1.0, 0.2);
        error = std::max(error, std::abs(force.z() - 2 * 1e4 * (l - l0) * z / l));
      });
  EXPECT_TRUE(report.finished) << report.why;
  EXPECT_LT(error, 1e-6);
}

}  // namespace
}  // namespace trammel::quasi_static_test
