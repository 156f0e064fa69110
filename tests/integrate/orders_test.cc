// Fitted orders of the alpha family on a spatial closed loop and on the heavy top: positions, velocities, reactions
// after the start-up, the error estimate, and the number of steps over the tolerance.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <stdexcept>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/run/simulation.h"

namespace trammel::orders_test {
namespace {

using problems::fitted_slope;
using problems::Ready;

struct Choice {
  std::string name;
  AlphaParameters parameters;
};
void PrintTo(const Choice& choice, std::ostream* out) { *out << choice.name; }

std::vector<Choice> second_order() {
  return {{"hht_005", AlphaParameters::hht(-0.05)},
          {"hht_01", AlphaParameters::hht(-0.1)},
          {"hht_03", AlphaParameters::hht(-0.3)},
          {"hht_third", AlphaParameters::hht(-1.0 / 3)},
          {"generalized_02", AlphaParameters::generalized(0.2)},
          {"generalized_04", AlphaParameters::generalized(0.4)},
          {"generalized_06", AlphaParameters::generalized(0.6)},
          {"generalized_08", AlphaParameters::generalized(0.8)}};
}

// What a run shows at some times late in it: the method's own multipliers, and those solved for at the output.
struct Sample {
  State state;
  Vec lambda, reported;
  double error = 0;  // estimate of the local error, by scale
};

std::vector<Sample> samples(Ready& ready, const AlphaOptions& options, double end, int count,
                            const std::vector<int>& eighths) {
  const double h = end / count;
  AlphaMethod method(*ready.equations, options);
  method.start(ready.state, ready.rates);
  std::vector<Sample> out;
  for (int i = 1; i <= count; ++i) {
    const Attempt attempt = method.attempt(h);
    if (attempt.verdict != Verdict::ok) throw std::runtime_error(to_text(attempt.verdict));
    method.accept();
    for (const int k : eighths) {
      if (8 * i != k * count) continue;
      Sample s{method.state(), method.rates().lambda, {}, attempt.error * options.tolerance};
      State state = method.state();
      Rates rates = ready.equations->make_rates();
      EXPECT_TRUE(ready.accelerations->project(state, ready.work) &&
                  ready.accelerations->solve(state, rates, ready.work));
      s.reported = rates.lambda;
      out.push_back(s);
    }
  }
  return out;
}

struct Errors {
  double q = 0, v = 0, lambda = 0, reported = 0;
};

Errors errors(const Equations& e, const std::vector<Sample>& samples, const std::vector<Sample>& truth) {
  Errors out;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    out.q = std::max(out.q, problems::distance(e, truth[i].state.q, samples[i].state.q));
    out.v = std::max(out.v, (samples[i].state.v - truth[i].state.v).cwiseQuotient(e.scales()).norm());
    // At the steps of the reference its own multipliers carry round-off over h^2; those solved for at its state do not.
    out.lambda = std::max(out.lambda, (samples[i].lambda - truth[i].reported).norm());
    out.reported = std::max(out.reported, (samples[i].reported - truth[i].reported).norm());
  }
  return out;
}

struct Orders {
  double q, v, lambda, reported, estimate;
};

Orders fit(Ready& ready, const AlphaParameters& parameters, double end, const std::vector<int>& counts,
           const std::vector<Sample>& truth, const std::vector<int>& eighths) {
  std::vector<double> h, q, v, lambda, reported, estimate;
  for (const int count : counts) {
    const std::vector<Sample> run = samples(ready, problems::fixed(parameters), end, count, eighths);
    Errors e = errors(*ready.equations, run, truth);
    // Newton may leave a thousandth of h a', which a method's own multipliers show; reported ones are solved for anew.
    e.lambda =
        errors(*ready.equations, samples(ready, problems::converged(parameters), end, count, eighths), truth).lambda;
    h.push_back(end / count);
    q.push_back(e.q);
    v.push_back(e.v);
    lambda.push_back(e.lambda);
    reported.push_back(e.reported);
    double sum = 0;  // over the run: at a single time the third derivative may happen to be small
    for (const Sample& sample : run) sum += sample.error * sample.error;
    estimate.push_back(std::sqrt(sum));
  }
  return {fitted_slope(h, q), fitted_slope(h, v), fitted_slope(h, lambda), fitted_slope(h, reported),
          fitted_slope(h, estimate)};
}

// ---- spatial slider-crank -------------------------------------------------------------------------------------------

const std::vector<int> late{4, 5, 6, 7, 8};                 // eighths of the run: the start-up is over
const std::vector<int> crank_steps{640, 1280, 2560, 5120};  // coarser ones are not yet asymptotic with much damping

// A run with steps 6 times finer than the finest compared and little damping: its own error is below 3 % of what is
// measured.
std::vector<Sample> crank_truth(Ready& ready) {
  return samples(ready, problems::converged(AlphaParameters::hht(-0.05)), 0.5, 32000, late);
}

class SliderCrankOrders : public testing::TestWithParam<Choice> {};

TEST_P(SliderCrankOrders, AreTwo) {
  Ready ready(problems::spatial_slider_crank());
  const Orders o = fit(ready, GetParam().parameters, 0.5, crank_steps, crank_truth(ready), late);
  EXPECT_NEAR(o.q, 2, 0.1);
  EXPECT_NEAR(o.v, 2, 0.1);
  EXPECT_NEAR(o.lambda, 2, 0.1);
  EXPECT_NEAR(o.reported, 2, 0.1);
  EXPECT_NEAR(o.estimate, 3, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, SliderCrankOrders, testing::ValuesIn(second_order()),
                         [](const auto& choice) { return choice.param.name; });

// The truth itself against the reduced equation of one degree of freedom.
TEST(SliderCrank, FollowsTheReducedEquation) {
  const Ready ready(problems::spatial_slider_crank());
  const problems::SliderCrankSample& truth = problems::slider_crank_reference()[0];
  std::vector<double> h, error;
  for (const int count : {1000, 2000, 4000, 8000}) {
    const problems::End end =
        problems::run_fixed(ready, problems::fixed(AlphaParameters::hht(-0.1)), truth.t / count, count);
    h.push_back(truth.t / count);
    const Vec quat = end.state.q.segment(3, 4);  // of the crank, about x
    const double angle = std::remainder(2 * std::atan2(quat[1], quat[0]) - truth.angle, 2 * M_PI);
    error.push_back(
        std::max({std::abs(angle), std::abs(end.state.q[14] - truth.slider), std::abs(end.state.v[3] - truth.rate)}));
  }
  EXPECT_NEAR(fitted_slope(h, error), 2, 0.1);
  EXPECT_LT(error.back(), 1e-4);
}

TEST(SliderCrank, NewmarkIsOfOrderTwoOnlyWithoutDamping) {
  Ready ready(problems::spatial_slider_crank());
  const std::vector<Sample> truth = crank_truth(ready);
  const Orders trapezoidal = fit(ready, AlphaParameters::newmark(0.5, 0.25), 0.5, crank_steps, truth, late);
  EXPECT_NEAR(trapezoidal.q, 2, 0.1);
  EXPECT_NEAR(trapezoidal.v, 2, 0.1);
  const Orders damped = fit(ready, AlphaParameters::newmark(0.7, 0.36), 0.5, {2560, 5120, 10240}, truth, late);
  EXPECT_NEAR(damped.q, 1, 0.1);
  EXPECT_NEAR(damped.v, 1, 0.1);
  EXPECT_NEAR(damped.reported, 1, 0.1);
  EXPECT_NEAR(damped.estimate, 3, 0.1);
}

// Forces with damping and expressions change nothing about the orders.
TEST(SliderCrank, WithForcesKeepsTheOrders) {
  Ready ready(problems::slider_crank_with_forces());
  const Orders o = fit(ready, AlphaParameters::hht(-0.1), 0.5, crank_steps, crank_truth(ready), late);
  EXPECT_NEAR(o.q, 2, 0.1);
  EXPECT_NEAR(o.v, 2, 0.1);
  EXPECT_NEAR(o.reported, 2, 0.1);
}

// In the first steps the method's own multipliers are off by a start-up error; what is reported is of order two from
// the start.
TEST(SliderCrank, ReportedReactionsHaveNoStartUp) {
  Ready ready(problems::spatial_slider_crank());
  const std::vector<int> early{1};
  const std::vector<Sample> truth = samples(ready, problems::converged(AlphaParameters::hht(-0.05)), 0.04, 6400, early);
  const Orders o =
      fit(ready, AlphaParameters::hht(-0.1), 0.04, {8, 16, 32, 64}, truth, early);  // after 1, 2, 4, 8 steps
  EXPECT_NEAR(o.reported, 2, 0.1);
}

// After the first step the method's own multipliers are off by a multiple of h, whatever the state.
TEST(SliderCrank, OwnMultipliersStartWithOrderOne) {
  Ready ready(problems::spatial_slider_crank());
  std::vector<double> steps, errors;
  for (const double h : {2e-3, 1e-3, 5e-4, 2.5e-4}) {
    const AlphaOptions options = problems::converged(AlphaParameters::hht(-0.1));
    const Vec truth = samples(ready, options, h, 64, {8}).back().reported;
    steps.push_back(h);
    errors.push_back((samples(ready, options, h, 1, {8}).back().lambda - truth).norm());
  }
  EXPECT_NEAR(fitted_slope(steps, errors), 1, 0.2);
}

// ---- heavy top ------------------------------------------------------------------------------------------------------

// From Euler's equations: 30 rad of spin in 0.2 s.
Sample top_truth(Ready& ready) {
  const problems::HeavyTopSample& sample = problems::heavy_top_reference()[1];
  Sample truth{ready.state, {}, {}, 0};
  truth.state.t = sample.t;
  truth.state.q << sample.position, sample.rotation.w(), sample.rotation.vec();
  // the tip stays: v = w x r, world axes
  truth.state.v << (sample.rotation * sample.spin).cross(sample.position), sample.spin;
  Rates rates = ready.equations->make_rates();
  EXPECT_TRUE(ready.accelerations->solve(truth.state, rates, ready.work));
  truth.lambda = truth.reported = rates.lambda;
  return truth;
}

class HeavyTopOrders : public testing::TestWithParam<Choice> {};

TEST_P(HeavyTopOrders, AreTwo) {
  Ready ready(problems::heavy_top());
  const Orders o = fit(ready, GetParam().parameters, 0.2, {400, 800, 1600, 3200}, {top_truth(ready)}, {8});
  EXPECT_NEAR(o.q, 2, 0.1);
  EXPECT_NEAR(o.v, 2, 0.1);
  EXPECT_NEAR(o.lambda, 2, 0.1);
  EXPECT_NEAR(o.reported, 2, 0.1);
  EXPECT_NEAR(o.estimate, 3, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, HeavyTopOrders, testing::ValuesIn(second_order()),
                         [](const auto& choice) { return choice.param.name; });

TEST(HeavyTop, NewmarkIsOfOrderTwoOnlyWithoutDamping) {
  Ready ready(problems::heavy_top());
  const std::vector<Sample> truth{top_truth(ready)};
  const Orders trapezoidal = fit(ready, AlphaParameters::newmark(0.5, 0.25), 0.2, {400, 800, 1600, 3200}, truth, {8});
  EXPECT_NEAR(trapezoidal.q, 2, 0.1);
  EXPECT_NEAR(trapezoidal.v, 2, 0.1);
  const Orders damped = fit(ready, AlphaParameters::newmark(0.7, 0.36), 0.2, {1600, 3200, 6400, 12800}, truth, {8});
  EXPECT_NEAR(damped.q, 1, 0.1);
  EXPECT_NEAR(damped.v, 1, 0.1);
}

// Leaving the derivative of retract out of Newton's matrix would show as more iterations at this spin.
TEST(HeavyTop, NewtonConvergesFast) {
  const Ready ready(problems::heavy_top());
  const problems::End end = problems::run_fixed(ready, problems::fixed(AlphaParameters::hht(-0.3)), 1e-3, 500);
  EXPECT_LT(end.counts.newton_iterations, 4 * end.counts.steps);
}

// ---- variable steps -------------------------------------------------------------------------------------------------

struct Controlled {
  RunSummary summary;
  Vec q;
  MemoryTrajectory trajectory;
};

Controlled run_controlled(Model model, double end, double tolerance, double alpha) {
  model.simulation.end = end;
  model.simulation.tolerance = tolerance;
  model.simulation.options.set("alpha", alpha);
  Simulation simulation(std::move(model));
  MemoryTrajectory trajectory;
  const RunResult result = simulation.run(trajectory);
  EXPECT_EQ(result.status, RunStatus::finished);
  return {result.summary, simulation.integrator().state().q, std::move(trajectory)};
}

// Root mean square difference of all positions of bodies, over the outputs of both runs.
double position_difference(const MemoryTrajectory& a, const MemoryTrajectory& b) {
  double sum = 0;
  for (const char* body : {"crank", "rod", "slider"}) {
    for (const char* axis : {"x", "y", "z"}) {
      const auto signal = a.at(std::string("body.") + body + ".position." + axis);
      for (std::size_t row = 0; row < a.rows(0); ++row) {
        const double d = a.value(signal, row) - b.value(signal, row);
        sum += d * d;
      }
    }
  }
  return std::sqrt(sum / static_cast<double>(a.rows(0)));
}

// Local errors are of order three: steps go with the cube root of the tolerance, global errors with its power 2/3. At
// 1e-6 to 1e-8 errors still fall faster (power 0.77): changes of the step size add a part of higher order.
TEST(VariableSteps, GoWithTheCubeRootOfTheTolerance) {
  Model model = problems::spatial_slider_crank();
  model.simulation.output_step = 0.02;
  const Controlled truth = run_controlled(model, 1, 1e-12, -0.1);
  std::vector<double> tolerances, steps, errors;
  for (const double tolerance : {1e-8, 1e-9, 1e-10}) {
    const Controlled run = run_controlled(model, 1, tolerance, -0.1);
    tolerances.push_back(tolerance);
    steps.push_back(static_cast<double>(run.summary.steps));
    errors.push_back(position_difference(run.trajectory, truth.trajectory));
    EXPECT_LT(run.summary.rejected_error, run.summary.steps / 5);
    EXPECT_EQ(run.summary.rejected_newton, 0);
  }
  EXPECT_NEAR(fitted_slope(tolerances, steps), -1.0 / 3, 0.03);
  EXPECT_NEAR(fitted_slope(tolerances, errors), 2.0 / 3, 0.1);
}

TEST(VariableSteps, GoWithTheCubeRootOfTheToleranceOnTheHeavyTop) {
  const problems::HeavyTopSample& truth = problems::heavy_top_reference()[0];
  std::vector<double> tolerances, steps, errors;
  for (const double tolerance : {1e-5, 1e-6, 1e-7, 1e-8}) {
    const Controlled run = run_controlled(problems::heavy_top(), truth.t, tolerance, -0.3);
    tolerances.push_back(tolerance);
    steps.push_back(static_cast<double>(run.summary.steps));
    errors.push_back((run.q.head<3>() - truth.position).norm());
  }
  EXPECT_NEAR(fitted_slope(tolerances, steps), -1.0 / 3, 0.03);
  EXPECT_NEAR(fitted_slope(tolerances, errors), 2.0 / 3, 0.1);
}

// The estimate is that of the paper: (beta - 1/(6 (1 + alpha))) h^2 |a_{n+1} - a_n| in the weighted norm.
TEST(VariableSteps, EstimateTheErrorAsPublished) {
  const Ready ready(problems::pendulum());
  for (const double alpha : {-0.1, -0.3}) {
    const AlphaParameters p = AlphaParameters::hht(alpha);
    EXPECT_NEAR(p.error_factor(), (1 - alpha) * (1 - alpha) / 4 - 1 / (6 * (1 + alpha)), 1e-15);
    AlphaOptions options = problems::converged(p);
    options.tolerance = 1e-5;
    options.newton.c = 1e-9;
    AlphaMethod method(*ready.equations, options);
    method.start(ready.state, ready.rates);
    const double h = 1e-3;
    const Attempt attempt = method.attempt(h);
    ASSERT_EQ(attempt.verdict, Verdict::ok);
    method.accept();
    // a_{n+1} from v_{n+1} = v_n + h ((1 - gamma) a_n + gamma a_{n+1}); here Y = L (bar of 1 m) and 1 rad
    const Vec a = (method.state().v / h - (1 - p.gamma) * ready.rates.a) / p.gamma;
    const Vec scales = ready.equations->scales();
    const double psi = (a - ready.rates.a).cwiseQuotient(scales).norm() / std::sqrt(6.0);
    EXPECT_NEAR(attempt.error, std::abs(p.error_factor()) * h * h * psi / 1e-5, 1e-6 * attempt.error);
  }
}

}  // namespace
}  // namespace trammel::orders_test
