// The start of a run: positions and velocities by least change with kept values kept, wanted joint values met,
// accelerations and multipliers of the equations of motion; conflicts named by joint.
#include "trammel/initial/consistent.h"
#include "trammel/elements/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <cmath>
#include <numbers>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/math/rotation.h"
#include "trammel/read/read_model.h"

namespace trammel::consistent_test {
namespace {

using problems::Build;
using problems::Ready;
using testing::HasSubstr;

// Bodies stand elsewhere than where the joints were placed.
Model displaced(Model m, double size, unsigned seed) {
  std::mt19937 random(seed);
  for (Body& body : m.bodies) {
    body.drawn = body.pose;
    const Vec d = size * problems::random_vector(6, random);
    if (body.kind == "planar") {
      body.pose.position += Vec3(d[0], d[1], 0);
      body.pose.rotation = body.pose.rotation * rotation_exp(Vec3(0, 0, d[5]));
    } else {
      body.pose.position += d.head<3>();
      body.pose.rotation = body.pose.rotation * rotation_exp(d.tail<3>());
    }
  }
  return m;
}

// The only problem of the failure that making this consistent ends with.
Problem refusal(Model m) {
  try {
    const Ready ready(std::move(m), {.analyse_rank = true});
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems().size(), 1u);
    return failure.problems().front();
  }
  ADD_FAILURE() << "it was accepted";
  return {};
}

double position_residual(const Ready& ready) {
  Workspace work = ready.equations->make_workspace();
  Residual residual = ready.equations->make_residual();
  ready.equations->residual(ready.state, ready.equations->make_rates(), joints, residual, work);
  return residual.g.size() > 0 ? residual.g.lpNorm<Eigen::Infinity>() : 0;
}

double velocity_residual(const Ready& ready) {
  Workspace work = ready.equations->make_workspace();
  Vec gdot(ready.equations->sizes().multipliers());
  ready.equations->velocity_residual(ready.state, gdot, work);
  return gdot.size() > 0 ? gdot.lpNorm<Eigen::Infinity>() : 0;
}

// A basis of the velocities that the constraints permit, by scale.
Mat freedoms(const Ready& ready) {
  const Equations& e = *ready.equations;
  Workspace work = e.make_workspace();
  Partials p = e.make_partials(Detail::newton);
  e.jacobian(ready.state, p, work);
  const Vec scales = e.scales();
  Eigen::JacobiSVD<Mat> svd(e.gv().dense(p.G) * scales.asDiagonal(), Eigen::ComputeFullV);
  svd.setThreshold(1e-9);
  return svd.matrixV().rightCols(e.sizes().nv - svd.rank());
}

// ---- positions ------------------------------------------------------------------------------------------------------

// Drawn far off, the pull towards the drawn place converges slowly; it is left out after 40 iterations.
TEST(Positions, DrawnFarOffAreReachedExactly) {
  for (const unsigned seed : {9U, 21U, 26U}) {
    const Ready ready(displaced(problems::spatial_slider_crank(), 1.2, seed));
    const StageReport& stage = ready.initial.stages[0];
    EXPECT_GT(stage.moved, 1);
    EXPECT_LT(stage.iterations, 45);
    EXPECT_LT(stage.after, 1e-15);
  }
}

TEST(Positions, ThatFitAreLeftAlone) {
  for (const Model& m : {problems::spatial_slider_crank(), problems::four_bar(Build::redundant, true),
                         problems::bricard(Build::redundant)}) {
    const Ready ready(m);
    EXPECT_LT(problems::distance(*ready.equations, ready.equations->initial_state().q, ready.state.q), 1e-14);
  }
}

TEST(Positions, MoveToTheNearestPoint) {
  // a point on a sphere, whose nearest point is known
  Model m = problems::spherical_pendulum();
  m.bodies[0].pose.position = Vec3(1.3, 0.7, -0.4);
  const Ready ready(m);
  EXPECT_LT((ready.state.q - Vec3(1.3, 0.7, -0.4).normalized()).norm(), 1e-9);
  ASSERT_EQ(ready.initial.stages.size(), 3u);
  const StageReport& stage = ready.initial.stages[0];
  EXPECT_EQ(stage.name, "positions");
  EXPECT_NEAR(stage.before, Vec3(1.3, 0.7, -0.4).norm() - 1, 1e-12);
  EXPECT_LT(stage.after, 1e-13);
  EXPECT_NEAR(stage.moved, (1.3 - ready.state.q[0]), 1e-9);
  EXPECT_EQ(stage.moved_most, "body 'bob': position x");
  EXPECT_EQ(stage.worst_before, "joint 'rod': distance");
  EXPECT_THAT(stage.text(), HasSubstr("body 'bob'"));
}

TEST(Positions, ChangeLeastInAll) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    for (const Model& base :
         {problems::spatial_slider_crank(), problems::four_bar(Build::independent, true),
          problems::four_bar(Build::planar), problems::four_bar(Build::redundant, true), problems::chain(5)}) {
      Model m = displaced(base, 0.03, seed);
      m.initial_joints.clear();
      const Ready ready(m);
      EXPECT_LT(position_residual(ready), 1e-12);
      Vec change(ready.equations->sizes().nv);
      ready.equations->local(ready.equations->initial_state().q, ready.state.q, change);
      EXPECT_GT(change.norm(), 1e-3);
      const Vec scaled = change.cwiseQuotient(ready.equations->scales());
      // no motion that the constraints permit shortens it
      EXPECT_LT((freedoms(ready).transpose() * scaled).norm(), 1e-5 * scaled.norm()) << base.title << seed;
    }
  }
}

