// BDF on the constrained equations: orders of positions, velocities and multipliers at constant steps on a spatial
// loop, step and order control, constraints, restarts, states of first order.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/integrate/bdf/bdf_constrained.h"
#include "trammel/integrate/runge_kutta/constrained_runge_kutta.h"

namespace trammel::bdf_constrained_test {
namespace {

using problems::fitted_slope;
using problems::Ready;

ConstrainedBdfOptions constant_steps(bool stabilised, int order) {
  ConstrainedBdfOptions o;
  o.stabilised = stabilised;
  o.fixed_step = true;
  o.order = order;
  o.newton.c = 1e-9;
  o.newton.keep_rate = 0;
  o.newton.most_iterations = 20;
  return o;
}

struct Late {
  State state;
  Vec lambda;
};

// The second half of the run, at sixteenths of it.
std::vector<Late> late_states(const Ready& ready, Integrator& m, double end, int count) {
  m.start(ready.state, ready.rates);
  std::vector<Late> out;
  for (int i = 1; i <= count; ++i) {
    const Attempt attempt = m.attempt(end / count);
    EXPECT_EQ(attempt.verdict, Verdict::ok) << to_text(attempt.verdict) << " at " << m.state().t;
    if (attempt.verdict != Verdict::ok) break;
    m.accept();
    if (2 * i > count && 16 * i % count == 0) out.push_back({m.state(), m.rates().lambda});
  }
  return out;
}

// Slopes of the errors of positions, velocities and multipliers from `coarsest` steps to twice as many, against Radau
// with its error of about 1e-12; true multipliers are those of its states.
struct Truth {
  explicit Truth(Model model) : ready(std::move(model)) {
    ConstrainedRungeKuttaOptions fine;
    fine.stabilised = fine.fixed_step = true;
    fine.newton = {.c = 1e-9, .most_iterations = 40, .keep_rate = 0};
    ConstrainedRungeKutta radau(*ready.equations, ImplicitTableau::radau_iia(3), fine);
    late = late_states(ready, radau, end, 1600);
    for (Late& l : late) {
      Rates rates = ready.equations->make_rates();
      EXPECT_TRUE(ready.accelerations->solve(l.state, rates, ready.work));
      l.lambda = rates.lambda;
    }
  }
  std::array<double, 3> orders_of_bdf(bool stabilised, int k, int coarsest) {
    std::vector<double> h;
    std::array<std::vector<double>, 3> errors;
    for (const int count : {coarsest, 2 * coarsest}) {
      ConstrainedBdf m(*ready.equations, constant_steps(stabilised, k));
      const std::vector<Late> run = late_states(ready, m, end, count);
      EXPECT_EQ(run.size(), late.size());
      std::array<double, 3> e{};
      for (std::size_t i = 0; i < std::min(run.size(), late.size()); ++i) {
        e[0] = std::max(e[0], problems::distance(*ready.equations, late[i].state.q, run[i].state.q));
        e[1] = std::max(e[1], (late[i].state.v - run[i].state.v).norm());
        e[2] = std::max(e[2], (late[i].lambda - run[i].lambda).norm());
      }
      h.push_back(end / count);
      for (std::size_t i = 0; i < 3; ++i) errors[i].push_back(e[i]);
    }
    return {fitted_slope(h, errors[0]), fitted_slope(h, errors[1]), fitted_slope(h, errors[2])};
  }
  Ready ready;
  double end = 0.5;
  std::vector<Late> late;
};

TEST(ConstrainedBdf, HasItsOrderInPositionsVelocitiesAndMultipliers) {
  Truth loop(problems::spatial_slider_crank()), top(problems::heavy_top());
  for (const bool stabilised : {false, true}) {
    for (int k = 1; k <= 6; ++k) {
      // Asymptotic late with much damping. Order 6 is not stable on the loop's fast turns at steps that show it.
      const std::array<double, 3> orders =
          k == 6 ? top.orders_of_bdf(stabilised, k, 320) : loop.orders_of_bdf(stabilised, k, k == 1 ? 3200 : 400);
      const std::string what = (stabilised ? "index 2, order " : "index 3, order ") + std::to_string(k);
      RecordProperty(what,
                     std::to_string(orders[0]) + " " + std::to_string(orders[1]) + " " + std::to_string(orders[2]));
      EXPECT_GT(orders[0], k - 0.25) << what;
      EXPECT_GT(orders[1], k - 0.25) << what;
      EXPECT_GT(orders[2], k - 0.3) << what;
    }
  }
}

// Radau IIA of three stages: 5, 3, 2 at index 3; 5, 5, 3 at index 2.
TEST(ConstrainedRadau, HasItsOrders) {
  Ready ready(problems::spatial_slider_crank());
  const double end = 0.5;
  const auto run = [&](bool stabilised, int count) {
    ConstrainedRungeKuttaOptions options;
    options.stabilised = stabilised;
    options.fixed_step = true;
    options.newton = {.c = 1e-9, .most_iterations = 40, .keep_rate = 0};
    ConstrainedRungeKutta m(*ready.equations, ImplicitTableau::radau_iia(3), options);
    return late_states(ready, m, end, count);
  };
  std::vector<Late> truth = run(true, 1600);
  for (Late& late : truth) {
    Rates rates = ready.equations->make_rates();
    ASSERT_TRUE(ready.accelerations->solve(late.state, rates, ready.work));
    late.lambda = rates.lambda;
  }
  for (const bool stabilised : {false, true}) {
    std::vector<double> h, q, v, lambda;
    for (const int count : {160, 320}) {
      const std::vector<Late> got = run(stabilised, count);
      ASSERT_EQ(got.size(), truth.size());
      double errors[3] = {};
      for (std::size_t i = 0; i < got.size(); ++i) {
        errors[0] = std::max(errors[0], problems::distance(*ready.equations, truth[i].state.q, got[i].state.q));
        errors[1] = std::max(errors[1], (truth[i].state.v - got[i].state.v).norm());
        errors[2] = std::max(errors[2], (truth[i].lambda - got[i].lambda).norm());
      }
      h.push_back(end / count);
      q.push_back(errors[0]);
      v.push_back(errors[1]);
      lambda.push_back(errors[2]);
    }
    RecordProperty(stabilised ? "index 2" : "index 3", std::to_string(fitted_slope(h, q)) + " " +
                                                           std::to_string(fitted_slope(h, v)) + " " +
                                                           std::to_string(fitted_slope(h, lambda)));
    EXPECT_NEAR(fitted_slope(h, q), 5, 0.2);
    EXPECT_NEAR(fitted_slope(h, v), stabilised ? 5 : 3, 0.2);
    EXPECT_NEAR(fitted_slope(h, lambda), stabilised ? 3 : 2, 0.3);
  }
}

// Velocity constraints hold as far as Newton goes at index 2, to the order of the method at index 3.
TEST(ConstrainedBdf, KeepsVelocityConstraintsAtIndexTwo) {
  Ready ready(problems::four_bar(problems::Build::redundant));
  Vec rate(ready.equations->sizes().multipliers());
  for (const bool stabilised : {false, true}) {
    ConstrainedBdfOptions options;
    options.stabilised = stabilised;
    options.tolerance = 1e-6;
    options.newton.c = 1e-7;  // what Newton leaves shows in the constraints
    ConstrainedBdf m(*ready.equations, options);
    m.start(ready.state, ready.rates);
    double h = 1e-4, most = 0, most_g = 0;
    Residual residual = ready.equations->make_residual();
    while (m.state().t < 1) {
      const Attempt attempt = m.attempt(h);
      ASSERT_EQ(attempt.verdict, Verdict::ok);
      if (attempt.error <= 1) {
        m.accept();
        ready.equations->velocity_residual(m.state(), rate, ready.work);
        ready.equations->residual(m.state(), m.rates(), joints, residual, ready.work);
        most = std::max(most, rate.lpNorm<Eigen::Infinity>());
        most_g = std::max(most_g, residual.g.lpNorm<Eigen::Infinity>());
      }
      h = attempt.suggested_h;
    }
    EXPECT_LT(most_g, 1e-9);
    if (stabilised) {
      EXPECT_LT(most, 1e-8);
    } else {
      EXPECT_GT(most, 1e-6);
    }
    // orders above 2 carry a smooth motion
    const std::span<const long> by_order = m.steps_by_order();
    EXPECT_GT(by_order[4] + by_order[5] + by_order[6], m.counts().steps / 2);
  }
}

}  // namespace
}  // namespace trammel::bdf_constrained_test
