// Motions at position, velocity and acceleration level against each other and against closed forms; prescribed paths.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/elements/build.h"
#include "trammel/math/rotation.h"

namespace trammel::motions_test {
namespace {

using problems::Ready;

Fields motion(std::initializer_list<std::pair<const char*, const char*>> texts,
              std::initializer_list<std::pair<const char*, double>> numbers = {}) {
  Fields fields;
  for (const auto& [name, text] : texts) fields.set(name, ExpressionText{text, {}});
  for (const auto& [name, number] : numbers) fields.set(name, number);
  return fields;
}

Model driven_pendulum(Fields fields) {
  Model m = problems::pendulum();
  add_motion(m, "rotation", "drive", m.joints[0].frames, std::move(fields));
  return m;
}

Model driven_slide(Fields fields) {
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  Body body;
  body.name = "block";
  body.mass = 2;
  body.inertia = Vec3(0.1, 0.2, 0.3).asDiagonal();
  m.add_body(body);
  add_joint(m, "translational", "rail", ground, 0, Vec3::Zero(), Vec3(1, 2, 2));
  add_motion(m, "translation", "drive", m.joints[0].frames, std::move(fields));
  return m;
}

AlphaOptions steps() { return problems::converged(AlphaParameters::hht(-0.1)); }

TEST(MotionLevels, AccelerationIsIntegratedExactly) {
  const Ready position(driven_pendulum(motion({{"angle", "0.2 + 30*sin(time)"}})));
  const Ready acceleration(driven_pendulum(
      motion({{"angular_acceleration", "-30*sin(time)"}}, {{"initial_angle", 0.2}, {"initial_angular_speed", 30.0}})));
  EXPECT_LT((position.state.v - acceleration.state.v).norm(), 1e-10);
  std::vector<Vec> path;
  problems::run_fixed(position, steps(), 5e-3, 1300, [&](const AlphaMethod& m) { path.push_back(m.state().q); });
  std::size_t i = 0;
  double error = 0;
  problems::run_fixed(acceleration, steps(), 5e-3, 1300, [&](const AlphaMethod& m) {
    error = std::max(error, problems::distance(*acceleration.equations, path[i++], m.state().q));
  });
  EXPECT_LT(error, 1e-9);
}

// a = 5 until 1/3 s, then -2: jumps inside steps.
TEST(MotionLevels, AccelerationMayJumpInsideASlowStep) {
  const Ready ready(driven_slide(
      motion({{"acceleration", "time < 1/3 ? 5 : -2"}}, {{"initial_displacement", 0.1}, {"initial_speed", -0.5}})));
  const auto closed = [](double t) {
    const double k = 1.0 / 3, s = 0.1 - 0.5 * std::min(t, k) + 2.5 * std::pow(std::min(t, k), 2), v = -0.5 + 5 * k;
    return t < k ? s : s + v * (t - k) - std::pow(t - k, 2);
  };
  double error = 0, remembered = 0;
  problems::run_fixed(ready, steps(), 0.05, 40, [&](const AlphaMethod& m) {
    remembered = std::max(remembered, std::abs(m.state().memory[1] - closed(m.state().t)));
    error = std::max(error, std::abs(m.state().q.head<3>().dot(Vec3(1, 2, 2) / 3) - closed(m.state().t)));
  });
  EXPECT_LT(remembered, 1e-14);  // the integral itself
  EXPECT_LT(error, 1e-9);        // Newton's corrections stop there
}

TEST(MotionLevels, AtVelocityLevelTheSpeedIsGivenAndTheStartIsFree) {
  Model m = driven_pendulum(motion({{"angular_speed", "3*cos(2*time)"}}));
  const Ready drawn(problems::pendulum());
  const Ready ready(std::move(m));
  EXPECT_LT((ready.state.q - drawn.state.q).norm(), 1e-12);
  EXPECT_NEAR(ready.state.v.segment<3>(3).norm(), 3, 1e-10);
  const Quat start(ready.state.q[3], ready.state.q[4], ready.state.q[5], ready.state.q[6]);
  double speed = 0, angle = 0;
  problems::run_fixed(ready, steps(), 1e-3, 2000, [&](const AlphaMethod& method) {
    const State& s = method.state();
    const Quat since = Quat(s.q[3], s.q[4], s.q[5], s.q[6]) * start.conjugate();
    speed = std::max(speed, std::abs(std::abs(s.v.segment<3>(3).dot(Vec3::UnitY())) - std::abs(3 * std::cos(2 * s.t))));
    angle = std::max(angle, std::abs(rotation_log(since).norm() - std::abs(1.5 * std::sin(2 * s.t))));
  });
  EXPECT_LT(speed, 1e-9);
  EXPECT_LT(angle, 2e-5);  // second order in the step
}

TEST(MotionLevels, ASlideAtVelocityLevelNeedsTheForceOfItsAcceleration) {
  const Ready position(driven_slide(motion({{"displacement", "0.3*sin(4*time)"}})));
  const Ready speed(driven_slide(motion({{"speed", "1.2*cos(4*time)"}})));
  const problems::End one = problems::run_fixed(position, steps(), 1e-3, 700),
                      two = problems::run_fixed(speed, steps(), 1e-3, 700);
  EXPECT_NEAR(one.rates.lambda.tail<1>()[0], two.rates.lambda.tail<1>()[0], 1e-3 * 2 * 4.8);
  EXPECT_LT((one.state.v - two.state.v).norm(), 1e-4);
}

TEST(MotionLevels, OneLevelMustBeGiven) {
  EXPECT_THROW(Equations(driven_pendulum(motion({}))), Failure);
  EXPECT_THROW(Equations(driven_pendulum(motion({{"angle", "0"}, {"angular_speed", "0"}}))), Failure);
  EXPECT_THROW(Equations(driven_pendulum(motion({{"angle", "0"}}, {{"initial_angle", 1.0}}))), Failure);
}

TEST(Trajectory, AllSixCoordinatesFollow) {
  Model m;
  Body body;
  body.name = "body";
  body.mass = 1;
  body.inertia = Vec3(0.1, 0.2, 0.25).asDiagonal();
  body.center_of_mass = Vec3(0.1, 0, 0.05);
  m.add_body(body);
  const int a = m.add_frame(ground, {Vec3(1, 0, 0.5), rotation_exp(Vec3(0.2, 0.4, -0.3))}), b = m.add_frame(0, {});
  add_motion(m, "trajectory", "path", {a, b},
             motion({{"x", "sin(time)"},
                     {"y", "0.1*time^2"},
                     {"z", "0.3"},
                     {"about_x", "5*time"},
                     {"about_y", "1.2*sin(3*time)"},
                     {"about_z", "-7*time"}}));
  const Ready ready(std::move(m));
  double error = 0;
  problems::run_fixed(ready, steps(), 5e-3, 800, [&](const AlphaMethod& method) {
    Workspace work = ready.equations->make_workspace();
    const double t = method.state().t;
    ready.equations->update(method.state(), work);
    const FrameState fa = ready.equations->frame(a, work), fb = ready.equations->frame(b, work);
    const Mat3 R = (Eigen::AngleAxisd(5 * t, Vec3::UnitX()) * Eigen::AngleAxisd(1.2 * std::sin(3 * t), Vec3::UnitY()) *
                    Eigen::AngleAxisd(-7 * t, Vec3::UnitZ()))
                       .toRotationMatrix();
    error = std::max({error, (fa.R.transpose() * fb.R - R).norm(),
                      (fa.R.transpose() * (fb.p - fa.p) - Vec3(std::sin(t), 0.1 * t * t, 0.3)).norm()});
  });
  EXPECT_LT(error, 1e-9);
}

TEST(Trajectory, OneAngleOfAHingeIsARotation) {
  const auto driven = [](bool path) {
    Model m = problems::pendulum();
    if (path)
      add_motion(m, "trajectory", "drive", m.joints[0].frames, motion({{"about_z", "20*sin(time)"}}));
    else
      add_motion(m, "rotation", "drive", m.joints[0].frames, motion({{"angle", "20*sin(time)"}}));
    return m;
  };
  const Ready one(driven(true)), two(driven(false));
  const problems::End end_one = problems::run_fixed(one, steps(), 5e-3, 300),
                      end_two = problems::run_fixed(two, steps(), 5e-3, 300);
  EXPECT_LT((end_one.state.q - end_two.state.q).norm(), 1e-10);
  EXPECT_LT((end_one.rates.lambda - end_two.rates.lambda).norm(), 1e-6 * end_two.rates.lambda.norm());
}

}  // namespace
}  // namespace trammel::motions_test
