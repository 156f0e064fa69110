// Which coordinates of a mechanism determine the others: elimination with pivoting on the constraint Jacobian, columns
// scaled by their units, so that metres and radians compare. The pivots' columns are dependent, the rest independent.
#pragma once
#include <vector>

#include "trammel/linalg/pattern.h"

namespace trammel {

struct Partition {
  std::vector<int> independent;  // ascending
  int rank = 0;                  // of the rows that count
};

// `counts[row]` false: the row is left out. `weights` multiply a column's entries in the search for pivots: small ones
// make it independent rather than others. `preferred` columns are independent before all others as long as that
// leaves pivots of at least `least`.
Partition choose_independent(const Pattern& gv, const Vec& G, const Vec& scales, const Vec& weights,
                             const std::vector<bool>& counts, const std::vector<int>& preferred = {},
                             double least = 0.05);

}  // namespace trammel
