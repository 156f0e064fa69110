// The manifold of coordinates, names and numbers of the compiled equations.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/math/rotation.h"

namespace trammel::manifold_test {
namespace {

using problems::random_vector;

TEST(Manifold, LocalUndoesRetract) {
  const Equations e(problems::every_element(3));
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    const State state = problems::random_state(e, random);
    const Vec delta = 1.5 * random_vector(e.sizes().nv, random);  // |rotation| below pi
    Vec q(state.q.size()), back(e.sizes().nv);
    e.retract(state.q, delta, q);
    e.local(state.q, q, back);
    EXPECT_LT((back - delta).lpNorm<Eigen::Infinity>(), 1e-14);
    e.retract(state.q, Vec::Zero(e.sizes().nv), q);
    EXPECT_LT((q - state.q).lpNorm<Eigen::Infinity>(), 1e-15);
  }
}

TEST(Manifold, QuaternionsKeepTheirLength) {
  const Equations e(problems::heavy_top());
  State state = e.initial_state();
  Vec q(7);
  for (int i = 0; i < 100000; ++i) {
    e.retract(state.q, (Vec(6) << 0, 0, 0, 0.01, 0.3, -0.02).finished(), q);
    state.q.swap(q);
  }
  EXPECT_NEAR(state.q.tail<4>().norm(), 1, 1e-15);
}

TEST(Manifold, RetractDerivativeTakesIncrementsToTheEnd) {
  const Equations e(problems::every_element(4));
  std::mt19937 random(2);
  const State state = problems::random_state(e, random);
  const Vec delta = random_vector(e.sizes().nv, random), u = random_vector(e.sizes().nv, random);
  Vec end(state.q.size());
  e.retract(state.q, delta, end);
  std::vector<Mat3> T;
  e.retract_derivative(delta, T);
  ASSERT_EQ(T.size(), e.rotation_columns().size());
  Vec expected = u;
  for (std::size_t i = 0; i < T.size(); ++i)
    expected.segment<3>(e.rotation_columns()[i]) = T[i] * u.segment<3>(e.rotation_columns()[i]);
  const Vec seen = problems::derivative([&](double s) {
    Vec q(state.q.size()), out(e.sizes().nv);
    e.retract(state.q, delta + s * u, q);
    e.local(end, q, out);
    return out;
  });
  EXPECT_LT((seen - expected).lpNorm<Eigen::Infinity>(), 1e-11);
}

TEST(Manifold, CountsOfTheKindsOfBodies) {
  const Equations e(problems::every_element(5));  // two spatial, two planar, two point bodies
  EXPECT_EQ(e.sizes().nq, 2 * 7 + 2 * 3 + 2 * 3);
  EXPECT_EQ(e.sizes().nv, 2 * 6 + 2 * 3 + 2 * 3);
  EXPECT_EQ(e.rotation_columns(), (std::vector<int>{3, 9}));
  EXPECT_EQ(e.name_of_velocity(10), "body 'body1': rotation about y");
  EXPECT_EQ(e.name_of_velocity(14), "body 'body2': rotation about z");
  EXPECT_EQ(e.body_of_velocity(17), 3);
  EXPECT_EQ(e.body_of_velocity(0), 0);
}

TEST(Manifold, RowsKnowTheirConstraint) {
  const Equations e(problems::four_bar(problems::Build::planar));  // rows out of the plane are gone
  EXPECT_EQ(e.sizes().ng, 8);
  for (int row = 0; row < 8; ++row) {
    EXPECT_EQ(e.constraint_of_row(row), row / 2);
    EXPECT_EQ(e.row_unit(row), RowUnit::force);
  }
  EXPECT_EQ(e.name_of_row(5), "joint 'B': points coincide along world y");
  Workspace work = e.make_workspace();
  EXPECT_EQ(e.dropped_rows(e.initial_state(), work).size(), 12u);
}

TEST(Manifold, ScalesAreTheLengthAndOneRadian) {
  Model model = problems::every_element(6);
  model.simulation.length = 0.25;
  const Equations e(std::move(model));
  EXPECT_EQ(e.length(), 0.25);
  Vec scales = e.scales();
  EXPECT_EQ(scales[0], 0.25);
  EXPECT_EQ(scales[3], 1);
  EXPECT_EQ(scales[12], 0.25);
  EXPECT_EQ(scales[14], 1);  // angle of a planar body
  EXPECT_EQ(scales[20], 0.25);
  Vec q = e.initial_state().q;
  // Not by the distance from the origin, unless its round-off is above a hundredth of the tolerance.
  q[0] = -7e6;
  e.set_scales(q, 1e-6, scales);
  EXPECT_EQ(scales[0], 0.25);
  e.set_scales(q, 1e-8, scales);
  EXPECT_NEAR(scales[0], 100 * std::numeric_limits<double>::epsilon() * 7e6 / 1e-8, 1e-10);
  EXPECT_EQ(scales[3], 1);
  EXPECT_EQ(e.reach(q), 7e6);
  e.set_scales(e.initial_state().q, 1e-8, scales);
  EXPECT_EQ(scales[0], 0.25);
}

TEST(Manifold, RateIsThatOfGravityOrAsGiven) {
  Model model = problems::every_element(6);
  model.gravity = Vec3(0, 0, -9);
  model.simulation.length = 0.25;
  const Equations by_gravity(model);
  EXPECT_EQ(by_gravity.rate(by_gravity.initial_state(), {}), 6);
  model.simulation.time_scale = 0.5;
  const Equations given(std::move(model));
  EXPECT_EQ(given.rate(given.initial_state(), {}), 2);
}

// The state of a body is that of its centre of mass; frames give back what the model says of the origin.
TEST(Manifold, FramesMoveWithTheirBodies) {
  Model model = problems::every_element(7);
  Body& body = model.bodies[0];
  body.velocity = Vec3(1, 2, 3);
  body.angular_velocity = Vec3(-0.5, 0.7, 0.2);
  const int origin = model.add_frame(0, {});
  const Vec3 r = body.pose.position;
  const Quat turn = body.pose.rotation;
  const Equations e(std::move(model));
  Workspace work = e.make_workspace();
  const State state = e.initial_state();
  e.update(state, work);
  const FrameState f = e.frame(origin, work);
  EXPECT_LT((f.p - r).norm(), 1e-14);
  EXPECT_LT((f.R - turn.toRotationMatrix()).norm(), 1e-14);
  EXPECT_LT((f.v - Vec3(1, 2, 3)).norm(), 1e-14);
  EXPECT_LT((f.w - Vec3(-0.5, 0.7, 0.2)).norm(), 1e-14);

  // its acceleration is the rate of that velocity
  std::mt19937 random(9);
  Rates rates = e.make_rates();
  rates.a = random_vector(e.sizes().nv, random);
  Vec3 angular;
  const Vec3 linear = e.frame_acceleration(origin, rates, work, &angular);
  const Vec seen = problems::derivative([&](double s) {
    State moved = state;
    // to second order: v changes by a s, q by v s + a s^2/2 (body rates; the rest is of third order)
    e.retract(state.q, s * state.v + 0.5 * s * s * rates.a, moved.q);
    moved.v = state.v + s * rates.a;
    e.update(moved, work);
    const FrameState g = e.frame(origin, work);
    Vec out(6);
    out << g.v, g.w;
    return out;
  });
  EXPECT_LT((seen.head<3>() - linear).norm(), 1e-10);
  EXPECT_LT((seen.tail<3>() - angular).norm(), 1e-10);
}

// Kinetic energy is v^T M v / 2, and its rate the power of the inertia: v^T (M a).
TEST(Manifold, EnergyBelongsToTheEquations) {
  const Equations e(problems::slider_crank_with_forces());
  std::mt19937 random(10);
  Workspace work = e.make_workspace();
  Residual residual = e.make_residual();
  for (int i = 0; i < 5; ++i) {
    const State state = problems::random_state(e, random);
    Rates rates = e.make_rates();
    rates.a = state.v;
    ASSERT_EQ(e.residual(state, rates, everything, residual, work), Eval::ok);
    const Energy energy = e.energy(state, rates, work);
    EXPECT_NEAR(energy.kinetic, 0.5 * state.v.dot(residual.inertia), 1e-12);
    // -Q . v = (potential)' + dissipated - external, G^T lambda = 0 here; gyroscopic forces have no power
    const Vec rate = problems::derivative([&](double s) {
      State moved = state;
      e.retract(state.q, s * state.v, moved.q);
      return Vec(Vec::Constant(1, e.energy(moved, rates, work).potential));
    });
    EXPECT_NEAR(residual.force.dot(state.v), rate[0] + energy.dissipated_power - energy.external_power,
                1e-7 * (1 + std::abs(rate[0])));
  }
}

}  // namespace
}  // namespace trammel::manifold_test