TEST(Positions, AreFoundFromFarAway) {
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    Model m = displaced(problems::spatial_slider_crank(), 0.1, seed);  // half of the mechanism's size
    const Ready ready(m);
    EXPECT_LT(position_residual(ready), 1e-12) << seed;
  }
}

TEST(Positions, ThatAreKeptDoNotMove) {
  Model m = displaced(problems::four_bar(Build::independent, true), 0.05, 7);
  m.initial_joints.clear();
  // the crank stands exactly where it shall, the others follow
  m.bodies[0].pose = *m.bodies[0].drawn;
  m.bodies[0].keep_position = m.bodies[0].keep_orientation = true;
  const Ready ready(m);
  EXPECT_LT(position_residual(ready), 1e-12);
  EXPECT_EQ(ready.state.q.head(3), ready.equations->initial_state().q.head(3));
  EXPECT_LT((ready.state.q.head(7) - ready.equations->initial_state().q.head(7)).norm(), 1e-15);
  EXPECT_GT((ready.state.q.tail(14) - ready.equations->initial_state().q.tail(14)).norm(), 1e-3);
}

TEST(Positions, OneOfTwoMayBeKept) {
  Model m = problems::chain(2);
  for (Item& joint : m.joints) joint.type = "spherical";
  m = displaced(m, 0.05, 8);
  m.bodies[1].keep_orientation = true;
  const Ready ready(m);
  EXPECT_LT(position_residual(ready), 1e-12);
  EXPECT_LT((ready.state.q.segment(10, 4) - ready.equations->initial_state().q.segment(10, 4)).norm(), 1e-15);
  EXPECT_GT((ready.state.q.segment(7, 3) - ready.equations->initial_state().q.segment(7, 3)).norm(), 1e-3);
}

// A kept position is that of the body's origin, as the model gives it, also where the centre of mass lies elsewhere.
TEST(Positions, AreKeptAtTheOriginOfTheBody) {
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  Body body;
  body.name = "arm";
  body.mass = 1;
  body.inertia = Vec3(0.1, 0.1, 0.1).asDiagonal();
  body.center_of_mass = Vec3(0.5, 0.2, 0);
  body.keep_position = true;
  m.add_body(body);
  // its tip, at (1, 0, 0) of the body, shall be 0.9 above: the body must turn about its origin
  Fields rod;
  rod.set("length", 0.9);
  add_joint(
      m, "distance", "rod",
      {m.add_frame(ground, {Vec3(1, 0, -1), Quat::Identity()}), m.add_frame(0, {Vec3(1, 0, 0), Quat::Identity()})},
      rod);
  const int origin = m.add_frame(0, {});
  Ready ready(m);
  EXPECT_LT(position_residual(ready), 1e-12);
  ready.equations->update(ready.state, ready.work);
  EXPECT_LT(ready.equations->frame(origin, ready.work).p.norm(), 1e-12);
}

