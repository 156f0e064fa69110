// The driver for one's own equations, and what single methods do beyond the conformance suite.
#include "trammel/ode/solve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numeric>

#include "tests/problems/ode_problems.h"
#include "tests/problems/stepping.h"
#include "trammel/ode/functor_problem.h"
#include "trammel/ode/multistep/adams.h"
#include "trammel/ode/runge_kutta/runge_kutta.h"

namespace trammel::solve_test {
namespace {

using problems::ode_case;
using problems::OdeCase;
using testing::HasSubstr;

std::string solve_complaint(const char* method, const Vec& y0, double end, const SolveOptions& options = {}) {
  try {
    const auto problem = ode_case("logistic").make();
    solve(*problem, method, 0, y0, end, options);
  } catch (const Failure& failure) {
    return to_text(failure.problems()[0]);
  }
  return "";
}

TEST(Solve, RefusesCallsThatCannotBeMeant) {
  const Vec one = Vec::Constant(1, 0.1);
  EXPECT_THAT(solve_complaint("adams", Vec::Ones(2), 1), HasSubstr("the start has 2 values, the problem 1"));
  EXPECT_THAT(solve_complaint("adams", Vec::Constant(1, std::nan("")), 1), HasSubstr("not a number"));
  EXPECT_THAT(solve_complaint("adam", one, 1), HasSubstr("did you mean 'adams'?"));
  EXPECT_THAT(solve_complaint("hht-i3", one, 1), HasSubstr("there is no method 'hht-i3' for differential equations"));
  EXPECT_THAT(solve_complaint("adams", one, 1, {.tolerance = 0}), HasSubstr("tolerance"));
  EXPECT_THAT(solve_complaint("adams", one, 1, {.step = 0.0}), HasSubstr("fixed step"));
  EXPECT_THAT(solve_complaint("adams", one, 1, {.output_times = {0.5, 0.2}}), HasSubstr("0.2"));
  EXPECT_THAT(solve_complaint("adams", one, 1, {.output_times = {2}}), HasSubstr("outside"));
  EXPECT_THAT(solve_complaint("adams", one, std::nan(""), {}), HasSubstr("not finite"));
}

TEST(Solve, StopsWhenToldAndWhenTired) {
  const OdeCase& c = ode_case("kepler");
  const auto problem = c.second();
  SolveOptions options;
  options.after_step = [](const OdeMethod& method) { return method.t() < 0.5; };
  SolveResult result = solve(*problem, "adams", 0, c.solution(0), 2, options);
  EXPECT_EQ(result.status, SolveStatus::stopped);
  EXPECT_LT((result.y - c.solution(result.t)).norm(), 1e-4);
  options.after_step = {};
  options.most_attempts = 10;
  result = solve(*problem, "adams", 0, c.solution(0), 2, options);
  EXPECT_EQ(result.status, SolveStatus::too_many_attempts);
  EXPECT_THAT(result.message, HasSubstr("too many steps at t = "));
  // no way at all
  result = solve(*problem, "adams", 1, c.solution(1), 1);
  EXPECT_EQ(result.status, SolveStatus::finished);
  EXPECT_EQ(result.steps, 0);
}

TEST(Solve, SaysWhereTheStartIsBad) {
  problems::EndsAtOne problem(true);
  const SolveResult result = solve(problem, "adams", 1.5, Vec::Zero(1), 2);
  EXPECT_EQ(result.status, SolveStatus::bad_start);
  EXPECT_THAT(result.message, HasSubstr("could not be evaluated"));
}

TEST(Solve, FixedStepsEndAtTheEnd) {
  const OdeCase& c = ode_case("closed loop");
  const auto problem = c.second();
  const SolveResult result = solve(*problem, "rk4", 0, c.solution(0), 1, {.step = 0.03});
  EXPECT_EQ(result.steps, 34);
  EXPECT_EQ(result.t, 1);
  EXPECT_NEAR(result.least_step, 0.01, 1e-12);
  EXPECT_LT((result.y - c.solution(1)).norm(), 1e-6);
}

// ---- adams ----------------------------------------------------------------------------------------------------------

class Growth final : public FirstOrderProblem {
 public:
  int size() const override { return 1; }
  Eval f(double, const Vec& y, Vec& dydt) override {
    dydt = y;
    return Eval::ok;
  }
};

// From exact past values a step of order k leaves a local error of h^(k+2), the estimate goes with h^(k+1).
TEST(Adams, EveryOrderIsOne) {
  const auto exact = [](double t) { return Vec::Constant(1, std::exp(t)); };
  for (int k = 1; k <= 8; ++k) {
    std::vector<double> sizes, errors, estimates;
    for (const int count : {20, 24, 30}) {
      const double h = 2.0 / count;
      Growth problem;
      AdamsMethod method(problem, {.fixed_step = true, .tolerance = 1e-6, .most_order = k});
      method.start(0, exact(0));
      for (int i = 0; i < count; ++i) {
        ASSERT_EQ(method.attempt(h).verdict, Verdict::ok);
        method.accept();
      }
      std::vector<OdeMethod::Point> past;
      for (int i = 0; i < method.memory(); ++i) {
        const double t = method.t() - i * h;
        past.push_back({t, exact(t), exact(t)});
      }
      method.rebase(past);
      ASSERT_EQ(method.order(), k);
      const Attempt attempt = method.attempt(h);
      sizes.push_back(h);
      estimates.push_back(attempt.error);
      errors.push_back(std::abs(method.trial()[0] - exact(method.t() + h)[0]));
    }
    EXPECT_NEAR(problems::fitted_slope(sizes, errors), k + 2, 0.4) << k;
    EXPECT_NEAR(problems::fitted_slope(sizes, estimates), k + 1, 0.4) << k;
  }
}

TEST(Adams, KnowsStiffness) {
  const OdeCase& c = ode_case("kaps, stiff");
  for (const double tolerance : {1e-3, 1e-5, 1e-7}) {
    SolveOptions options;
    options.tolerance = tolerance;
    const auto problem = c.make();
    const SolveResult stiff = solve(*problem, "adams", 0, c.solution(0), c.end, options);
    EXPECT_EQ(stiff.status, SolveStatus::finished);
    EXPECT_GT(stiff.stiff_steps, 100);
    EXPECT_THAT(stiff.message, HasSubstr("looks stiff"));
    EXPECT_EQ(std::accumulate(stiff.steps_by_order.begin(), stiff.steps_by_order.end(), 0L), stiff.steps);
  }
}

TEST(Adams, TakesNothingElseForStiff) {
  for (const OdeCase& c : problems::ode_cases()) {
    if (c.stiff) continue;
    for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-9, 1e-12}) {
      SolveOptions options;
      options.tolerance = tolerance;
      const auto problem = c.make();
      const SolveResult result = solve(*problem, "adams", 0, c.solution(0), c.end, options);
      EXPECT_EQ(result.stiff_steps, 0) << c.name << ", " << tolerance;
    }
  }
}

