// Implicit methods for y' = f and y'' = f(t, y, y'), and the linear algebra under them.
#include <gtest/gtest.h>

#include <cmath>

#include "trammel/integrate/registry.h"
#include "trammel/ode/functor_problem.h"
#include "trammel/ode/shifted_solver.h"

namespace trammel::implicit_ode_test {
namespace {

using std::cos;
using std::exp;
using std::sin;

// A ring of n coupled nonlinear oscillators, first order, sparse.
Pattern ring_pattern(int n) {
  std::vector<Pattern::Entry> entries;
  for (int i = 0; i < n; ++i) {
    for (const int k : {-1, 0, 1}) entries.push_back({i, (i + k + n) % n});
  }
  return {n, n, entries};
}
auto ring(int n, bool sparse) {
  return first_order(
      n,
      [n](auto t, auto y, auto dydt) {
        for (int i = 0; i < n; ++i) {
          const auto &left = y[static_cast<std::size_t>((i + n - 1) % n)], &here = y[static_cast<std::size_t>(i)],
                     &right = y[static_cast<std::size_t>((i + 1) % n)];
          dydt[static_cast<std::size_t>(i)] =
              40.0 * (left - 2.0 * here + right) + sin(here) * cos(t) + here * here * left / 10.0;
        }
      },
      sparse ? std::optional<Pattern>(ring_pattern(n)) : std::nullopt);
}

// The same problem with its derivatives hidden.
class WithoutJacobian final : public FirstOrderProblem {
 public:
  explicit WithoutJacobian(FirstOrderProblem& inner) : inner_(inner) {}
  int size() const override { return inner_.size(); }
  Eval f(double t, const Vec& y, Vec& dydt) override { return inner_.f(t, y, dydt); }
  const Pattern* sparsity() const override { return inner_.sparsity(); }

