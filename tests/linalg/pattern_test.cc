// Sparsity patterns: against dense matrices.
#include "trammel/linalg/pattern.h"

#include <gtest/gtest.h>

#include <random>

namespace trammel::pattern_test {
namespace {

std::vector<Pattern::Entry> random_entries(int rows, int columns, int count, std::mt19937& random) {
  std::vector<Pattern::Entry> out;
  for (int i = 0; i < count; ++i) {
    const int row = std::uniform_int_distribution<int>(0, rows - 1)(random);
    out.push_back({row, std::uniform_int_distribution<int>(0, columns - 1)(random)});
  }
  return out;
}

TEST(Pattern, KeepsEachEntryOnceInOrder) {
  std::mt19937 random(1);
  const std::vector<Pattern::Entry> entries = random_entries(7, 9, 60, random);  // some repeat
  const Pattern pattern(7, 9, entries);
  Eigen::MatrixXi wanted = Eigen::MatrixXi::Zero(7, 9);
  for (const Pattern::Entry& e : entries) wanted(e.row, e.column) = 1;
  EXPECT_EQ(pattern.rows(), 7);
  EXPECT_EQ(pattern.columns(), 9);
  EXPECT_EQ(pattern.size(), wanted.sum());
  int next = 0;
  for (int j = 0; j < 9; ++j) {
    int last = -1;
    ASSERT_EQ(pattern.start()[static_cast<std::size_t>(j)], next);
    for (; next < pattern.start()[static_cast<std::size_t>(j) + 1]; ++next) {
      const int row = pattern.row()[static_cast<std::size_t>(next)];
      EXPECT_GT(row, last);
      EXPECT_EQ(wanted(row, j), 1);
      last = row;
    }
  }
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < 9; ++j) {
      const int slot = pattern.slot(i, j);
      EXPECT_EQ(slot >= 0, wanted(i, j) == 1);
      if (slot >= 0) {
        EXPECT_EQ(pattern.row()[static_cast<std::size_t>(slot)], i);
      }
    }
  }
}

TEST(Pattern, MultipliesLikeADenseMatrix) {
  std::mt19937 random(2);
  const Pattern pattern(5, 8, random_entries(5, 8, 17, random));
  const Vec values = Vec::LinSpaced(pattern.size(), -1, 2), x = Vec::LinSpaced(8, 1, 3), z = Vec::LinSpaced(5, -2, 1);
  const Mat A = pattern.dense(values);
  Vec y = Vec::Constant(5, 0.5);
  pattern.multiply_add(values, -1.5, x.data(), y.data());
  EXPECT_LT((y - (Vec::Constant(5, 0.5) - 1.5 * A * x)).norm(), 1e-14);
  Vec w = Vec::Constant(8, -0.25);
  pattern.transpose_multiply_add(values, 2, z.data(), w.data());
  EXPECT_LT((w - (Vec::Constant(8, -0.25) + 2 * A.transpose() * z)).norm(), 1e-14);
}

TEST(Pattern, MayBeEmpty) {
  const Pattern nothing;
  EXPECT_EQ(nothing.columns(), 0);
  EXPECT_EQ(nothing.size(), 0);
  const Pattern no_rows(0, 4, {});
  EXPECT_EQ(no_rows.columns(), 4);
  EXPECT_EQ(no_rows.dense(Vec()).rows(), 0);
  const Pattern no_entries(3, 3, {});
  EXPECT_EQ(no_entries.slot(1, 1), -1);
  EXPECT_EQ(no_entries.dense(Vec()).norm(), 0);
}

}  // namespace
}  // namespace trammel::pattern_test
