#include "trammel/formulate/partition.h"

#include <algorithm>
#include <cmath>

namespace trammel {
namespace {

// What is left of a row of unit length by elimination with rows that depend on each other is round-off below this.
constexpr double vanished = 1e-8;

using SparseRow = std::vector<std::pair<int, double>>;  // column, value; ascending

// row - factor * pivot_row, without the pivot's column.
SparseRow eliminate(const SparseRow& row, const SparseRow& pivot_row, double factor, int column) {
  SparseRow out;
  out.reserve(row.size() + pivot_row.size());
  std::size_t i = 0, j = 0;
  while (i < row.size() || j < pivot_row.size()) {
    const int a = i < row.size() ? row[i].first : pivot_row[j].first + 1,
              b = j < pivot_row.size() ? pivot_row[j].first : a + 1, at = std::min(a, b);
    double value = 0;
    if (a == at) value += row[i++].second;
    if (b == at) value -= factor * pivot_row[j++].second;
    if (at != column && std::abs(value) > 1e-15) out.emplace_back(at, value);
  }
  return out;
}

}  // namespace

// Full pivoting on a dense matrix while that is cheap; else row after row, each reduced by the pivots before it, its
// largest entry the next pivot.
Partition choose_independent(const Pattern& gv, const Vec& G, const Vec& scales, const Vec& weights,
                             const std::vector<bool>& counts, const std::vector<int>& preferred, double least) {
  const int columns = gv.columns(), rows = gv.rows();
  std::vector<bool> is_preferred(static_cast<std::size_t>(columns), false);
  for (const int c : preferred) is_preferred[c] = true;
  Partition out;
  std::vector<bool> dependent(static_cast<std::size_t>(columns), false);
  if (static_cast<long>(rows) * columns <= 250000) {
    Mat A = gv.dense(G) * scales.asDiagonal();
    std::vector<int> open;
    for (int i = 0; i < rows; ++i) {
      const double size = A.row(i).norm();
      if (!counts[i] || size == 0) continue;
      A.row(i) /= size;
      open.push_back(i);
    }
    for (const bool with_preferred : {false, true}) {
      while (!open.empty()) {
        double most = 0;
        std::size_t at = 0;
        int column = 0;
        for (std::size_t k = 0; k < open.size(); ++k) {
          for (int j = 0; j < columns; ++j) {
            if (dependent[j] || (!with_preferred && is_preferred[j])) continue;
            // Later columns win ties: round-off does not choose.
            if (weights[j] * std::abs(A(open[k], j)) > most * (1 + 1e-9)) {
              most = weights[j] * std::abs(A(open[k], j));
              at = k;
              column = j;
            }
          }
        }
        const int row = open[at];
        if (std::abs(A(row, column)) < (with_preferred ? vanished : least)) break;
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
        for (const int other : open) {
          const double factor = A(other, column) / A(row, column);
          if (factor != 0) A.row(other) -= factor * A.row(row);
          A(other, column) = 0;
        }
        dependent[column] = true;
        ++out.rank;
      }
    }
  } else {
    std::vector<SparseRow> work(static_cast<std::size_t>(rows));
    for (int j = 0; j < columns; ++j) {
      for (int p = gv.start()[j]; p < gv.start()[j + 1]; ++p) {
        if (G[p] != 0) work[gv.row()[p]].emplace_back(j, G[p] * scales[j]);
      }
    }
    std::vector<int> pivot_of(static_cast<std::size_t>(columns), -1);  // the row that made this column dependent
    for (int i = 0; i < rows; ++i) {
      SparseRow row = work[i];
      double size = 0;
      for (const auto& entry : row) size += entry.second * entry.second;
      if (!counts[i] || size == 0) continue;
      for (auto& entry : row) entry.second /= std::sqrt(size);
      for (bool again = true; again;) {
        again = false;
        for (const auto& [column, value] : row) {
          const int by = pivot_of[column];
          if (by < 0) continue;
          row = eliminate(row, work[by], value, column);
          again = true;
          break;
        }
      }
      int column = -1;
      double most = 0;
      for (const bool with_preferred : {false, true}) {
        if (column >= 0) break;
        most = 0;
        for (const auto& [c, value] : row) {
          if (std::abs(value) < (with_preferred ? vanished : least)) continue;
          if (!with_preferred && is_preferred[c]) continue;
          if (weights[c] * std::abs(value) >= most) {
            most = weights[c] * std::abs(value);
            column = c;
          }
        }
      }
      if (column < 0) continue;
      double pivot = 0;
      for (const auto& entry : row)
        if (entry.first == column) pivot = entry.second;
      for (auto& entry : row) entry.second /= pivot;
      work[i] = std::move(row);
      pivot_of[column] = i;
      dependent[column] = true;
      ++out.rank;
    }
  }
  for (int j = 0; j < columns; ++j)
    if (!dependent[j]) out.independent.push_back(j);
  return out;
}

}  // namespace trammel
