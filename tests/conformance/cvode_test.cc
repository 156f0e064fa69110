// CVODE behind our interface: what the suite of methods_test.cc asks of our own methods, as far as the library allows
// it.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/ode/functor_problem.h"
#include "trammel/ode/solve.h"
#include "trammel/run/simulation.h"

namespace trammel::cvode_test {
namespace {

// Stiff with a known solution: y0' = -1000 (y0 - cos t) - sin t, y1' = -y1.
struct Stiff {
  template <class T, class Y, class D>
  void operator()(const T& t, Y y, D dydt) const {
    using std::cos;
    using std::sin;
    dydt[0] = -1000.0 * (y[0] - cos(t)) - sin(t);
    dydt[1] = -y[1];
  }
};

class WithoutJacobian final : public FirstOrderProblem {
 public:
  int size() const override { return 2; }
  Eval f(double t, const Vec& y, Vec& dydt) override {
    dydt.resize(2);
    Stiff()(t, y, Eigen::Ref<Vec>(dydt));
    return Eval::ok;
  }
};

double error_at_2(const SolveResult& r) {
  return std::max(std::abs(r.y[0] - std::cos(2.0)), std::abs(r.y[1] - std::exp(-2.0)));
}

class Cvodes : public testing::TestWithParam<const char*> {};

TEST_P(Cvodes, MeetTheTolerance) {
  FirstOrderFunctor problem(2, Stiff());
  double before = 1;
  for (const double tolerance : {1e-4, 1e-7, 1e-10}) {
    const SolveResult r =
        solve(problem, GetParam(), 0, Vec::Ones(2), 2, {.tolerance = tolerance, .output_times = {0.7}});
    ASSERT_EQ(r.status, SolveStatus::finished) << r.message;
    EXPECT_LT(error_at_2(r), 100 * tolerance);
    EXPECT_LT(error_at_2(r), 0.1 * before);
    EXPECT_NEAR(r.outputs[0][0], std::cos(0.7), 100 * tolerance) << "inside a step";
    before = error_at_2(r);
  }
}

TEST_P(Cvodes, RunOnMechanisms) {
  const Vec3 truth(-0.7670905966190552, -0.376783722018906, -0.5192360189742251);
  for (const double tolerance : {1e-4, 1e-7}) {
    Model m = problems::spherical_pendulum();
    m.simulation.method = GetParam();
    m.simulation.end = 1;
    m.simulation.tolerance = tolerance;
    Simulation simulation(m);
    MemoryTrajectory trajectory;
    ASSERT_EQ(simulation.run(trajectory).status, RunStatus::finished);
    EXPECT_LT((simulation.integrator().state().q - truth).norm(), 300 * tolerance);
    // Its history is not ours to save.
    Bytes bytes;
    EXPECT_THROW(simulation.integrator().save(bytes), Failure);
  }
}

TEST_P(Cvodes, RefuseFixedSteps) {
  MethodSettings settings;
  settings.fixed_step = true;
  try {
    resolve_settings(find_method(GetParam(), {}), settings, {});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(failure.problems()[0].message.find("its own steps"), std::string::npos);
  }
}

TEST_P(Cvodes, AttemptsThatAreNotAcceptedLeaveTheStateAlone) {
  FirstOrderFunctor problem(2, Stiff());
  const MethodInfo& info = find_method(GetParam(), {});
  MethodSettings settings;
  settings.tolerance = 1e-6;
  const auto method = info.make_first_order(problem, resolve_settings(info, settings, {}));
  method->start(0, Vec::Ones(2));
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(method->attempt(1e-3).verdict, Verdict::ok);
    method->accept();
    EXPECT_NEAR(method->t(), 1e-3 * (i + 1), 1e-15);
  }
  const Vec y = method->y();
  for (const double h : {1e-3, 0.1, 1e-5}) {
    ASSERT_EQ(method->attempt(h).verdict, Verdict::ok);
    EXPECT_EQ(method->y(), y);
    EXPECT_NEAR(method->t(), 0.02, 1e-15);
  }
  ASSERT_EQ(method->attempt(0.01).verdict, Verdict::ok);
  method->accept();
  EXPECT_NEAR(method->y()[0], std::cos(0.03), 1e-4);
  EXPECT_NEAR(method->dydt()[1], -method->y()[1], 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Both, Cvodes, testing::Values("cvode-bdf", "cvode-adams"),
                         [](const auto& key) { return std::string(key.param) == "cvode-bdf" ? "bdf" : "adams"; });

TEST(Cvode, TakesDerivativesByDifferencesWhereThereAreNone) {
  FirstOrderFunctor exact(2, Stiff());
  WithoutJacobian plain;
  const SolveResult a = solve(exact, "cvode-bdf", 0, Vec::Ones(2), 2),
                    b = solve(plain, "cvode-bdf", 0, Vec::Ones(2), 2);
  EXPECT_LT(error_at_2(b), 1e-4);
  EXPECT_GT(a.counts.linearisations, 0);
  EXPECT_EQ(b.counts.linearisations, 0);
  EXPECT_LT(a.counts.evaluations, b.counts.evaluations);
  EXPECT_LT(b.steps, 300) << "1000 1/s and 2 s: an explicit method takes some 1000 steps";
}

TEST(Cvode, PassesExceptionsOfTheProblemOn) {
  class Throwing final : public FirstOrderProblem {
   public:
    int size() const override { return 1; }
    Eval f(double t, const Vec& y, Vec& dydt) override {
      if (t > 0.5) throw std::runtime_error("enough");
      dydt = y;
      return Eval::ok;
    }
  } problem;
  EXPECT_THROW(solve(problem, "cvode-adams", 0, Vec::Ones(1), 1), std::runtime_error);
}

}  // namespace
}  // namespace trammel::cvode_test
