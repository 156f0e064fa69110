#include "trammel/linalg/pattern.h"

#include <algorithm>

namespace trammel {

Pattern::Pattern(int rows, int columns, const std::vector<Entry>& entries) : rows_(rows) {
  // Bucket by column, then sort and unify each column.
  start_.assign(static_cast<std::size_t>(columns) + 1, 0);
  for (const Entry& e : entries) ++start_[e.column + 1];
  for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j) start_[j + 1] += start_[j];
  row_.resize(entries.size());
  std::vector<int> next(start_.begin(), start_.end() - 1);
  for (const Entry& e : entries) row_[next[e.column]++] = e.row;
  int filled = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(columns); ++j) {
    const auto begin = row_.begin() + start_[j], end = row_.begin() + start_[j + 1];
    std::sort(begin, end);
    const auto last = std::unique(begin, end);
    start_[j] = filled;
    filled = static_cast<int>(std::copy(begin, last, row_.begin() + filled) - row_.begin());
  }
  start_[columns] = filled;
  row_.resize(filled);
  row_.shrink_to_fit();
}

int Pattern::slot(int row, int column) const {
  const auto j = static_cast<std::size_t>(column);
  const auto begin = row_.begin() + start_[j], end = row_.begin() + start_[j + 1];
  const auto found = std::lower_bound(begin, end, row);
  return found != end && *found == row ? static_cast<int>(found - row_.begin()) : -1;
}

void Pattern::multiply_add(const Vec& values, double alpha, const double* x, double* y) const {
  for (std::size_t j = 0; j + 1 < start_.size(); ++j) {
    const double xj = alpha * x[j];
    for (int p = start_[j]; p < start_[j + 1]; ++p) y[row_[p]] += values[p] * xj;
  }
}

void Pattern::transpose_multiply_add(const Vec& values, double alpha, const double* x, double* y) const {
  for (std::size_t j = 0; j + 1 < start_.size(); ++j) {
    double sum = 0;
    for (int p = start_[j]; p < start_[j + 1]; ++p) sum += values[p] * x[row_[p]];
    y[j] += alpha * sum;
  }
}

Mat Pattern::dense(const Vec& values) const {
  Mat m = Mat::Zero(rows(), columns());
  for (int j = 0; j < columns(); ++j) {
    for (int p = start_[j]; p < start_[j + 1]; ++p) {
      m(row_[p], j) = values[p];
    }
  }
  return m;
}

}  // namespace trammel
