// Every method of the registry that integrates y' = f or y'' = f: what its entry claims is what it does on problems
// with known solutions, and it keeps to the rules of OdeMethod. A new method needs nothing here but its entry.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>

#include "tests/problems/mechanisms.h"
#include "tests/problems/ode_problems.h"
#include "tests/problems/own_malloc.h"
#include "tests/problems/stepping.h"
#include "trammel/ode/solve.h"
#include "trammel/run/simulation.h"

namespace trammel::ode_methods_test {
namespace {

using problems::EndsAtOne;
using problems::fitted_slope;
using problems::ode_case;
using problems::ode_cases;
using problems::OdeCase;
using problems::TurnedOscillators;

bool equal_bits(const Vec& a, const Vec& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0);
}

// A problem and a method on it.
struct Pair {
  std::unique_ptr<FirstOrderProblem> first;
  std::unique_ptr<SecondOrderProblem> second;
  std::unique_ptr<OdeMethod> method;
};

class OdeMethods : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!info().why_refused(settings_unchecked(true)).empty()) GTEST_SKIP() << "chooses its own steps";
  }
  const MethodInfo& info() const { return find_method(GetParam(), {}); }
  bool takes(const OdeCase& c) const {
    if (c.stiff && !info().stiff) return false;
    return c.second || info().make_first_order;
  }
  MethodSettings settings(bool fixed, double tolerance) const {
    MethodSettings s;
    s.fixed_step = fixed;
    s.tolerance = tolerance;
    return resolve_settings(info(), s, {});
  }
  std::unique_ptr<OdeMethod> make(FirstOrderProblem& problem, bool fixed = true, double tolerance = 1e-12) const {
    return info().make_first_order(problem, settings(fixed, tolerance));
  }
  // Started at t = 0.
  Pair make(const OdeCase& c, bool fixed = true, double tolerance = 1e-12) const {
    Pair pair;
    if (c.second && info().make_second_order) {
      pair.second = c.second();
      pair.method = info().make_second_order(*pair.second, settings(fixed, tolerance));
    } else {
      pair.first = c.make();
      pair.method = make(*pair.first, fixed, tolerance);
    }
    pair.method->start(0, c.solution(0));
    return pair;
  }
  SolveResult solve_case(const OdeCase& c, const SolveOptions& options) const {
    if (c.second) {
      const auto problem = c.second();
      return solve(*problem, GetParam(), 0, c.solution(0), c.end, options);
    }
    const auto problem = c.first();
    return solve(*problem, GetParam(), 0, c.solution(0), c.end, options);
  }
  bool refuses_control() const { return !info().why_refused(settings_unchecked(false)).empty(); }
  MethodSettings settings_unchecked(bool fixed) const {
    MethodSettings s;
    s.fixed_step = fixed;
    for (const Field& option : info().options) s.options.set(option.name, *option.fallback);
    return s;
  }
  static testing::AssertionResult step(OdeMethod& method, double h) {
    const Attempt attempt = method.attempt(h);
    if (attempt.verdict != Verdict::ok) return testing::AssertionFailure() << to_text(attempt.verdict);
    method.accept();
    return testing::AssertionSuccess();
  }
};

struct Errors {
  std::vector<double> h, steps, between, estimate;
};

// Shorter and shorter steps until errors are near round-off or steps are many; the last three sizes are kept.
Errors refine(const OdeCase& c, const std::function<Pair(bool)>& make, int order, bool fixed, double floor = 3e-12) {
  Errors all;
  const double scale = std::max(1.0, c.solution(c.end).norm());
  const int most = order == 1 ? 8192 : order == 2 ? 4096 : 1024;
  Vec y;
  // high orders reach round-off soon: 4, 6, 8, 12, 16, ...
  const auto next = [&](int count) {
    if (order < 5) return 2 * count;
    return (count & (count - 1)) == 0 ? count + count / 2 : count / 3 * 4;
  };
  for (int count = order < 5 ? 16 : 4; count <= most; count = next(count)) {
    const Pair pair = make(fixed);
    const double h = c.end / count;
    double steps = 0, between = 0;  // largest errors: those at the end alone may pass through zero
    Attempt attempt;
    for (int i = 0; i < count; ++i) {
      attempt = pair.method->attempt(h);
      if (attempt.verdict != Verdict::ok) break;
      pair.method->accept();
      steps = std::max(steps, (pair.method->y() - c.solution(pair.method->t())).norm());
      for (const double theta : {0.3, 0.5, 0.8}) {
        const double t = pair.method->t() - (1 - theta) * h;
        pair.method->interpolate(t, y);
        between = std::max(between, (y - c.solution(t)).norm());
      }
    }
    if (attempt.verdict != Verdict::ok) continue;
    if (steps < floor * scale && !all.h.empty()) break;
    all.h.push_back(h);
    all.steps.push_back(steps);
    all.between.push_back(between);
    all.estimate.push_back(attempt.error);
  }
  for (std::vector<double>* v : {&all.h, &all.steps, &all.between, &all.estimate}) {
    if (v->size() > 3) v->erase(v->begin(), v->end() - 3);
  }
  return all;
}

