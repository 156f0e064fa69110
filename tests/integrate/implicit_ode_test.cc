// Implicit methods for y' = f and y'' = f(t, y, y'), and the linear algebra under them.
#include <gtest/gtest.h>

#include <cmath>

#include "trammel/integrate/functor_problem.h"
#include "trammel/integrate/shifted_solver.h"

namespace trammel {
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
    b.save(bytes);
    ShiftedSolver<Scalar> again(n, thin.pattern());
    std::span<const std::byte> in(bytes);
    again.restore(in);
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

}  // namespace
}  // namespace trammel
