// The rank of a large sparse matrix by orthogonal elimination of its rows.
#pragma once
#include <vector>

#include "trammel/rank/algebra.h"
#include "trammel/rank/loops.h"

namespace trammel::rank {

struct Entry {
  int row = 0;
  int column = 0;
  double value = 0;
};

// Columns without a pivot above the tolerance (relative to the largest column) count as dependent, the rule of sparse
// QR codes: sound for clear cases, no substitute for singular values. Pivots stand for singular values in the spectrum.
// Each place may be given once.
Spectrum sparse_rank(int rows, int columns, const std::vector<Entry>& entries, const LoopOptions& options);

}  // namespace trammel::rank