// Single components stay, of a body whose centre of mass is at its origin and of one where it is not; the others move.
TEST(Positions, AreKeptByComponents) {
  for (const double offset : {0.0, 0.2}) {
    Model m = problems::chain(2);
    for (Item& joint : m.joints) joint.type = "spherical";
    m = displaced(m, 0.05, 8);
    Body& body = m.bodies[1];
    body.center_of_mass += Vec3(0, offset, 0);
    body.keep_position.y = body.keep_orientation.z = body.keep_velocity.x = body.keep_angular_velocity.y = true;
    body.velocity = Vec3(0.3, 0.1, 0.2);
    body.angular_velocity = Vec3(0.2, 0.5, -0.1);
    const int origin = m.add_frame(1, {});
    Ready ready(m);
    EXPECT_LT(position_residual(ready), 1e-12);
    ready.equations->update(ready.state, ready.work);
    const FrameState at = ready.equations->frame(origin, ready.work);
    const Mat3 drawn = body.pose.rotation.toRotationMatrix();
    EXPECT_NEAR(at.p.y(), body.pose.position.y(), 1e-14) << offset;
    EXPECT_GT((at.p - body.pose.position).norm(), 1e-3) << offset;
    // The axis that lay along x when the body was drawn still points that way, seen from above.
    const Vec3 x = at.R * drawn.transpose() * Vec3::UnitX();
    EXPECT_NEAR(std::atan2(x.y(), x.x()), 0, 1e-14) << offset;
    EXPECT_NEAR(at.v.x(), 0.3, 1e-13) << offset;
    EXPECT_NEAR(at.w.y(), 0.5, 1e-13) << offset;
  }
}

TEST(Positions, ThatCannotBeMetAreRefusedByName) {
  Model m = problems::pendulum();
  Fields rod;
  rod.set("length", 5.0);  // the bar's tip never gets that far from here
  add_joint(m, "distance", "tie", {m.add_frame(ground, {}), m.add_frame_at(0, Vec3(1, 0, 0))}, rod);
  const Problem problem = refusal(m);
  EXPECT_EQ(problem.id, "loop-does-not-close");
  EXPECT_THAT(problem.message, HasSubstr("'tie'"));
  EXPECT_THAT(problem.message, HasSubstr("'hinge'"));
  EXPECT_FALSE(problem.hint.empty());
}

TEST(Positions, KeptInConflictAreRefusedByName) {
  Model m = problems::chain(3);
  for (Body& body : m.bodies) {
    body.drawn = body.pose;
    body.keep_position = body.keep_orientation = true;
  }
  m.bodies[2].pose.position += Vec3(0.01, 0, 0);
  const Problem problem = refusal(m);
  EXPECT_EQ(problem.id, "loop-does-not-close");
  EXPECT_THAT(problem.message, HasSubstr("'hinge2'"));
  EXPECT_THAT(problem.message, testing::Not(HasSubstr("'hinge1'")));
}

// ---- values of joints -----------------------------------------------------------------------------------------------

double joint_angle(Ready& ready, int joint) {
  ready.equations->update(ready.state, ready.work);
  const std::vector<int>& frames = ready.equations->constraint_frames(joint);
  const FrameState a = ready.equations->frame(frames[0], ready.work), b = ready.equations->frame(frames[1], ready.work);
  return std::atan2(b.R.col(0).dot(a.R.col(1)), b.R.col(0).dot(a.R.col(0)));
}