TEST_P(OdeMethods, HaveTheirOrderOnEveryProblem) {
  if (info().variable_order) GTEST_SKIP() << "variable order: see the tolerances";
  double least = 100;
  int run = 0;
  for (const OdeCase& c : ode_cases()) {
    if (!takes(c) || c.stiff) continue;
    ++run;
    const Errors e = refine(
        c, [&](bool fixed) { return make(c, fixed); }, info().order, true,
        info().key == "sdirk-4" ? 2e-11 : 3e-12);  // round-off times its coefficients, up to 8
    ASSERT_EQ(e.h.size(), 3U) << c.name;
    const double slope = fitted_slope(e.h, e.steps), between = fitted_slope(e.h, e.between);
    EXPECT_GT(slope, info().order - 0.2) << c.name;
    if (info().dense_order > 0) {
      EXPECT_GT(between, info().dense_order - 0.25) << c.name;
    }
    if (!c.linear) least = std::min(least, slope);
  }
  EXPECT_GE(run, info().make_first_order ? 8 : 3);
  EXPECT_LT(least, info().order + 0.5) << "better than claimed";
}

TEST_P(OdeMethods, EstimatesHaveTheirOrder) {
  if (info().variable_order || refuses_control()) GTEST_SKIP() << "its order varies, or it has no step control";
  double least = 100;
  for (const char* name : {"closed loop", "kepler", "driven oscillator"}) {
    const OdeCase& c = ode_case(name);
    const Errors e = refine(
        c, [&](bool fixed) { return make(c, fixed, 1e-9); }, info().error_order, false);
    ASSERT_EQ(e.h.size(), 3U) << name;
    const double slope = fitted_slope(e.h, e.estimate);
    EXPECT_GT(slope, info().error_order - 0.3) << name;
    least = std::min(least, slope);
  }
  EXPECT_LT(least, info().error_order + 0.5);
}

// The error goes with the tolerance, or with its power order / error_order: below 1 where the solution kept is the one
// that is estimated, above 1 where it is much better.
TEST_P(OdeMethods, ErrorsFollowTheTolerance) {
  if (refuses_control()) GTEST_SKIP() << "it has no step control";
  const double ratio = info().variable_order ? 1 : static_cast<double>(info().order) / info().error_order;
  const double least = std::min(1.0, ratio), most = std::max(1.0, ratio);
  std::vector<double> slopes;
  for (const OdeCase& c : ode_cases()) {
    if (!takes(c)) continue;
    std::vector<double> tolerances, errors;
    // loose ones take a high order over the whole problem in a few steps
    const double loosest = info().order > 5 && !info().variable_order ? 1e-5 : 1e-3;
    for (double tolerance = loosest; tolerance > 0.9e-6 * loosest; tolerance *= 0.1) {
      if (info().order == 1 && tolerance < 1e-6) break;
      if (info().order == 2 && tolerance < 1e-7) break;
      SolveOptions options;
      options.tolerance = tolerance;
      double greatest = 1e-14;
      options.after_step = [&](const OdeMethod& method) {
        greatest = std::max(greatest, (method.y() - c.solution(method.t())).norm());
        return true;
      };
      const SolveResult result = solve_case(c, options);
      ASSERT_EQ(result.status, SolveStatus::finished) << c.name << ": " << result.message;
      EXPECT_EQ(result.t, c.end);
      tolerances.push_back(tolerance);
      errors.push_back(greatest);
      // small problems over a few units of time: errors add up to no more than this
      EXPECT_LT(errors.back(), 300 * std::pow(tolerance, least)) << c.name << ", tolerance " << tolerance;
    }
    slopes.push_back(fitted_slope(tolerances, errors));
    EXPECT_GT(slopes.back(), least - 0.5) << c.name;
    EXPECT_LT(slopes.back(), most + 0.5) << c.name;
  }
  // A single one is noisy: steps that are only halved and doubled move errors by 2^(p+1). Lead-in steps of a higher
  // order bring the power nearer to 1.
  const double mean = std::accumulate(slopes.begin(), slopes.end(), 0.0) / static_cast<double>(slopes.size());
  EXPECT_GT(mean, least - 0.2);
  EXPECT_LT(mean, most + 0.2);
}

