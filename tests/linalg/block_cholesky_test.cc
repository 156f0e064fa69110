// Factors of sparse matrices of blocks: against dense ones, and the order of elimination by what it costs.
#include "trammel/linalg/block_cholesky.h"

#include <gtest/gtest.h>

namespace trammel::block_cholesky_test {
namespace {

TEST(BlockCholesky, SolvesAsTheDenseMatrix) {
  std::srand(5);
  const std::vector<int> sizes{3, 1, 6, 2, 4, 5, 1, 3};
  const std::vector<std::pair<int, int>> coupled{{1, 0}, {2, 0}, {3, 1}, {4, 3}, {5, 2},
                                                 {5, 4}, {7, 6}, {6, 0}, {1, 0}};
  BlockCholesky blocks(sizes, coupled);
  std::vector<int> start{0};
  for (const int size : sizes) start.push_back(start.back() + size);
  Mat dense = Mat::Zero(start.back(), start.back());
  blocks.set_zero();
  // of a symmetric matrix with a heavy diagonal, the block whose rows are eliminated later
  const auto put = [&](int a, int b) {
    const int row = blocks.is_later(a, b) ? a : b, column = blocks.is_later(a, b) ? b : a;
    Mat values = Mat::Random(sizes[row], sizes[column]);
    if (a == b) values = Mat(values + values.transpose() + 40 * Mat::Identity(sizes[a], sizes[a]));
    double* block = blocks.block(blocks.number_of_block(a, b));
    for (int r = 0; r < sizes[row]; ++r)
      for (int c = 0; c < sizes[column]; ++c) block[BlockCholesky::most_rows * r + c] = values(r, c);
    dense.block(start[row], start[column], sizes[row], sizes[column]) = values;
    dense.block(start[column], start[row], sizes[column], sizes[row]) = values.transpose();
  };
  for (int i = 0; i < 8; ++i) put(i, i);
  for (std::size_t i = 0; i + 1 < coupled.size(); ++i) put(coupled[i].first, coupled[i].second);
  EXPECT_EQ(blocks.number_of_block(7, 5), -1);
  ASSERT_TRUE(blocks.factor());
  const Vec b = Vec::Random(start.back());
  Vec x = b;
  blocks.solve(x.data());
  EXPECT_LT((dense * x - b).norm(), 1e-13 * b.norm());
}

// Least degree: a star whose middle comes first in the list is eliminated from its tips, without fill; of a chain
// either end, again without fill. Multiplications of single rows: half a one for each block below, one for each update.
TEST(BlockCholesky, EliminatesWithoutFillWhereItCan) {
  const int n = 5000;
  const std::vector<int> single(n, 1);
  std::vector<std::pair<int, int>> star, chain;
  for (int i = 1; i < n; ++i) {
    star.emplace_back(i, 0);
    chain.emplace_back(i, i - 1);
  }
  for (const auto* coupled : {&star, &chain}) {
    const BlockCholesky blocks(single, *coupled);
    EXPECT_LE(blocks.operations(), 2 * n);
    EXPECT_LT(blocks.memory_bytes(), 2 * n * 400);
  }
  const BlockCholesky tips(single, star);
  EXPECT_TRUE(tips.is_later(0, 1));
  EXPECT_TRUE(tips.is_later(2, 1));  // of equal degree the first
}

TEST(BlockCholesky, SaysThatAMatrixIsNotPositive) {
  BlockCholesky blocks({1, 1}, {{1, 0}});
  for (const double corner : {1.5, 0.5}) {
    blocks.set_zero();
    *blocks.block(blocks.number_of_block(0, 0)) = 1;
    *blocks.block(blocks.number_of_block(1, 1)) = corner;
    *blocks.block(blocks.number_of_block(1, 0)) = 1;
    EXPECT_EQ(blocks.factor(), corner > 1);
  }
}

}  // namespace
}  // namespace trammel::block_cholesky_test
