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

// Elimination with pivoting: the columns of the pivots become dependent. Preferred columns are left for a second
// search, among all columns, when the others have no good pivot any more.
class PivotSearch {
 public:
  PivotSearch(int columns, const Vec& weights, const std::vector<int>& preferred, double least)
      : weights_(weights),
        is_preferred_(static_cast<std::size_t>(columns), false),
        dependent_(static_cast<std::size_t>(columns), false),
        least_(least) {
    for (const int c : preferred) is_preferred_[c] = true;
  }
  void eliminate_dense(Mat A, const std::vector<bool>& counts);
  void eliminate_sparse(std::vector<SparseRow> work, const std::vector<bool>& counts);
  Partition partition() const;

 private:
  struct Pivot {
    std::size_t at = 0;  // place of its row among the open ones
    int column = 0;
  };
  Pivot find_pivot(const Mat& A, const std::vector<int>& open, bool with_preferred) const;
  int find_pivot(const SparseRow& row) const;
  void make_dependent(int column) {
    dependent_[column] = true;
    ++rank_;
  }
  double least_pivot(bool with_preferred) const { return with_preferred ? vanished : least_; }

  const Vec& weights_;
  std::vector<bool> is_preferred_, dependent_;
  const double least_;
  int rank_ = 0;
};

PivotSearch::Pivot PivotSearch::find_pivot(const Mat& A, const std::vector<int>& open, bool with_preferred) const {
  Pivot pivot;
  double most = 0;
  for (std::size_t k = 0; k < open.size(); ++k) {
    for (int j = 0; j < A.cols(); ++j) {
      if (dependent_[j] || (!with_preferred && is_preferred_[j])) continue;
      // Later columns win ties: round-off does not choose.
      if (weights_[j] * std::abs(A(open[k], j)) > most * (1 + 1e-9)) {
        most = weights_[j] * std::abs(A(open[k], j));
        pivot = {k, j};
      }
    }
  }
  return pivot;
}

// Full pivoting.
void PivotSearch::eliminate_dense(Mat A, const std::vector<bool>& counts) {
  std::vector<int> open;
  for (int i = 0; i < A.rows(); ++i) {
    const double size = A.row(i).norm();
    if (!counts[i] || size == 0) continue;
    A.row(i) /= size;
    open.push_back(i);
  }
  for (const bool with_preferred : {false, true}) {
    while (!open.empty()) {
      const Pivot pivot = find_pivot(A, open, with_preferred);
      const int row = open[pivot.at], column = pivot.column;
      if (std::abs(A(row, column)) < least_pivot(with_preferred)) break;
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(pivot.at));
      for (const int other : open) {
        const double factor = A(other, column) / A(row, column);
        if (factor != 0) A.row(other) -= factor * A.row(row);
        A(other, column) = 0;
      }
      make_dependent(column);
    }
  }
}

// The column of the row's largest entry, by weights; -1: none is good enough.
int PivotSearch::find_pivot(const SparseRow& row) const {
  for (const bool with_preferred : {false, true}) {
    int column = -1;
    double most = 0;
    for (const auto& [c, value] : row) {
      if (std::abs(value) < least_pivot(with_preferred)) continue;
      if (!with_preferred && is_preferred_[c]) continue;
      if (weights_[c] * std::abs(value) >= most) {
        most = weights_[c] * std::abs(value);
        column = c;
      }
    }
    if (column >= 0) return column;
  }
  return -1;
}

// Row after row, each reduced by the pivots before it, its largest entry the next pivot.
void PivotSearch::eliminate_sparse(std::vector<SparseRow> work, const std::vector<bool>& counts) {
  std::vector<int> pivot_of(dependent_.size(), -1);  // the row that made this column dependent
  for (int i = 0; i < static_cast<int>(work.size()); ++i) {
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
    const int column = find_pivot(row);
    if (column < 0) continue;
    double pivot = 0;
    for (const auto& entry : row)
      if (entry.first == column) pivot = entry.second;
    for (auto& entry : row) entry.second /= pivot;
    work[i] = std::move(row);
    pivot_of[column] = i;
    make_dependent(column);
  }
}

Partition PivotSearch::partition() const {
  Partition out;
  out.rank = rank_;
  for (std::size_t j = 0; j < dependent_.size(); ++j)
    if (!dependent_[j]) out.independent.push_back(static_cast<int>(j));
  return out;
}

std::vector<SparseRow> scaled_rows(const Pattern& gv, const Vec& G, const Vec& scales) {
  std::vector<SparseRow> rows(static_cast<std::size_t>(gv.rows()));
  for (int j = 0; j < gv.columns(); ++j) {
    for (int p = gv.start()[j]; p < gv.start()[j + 1]; ++p) {
      if (G[p] != 0) rows[gv.row()[p]].emplace_back(j, G[p] * scales[j]);
    }
  }
  return rows;
}

}  // namespace

// A dense matrix while that is cheap.
Partition choose_independent(const Pattern& gv, const Vec& G, const Vec& scales, const Vec& weights,
                             const std::vector<bool>& counts, const std::vector<int>& preferred, double least) {
  PivotSearch search(gv.columns(), weights, preferred, least);
  if (static_cast<long>(gv.rows()) * gv.columns() <= 250000) {
    search.eliminate_dense(gv.dense(G) * scales.asDiagonal(), counts);
  } else {
    search.eliminate_sparse(scaled_rows(gv, G, scales), counts);
  }
  return search.partition();
}

}  // namespace trammel