TEST_P(OdeMethods, CountTheirEvaluations) {
  if (info().evaluations == 0) GTEST_SKIP() << "varies";
  const OdeCase& c = ode_case(info().make_first_order ? "rational" : "closed loop");
  const Pair pair = make(c);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(step(*pair.method, 0.01));
  const Counts before = pair.method->counts();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(step(*pair.method, 0.01));
  EXPECT_EQ(pair.method->counts().steps - before.steps, 50);
  EXPECT_DOUBLE_EQ(static_cast<double>(pair.method->counts().evaluations - before.evaluations) / 50,
                   info().evaluations);
}

TEST_P(OdeMethods, AttemptsLeaveTheStateAlone) {
  const OdeCase& c = ode_case("closed loop");
  const Pair a = make(c, true, 1e-8), b = make(c, true, 1e-8);
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(step(*a.method, 0.02));
    ASSERT_TRUE(step(*b.method, 0.02));
  }
  const double t = a.method->t();
  const Vec y = a.method->y(), dydt = a.method->dydt();
  for (const double h : {0.02, 0.3, 1e-4}) {
    (void)a.method->attempt(h);
    EXPECT_EQ(a.method->t(), t);
    EXPECT_TRUE(equal_bits(a.method->y(), y));
    EXPECT_TRUE(equal_bits(a.method->dydt(), dydt));
  }
  ASSERT_TRUE(step(*a.method, 0.02));
  ASSERT_TRUE(step(*b.method, 0.02));
  EXPECT_LT((a.method->y() - b.method->y()).norm(), 1e-6);
}

TEST_P(OdeMethods, DenseOutputMeetsTheSteps) {
  for (const char* name : {"closed loop", "kepler"}) {
    const OdeCase& c = ode_case(name);
    const Pair pair = make(c);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(step(*pair.method, 0.01));
    const double t = pair.method->t();
    const Vec before = pair.method->y();
    ASSERT_TRUE(step(*pair.method, 0.01));
    Vec y;
    pair.method->interpolate(t, y);
    EXPECT_LT((y - before).norm(), 1e-13) << name;
    pair.method->interpolate(pair.method->t(), y);
    EXPECT_TRUE(equal_bits(y, pair.method->y()));
    EXPECT_EQ(pair.method->last_step(), 0.01);
  }
}

TEST_P(OdeMethods, ContinueBitForBitWhenRestored) {
  const OdeCase& c = ode_case("closed loop");
  const bool fixed = refuses_control();
  const Pair whole = make(c, fixed, 1e-6);
  const double sizes[] = {0.01, 0.012, 0.02, 0.01};
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(step(*whole.method, fixed ? 0.01 : sizes[(i / 5) % 4]));
  Bytes bytes;
  whole.method->save(bytes);
  const Pair other = make(c, fixed, 1e-6);
  std::span<const std::byte> in(bytes);
  other.method->restore(in);
  EXPECT_TRUE(in.empty());
  Vec a_between, b_between;
  whole.method->interpolate(whole.method->t() - 0.003, a_between);
  other.method->interpolate(other.method->t() - 0.003, b_between);
  EXPECT_TRUE(equal_bits(a_between, b_between));
  for (int i = 0; i < 30; ++i) {
    const double h = fixed ? 0.01 : sizes[(i / 4) % 3];
    const Attempt a = whole.method->attempt(h), b = other.method->attempt(h);
    ASSERT_EQ(a.error, b.error);
    ASSERT_EQ(a.suggested_h, b.suggested_h);
    whole.method->accept();
    other.method->accept();
  }
  EXPECT_TRUE(equal_bits(whole.method->y(), other.method->y()));
  EXPECT_TRUE(equal_bits(whole.method->dydt(), other.method->dydt()));
  EXPECT_EQ(whole.method->counts().evaluations, other.method->counts().evaluations);
  Bytes cut(bytes.begin(), bytes.begin() + static_cast<long>(bytes.size() / 2));
  std::span<const std::byte> short_in(cut);
  EXPECT_THROW(other.method->restore(short_in), Failure);
}