double joint_rate(Ready& ready, int joint) {
  ready.equations->update(ready.state, ready.work);
  const std::vector<int>& frames = ready.equations->constraint_frames(joint);
  const FrameState a = ready.equations->frame(frames[0], ready.work), b = ready.equations->frame(frames[1], ready.work);
  return a.R.col(2).dot(b.w - a.w);
}

TEST(JointValues, AreMet) {
  for (const Build build : {Build::redundant, Build::independent, Build::planar}) {
    Model m = problems::four_bar(build, build != Build::planar);
    m.initial_joints[0].angle = 0.8;
    m.initial_joints[0].angular_speed = -3;
    Ready ready(m);
    EXPECT_NEAR(joint_angle(ready, 0), 0.8, 1e-12);
    EXPECT_NEAR(joint_rate(ready, 0), -3, 1e-11);
    EXPECT_LT(position_residual(ready), 1e-12);
    EXPECT_LT(velocity_residual(ready), 1e-11);
  }
}

TEST(JointValues, ASpeedAloneLeavesThePosition) {
  const Model m = problems::four_bar(Build::redundant, true);
  Ready ready(m);
  EXPECT_NEAR(joint_rate(ready, 0), 8, 1e-11);
  EXPECT_LT(problems::distance(*ready.equations, ready.equations->initial_state().q, ready.state.q), 1e-13);
}

TEST(JointValues, AnAngleAloneLeavesTheSpeed) {
  Model m = problems::pendulum();
  m.bodies[0].angular_velocity = Vec3(0, 2, 0);
  m.bodies[0].velocity = Vec3(0, 0, -1);
  InitialJoint start;
  start.joint = 0;
  start.angle = 0.3;
  m.initial_joints.push_back(start);
  Ready ready(m);
  EXPECT_NEAR(joint_angle(ready, 0), 0.3, 1e-12);
  EXPECT_LT(velocity_residual(ready), 1e-12);
  EXPECT_GT(joint_rate(ready, 0), 1.5);
}

TEST(JointValues, OfSlides) {
  Model m;
  m.gravity = Vec3(0, 0, -9.81);
  m.add_body(problems::rod("slider", Vec3(0, 0, 0), Vec3(0.2, 0, 0), 1, Vec3::UnitZ()));
  add_joint(m, "cylindrical", "slide", ground, 0, Vec3(0, 0, 0), Vec3(1, 2, 2));
  InitialJoint start;
  start.joint = 0;
  start.displacement = 0.25;
  start.speed = -1.5;
  start.angle = 2.0;
  start.angular_speed = 4;
  m.initial_joints.push_back(start);
  Ready ready(m);
  EXPECT_NEAR(joint_angle(ready, 0), 2.0, 1e-12);
  EXPECT_NEAR(joint_rate(ready, 0), 4, 1e-11);
  const std::vector<int>& frames = ready.equations->constraint_frames(0);
  ready.equations->update(ready.state, ready.work);
  const FrameState a = ready.equations->frame(frames[0], ready.work), b = ready.equations->frame(frames[1], ready.work);
  EXPECT_NEAR((b.p - a.p).dot(a.R.col(2)), 0.25, 1e-12);
  EXPECT_NEAR((b.v - a.v).dot(a.R.col(2)), -1.5, 1e-11);
}

TEST(JointValues, InConflictAreRefusedByName) {
  Model m = problems::four_bar(Build::redundant, true);
  m.initial_joints[0].angle = 0.5;
  InitialJoint other;
  other.joint = 3;
  other.angle = -0.9;  // the rocker cannot be there then
  m.initial_joints.push_back(other);
  const Problem problem = refusal(m);
  EXPECT_EQ(problem.id, "loop-does-not-close");
  EXPECT_THAT(problem.message, HasSubstr("'O'"));
  EXPECT_THAT(problem.message, HasSubstr("'D'"));
}

