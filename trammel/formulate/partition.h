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

// `counts[row]` false: the row is left out. `preferred` columns are independent before all others as far as the
// constraints allow.
Partition choose_independent(const Pattern& gv, const Vec& G, const Vec& scales, const std::vector<bool>& counts,
                             const std::vector<int>& preferred = {});

}  // namespace trammel