// New coordinates under way, y -> Q y with the past turned too: the same solution.
TEST_P(OdeMethods, ChangesOfCoordinatesLeaveNoTrace) {
  if (!info().make_first_order) GTEST_SKIP() << "second order only";
  Eigen::Matrix4d Q;
  Q << 1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1, -1, -1, 1;
  Q *= 0.5;
  for (const bool turned : {false, true}) {
    TurnedOscillators plain, other;
    const auto a = make(plain, true, 1e-9), b = make(other, true, 1e-9);
    Vec start(4);
    start << 1, 0.2, -0.4, 0.3;
    a->start(0, start);
    b->start(0, start);
    std::deque<OdeMethod::Point> past{{0, b->y(), b->dydt()}};
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(step(*a, 0.05));
      ASSERT_TRUE(step(*b, 0.05));
      past.push_front({b->t(), b->y(), b->dydt()});
      if (static_cast<int>(past.size()) > b->memory()) past.pop_back();
    }
    std::vector<OdeMethod::Point> points(past.begin(), past.end());
    if (turned) {
      other.turn(Q);
      for (OdeMethod::Point& p : points) p = {p.t, Q * p.y, Q * p.dydt};
    }
    b->rebase(points);
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(step(*a, 0.05));
      ASSERT_TRUE(step(*b, 0.05));
    }
    const Vec back = turned ? Vec(Q.transpose() * b->y()) : b->y();
    EXPECT_LT((a->y() - back).norm(), 2e-11) << (turned ? "turned" : "onto itself");
  }
}

TEST_P(OdeMethods, AllocateNothingInAStep) {
  if (TRAMMEL_OWN_MALLOC == 0) GTEST_SKIP() << "the sanitizer owns malloc";
  const OdeCase& c = ode_case("closed loop");
  const bool fixed = refuses_control();
  const Pair pair = make(c, fixed, 1e-6);
  Vec y = c.solution(0);
  // all that a controlled run does, once before counting
  const auto run = [&] {
    bool good = true;
    for (int i = 0; i < 40; ++i) {
      good = pair.method->attempt(fixed || i % 10 < 7 ? 0.01 : 0.02).verdict == Verdict::ok && good;
      pair.method->accept();
      if (i % 7 == 3) (void)pair.method->attempt(0.05);
      pair.method->interpolate(pair.method->t() - 0.004, y);
    }
    return good;
  };
  EXPECT_TRUE(run());
  calls = 0;
  counting = true;
  const bool good = run();
  counting = false;
  EXPECT_TRUE(good);
  EXPECT_EQ(calls, 0);
}

// Points that return to constraints after every step: the derivatives stay good and nothing is allocated. Both kinds of
// methods took new derivatives in each step, and BDF a new matrix of differences.
TEST(OdeMethodsWithAMemory, KeepDerivativesWherePointsMoveALittle) {
  const OdeCase& c = ode_case("closed loop");
  for (const char* key : {"bdf", "bdf-fixed", "adams-moulton"}) {
    const MethodInfo& info = find_method(key, {});
    MethodSettings settings;
    settings.fixed_step = true;
    settings.tolerance = 1e-8;
    if (info.key == "adams-moulton") settings.options.set("corrector", 2.0);
    settings = resolve_settings(info, settings, {});
    const auto problem = c.make();
    const std::unique_ptr<OdeMethod> method = info.make_first_order(*problem, settings);
    method->start(0, c.solution(0));
    std::vector<OdeMethod::Point> past(static_cast<std::size_t>(method->memory()), {0, method->y(), method->dydt()});
    std::size_t known = 1;
    const auto run = [&](int count) {
      bool good = true;
      for (int i = 0; i < count; ++i) {
        good = method->attempt(0.005).verdict == Verdict::ok && good;
        method->accept();
        std::rotate(past.begin(), past.end() - 1, past.end());
        past.front().t = method->t();
        past.front().y = method->y();
        past.front().y[0] += i % 2 == 0 ? 1e-11 : -1e-11;
        past.front().dydt = method->dydt();
        known = std::min(known + 1, past.size());
        method->moved({past.data(), known});
      }
      return good;
    };
    EXPECT_TRUE(run(20)) << key;
    const long before = method->counts().linearisations;
    calls = 0;
    counting = true;
    const bool good = run(100);
    counting = false;
    EXPECT_TRUE(good) << key;
    EXPECT_LE(method->counts().linearisations - before, 10) << key;
    if (TRAMMEL_OWN_MALLOC != 0) {
      EXPECT_EQ(calls, 0) << key;
    }
    EXPECT_LT((method->y() - c.solution(method->t())).norm(), 5e-3) << key;
  }
}