// High orders at tight tolerances, over many revolutions.
TEST(Adams, UsesItsOrders) {
  problems::TurnedOscillators problem;
  Vec start(4);
  start << 1, 0, 0, 0;
  SolveOptions options;
  options.tolerance = 1e-11;
  const SolveResult result = solve(problem, "adams", 0, start, 100, options);
  ASSERT_EQ(result.status, SolveStatus::finished);
  EXPECT_NEAR(result.y.norm(), 1, 1e-8);
  long high = 0;
  for (std::size_t k = 8; k < result.steps_by_order.size(); ++k) high += result.steps_by_order[k];
  EXPECT_GT(high, result.steps / 2);
  EXPECT_LT(result.counts.evaluations, 2 * result.steps + 2 * result.rejected + 20);
}

// ---- ode45 ----------------------------------------------------------------------------------------------------------

TEST(Ode45, KeepsItsRules) {
  const OdeCase& c = ode_case("kepler");
  const auto problem = c.make();
  RungeKutta method(*problem, ButcherTableau::dormand_prince_54(),
                    {.tolerance = 1e-6, .norm = Norm::greatest, .ode45 = true});
  method.start(0, c.solution(0));
  double h = 1.5;
  Attempt a = method.attempt(h);
  ASSERT_GT(a.error, 1);
  EXPECT_DOUBLE_EQ(a.suggested_h, h * std::max(0.1, 0.8 * std::pow(a.error, -0.2)));
  a = method.attempt(h);
  EXPECT_DOUBLE_EQ(a.suggested_h, 0.5 * h);
  h = 0.05;
  a = method.attempt(h);
  ASSERT_LE(a.error, 1);
  EXPECT_DOUBLE_EQ(a.suggested_h, h);  // none after a failure
  method.accept();
  a = method.attempt(h);
  ASSERT_LE(a.error, 1);
  EXPECT_DOUBLE_EQ(a.suggested_h, h / (1.25 * std::pow(a.error, 0.2)));
  a = method.attempt(1e-4);
  EXPECT_DOUBLE_EQ(a.suggested_h, 5e-4);
  const SolveResult result =
      solve(*problem, "dormand-prince-54", 0, c.solution(0), c.end, SolveOptions::like_ode45(c.end, 1e-6));
  EXPECT_LT((result.y - c.solution(c.end)).norm(), 1e-4);
  EXPECT_LE(result.greatest_step, 0.1 * c.end * 1.1001);
}

