// Splitting: a step on linear problems is the one of SPLIT (5), Newton's matrix is the derivative of the equations it
// solves, A is evaluated once a step, joints as springs tend to true ones, and threads change no bit.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/integrate/split/split.h"
#include "trammel/run/load_model.h"

namespace trammel::split_test {
namespace {

using problems::random_vector;
using problems::Ready;

std::string model_file(const std::string& name) { return std::string(TRAMMEL_SOURCE_DIR) + "/models/" + name; }

// Two masses, h = 1: q1, q2, v1, v2 of independent computations at t = 1 and t = 20.
TEST(Split, TwoMassesOfTheSource) {
  struct Case {
    double beta;
    bool theta;
    Eigen::Vector4d first, last;
  };
  const Case cases[] = {{0.8, false, {0.80177, 0.79823, -0.39646, -0.60354}, {-0.31110, -0.31111, -0.75986, -0.76017}},
                        {0.5, true, {0.85139, 0.78577, -0.29723, -0.62847}, {0.54913, 0.54564, -0.99744, -0.26900}},
                        {0.8, true, {0.73886, 0.72827, -0.32642, -0.46467}, {0.06857, 0.06861, -0.02872, -0.02873}}};
  const Ready ready(load_model(model_file("split_oscillators.yaml")));
  for (const Case& c : cases) {
    SplitOptions options;
    options.beta = c.beta;
    options.fixed_step = true;
    if (c.theta) {
      options.all_implicit = true;
      options.bend = c.beta;
    }
    SplitMethod method(*ready.equations, options);
    method.start(ready.state, ready.rates);
    const auto expect = [&](const Eigen::Vector4d& target) {
      const State& s = method.state();
      EXPECT_LT((Eigen::Vector4d(s.q[0], s.q[3], s.v[0], s.v[3]) - target).lpNorm<Eigen::Infinity>(), 6e-6);
    };
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(method.attempt(1).verdict, Verdict::ok);
      method.accept();
      if (i == 0) expect(c.first);
    }
    expect(c.last);
    EXPECT_EQ(method.counts().explicit_evaluations, c.theta ? 0 : 20);
  }
}

// combine_step against differences of the equations it belongs to, at states with large rotations.
TEST(Split, NewtonMatrixIsTheDerivativeOfItsEquations) {
  Model model = problems::slider_crank_with_forces();
  for (std::size_t i = 0; i < model.forces.size(); i += 2) model.forces[i].implicit = true;
  const Equations equations(std::move(model));
  const int nv = equations.sizes().nv, ng = equations.sizes().multipliers();
  Workspace work = equations.make_workspace();
  work.without_gyroscopic = true;
  work.without_derivatives.resize(static_cast<std::size_t>(equations.force_count()));
  for (int i = 0; i < equations.force_count(); ++i)
    work.without_derivatives[static_cast<std::size_t>(i)] = !equations.is_implicit(i);
  SaddleSystem saddle(equations, equations.implicit_slots());
  Partials partials = equations.make_partials(Detail::all);
  Residual residual = equations.make_residual();
  std::mt19937 random(5);
  const double h = 0.3, beta = 0.7, tau = 0.2, position = 0.5 * beta * h * h, velocity = beta * h;
  for (int round = 0; round < 3; ++round) {
    const State base = problems::random_state(equations, random);
    const Vec start = random_vector(nv + ng, random), soft = Vec::Constant(ng, 0.3);
    State at = base;
    Vec delta, gdot = Vec::Zero(ng);
    const auto equation = [&](const Vec& z) {
      Rates rates = equations.make_rates();
      rates.a = z.head(nv);
      rates.lambda = z.tail(ng);
      delta = beta * (h * base.v) + position * rates.a;
      equations.retract(base.q, delta, at.q);
      at.v = base.v + velocity * rates.a;
      EXPECT_EQ(equations.residual(at, rates, joints | forces_implicit, residual, work), Eval::ok);
      equations.multiply_mass(at.q, rates.a, residual.inertia);
      equations.velocity_residual(at, gdot, work);
      Vec r(nv + ng);
      r << residual.inertia + residual.force, residual.g + tau * gdot - soft.cwiseProduct(rates.lambda);
      return r;
    };
    equation(start);
    Rates rates = equations.make_rates();
    rates.a = start.head(nv);
    rates.lambda = start.tail(ng);
    std::vector<Mat3> T;
    equations.retract_derivative(delta, T);
    ASSERT_EQ(equations.linearise(at, rates, Detail::all, partials, work), Eval::ok);
    saddle.combine_step(partials, {position, velocity, position, tau * velocity, tau * position}, T, soft);
    const Mat matrix = saddle.pattern().dense(saddle.values());
    for (int k = 0; k < nv + ng; ++k) {
      const Vec e = Vec::Unit(nv + ng, k);
      const Vec differences = problems::derivative([&](double s) { return equation(start + s * e); });
      EXPECT_LT((differences - matrix.col(k)).norm(), 1e-7 * (1 + matrix.col(k).norm())) << "column " << k;
    }
  }
}

// Bodies that no part of B touches cost nothing in its matrix: blocks of three by three and single numbers.
TEST(Split, MatrixHasThePatternOfB) {
  const Equations equations(load_model(model_file("ball_bearing.yaml")));
  const SaddleSystem all(equations), part(equations, equations.implicit_slots());
  EXPECT_LT(part.pattern().size(), all.pattern().size() / 5);
}

TEST(Split, ThreadsChangeNoBit) {
  Ready ready(load_model(model_file("ball_bearing.yaml")));
  std::vector<Vec> ends;
  for (const int threads : {1, 2, 3}) {
    SplitOptions options;
    options.fixed_step = true;
    options.frequency = 1e7;
    options.threads = threads;
    SplitMethod method(*ready.equations, options);
    method.start(ready.state, ready.rates);
    for (int i = 0; i < 100; ++i) {
      ASSERT_EQ(method.attempt(1e-6).verdict, Verdict::ok);
      method.accept();
    }
    ends.push_back(method.state().q);
    ends.push_back(method.state().v);
    EXPECT_EQ(method.counts().explicit_evaluations, 100);
  }
  for (std::size_t i = 2; i < ends.size(); ++i) EXPECT_EQ(ends[i], ends[i % 2]);
}

// Springs of rising frequency tend to true joints like 1/k.
TEST(Split, StiffSpringsTendToTrueJoints) {
  const Ready ready(problems::spatial_slider_crank());
  const auto end_of = [&](bool penalty, double frequency) {
    SplitOptions options;
    options.fixed_step = true;
    options.penalty = penalty;
    options.frequency = frequency;
    SplitMethod method(*ready.equations, options);
    method.start(ready.state, ready.rates);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(method.attempt(1e-3).verdict, Verdict::ok);
      method.accept();
    }
    return Vec(method.state().q);
  };
  const Vec truth = end_of(false, 0);
  const double soft = problems::distance(*ready.equations, end_of(true, 1e3), truth),
               stiff = problems::distance(*ready.equations, end_of(true, 1e4), truth);
  EXPECT_LT(soft, 1e-3);
  EXPECT_NEAR(soft / stiff, 100, 20);
}

// A disturbance across a joint is forgotten with c = (h/2) k and stays for ever without damping.
TEST(Split, DampingOfStiffJoints) {
  const Ready ready(problems::spherical_pendulum());
  const auto left = [&](double time) {
    SplitOptions options;
    options.fixed_step = true;
    options.beta = 1;
    options.frequency = 1e6;
    options.time = time;
    SplitMethod method(*ready.equations, options);
    State state = ready.state;
    state.v += state.q / state.q.norm();  // 1 m/s along the rod
    method.start(state, ready.rates);
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(method.attempt(1e-3).verdict, Verdict::ok);
      method.accept();
    }
    return std::abs(method.state().q.dot(method.state().v));
  };
  EXPECT_LT(left(0), 1e-3);
  EXPECT_GT(left(1e-9), 0.9);
}

}  // namespace
}  // namespace trammel::split_test
