// Rosenbrock-Nystrom and W-methods: order conditions from the tables, stability, and orders on mechanisms; what happens
// to them when parts of the derivatives are left out.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <stdexcept>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/integrate/rosenbrock/rosenbrock_nystrom.h"
#include "trammel/run/simulation.h"

namespace trammel::rosenbrock_test {
namespace {

using problems::fitted_slope;
using problems::Ready;

struct Coefficients {
  Mat A, B;  // alpha_ij; beta_ij = alpha_ij + gamma_ij with gamma on the diagonal
  Vec b, b_hat;
  explicit Coefficients(const RosenbrockTableau& t)
      : A(t.stages, t.stages), B(t.stages, t.stages), b(t.stages), b_hat(t.stages) {
    for (int i = 0; i < t.stages; ++i) {
      for (int j = 0; j < t.stages; ++j) {
        A(i, j) = t.A[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        B(i, j) = A(i, j) + t.G[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      }
      b[i] = t.b[static_cast<std::size_t>(i)];
      b_hat[i] = t.b_hat[static_cast<std::size_t>(i)];
    }
  }
  // Values of the conditions (8a)-(8h) less their right sides, with the diagonal of B included: then the right sides
  // are those of exact derivatives, 1/2, 1/6, ..., free of gamma.
  Vec conditions(const Vec& weights) const {
    const Vec alpha = A.rowwise().sum(), beta = B.rowwise().sum();
    Vec out(8);
    out << weights.sum() - 1, weights.dot(beta) - 0.5, weights.dot(alpha.cwiseAbs2()) - 1.0 / 3,
        weights.dot(B * beta) - 1.0 / 6, weights.dot(alpha.cwiseProduct(alpha.cwiseAbs2())) - 0.25,
        weights.dot(alpha.cwiseProduct(A * beta)) - 1.0 / 8, weights.dot(B * alpha.cwiseAbs2()) - 1.0 / 12,
        weights.dot(B * (B * beta)) - 1.0 / 24;
    return out;
  }
  double at_infinity(const Vec& weights) const { return 1 - weights.dot(B.partialPivLu().solve(Vec::Ones(B.rows()))); }
  // |R(iy)|, R(z) = 1 + z b^T (I - z B)^-1 1
  double on_imaginary_axis(double y) const {
    const std::complex<double> z(0, y);
    const Eigen::MatrixXcd matrix = Eigen::MatrixXcd::Identity(B.rows(), B.rows()) - z * B.cast<std::complex<double>>();
    const Eigen::VectorXcd k = matrix.partialPivLu().solve(Eigen::VectorXcd::Ones(B.rows()));
    return std::abs(1.0 + z * b.cast<std::complex<double>>().dot(k));
  }
};

TEST(RosenbrockTables, SatisfyTheOrderConditions) {
  for (const RosenbrockTableau* t : {&RosenbrockTableau::rn43(), &RosenbrockTableau::rn43_print()}) {
    const Coefficients c(*t);
    EXPECT_LT(c.conditions(c.b).lpNorm<Eigen::Infinity>(), 1e-14) << t->key;
    EXPECT_LT(c.conditions(c.b_hat).head(4).lpNorm<Eigen::Infinity>(), 1e-14) << t->key;  // order 3
    EXPECT_GT(c.conditions(c.b_hat).tail(4).lpNorm<Eigen::Infinity>(), 1e-3) << t->key;   // and not 4
  }
  const Coefficients w(RosenbrockTableau::w2());
  EXPECT_LT(w.conditions(w.b).head(2).lpNorm<Eigen::Infinity>(), 1e-15);
  EXPECT_NEAR(w.b.dot(w.A.rowwise().sum()), 0.5, 1e-15);  // order 2 whatever J is
}

TEST(RosenbrockTables, AreLStable) {
  EXPECT_NEAR(Coefficients(RosenbrockTableau::rn43()).at_infinity(Coefficients(RosenbrockTableau::rn43()).b), 0, 1e-14);
  EXPECT_NEAR(Coefficients(RosenbrockTableau::w2()).at_infinity(Coefficients(RosenbrockTableau::w2()).b), 0, 1e-14);
  // The rounded gamma of the print: 9.58e-9 by the facts.
  const Coefficients print(RosenbrockTableau::rn43_print());
  EXPECT_NEAR(print.at_infinity(print.b), 9.58e-9, 1e-10);
  for (const RosenbrockTableau* t : {&RosenbrockTableau::rn43(), &RosenbrockTableau::w2()}) {
    const Coefficients c(*t);
    for (double y = 1e-3; y < 1e6; y *= 1.3) EXPECT_LE(c.on_imaginary_axis(y), 1 + 1e-12) << t->key << " " << y;
  }
}

TEST(RosenbrockTables, NystromFormIsThatOfThePaper) {
  const NystromTableau n(RosenbrockTableau::rn43_print());
  EXPECT_NEAR(n.a[1][0], 2, 1e-14);
  EXPECT_NEAR(n.theta[2][0], 0.7895091628156386296, 1e-14);
  EXPECT_NEAR(n.c[3][0], -2.137115266506619117, 1e-13);
  EXPECT_NEAR(n.delta[3][1], -0.1097624867581032557, 1e-14);
  EXPECT_NEAR(n.m[3], 1.093507656403247803, 1e-14);
  EXPECT_NEAR(n.mu_hat[0], 1.434903971848209473, 1e-14);
  EXPECT_NEAR(n.gamma_sum[1], -1.769177067112013949, 1e-14);
  EXPECT_TRUE(n.same_point[3]);
}

// ---- orders ---------------------------------------------------------------------------------------------------------

State run(const Ready& ready, const RosenbrockNystromOptions& options, double end, int count,
          double* estimate = nullptr) {
  RosenbrockNystrom method(*ready.equations, options);
  method.start(ready.state, ready.rates);
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    const Attempt attempt = method.attempt(end / count);
    if (attempt.verdict != Verdict::ok) throw std::runtime_error(to_text(attempt.verdict));
    sum += attempt.error * attempt.error;
    method.accept();
  }
  if (estimate != nullptr) *estimate = std::sqrt(sum / count);
  return method.state();
}

struct Slopes {
  double q, v, estimate, last_q;
};

Slopes slopes(const Ready& ready, const RosenbrockNystromOptions& given, double end, const std::vector<int>& counts,
              const State& truth) {
  RosenbrockNystromOptions options = given;
  options.fixed_step = true;
  options.tolerance = 1;
  std::vector<double> h, q, v, estimates;
  for (const int count : counts) {
    double estimate = 0;
    const State state = run(ready, options, end, count, &estimate);
    h.push_back(end / count);
    q.push_back(problems::distance(*ready.equations, truth.q, state.q));
    v.push_back((state.v - truth.v).cwiseQuotient(ready.equations->scales()).norm());
    estimates.push_back(estimate);
  }
  return {fitted_slope(h, q), fitted_slope(h, v), fitted_slope(h, estimates), q.back()};
}

RosenbrockNystromOptions fine() {
  RosenbrockNystromOptions options;
  options.fixed_step = true;
  options.tolerance = 1;
  return options;
}

const std::vector<int> top_counts{400, 800, 1600, 3200}, loop_counts{50, 100, 200, 400};

State top_truth(const Ready& ready) {
  const problems::HeavyTopSample& sample = problems::heavy_top_reference()[1];
  State truth = ready.state;
  truth.q << sample.position, sample.rotation.w(), sample.rotation.vec();
  truth.v << (sample.rotation * sample.spin).cross(sample.position), sample.spin;
  return truth;
}

TEST(RosenbrockNystrom, IsOfOrderFourOnTheHeavyTop) {
  const Ready ready(problems::heavy_top());
  const Slopes s = slopes(ready, {}, 0.2, top_counts, top_truth(ready));
  EXPECT_NEAR(s.q, 4, 0.2);
  EXPECT_NEAR(s.v, 4, 0.2);
  EXPECT_NEAR(s.estimate, 4, 0.2);  // local error of the embedded method of order 3
}

TEST(RosenbrockNystrom, IsOfOrderFourOnADrivenLoop) {
  const Ready ready(problems::driven_loop());
  const State truth = run(ready, fine(), 0.5, 3200);
  const Slopes s = slopes(ready, {}, 0.5, loop_counts, truth);
  EXPECT_NEAR(s.q, 4, 0.2);
  EXPECT_NEAR(s.v, 4, 0.2);
  EXPECT_NEAR(s.estimate, 4, 0.3);
}

TEST(RosenbrockNystrom, LosesItsOrderWithoutChartOrTimeTerms) {
  const Ready top(problems::heavy_top()), loop(problems::driven_loop());
  RosenbrockNystromOptions options;
  options.chart_terms = false;
  EXPECT_NEAR(slopes(top, options, 0.2, top_counts, top_truth(top)).q, 1, 0.15);
  const State truth = run(loop, fine(), 0.5, 3200);
  EXPECT_NEAR(slopes(loop, options, 0.5, {800, 1600, 3200}, truth).q, 1, 0.15);
  options.chart_terms = true;
  options.time_terms = false;
  EXPECT_NEAR(slopes(loop, options, 0.5, {800, 1600, 3200}, truth).q, 1, 0.15);
}

TEST(WMethod, IsOfOrderTwoWithAnyDerivatives) {
  const Ready loop(problems::driven_loop());
  const State truth = run(loop, fine(), 0.5, 3200);
  RosenbrockNystromOptions options;
  options.tableau = &RosenbrockTableau::w2();
  const std::vector<int> counts{400, 800, 1600, 3200};
  for (const int variant : {0, 1, 2, 3}) {
    options.no_derivatives = variant == 1;
    options.keep_derivatives = variant == 2 ? 7 : 1;
    options.chart_terms = options.time_terms = variant != 3;
    const Slopes s = slopes(loop, options, 0.5, counts, truth);
    EXPECT_NEAR(s.q, 2, 0.15) << variant;
    EXPECT_NEAR(s.v, 2, 0.15) << variant;
  }
}

// Redundant rows and singular positions: the ladder of four-bars against its twin, and Bricard's loop.
TEST(RosenbrockNystrom, CarriesRedundantConstraints) {
  using problems::Build;
  const Ready four_bar(problems::four_bar(Build::redundant, true)), twin(problems::four_bar(Build::independent, true));
  const State a = run(four_bar, fine(), 1, 500), b = run(twin, fine(), 1, 500);
  EXPECT_LT(problems::distance(*four_bar.equations, a.q, b.q), 1e-7);
  const Ready bricard(problems::bricard(Build::redundant));
  const State fine_end = run(bricard, fine(), 1, 3200);
  const Slopes s = slopes(bricard, {}, 1, {200, 400, 800}, fine_end);
  EXPECT_GT(s.q, 3.8);  // falls faster here: 6.7 from 1.4e-7 to 1.3e-11
  EXPECT_LT(s.last_q, 1e-10);
}

TEST(RosenbrockNystrom, StepsGoWithTheFourthRootOfTheTolerance) {
  std::vector<double> tolerances, steps;
  for (const double tolerance : {1e-5, 1e-6, 1e-7, 1e-8}) {
    Model model = problems::heavy_top();
    model.simulation.method = "rosenbrock-nystrom-4";
    model.simulation.end = 0.5;
    model.simulation.tolerance = tolerance;
    Simulation simulation(model);
    MemoryTrajectory trajectory;
    const RunResult result = simulation.run(trajectory);
    ASSERT_EQ(result.status, RunStatus::finished);
    tolerances.push_back(tolerance);
    steps.push_back(static_cast<double>(result.summary.steps));
  }
  EXPECT_NEAR(fitted_slope(tolerances, steps), -0.25, 0.02);
}

}  // namespace
}  // namespace trammel::rosenbrock_test
