// A fixed sparsity pattern in compressed columns. Values live elsewhere and are rewritten in place; several matrices
// share one pattern, so that combining them is a loop over arrays.
#pragma once
#include <cstdint>
#include <vector>

#include "trammel/base/types.h"

namespace trammel {

class Pattern {
 public:
  struct Entry {
    int row, column;
  };
  Pattern() = default;
  // Entries may repeat and come in any order.
  Pattern(int rows, int columns, const std::vector<Entry>& entries);

  int rows() const { return rows_; }
  int columns() const { return static_cast<int>(start_.size()) - 1; }
  int size() const { return static_cast<int>(row_.size()); }
  const std::vector<int>& start() const { return start_; }  // of each column, and the end
  const std::vector<int>& row() const { return row_; }      // ascending within a column
  int slot(int row, int column) const;                      // place in the value array, -1 if not in the pattern

  // y += alpha A x and y += alpha A^T x for the values of one matrix on this pattern.
  void multiply_add(const Vec& values, double alpha, const double* x, double* y) const;
  void transpose_multiply_add(const Vec& values, double alpha, const double* x, double* y) const;
  Mat dense(const Vec& values) const;  // for tests and small analyses

 private:
  int rows_ = 0;
  std::vector<int> start_{0}, row_;
};

}  // namespace trammel
