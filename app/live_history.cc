#include "app/live_history.h"

#include <algorithm>

namespace trammel {

RowHistory::RowHistory(std::size_t columns, std::size_t most_bytes)
    : columns_(columns),
      most_rows_(std::max<std::size_t>(4, most_bytes / (sizeof(double) * std::max<std::size_t>(1, columns)))) {}

void RowHistory::add(std::span<const double> row) {
  last_.assign(row.begin(), row.end());
  if (added_++ % every_ != 0) return;
  if (rows() == most_rows_) {
    thin_out();
    if ((added_ - 1) % every_ != 0) return;
  }
  values_.insert(values_.end(), row.begin(), row.end());
}

void RowHistory::thin_out() {
  const std::size_t kept = (rows() + 1) / 2;
  for (std::size_t i = 1; i < kept; ++i) {
    const auto from = values_.begin() + static_cast<std::ptrdiff_t>(2 * i * columns_);
    std::copy(from, from + static_cast<std::ptrdiff_t>(columns_),
              values_.begin() + static_cast<std::ptrdiff_t>(i * columns_));
  }
  values_.resize(kept * columns_);
  every_ *= 2;
}

bool HistoryCopy::take(const RowHistory& history) {
  constexpr std::size_t block = 64;  // rows
  if (history.every() != every_) values_.clear();
  every_ = history.every();
  const std::size_t first = history.columns() == 0 ? 0 : values_.size() / history.columns(),
                    behind = std::min(history.rows(), first + block);
  for (std::size_t i = first; i < behind; ++i) {
    const std::span<const double> row = history.row(i);
    values_.insert(values_.end(), row.begin(), row.end());
  }
  if (behind < history.rows()) return false;
  if (!history.last_is_kept()) values_.insert(values_.end(), history.last().begin(), history.last().end());
  return true;
}

}  // namespace trammel
