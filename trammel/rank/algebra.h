// The dense and sparse factorisations behind the rank analysis (loops.h), in one place because they are slow to
// compile.
#pragma once
#include <utility>
#include <vector>

#include "trammel/base/types.h"
#include "trammel/rank/loops.h"

namespace trammel::rank {

using Eigen::Index;

// Where singular values stand relative to the largest.
struct Spectrum {
  int rank = 0;
  double smallest_nonzero = 1;
  double largest_zero = 0;
  bool nearly = false;

  void add(double relative, const LoopOptions& options);
};

// An orthonormal basis of independent columns, and one of what is perpendicular to them.
Mat orthonormal(const Mat& columns);
Mat complement(const Mat& columns);

// For at least as many columns as rows: the lower triangle t (rows x rows) with t t^T = m m^T.
Mat lower_factor(const Mat& m);

// Rows of unit length taken apart: which motions they leave, which combinations of them cancel, and the multipliers
// lambda = forces * w of least norm with rows^T lambda = w.
struct RowSplit {
  Mat freedoms;  // n x (n - rank), orthonormal
  Mat forces;    // k x n
  Mat null;      // k x (k - rank), orthonormal
  Spectrum spectrum;
};
RowSplit split_rows(const Mat& rows, const LoopOptions& options);

// Rank and left null space by singular values.
struct LeftNull {
  Spectrum spectrum;
  Mat basis;  // rows x (rows - rank), orthonormal
};
LeftNull left_null_space(const Mat& m, const LoopOptions& options);

// The column space of vectors whose entries are noise below the tolerance.
Mat column_space(const Mat& vectors, double tolerance);

// d rows of an n x d basis that determine the others, by QR with column pivoting of its transpose. Later rows win ties,
// so that round-off does not choose.
std::vector<Index> pivot_rows(const Mat& basis);

// vectors - null * (null_at^-1 vectors_at), where _at means the given rows: the part that vanishes in these rows.
Mat without_rows(const Mat& vectors, const Mat& null, const std::vector<Index>& rows);

}  // namespace trammel::rank
