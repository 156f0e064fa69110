// The parts around a method: predictor, corrector's stopping rules, step control.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/ode/control/step_rule.h"

namespace trammel::control_test {
namespace {

const double times[] = {0.0, 0.1, 0.25, 0.3, 0.52, 0.6, 0.75};

// A polynomial of degree up to three is continued exactly, whatever the steps.
TEST(Predictor, ContinuesPolynomials) {
  const Vec scales = Vec::Ones(2);
  for (int degree = 0; degree <= 3; ++degree) {
    const auto value = [&](double t) {
      Vec out(3);
      out << 1 - std::pow(t, degree), 2 + 0.5 * std::pow(t - 0.2, degree),
          std::pow(t, degree);  // the third is not judged
      return out;
    };
    Predictor predictor;
    predictor.resize(3, 2);
    EXPECT_TRUE(predictor.empty());
    for (const double t : times) predictor.add(t, value(t), scales);
    EXPECT_FALSE(predictor.empty());
    Vec out(3);
    predictor.predict(0.9, out);
    EXPECT_LT((out - value(0.9)).norm(), 1e-13) << degree;
  }
}

TEST(Predictor, StartsWithWhatItHas) {
  Predictor predictor;
  predictor.resize(1, 1);
  const Vec scales = Vec::Ones(1);
  Vec out(1);
  predictor.add(0, Vec::Constant(1, 3), scales);
  predictor.predict(1, out);
  EXPECT_EQ(out[0], 3);
  predictor.add(1, Vec::Constant(1, 4), scales);  // one point cannot tell which degree is better
  predictor.predict(2, out);
  EXPECT_EQ(out[0], 4);
  predictor.add(2, Vec::Constant(1, 5), scales);  // degree one would have met this
  predictor.predict(3, out);
  EXPECT_NEAR(out[0], 6, 1e-14);
  predictor.clear();
  EXPECT_TRUE(predictor.empty());
  predictor.add(5, Vec::Constant(1, -1), scales);
  predictor.predict(6, out);
  EXPECT_EQ(out[0], -1);
}

TEST(Predictor, FallsBackWhereValuesJump) {
  Predictor predictor;
  predictor.resize(1, 1);
  const Vec scales = Vec::Ones(1);
  for (const double t : times) predictor.add(t, Vec::Constant(1, t), scales);
  EXPECT_GE(predictor.degree(), 1);
  predictor.add(0.8, Vec::Constant(1, 100), scales);
  predictor.add(0.9, Vec::Constant(1, 100), scales);
  EXPECT_EQ(predictor.degree(), 0);
  Predictor limited;
  limited.resize(1, 1);
  limited.set_limit(0);
  for (const double t : times) limited.add(t, Vec::Constant(1, t), scales);
  EXPECT_EQ(limited.degree(), 0);
}

TEST(Predictor, IsSavedWhole) {
  Predictor first, second;
  first.resize(2, 2);
  second.resize(2, 2);
  const Vec scales = Vec::Ones(2);
  for (const double t : times) first.add(t, (Vec(2) << std::sin(t), std::exp(t)).finished(), scales);
  Bytes bytes;
  write_state(first, bytes);
  std::span<const std::byte> in(bytes);
  read_state(second, in);
  EXPECT_TRUE(in.empty());
  Vec a(2), b(2);
  for (const double t : {0.8, 0.95}) {
    first.predict(t, a);
    second.predict(t, b);
    EXPECT_EQ(a, b);
    first.add(t, (Vec(2) << std::sin(t), std::exp(t)).finished(), scales);
    second.add(t, (Vec(2) << std::sin(t), std::exp(t)).finished(), scales);
  }
  EXPECT_EQ(first.degree(), second.degree());
}

// On a smooth motion higher degrees save iterations.
TEST(Predictor, SavesIterations) {
  const problems::Ready ready(problems::spatial_slider_crank());
  AlphaOptions options = problems::fixed(AlphaParameters::hht(-0.3));
  options.predictor_degree = 0;
  const long constant = problems::run_fixed(ready, options, 1e-3, 500).counts.newton_iterations;
  options.predictor_degree = 3;
  const Counts counts = problems::run_fixed(ready, options, 1e-3, 500).counts;
  EXPECT_LT(counts.newton_iterations, constant);
  EXPECT_EQ(
      counts.predictor_degree[0] + counts.predictor_degree[1] + counts.predictor_degree[2] + counts.predictor_degree[3],
      500);
}

TEST(NewtonMonitor, StopsWhenTheRestIsSmall) {
  NewtonMonitor monitor{NewtonMonitor::Options{}};
  monitor.forget_rate();
  monitor.begin();
  EXPECT_EQ(monitor.next(1.0, 1.0, 0), NewtonMonitor::Decision::go_on);
  EXPECT_EQ(monitor.next(0.1, 1.0, 0), NewtonMonitor::Decision::go_on);        // 0.1/0.9 * 0.1 = 0.011
  EXPECT_EQ(monitor.next(0.005, 1.0, 0), NewtonMonitor::Decision::converged);  // rate 0.1: 0.00056 is left
  EXPECT_EQ(monitor.iterations(), 3);
  EXPECT_NEAR(monitor.rate(), 0.1, 1e-15);
}

TEST(NewtonMonitor, StopsAtOnceWhereNothingIsLeft) {
  NewtonMonitor monitor{NewtonMonitor::Options{}};
  monitor.forget_rate();
  monitor.begin();
  EXPECT_EQ(monitor.next(1e-4, 1.0, 0), NewtonMonitor::Decision::converged);
  monitor.begin();
  EXPECT_EQ(monitor.next(1e-4, 1e-6, 2e-4), NewtonMonitor::Decision::converged);  // below the noise
}

TEST(NewtonMonitor, GivesUpWhenCorrectionsGrow) {
  NewtonMonitor monitor{NewtonMonitor::Options{}};
  monitor.forget_rate();
  monitor.begin();
  EXPECT_EQ(monitor.next(1.0, 1.0, 0), NewtonMonitor::Decision::go_on);
  EXPECT_EQ(monitor.next(3.0, 1.0, 0), NewtonMonitor::Decision::diverged);
}

TEST(NewtonMonitor, GivesUpWhenItTakesTooLong) {
  NewtonMonitor::Options options;
  options.most_iterations = 4;
  NewtonMonitor monitor{options};
  monitor.forget_rate();
  monitor.begin();
  double correction = 1;
  NewtonMonitor::Decision decision = NewtonMonitor::Decision::go_on;
  while (decision == NewtonMonitor::Decision::go_on) decision = monitor.next(correction *= 0.97, 1e-3, 0);
  EXPECT_EQ(decision, NewtonMonitor::Decision::diverged);
  EXPECT_EQ(monitor.iterations(), 4);
  EXPECT_TRUE(monitor.slow());
}

// Slow but steady corrections are enough when a hundredth of the allowed error is left; with old derivatives they are
// not, for new ones may be faster.
TEST(NewtonMonitor, TakesWhatSlowCorrectionsReach) {
  for (const bool fresh : {true, false}) {
    NewtonMonitor::Options options;
    options.most_iterations = 10;
    options.slow_will_do = true;
    NewtonMonitor monitor{options};
    monitor.forget_rate();
    monitor.begin(fresh);
    double correction = 0.4;
    NewtonMonitor::Decision decision = NewtonMonitor::Decision::go_on;
    while (decision == NewtonMonitor::Decision::go_on) decision = monitor.next(correction *= 0.6, 1, 0);
    EXPECT_EQ(monitor.iterations(), 10);  // 0.0024, and 1.5 times as much is left
    EXPECT_EQ(decision, fresh ? NewtonMonitor::Decision::converged : NewtonMonitor::Decision::diverged);
  }
}

// At the level of round-off the ratio of corrections means nothing: it must neither look like divergence nor spoil the
// rate.
TEST(NewtonMonitor, DoesNotTakeNoiseForDivergence) {
  NewtonMonitor monitor{NewtonMonitor::Options{}};
  monitor.forget_rate();
  monitor.begin();
  EXPECT_EQ(monitor.next(1.0, 1e-12, 1e-6), NewtonMonitor::Decision::go_on);
  EXPECT_EQ(monitor.next(1e-2, 1e-12, 1e-6), NewtonMonitor::Decision::go_on);
  EXPECT_EQ(monitor.next(8e-7, 1e-12, 1e-6), NewtonMonitor::Decision::converged);
  EXPECT_FALSE(monitor.slow());
}

TEST(StepController, FollowsTheCubeRootWithGainOne) {
  StepController::Options published;
  published.gain = 1;
  StepController controller(published);
  EXPECT_NEAR(controller.after_accept(1, 1, 3), 0.9, 1e-15);
  EXPECT_NEAR(controller.after_accept(1, 1.0 / 8, 3), 1.8, 1e-12);
  EXPECT_NEAR(controller.after_accept(2, 1e-9, 3), 10, 1e-12);  // at most fivefold
  EXPECT_NEAR(controller.after_accept(1, 0, 3), 5, 1e-12);
}

// A smaller gain goes part of the way, to the same end.
TEST(StepController, SettlesAtTheSameStepWithAnyGain) {
  for (const double gain : {0.2, 0.4, 1.0}) {
    StepController::Options options;
    options.gain = gain;
    StepController controller(options);
    double h = 1;
    for (int i = 0; i < 100; ++i) h = controller.after_accept(h, 5 * h * h * h, 3);  // error of order three
    EXPECT_NEAR(5 * h * h * h, 0.9 * 0.9 * 0.9, 1e-8) << gain;
  }
}

TEST(StepController, DoesNotGrowRightAfterARejection) {
  StepController controller;
  EXPECT_NEAR(controller.after_reject(1, 8, 3), 0.45, 1e-12);
  EXPECT_NEAR(controller.after_accept(0.45, 1e-3, 3), 0.45, 1e-12);
  EXPECT_GT(controller.after_accept(0.45, 1e-3, 3), 0.45);
  EXPECT_NEAR(controller.after_failure(1), 0.25, 1e-15);
  EXPECT_NEAR(controller.after_accept(0.25, 1e-3, 3), 0.25, 1e-12);
}

TEST(StepController, ShrinksByATenthToAFactorOfTen) {
  StepController controller;
  EXPECT_NEAR(controller.after_reject(1, 1.0001, 3), 0.9, 1e-4);
  EXPECT_NEAR(controller.after_reject(1, 1e30, 3), 0.1, 1e-12);
  EXPECT_TRUE(std::isfinite(controller.after_reject(1, 1e300, 3)));
}

// A step that ends at the end says nothing against a longer one; one that something else has cut short counts as taken.
TEST(StepRule, KeepsTheSizeThatTheEndHasCut) {
  StepRule rule({.controller = {.gain = 1}}, 1);
  const Attempt exact{.error = 1};  // the size is right: 0.9 of it comes next
  EXPECT_EQ(rule.choose(0.25), 0.25);
  rule.accepted(0.25, exact, 3);
  EXPECT_EQ(rule.next(), 1);
  EXPECT_EQ(rule.choose(0.25), 0.25);
  rule.cut();
  rule.accepted(0.2, exact, 3);
  EXPECT_NEAR(rule.next(), 0.18, 1e-15);
}

TEST(StepRule, StretchesTheLastStepOverASliver) {
  StepRule rule({.controller = {}, .greatest = 0.5, .stretch = 0.1}, 1);
  EXPECT_EQ(rule.choose(2), 0.5);
  EXPECT_EQ(rule.choose(0.54), 0.54);
  EXPECT_EQ(rule.choose(0.56), 0.5);
}

TEST(StepRule, FixedStepsStay) {
  StepRule rule({.controller = {}, .fixed = true}, 0.1);
  EXPECT_TRUE(rule.good({.error = 1e9}));
  EXPECT_FALSE(rule.good({.verdict = Verdict::newton_diverged}));
  rule.accepted(0.1, {.error = 1e9}, 3);
  rule.refused(0.1, {.verdict = Verdict::newton_diverged}, 3);
  rule.shrink_to(1e-3);
  EXPECT_EQ(rule.next(), 0.1);
}

TEST(StepController, RemembersARejectionWhenSaved) {
  const auto first = std::make_unique<StepController>();  // on the stack gcc 12 takes it for uninitialised
  StepController second;
  first->after_reject(1, 2, 3);
  Bytes bytes;
  write_state(*first, bytes);
  std::span<const std::byte> in(bytes);
  read_state(second, in);
  EXPECT_TRUE(in.empty());
  EXPECT_EQ(first->after_accept(1, 1e-3, 3), second.after_accept(1, 1e-3, 3));
}

}  // namespace
}  // namespace trammel::control_test