TEST_P(OdeMethods, RunBackwards) {
  const OdeCase& c = ode_case("closed loop");
  SolveOptions options;
  options.tolerance = 1e-6;
  if (refuses_control()) options.step = 1e-3;
  const auto problem = c.second();
  const SolveResult result = solve(*problem, GetParam(), 2, c.solution(2), 1, options);
  ASSERT_EQ(result.status, SolveStatus::finished) << result.message;
  EXPECT_EQ(result.t, 1);
  EXPECT_LT((result.y - c.solution(1)).norm(), info().order == 1 ? 5e-3 : 1e-4);
}

TEST_P(OdeMethods, GoOnAfterARestart) {
  const OdeCase& c = ode_case("closed loop");
  const Pair a = make(c);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(step(*a.method, 0.005));
    if (i == 100) a.method->restart();
  }
  // methods of variable order begin again with order 1
  const double bound = info().order == 1 ? 2e-2 : info().variable_order ? 5e-4 : 1e-4;
  EXPECT_LT((a.method->y() - c.solution(a.method->t())).norm(), bound);
}

// A right side that ends: the run comes back with the last good point and the reason.
TEST_P(OdeMethods, SayWhereTheProblemEnds) {
  if (!info().make_first_order) GTEST_SKIP() << "second order only";
  for (const bool rejects : {false, true}) {
    EndsAtOne problem(rejects);
    SolveOptions options;
    options.tolerance = 1e-4;
    options.most_attempts = 200000;
    if (refuses_control()) options.step = 1e-2;
    const SolveResult result = solve(problem, GetParam(), 0, Vec::Zero(1), 2, options);
    EXPECT_NE(result.status, SolveStatus::finished);
    EXPECT_TRUE(result.y.allFinite());
    EXPECT_LE(result.t, 1.0);
    EXPECT_FALSE(result.message.empty());
  }
}

TEST_P(OdeMethods, OutputsAreAsGoodAsSteps) {
  if (refuses_control()) GTEST_SKIP() << "it has no step control";
  const OdeCase& c = ode_case("kepler");
  SolveOptions options;
  options.tolerance = 1e-6;
  for (int i = 0; i <= 40; ++i) options.output_times.push_back(c.end * i / 40);
  const SolveResult result = solve_case(c, options);
  ASSERT_EQ(result.status, SolveStatus::finished) << result.message;
  ASSERT_EQ(result.times, options.output_times);
  const double at_end = (result.y - c.solution(c.end)).norm();
  for (std::size_t i = 0; i < result.times.size(); ++i) {
    EXPECT_LT((result.outputs[i] - c.solution(result.times[i])).norm(), std::max(5 * at_end, 3e-5)) << result.times[i];
  }
}

// And through a formulation a mechanism.
TEST_P(OdeMethods, RunMechanisms) {
  Model m = problems::spherical_pendulum();
  m.simulation.method = GetParam();
  m.simulation.end = 1;
  if (refuses_control())
    m.simulation.step = 1e-3;
  else
    m.simulation.tolerance = 1e-5;
  Simulation simulation(m);
  MemoryTrajectory trajectory;
  ASSERT_EQ(simulation.run(trajectory).status, RunStatus::finished);
  const Vec3 truth(-0.7670905966190552, -0.376783722018906, -0.5192360189742251);
  EXPECT_LT((simulation.integrator().state().q - truth).norm(), info().order == 1 ? 2e-2 : 1e-3);
}

std::vector<std::string> ode_method_keys() {
  std::vector<std::string> keys;
  for (const MethodInfo& m : method_registry()) {
    if (m.make_first_order || m.make_second_order) keys.push_back(m.key);
  }
  return keys;
}
INSTANTIATE_TEST_SUITE_P(All, OdeMethods, testing::ValuesIn(ode_method_keys()), [](const auto& key) {
  std::string name = key.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace trammel::ode_methods_test
