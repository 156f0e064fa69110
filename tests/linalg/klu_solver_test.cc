// KLU behind our face: solutions, transposed solutions, pivots kept by refactor, singular and infinite matrices.
#include "trammel/linalg/klu_solver.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

namespace trammel::klu_solver_test {
namespace {

struct Matrix {
  Pattern pattern;
  Vec values;
  Mat dense() const { return pattern.dense(values); }
};

// Unsymmetric, with a full diagonal and `extra` entries elsewhere.
Matrix random_matrix(int n, int extra, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::uniform_int_distribution<int> index(0, n - 1);
  std::vector<Pattern::Entry> entries;
  for (int i = 0; i < n; ++i) entries.push_back({i, i});
  for (int i = 0; i < extra; ++i) {
    const int row = index(random);
    entries.push_back({row, index(random)});
  }
  Matrix m{Pattern(n, n, entries), {}};
  m.values = Vec::NullaryExpr(m.pattern.size(), [&] { return uniform(random); });
  for (int i = 0; i < n; ++i) m.values[m.pattern.slot(i, i)] += 3;
  return m;
}

TEST(KluSolver, SolvesBothWays) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Matrix m = random_matrix(30, 90, seed);
    const Vec b = Vec::LinSpaced(30, -1, 2);
    KluSolver solver;
    solver.analyse(m.pattern, 1e-3);
    EXPECT_FALSE(solver.factored());
    ASSERT_TRUE(solver.factor(m.values));
    EXPECT_TRUE(solver.factored());
    Vec x = b;
    solver.solve(x);
    EXPECT_LT((m.dense() * x - b).norm(), 1e-12);
    Vec y = b;
    solver.solve_transposed(y);
    EXPECT_LT((m.dense().transpose() * y - b).norm(), 1e-12);
  }
}

TEST(KluSolver, RefactorsWithTheOldPivots) {
  Matrix m = random_matrix(25, 80, 3);
  KluSolver solver;
  solver.analyse(m.pattern, 1e-3);
  ASSERT_TRUE(solver.refactor(m.values));  // the first one must choose pivots
  EXPECT_EQ(solver.factors(), 1);
  EXPECT_EQ(solver.refactors(), 0);
  const long fill = solver.fill();
  EXPECT_GE(fill, m.pattern.size());
  for (int i = 0; i < 5; ++i) {
    m.values *= 1.1;
    m.values[i] += 0.2;
    ASSERT_TRUE(solver.refactor(m.values));
    Vec x = Vec::Ones(25);
    solver.solve(x);
    EXPECT_LT((m.dense() * x - Vec::Ones(25)).norm(), 1e-11);
  }
  EXPECT_EQ(solver.factors(), 1);
  EXPECT_EQ(solver.refactors(), 5);
  EXPECT_EQ(solver.fill(), fill);
  EXPECT_GT(solver.memory(), 0);
}

// The same values and pivots give the same bits: what save and restore rely on.
TEST(KluSolver, GivesTheSameBitsFromTheSamePivots) {
  const Matrix first = random_matrix(40, 150, 4);
  Matrix second = first;
  second.values = second.values.unaryExpr([](double x) { return x + 0.1 * std::sin(7 * x); });
  const auto solve = [&](bool long_way) {
    KluSolver solver;
    solver.analyse(first.pattern, 1e-12);
    EXPECT_TRUE(solver.factor(first.values));
    if (long_way) {
      for (const double factor : {2.0, 0.3, 5.0}) EXPECT_TRUE(solver.refactor(factor * second.values));
    }
    EXPECT_TRUE(solver.refactor(second.values));
    Vec x = Vec::Ones(40);
    solver.solve(x);
    return x;
  };
  const Vec a = solve(false), b = solve(true);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(a[i], b[i]);
}

// [ 1 1 ; 1 -e ] in the small: with the tolerance below e the diagonal serves, and fill stays that of an LDL^T.
TEST(KluSolver, StaysOnSmallDiagonalsWhenTold) {
  // arrow: a full last row and column; off-diagonal pivots would fill the matrix
  const int n = 60;
  std::vector<Pattern::Entry> entries;
  for (int i = 0; i < n; ++i) {
    entries.push_back({i, i});
    entries.push_back({n - 1, i});
    entries.push_back({i, n - 1});
  }
  const Pattern pattern(n, n, entries);
  Vec values = Vec::Ones(pattern.size());
  for (int i = 0; i < n - 1; ++i) values[pattern.slot(i, i)] = -1e-6;
  KluSolver strict, relaxed;
  strict.analyse(pattern, 1e-10);
  relaxed.analyse(pattern, 1e-3);
  ASSERT_TRUE(strict.factor(values));
  ASSERT_TRUE(relaxed.factor(values));
  EXPECT_LE(strict.fill(), pattern.size() + n);  // KLU counts the diagonal in L and in U
  EXPECT_GT(relaxed.fill(), strict.fill());
}

TEST(KluSolver, SaysWhenAMatrixIsSingular) {
  Matrix m = random_matrix(12, 30, 5);
  KluSolver solver;
  solver.analyse(m.pattern, 1e-3);
  ASSERT_TRUE(solver.factor(m.values));
  const Vec good = m.values;
  const int from = m.pattern.start()[4], to = m.pattern.start()[5];
  for (int p = from; p < to; ++p) m.values[p] = 0;
  EXPECT_FALSE(solver.refactor(m.values));
  EXPECT_FALSE(solver.factor(m.values));
  EXPECT_TRUE(solver.factor(good));  // and recovers
  Vec x = Vec::Ones(12);
  solver.solve(x);
  EXPECT_LT((m.pattern.dense(good) * x - Vec::Ones(12)).norm(), 1e-12);
}

TEST(KluSolver, RefusesNumbersThatAreNone) {
  Matrix m = random_matrix(12, 30, 6);
  KluSolver solver;
  solver.analyse(m.pattern, 1e-3);
  const Vec good = m.values;
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    m.values = good;
    m.values[7] = bad;
    EXPECT_FALSE(solver.factor(m.values));
    ASSERT_TRUE(solver.factor(good));
    EXPECT_TRUE(!solver.refactor(m.values) || [&] {
      Vec x = Vec::Ones(12);
      solver.solve(x);
      return !x.allFinite();  // or the solution shows it
    }());
  }
  EXPECT_TRUE(solver.factor(good));
}

TEST(KluSolver, MovesWithItsFactors) {
  const Matrix m = random_matrix(10, 20, 7);
  KluSolver first;
  first.analyse(m.pattern, 1e-3);
  ASSERT_TRUE(first.factor(m.values));
  KluSolver second = std::move(first);
  Vec x = Vec::Ones(10);
  second.solve(x);
  EXPECT_LT((m.dense() * x - Vec::Ones(10)).norm(), 1e-12);
}

TEST(KluSolver, StartsAnewOnAnotherPattern) {
  const Matrix small = random_matrix(6, 10, 8), large = random_matrix(20, 60, 9);
  KluSolver solver;
  solver.analyse(small.pattern, 1e-3);
  ASSERT_TRUE(solver.factor(small.values));
  solver.analyse(large.pattern, 1e-3);
  EXPECT_FALSE(solver.factored());
  EXPECT_EQ(solver.factors(), 0);
  ASSERT_TRUE(solver.factor(large.values));
  Vec x = Vec::Ones(20);
  solver.solve(x);
  EXPECT_LT((large.dense() * x - Vec::Ones(20)).norm(), 1e-12);
}

}  // namespace
}  // namespace trammel::klu_solver_test