TEST(JointValues, OfSpeedInConflictAreRefusedByName) {
  Model m = problems::four_bar(Build::redundant, true);
  InitialJoint other;
  other.joint = 3;
  other.angular_speed = 20;
  m.initial_joints.push_back(other);
  const Problem problem = refusal(m);
  EXPECT_EQ(problem.id, "velocities-conflict");
  EXPECT_THAT(problem.message, HasSubstr("'D'"));
}

// ---- velocities -----------------------------------------------------------------------------------------------------

TEST(Velocities, ChangeLeast) {
  std::mt19937 random(9);
  for (const Model& base :
       {problems::spatial_slider_crank(), problems::chain(4), problems::bricard(Build::redundant)}) {
    Model m = base;
    for (Body& body : m.bodies) {
      body.velocity = problems::random_vector(3, random);
      body.angular_velocity = problems::random_vector(3, random);
    }
    const Ready ready(m);
    EXPECT_LT(velocity_residual(ready), 1e-11);
    const Vec change = (ready.state.v - ready.equations->initial_state().v).cwiseQuotient(ready.equations->scales());
    EXPECT_GT(change.norm(), 0.1);
    EXPECT_LT((freedoms(ready).transpose() * change).norm(), 1e-7 * change.norm());
  }
}

TEST(Velocities, ThatAreKeptStay) {
  Model m = problems::four_bar(Build::redundant, true);
  m.initial_joints.clear();
  const Vec3 n = rotation_exp(Vec3(0.7, -0.4, 0.9)) * Vec3(Vec3::UnitZ());
  m.bodies[0].angular_velocity = 5 * n;
  m.bodies[0].keep_angular_velocity = true;
  Ready ready(m);
  EXPECT_NEAR(joint_rate(ready, 0), 5, 1e-12);
  EXPECT_LT(velocity_residual(ready), 1e-11);
  EXPECT_GT(std::abs(joint_rate(ready, 3)), 0.5);
}

TEST(Velocities, KeptInConflictAreRefusedByName) {
  Model m = problems::pendulum();
  m.bodies[0].angular_velocity = Vec3(1, 0, 0);  // not about the hinge
  m.bodies[0].keep_angular_velocity = true;
  const Problem problem = refusal(m);
  EXPECT_EQ(problem.id, "velocities-conflict");
  EXPECT_THAT(problem.message, HasSubstr("'hinge'"));
}

TEST(Velocities, FollowMotions) {
  Model m = problems::pendulum();
  Fields drive;
  drive.set("angle", ExpressionText{"0.4 + 3*time - 5*time^2", {}});
  add_motion(m, "rotation", "drive", m.joints[0].frames, drive);
  Ready ready(m);
  EXPECT_NEAR(joint_angle(ready, 0), 0.4, 1e-12);
  EXPECT_NEAR(joint_rate(ready, 0), 3, 1e-12);
  // and the acceleration: 10 rad/s^2 the other way, about the body's y axis
  EXPECT_NEAR(ready.rates.a.tail<3>().norm(), 10, 1e-9);
}

TEST(Velocities, OfMotionsInConflictAreRefusedByName) {
  Model m = problems::pendulum();
  for (const char* text : {"2*time", "3*time"}) {
    Fields drive;
    drive.set("angle", ExpressionText{text, {}});
    add_motion(m, "rotation", std::string("drive") + text[0], m.joints[0].frames, drive);
  }
  const Problem problem = refusal(m);
  EXPECT_EQ(problem.id, "velocities-conflict");
  EXPECT_THAT(problem.message, HasSubstr("motion 'drive2'"));
  EXPECT_THAT(problem.message, HasSubstr("motion 'drive3'"));
}

// ---- accelerations and multipliers ----------------------------------------------------------------------------------

