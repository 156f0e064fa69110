// Projection by penalty and augmented Lagrangian: what each iteration leaves is what the closed form says, the limit is
// the exact projection, steps converge at order 2, and a saved run continues bit for bit.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cstring>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/integrate/alpha/alpha.h"
#include "trammel/integrate/iterated_projection.h"

namespace trammel {
namespace {

using problems::Ready;

// Velocities off their constraints, and multipliers off theirs; constraints depend on time.
struct Disturbed : Ready {
  Disturbed() : Ready(problems::driven_loop()) {
    std::mt19937 random(3);
    state.v += problems::random_vector(state.v.size(), random);
    rates.lambda += problems::random_vector(rates.lambda.size(), random);
  }
  Mat compliance() {  // G M^-1 G^T
    Partials p = equations->make_partials(Detail::projection);
    equations->jacobian(state, p, work);
    equations->mass(state.q, p);
    const Mat G = equations->gv().dense(p.G), M = equations->vv().dense(p.M);
    return G * M.llt().solve(G.transpose());
  }
};

TEST(IteratedProjection, ContractsAsTheClosedFormSays) {
  Disturbed d;
  Counts counts;
  Vec first(d.rates.lambda.size()), left = first;
  d.equations->velocity_residual(d.state, first, d.work);
  const Mat S = d.compliance();
  double ratio = 0, factor = 0, before = first.norm();
  for (int i = 1; i <= 40; ++i) {
    IteratedProjection projection(*d.equations, 20, i);
    State state = d.state;
    ASSERT_TRUE(projection.factor(state, d.work, counts));
    ASSERT_TRUE(projection.project_velocities(state, d.work));
    d.equations->velocity_residual(state, left, d.work);
    const Mat A = Mat::Identity(S.rows(), S.rows()) + S * Mat(projection.alpha().asDiagonal());
    Vec expected = first;
    for (int k = 0; k < i; ++k) expected = A.partialPivLu().solve(expected);
    EXPECT_LT((left - expected).norm(), 1e-12 * first.norm()) << i;
    if (i == 1) factor = (1 / A.eigenvalues().real().array()).maxCoeff();
    ratio = left.norm() / before;
    before = left.norm();
    if (before < 1e-9 * first.norm()) break;
  }
  // The slowest direction is left alone in the end.
  EXPECT_GT(factor, 0.01);
  EXPECT_LT(factor, 0.9);
  EXPECT_NEAR(ratio, factor, 1e-3 * factor);
}

TEST(IteratedProjection, EndsInTheExactOne) {
  for (const Model& model : {problems::driven_loop(), problems::four_bar(problems::Build::redundant, true)}) {
    Ready r(model);
    std::mt19937 random(5);
    r.state.v += problems::random_vector(r.state.v.size(), random);
    r.rates.lambda += problems::random_vector(r.rates.lambda.size(), random);
    State exact = r.state, ours = r.state;
    Rates exact_rates = r.rates, our_rates = r.rates;
    AccelerationSolver solver(*r.equations);
    ASSERT_TRUE(solver.project(exact, r.work));
    ASSERT_TRUE(solver.solve(exact, exact_rates, r.work));
    Counts counts;
    IteratedProjection projection(*r.equations, 1e7, 4);
    ASSERT_TRUE(projection.factor(ours, r.work, counts));
    ASSERT_TRUE(projection.project_velocities(ours, r.work));
    ASSERT_TRUE(projection.project_accelerations(ours, our_rates, r.work));
    EXPECT_EQ(counts.factorisations, 1);
    EXPECT_LT((ours.v - exact.v).norm(), 1e-12 * (1 + exact.v.norm()));
    EXPECT_LT((our_rates.a - exact_rates.a).norm(), 1e-10 * (1 + exact_rates.a.norm()));
    // multipliers that are not unique do the same
    Partials p = r.equations->make_partials(Detail::projection);
    r.equations->jacobian(ours, p, r.work);
    const Vec apart = r.equations->gv().dense(p.G).transpose() * (our_rates.lambda - exact_rates.lambda);
    EXPECT_LT(apart.norm(), 1e-10 * (1 + exact_rates.lambda.norm()));
  }
}

AlphaOptions iterated() {
  AlphaOptions options;
  options.parameters = AlphaParameters::newmark(0.5, 0.25);
  options.fixed_step = true;
  options.projection = AlphaOptions::Projection::iterated;
  options.newton.c = 1e-8;
  return options;
}

TEST(IteratedProjection, TrapezoidalRuleKeepsItsOrderInMultipliersToo) {
  const Ready ready(problems::spatial_slider_crank());
  std::vector<double> h, q, v, lambda;
  problems::End last;
  for (const int count : {250, 500, 1000, 2000}) {
    const problems::End end = problems::run_fixed(ready, iterated(), 0.5 / count, count);
    if (!h.empty() || last.state.q.size() > 0) {
      h.push_back(0.5 / count);
      q.push_back(problems::distance(*ready.equations, last.state.q, end.state.q));
      v.push_back((last.state.v - end.state.v).norm());
      lambda.push_back((last.rates.lambda - end.rates.lambda).norm());
    }
    last = end;
  }
  EXPECT_NEAR(problems::fitted_slope(h, q), 2, 0.1);
  EXPECT_NEAR(problems::fitted_slope(h, v), 2, 0.1);
  EXPECT_NEAR(problems::fitted_slope(h, lambda), 2, 0.1);
}

TEST(IteratedProjection, ContinuesBitForBit) {
  const Ready ready(problems::spatial_slider_crank());
  AlphaMethod whole(*ready.equations, iterated()), other(*ready.equations, iterated());
  whole.start(ready.state, ready.rates);
  other.start(ready.state, ready.rates);
  const auto go = [](AlphaMethod& m) {
    for (int i = 0; i < 50; ++i) {
      ASSERT_EQ(m.attempt(1e-3).verdict, Verdict::ok);
      m.accept();
    }
  };
  go(whole);
  Bytes bytes;
  whole.save(bytes);
  std::span<const std::byte> in(bytes);
  other.restore(in);
  EXPECT_TRUE(in.empty());
  go(whole);
  go(other);
  const Vec &a = whole.state().v, &b = other.state().v;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)), 0);
}

}  // namespace
}  // namespace trammel
