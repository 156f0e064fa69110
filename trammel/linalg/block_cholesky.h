// Cholesky factors of a sparse symmetric positive definite matrix of small dense blocks, pattern fixed: W = L L^T.
// Which block is eliminated when is found once, by least degree; there is no pivoting, so equal values give equal
// factors.
#pragma once
#include <utility>
#include <vector>

#include "trammel/base/types.h"

namespace trammel {

class BlockCholesky {
 public:
  static constexpr int most_rows = 6;  // of a block

  // `sizes`: rows of each diagonal block. `coupled`: pairs of different blocks whose product is not zero.
  BlockCholesky() = default;
  BlockCholesky(const std::vector<int>& sizes, const std::vector<std::pair<int, int>>& coupled);

  // The values to fill in and to factor in place, by rows of most_rows numbers. Of two blocks it holds the one whose
  // rows are those of the block eliminated later.
  void set_zero() { values_.setZero(); }
  double* block(int number) { return values_of(number); }
  const double* block(int number) const { return values_of(number); }
  int number_of_block(int row, int column) const;  // in either order; -1: zero
  bool is_later(int a, int b) const { return place_[a] > place_[b]; }

  // False: not positive definite. Diagonal blocks then hold the inverse of the diagonal of L on theirs.
  bool factor();
  void solve(double* x) const;                     // in place, the blocks' rows one after the other
  long operations() const { return operations_; }  // multiplications of a factorisation, about
  long memory_bytes() const;

 private:
  static constexpr int entries = most_rows * most_rows;
  struct Below {
    int row, block;  // row: in the order of elimination
  };
  struct Update {  // target -= left right^T
    int target, left, right, rows, columns;
  };
  void order(std::vector<std::vector<int>> neighbours);
  void factor_diagonal(double* d, int rows, bool& good) const;
  double* values_of(int number) { return values_.data() + static_cast<Eigen::Index>(entries) * number; }
  const double* values_of(int number) const { return values_.data() + static_cast<Eigen::Index>(entries) * number; }

  std::vector<int> size_, start_, order_, place_;  // order_: the block eliminated as k-th; place_: its inverse
  std::vector<std::vector<Below>> below_;          // of each column, in the order of elimination; ascending
  std::vector<std::vector<Update>> updates_;
  std::vector<int> diagonal_;
  Vec values_;
  long operations_ = 0;
};

}  // namespace trammel