 private:
  FirstOrderProblem& inner_;
};

Vec wave(int n) {
  Vec y(n);
  for (int i = 0; i < n; ++i) y[i] = 1 + 0.5 * sin(1.0 + i);
  return y;
}

TEST(JacobianSource, DualNumbersAndColouredDifferencesAgree) {
  const int n = 24;
  auto dense = ring(n, false), sparse = ring(n, true);
  WithoutJacobian hidden_dense(dense), hidden_sparse(sparse);
  const Vec y = wave(n);
  Vec f;
  ASSERT_EQ(dense.f(0.7, y, f), Eval::ok);
  JacobianSource exact(dense), pattern(sparse), columns(hidden_dense), colours(hidden_sparse);
  for (JacobianSource* source : {&exact, &pattern, &columns, &colours})
    ASSERT_EQ(source->evaluate(0.7, y, f, 0.1, true), Eval::ok);
  EXPECT_EQ(pattern.pattern()->dense(pattern.J().values), exact.J().dense);
  EXPECT_LT((columns.J().dense - exact.J().dense).lpNorm<Eigen::Infinity>(), 1e-5);
  EXPECT_LT((colours.pattern()->dense(colours.J().values) - exact.J().dense).lpNorm<Eigen::Infinity>(), 1e-5);
  EXPECT_LT((columns.f_t() - exact.f_t()).lpNorm<Eigen::Infinity>(), 1e-9);
  EXPECT_EQ(colours.evaluations(), colours.colours() + 2);
  EXPECT_LE(colours.colours(), 4);
  Vec product, expected;
  colours.multiply(y, product);
  EXPECT_LT((product - exact.J().dense * y).lpNorm<Eigen::Infinity>(), 1e-4);
}

template <class Scalar>
void check_solver(Scalar c) {
  using Vector = typename ShiftedSolver<Scalar>::Vector;
  for (const int n : {5, 24}) {
    auto dense = ring(n, false), sparse = ring(n, true);
    const Vec y = wave(n);
    Vec f;
    dense.f(0, y, f);
    JacobianSource full(dense), thin(sparse);
    full.evaluate(0, y, f, 1, false);
    thin.evaluate(0, y, f, 1, false);
    ShiftedSolver<Scalar> a(n, nullptr), b(n, thin.pattern());
    EXPECT_EQ(b.sparse(), n > 16);
    for (const double factor : {1.0, 3.0}) {  // the second time sparse pivots are kept
      ASSERT_TRUE(a.factor(factor * c, full.J()));
      ASSERT_TRUE(b.factor(factor * c, thin.J()));
    }
    const Vector right = y.cast<Scalar>() * c;
    Vector x(n), z(n);
    a.solve(right, x);
    b.solve(right, z);
    const Vector residual = 3.0 * c * x - full.J().dense.cast<Scalar>() * x - right;
    EXPECT_LT(residual.cwiseAbs().maxCoeff(), 1e-11);
    EXPECT_LT((x - z).cwiseAbs().maxCoeff(), 1e-13);
    Bytes bytes;
    write_state(b, bytes);
    ShiftedSolver<Scalar> again(n, thin.pattern());
    std::span<const std::byte> in(bytes);
    read_state(again, in);
    Vector w(n);
    again.solve(right, w);
    EXPECT_EQ(w, z);
    EXPECT_TRUE(in.empty());
  }
}
TEST(ShiftedSolver, SolvesDenseAndSparseAlike) {
  check_solver<double>(7.0);
  check_solver<Complex>({3.0, 20.0});
}
TEST(ShiftedSolver, SeesSingularAndNotFiniteMatrices) {
  for (const bool sparse : {false, true}) {
    auto problem = ring(20, sparse);
    JacobianSource source(problem);
    ShiftedSolver<double> solver(20, source.pattern());
    EXPECT_FALSE(solver.factor(0, source.J()));  // J = 0
    source.J().dense.setConstant(NAN);
    source.J().values.setConstant(NAN);
    EXPECT_FALSE(solver.factor(1, source.J()));
  }
}

// ---- Methods
// ---------------------------------------------------------------------------------------------------------

// Two freedoms, nonlinear, with velocities and time in it, made so that y = (cos t, 1 + sin(2 t)/2).
auto known_motion() {
  return second_order(2, [](auto t, auto y, auto v, auto a) {
    const auto s1 = cos(t), d1 = -sin(t), s2 = 1.0 + 0.5 * sin(2.0 * t), d2 = cos(2.0 * t);
    a[0] = -s1 + 2.0 * (s1 * s2 - y[0] * y[1]) + 0.5 * (d1 * d1 - v[0] * v[0]);
    a[1] = -2.0 * sin(2.0 * t) + (sin(s1) - sin(y[0])) + (s2 * d2 - y[1] * v[1]);
  });
}
Vec known_state(double t) {
  Vec state(4);
  state << cos(t), 1 + 0.5 * sin(2 * t), -sin(t), cos(2 * t);
  return state;
}

struct Case {
  const char* key;
  std::vector<std::pair<std::string, Value>> options;
  bool second;
  int order;
  std::vector<int> steps;  // over two seconds
};
std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.key;
  for (const auto& [option, value] : info.param.options) {
    name += "_" + option;
    if (const double* number = std::get_if<double>(&value)) name += std::to_string(static_cast<int>(*number * 1000));
  }
  name += info.param.second ? "_second" : "_first";
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

class OdeMethods : public testing::TestWithParam<Case> {
 protected:
  template <class Problem>
  std::unique_ptr<OdeMethod> make(Problem& problem, bool fixed, double tolerance = 1e-6) const {
    const MethodInfo& info = find_method(GetParam().key, {});
    MethodSettings settings;
    settings.fixed_step = fixed;
    settings.tolerance = tolerance;
    for (const auto& [option, value] : GetParam().options) settings.options.set(option, value);
    settings = resolve_settings(info, settings, {});
    return GetParam().second ? info.make_second_order(problem, settings) : info.make_first_order(problem, settings);
  }
  static void step(OdeMethod& method, double h) {
    ASSERT_EQ(method.attempt(h).verdict, Verdict::ok);
    method.accept();
  }
};

TEST_P(OdeMethods, HaveTheirOrder) {
  auto problem = known_motion();
  std::vector<double> errors, dense;
  for (const int n : GetParam().steps) {
    const auto method = make(problem, true);
    method->start(0, known_state(0));
    const double h = 2.0 / n;
    double worst = 0;
    Vec inside;
    for (int i = 0; i < n; ++i) {
      step(*method, h);
      method->interpolate(method->t() - 0.4 * h, inside);
      worst = std::max(worst, (inside - known_state(method->t() - 0.4 * h)).norm());
    }
    errors.push_back((method->y() - known_state(2)).norm());
    dense.push_back(worst);
    EXPECT_EQ(method->order(), GetParam().order);
  }
  const std::size_t last = errors.size() - 1;
  const double ratio = std::log2(GetParam().steps[last] / static_cast<double>(GetParam().steps[last - 1]));
  EXPECT_NEAR(std::log2(errors[last - 1] / errors[last]) / ratio, GetParam().order, 0.15) << errors[last];
  // Dense output is at least of the order that third-degree polynomials have, and no worse than the method.
  EXPECT_GT(std::log2(dense[last - 1] / dense[last]) / ratio, std::min(GetParam().order, 3) - 0.2) << dense[last];
}

TEST_P(OdeMethods, EstimateWithTheSlopeTheyClaim) {
  auto problem = known_motion();
  double before = 0;
  for (const double h : {0.01, 0.005}) {
    const auto method = make(problem, false);
    // A few steps first: some structural methods need one to find their own acceleration.
    method->start(0.3 - 3 * h, known_state(0.3 - 3 * h));
    for (int i = 0; i < 3; ++i) step(*method, h);
    const Vec y = method->y();
    const double t = method->t();
    const Attempt attempt = method->attempt(h);
    ASSERT_EQ(attempt.verdict, Verdict::ok);
    EXPECT_EQ(method->t(), t);
    EXPECT_EQ(method->y(), y);
    if (before > 0) {
      EXPECT_NEAR(std::log2(before / attempt.error), method->error_order(), 0.25) << attempt.error;
    }
    before = attempt.error;
  }
}

TEST_P(OdeMethods, ContinueSavedRunsBitForBit) {
  auto problem = known_motion();
  const auto method = make(problem, false, 1e-4);
  method->start(0, known_state(0));
  const auto run = [](OdeMethod& m, int steps) {
    for (int i = 0; i < steps; ++i) {
      ASSERT_EQ(m.attempt(0.02 * (1 + i % 3)).verdict, Verdict::ok);
      m.accept();
    }
  };
  run(*method, 5);
  Bytes bytes;
  method->save(bytes);
  const auto again = make(problem, false, 1e-4);
  again->start(0, known_state(0));
  again->attempt(0.1);
  std::span<const std::byte> in(bytes);
  again->restore(in);
  EXPECT_TRUE(in.empty());
  Vec a, b;
  method->interpolate(method->t() - 0.01, a);
  again->interpolate(again->t() - 0.01, b);
  EXPECT_EQ(a, b);
  run(*method, 7);
  run(*again, 7);
  EXPECT_EQ(method->y(), again->y());
  EXPECT_EQ(method->dydt(), again->dydt());
  EXPECT_EQ(method->counts().evaluations, again->counts().evaluations);
}

INSTANTIATE_TEST_SUITE_P(
    Registry, OdeMethods,
    testing::Values(
        Case{"rosenbrock-nystrom-4", {}, true, 4, {160, 320}}, Case{"w-method-2", {}, true, 2, {320, 640}},
        Case{"w-method-2", {{"keep_derivatives", 5.0}}, true, 2, {320, 640}},
        Case{"w-method-2", {{"no_derivatives", true}}, true, 2, {320, 640}},
        Case{"rosenbrock-nystrom-4", {}, false, 4, {160, 320}},
        Case{"w-method-2", {{"keep_derivatives", 5.0}}, false, 2, {320, 640}},
        Case{"trapezoidal", {}, false, 2, {80, 160}}, Case{"implicit-midpoint", {}, false, 2, {80, 160}},
        Case{"norsett-sdirk", {}, false, 3, {80, 160}},
        Case{"norsett-sdirk", {{"alpha_choice", 2.0}}, false, 2, {80, 160}},
        Case{"norsett-sdirk", {{"alpha_choice", 3.0}}, false, 2, {320, 640}},
        Case{"gauss", {{"stages", 1.0}}, false, 2, {80, 160}}, Case{"gauss", {{"stages", 2.0}}, false, 4, {40, 80}},
        Case{"gauss", {{"stages", 3.0}}, false, 6, {8, 16}}, Case{"radau-iia-1", {}, false, 1, {320, 640}},
        Case{"radau-iia-2", {}, false, 3, {80, 160}}, Case{"radau-iia-3", {}, false, 5, {20, 40}},
        Case{"lobatto-iiic", {{"stages", 2.0}}, false, 2, {160, 320}},
        Case{"lobatto-iiic", {{"stages", 3.0}}, false, 4, {40, 80}},
        Case{"lobatto-iiic", {{"stages", 4.0}}, false, 6, {8, 16}}, Case{"newmark", {}, true, 2, {160, 320}},
        Case{"newmark",
             {{"positions_as_unknowns", true}, {"full_newton", true}, {"predict_with_acceleration", false}},
             true,
             2,
             {160, 320}},
        Case{"newmark", {{"gamma", 0.6}, {"beta", 0.3025}}, true, 1, {640, 1280}},
        Case{"newmark", {{"beta", 0.0}}, true, 2, {160, 320}}, Case{"hht", {}, true, 2, {160, 320}},
        Case{"hht", {{"alpha", -0.3}}, true, 2, {320, 640}}, Case{"wilson-theta", {}, true, 2, {320, 640}},
        Case{"collocation", {}, true, 2, {320, 640}},
        Case{"generalized-alpha", {{"rho_inf", 0.5}}, true, 2, {320, 640}}, Case{"midpoint", {}, true, 2, {160, 320}}),
    name_of);

}  // namespace
}  // namespace trammel::implicit_ode_test