TEST(Accelerations, SatisfyTheEquations) {
  for (const Model& m : {problems::slider_crank_with_forces(), problems::four_bar(Build::redundant, true),
                         problems::four_bar(Build::planar), problems::ladder(3, Build::redundant),
                         problems::bricard(Build::redundant), problems::heavy_top(), problems::chain(20)}) {
    Ready ready(m);
    Residual residual = ready.equations->make_residual();
    Partials p = ready.equations->make_partials(Detail::all);
    ready.equations->residual(ready.state, ready.rates, everything, residual, ready.work);
    ready.equations->linearise(ready.state, ready.rates, Detail::all, p, ready.work);
    const double size = 1 + residual.inertia.lpNorm<Eigen::Infinity>() + ready.rates.lambda.lpNorm<Eigen::Infinity>();
    EXPECT_LT((residual.inertia + residual.force).lpNorm<Eigen::Infinity>(), 1e-9 * size) << m.title;
    Vec s = -p.gamma;
    ready.equations->gv().multiply_add(p.G, 1, ready.rates.a.data(), s.data());
    EXPECT_LT(s.lpNorm<Eigen::Infinity>(), 1e-9 * (1 + ready.rates.a.lpNorm<Eigen::Infinity>())) << m.title;
    EXPECT_LT(ready.accelerations->force_residual(), 1e-9 * size) << m.title;
  }
}

TEST(Accelerations, OfAPendulumAreThoseOfTheBook) {
  Ready ready(problems::pendulum());
  // bar of length 1 from the horizontal: 3 g / 2, and the hinge carries a quarter of the weight
  EXPECT_NEAR(ready.rates.a.tail<3>().norm(), 1.5 * 9.81, 1e-9);
  Vec3 force, torque;
  ready.equations->update(ready.state, ready.work);
  ready.equations->reaction(0, ready.state, ready.rates, ready.work, force, torque);
  EXPECT_LT((force - Vec3(0, 0, 2 * 9.81 / 4)).norm(), 1e-8);
  EXPECT_LT(torque.norm(), 1e-8);
}

TEST(Accelerations, ThatCannotBeSolvedForAreRefused) {
  Model m;
  Body body;
  body.name = "shadow";  // no mass, and nothing holds it
  m.add_body(body);
  EXPECT_EQ(refusal(m).id, "no-accelerations");
  EXPECT_THAT(refusal(m).message, HasSubstr("body 'shadow'"));
  // Mass, but no inertia about the axis of the hinge that is left.
  m.bodies[0].mass = 2;
  m.bodies[0].name = "needle";
  EXPECT_THAT(refusal(m).message, HasSubstr("body 'needle': rotation about"));
}

TEST(Accelerations, ProjectionBringsStatesBack) {
  Ready ready(problems::spatial_slider_crank());
  const Equations& e = *ready.equations;
  std::mt19937 random(10);
  State off = ready.state;
  Vec q(off.q.size());
  e.retract(ready.state.q, 1e-5 * e.scales().cwiseProduct(problems::random_vector(e.sizes().nv, random)), q);
  off.q = q;
  off.v += 1e-3 * problems::random_vector(e.sizes().nv, random);
  ASSERT_TRUE(ready.accelerations->project(off, ready.work));
  Residual residual = e.make_residual();
  Vec gdot(e.sizes().multipliers());
  e.residual(off, e.make_rates(), joints, residual, ready.work);
  e.velocity_residual(off, gdot, ready.work);
  EXPECT_LT(residual.g.lpNorm<Eigen::Infinity>(), 1e-9);  // one Newton step from 1e-5
  EXPECT_LT(gdot.lpNorm<Eigen::Infinity>(), 1e-9);
  // what fits is not moved
  State on = ready.state;
  ASSERT_TRUE(ready.accelerations->project(on, ready.work));
  EXPECT_LT((on.q - ready.state.q).norm(), 1e-13);
  EXPECT_LT((on.v - ready.state.v).norm(), 1e-12);
}

// ---- bodies that bend -----------------------------------------------------------------------------------------------