// ---- bdf ------------------------------------------------------------------------------------------------------------

class Robertson final : public FirstOrderProblem {
 public:
  int size() const override { return 3; }
  Eval f(double, const Vec& y, Vec& d) override {
    d.resize(3);
    d[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
    d[2] = 3e7 * y[1] * y[1];
    d[1] = -d[0] - d[2];
    return Eval::ok;
  }
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override {
    scales = before.cwiseAbs().cwiseMax(after.cwiseAbs());
    scales[0] += 1e-2;
    scales[1] += 1e-6;
    scales[2] += 1e-2;
  }
};

TEST(Bdf, SolvesRobertsonsProblem) {
  Vec start(3), truth(3);
  start << 1, 0, 0;
  truth << 0.7158270687193941, 9.185534764557338e-6, 0.2841637457458413;
  std::vector<double> errors;
  for (const double tolerance : {1e-4, 1e-7}) {
    Robertson problem;
    SolveOptions options;
    options.tolerance = tolerance;
    const SolveResult result = solve(problem, "bdf", 0, start, 40, options);
    ASSERT_EQ(result.status, SolveStatus::finished) << result.message;
    EXPECT_LT(result.steps, tolerance > 1e-5 ? 100 : 300);
    errors.push_back(((result.y - truth).cwiseQuotient(truth)).norm());
    EXPECT_LT(errors.back(), 30 * tolerance);
  }
}

// y' = -y + z, 0 = z - cos t.
class WithAlgebraic final : public ImplicitProblem {
 public:
  int size() const override { return 2; }
  Eval residual(double t, const Vec& y, const Vec& dydt, Vec& F) override {
    F.resize(2);
    F << dydt[0] + y[0] - y[1], y[1] - std::cos(t);
    return Eval::ok;
  }
  Eval jacobian(double, const Vec&, const Vec&, double c, Jacobian& J) override {
    J.dense.resize(2, 2);
    J.dense << 1 + c, -1, 0, 1;
    return Eval::ok;
  }
  bool in_error_test(int i) const override { return i == 0; }
};

TEST(Bdf, SolvesImplicitProblems) {
  Vec start(2);
  start << 1, 1;
  std::vector<double> tolerances{1e-4, 1e-6, 1e-8}, errors;
  for (const double tolerance : tolerances) {
    WithAlgebraic problem;
    SolveOptions options;
    options.tolerance = tolerance;
    const SolveResult result = solve(problem, "bdf", 0, start, 5, options);
    ASSERT_EQ(result.status, SolveStatus::finished) << result.message;
    errors.push_back(std::abs(result.y[0] - 0.5 * (std::cos(5) + std::sin(5) + std::exp(-5.0))));
    EXPECT_NEAR(result.y[1], std::cos(5), 1e-9);
    EXPECT_LT(errors.back(), 20 * tolerance);
  }
  EXPECT_LT(errors[2], 1e-2 * errors[0]);
}

// ---- a fixed number of corrections

struct CorrectedRun {
  Vec end;
  std::vector<std::array<long, 4>> steps;  // evaluations, Jacobians, factorisations and solves of each step
};

// A driven pendulum over 2 s at h = 0.05.
CorrectedRun corrected(const std::string& method, double corrections) {
  auto problem = second_order(1, [](auto t, auto y, auto v, auto a) {
    using std::cos;
    using std::sin;
    a[0] = -4.0 * sin(y[0]) - 0.1 * v[0] + 0.5 * cos(2.0 * t);
  });
  CorrectedRun run;
  std::array<long, 4> before{};
  SolveOptions options;
  options.step = 0.05;
  options.options.set("corrections", corrections);
  options.after_step = [&](const OdeMethod& m) {
    const Counts& c = m.counts();
    const std::array<long, 4> now{c.evaluations, c.linearisations, c.factorisations + c.refactorisations, c.solves};
    run.steps.push_back({now[0] - before[0], now[1] - before[1], now[2] - before[2], now[3] - before[3]});
    before = now;
    return true;
  };
  Vec start(2);
  start << 1, 0.5;
  const SolveResult result = solve(problem, method, 0, start, 2, options);
  EXPECT_EQ(result.status, SolveStatus::finished) << method << ": " << result.message;
  run.end = result.y;
  return run;
}

TEST(Corrections, AFixedNumberCostsTheSameEveryStep) {
  int methods = 0;
  for (const OdeMethodInfo& m : ode_method_registry()) {
    if (std::none_of(m.options.begin(), m.options.end(), [](const Field& f) { return f.name == "corrections"; }))
      continue;
    if (m.key == "runge-kutta") continue;  // explicit, unless the tableau of its file is not
    ++methods;
    SCOPED_TRACE(m.key);
    const CorrectedRun two = corrected(m.key, 2), many = corrected(m.key, 8), converged = corrected(m.key, 0);
    ASSERT_EQ(two.steps.size(), 40u);
    for (std::size_t i = 2; i < two.steps.size(); ++i) EXPECT_EQ(two.steps[i], two.steps[1]) << "step " << i;
    EXPECT_EQ(two.steps[1][1], 1) << "derivatives of the step itself";
    EXPECT_LT((many.end - converged.end).norm(), 1e-11);
    EXPECT_LT((two.end - converged.end).norm(), 1e-4);
  }
  EXPECT_EQ(methods, 15);
}

// Fewer corrections than with derivatives that are kept as they were, and the same result.
TEST(Corrections, OfTheSecantMethodConvergeFaster) {
  for (const auto& [method, part] : {std::pair{"newmark", 0.85},
                                     {"midpoint", 0.85},
                                     {"trapezoidal", 0.85},
                                     {"radau-iia-3", 1.0},
                                     {"sdirk-4", 1.0}}) {
    SCOPED_TRACE(method);
    Vec ends[2];
    long corrections[2] = {};
    for (const bool secant : {false, true}) {
      auto problem = second_order(2, [](auto, auto y, auto, auto a) {
        using std::sin;
        a[0] = -40.0 * sin(y[0]) - 8.0 * y[1] * y[0];
        a[1] = -60.0 * sin(y[1]) - 4.0 * y[0] * y[0];
      });
      SolveOptions options;
      options.step = 0.05;
      options.options.set("secant", secant);
      options.options.set("keep_rate", 0.9);
      Vec start(4);
      start << 1, 0.5, 0, 0;
      const SolveResult result = solve(problem, method, 0, start, 4, options);
      ASSERT_EQ(result.status, SolveStatus::finished) << result.message;
      ends[secant] = result.y;
      corrections[secant] = result.counts.newton_iterations;
    }
    EXPECT_LT((ends[1] - ends[0]).norm(), 1e-9);
    EXPECT_LT(static_cast<double>(corrections[1]), part * static_cast<double>(corrections[0]));
  }
}

TEST(Corrections, AreRefusedWhereAnErrorIsControlled) {
  const auto problem = ode_case("logistic").make();
  SolveOptions options;
  options.options.set("corrections", 2.0);
  try {
    solve(*problem, "radau-iia-3", 0, Vec::Constant(1, 0.1), 1, options);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_THAT(to_text(failure.problems()[0]), HasSubstr("needs a fixed step"));
  }
}

}  // namespace
}  // namespace trammel::solve_test