// Weights alone would share the turn between the body and its modes, of several kilohertz.
TEST(BodiesThatBend, MoveAndTurnBeforeTheyBend) {
  Model m = read_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/flexible_pendulum.yaml");
  InitialJoint hinge;
  hinge.joint = 0;
  hinge.angle = std::numbers::pi / 6;
  hinge.angular_speed = 5;
  m.initial_joints.push_back(hinge);
  Ready ready(std::move(m));
  const int modes = ready.equations->sizes().nv - 6;
  ASSERT_EQ(modes, 3 * 6 + 4 - 6);
  EXPECT_EQ(ready.state.q.tail(modes).cwiseAbs().maxCoeff(), 0);
  EXPECT_EQ(ready.state.v.tail(modes).cwiseAbs().maxCoeff(), 0);
  EXPECT_NEAR(joint_angle(ready, 0), std::numbers::pi / 6, 1e-12);
  EXPECT_NEAR(joint_rate(ready, 0), 5, 1e-11);
  EXPECT_LT(position_residual(ready), 1e-12);
  EXPECT_LT(velocity_residual(ready), 1e-11);
}

// Clamped at both ends and drawn 1 mm too short, it must stretch, and nothing else of it moves far.
TEST(BodiesThatBend, BendWhereTheyMust) {
  Model m = read_model_text(
      "trammel: 1\nbodies:\n  strip:\n    kind: modal\n    flexible:\n"
      "      materials: {steel: {youngs_modulus: 210e9, poisson_ratio: 0.3, density: 7850}}\n"
      "      sections: {flat: {type: rectangle, width: 0.02, height: 0.01}}\n"
      "      nodes: {root: [0, 0, 0], tip: [1, 0, 0]}\n"
      "      beams: [{nodes: [root, tip]}]\n      element_length: 0.25\n      interfaces: [root, tip]\n"
      "joints:\n  left: {type: fixed, between: [ground, strip], at: [0, 0, 0]}\n"
      "  right: {type: fixed, between: [ground, strip], at: [1, 0, 0]}\n",
      "clamped.yaml");
  m.frames[static_cast<std::size_t>(m.joints[1].frames[0])].local.position.x() += 1e-3;
  Ready ready(std::move(m));
  EXPECT_LT(position_residual(ready), 1e-12);
  ready.equations->update(ready.state, ready.work);
  const std::vector<int>& right = ready.equations->constraint_frames(1);
  EXPECT_LT((ready.equations->frame(right[1], ready.work).p - Vec3(1.001, 0, 0)).norm(), 1e-11);
  // Rigid, it would sit in the middle of the misfit.
  EXPECT_NEAR(ready.state.q[0], 0.5005, 1e-5);
  EXPECT_LT(ready.state.q.segment(1, 2).norm(), 1e-9);
}

// ---- planar bodies --------------------------------------------------------------------------------------------------

TEST(PlanarBodies, OutOfTheirPlaneAreRefusedByName) {
  Model m = problems::four_bar(Build::planar);
  m.bodies[1].pose.position.z() = 0.1;  // the joints were placed before
  const Problem problem = refusal(m);
  EXPECT_EQ(problem.id, "out-of-plane");
  EXPECT_THAT(problem.message, testing::AnyOf(HasSubstr("'A'"), HasSubstr("'B'")));
}

TEST(PlanarBodies, WithATiltedAxisAreRefusedByName) {
  Model m = problems::four_bar(Build::planar);
  const int frame = m.joints[2].frames[1];
  m.frames[static_cast<std::size_t>(frame)].local.rotation =
      m.frames[static_cast<std::size_t>(frame)].local.rotation * rotation_exp(Vec3(0.2, 0, 0));
  const Problem problem = refusal(m);
  EXPECT_THAT(problem.id, testing::AnyOf("out-of-plane", "loop-does-not-close"));
  EXPECT_THAT(problem.message, HasSubstr("'B'"));
}

TEST(PlanarBodies, InParallelPlanesAreFine) {
  Model m = problems::four_bar(Build::planar);
  m.gravity = Vec3(0, -9.81, 0);
  for (Body& body : m.bodies) body.pose.position.z() = 0.3;
  for (Frame& frame : m.frames) {
    if (frame.body == ground) frame.local.position.z() = 0.3;
  }
  const Ready ready(m);
  EXPECT_LT(position_residual(ready), 1e-12);
}

}  // namespace
}  // namespace trammel::consistent_test
