// The rows of a run for pages that are opened later: never more than fit into a given memory. When it is full every
// second row leaves, so that the whole run stays, with fewer rows.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace trammel {

class RowHistory {
 public:
  RowHistory() = default;
  RowHistory(std::size_t columns, std::size_t most_bytes);

  void add(std::span<const double> row);
  std::size_t rows() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
  std::span<const double> row(std::size_t i) const { return std::span(values_).subspan(i * columns_, columns_); }
  // The newest, also if it was not kept; empty: there is none.
  std::span<const double> last() const { return last_; }
  bool last_is_kept() const { return added_ > 0 && (added_ - 1) % every_ == 0; }
  std::size_t columns() const { return columns_; }
  std::size_t every() const { return every_; }  // one row of so many is kept

 private:
  void thin_out();

  std::size_t columns_ = 0, most_rows_ = 0, added_ = 0, every_ = 1;
  std::vector<double> values_, last_;
};

// A copy of a history, made in blocks: whoever adds to it meanwhile waits for one of them at most.
class HistoryCopy {
 public:
  // The next block. True: all rows are there, the newest too; false: there are more, or they were thinned out and are
  // copied anew.
  bool take(const RowHistory& history);
  // Room for a whole history, so that `take` allocates nothing.
  void reserve(std::size_t bytes) { values_.reserve(bytes / sizeof(double)); }
  void clear() { values_.clear(); }
  const std::vector<double>& values() const { return values_; }  // row after row

 private:
  std::size_t every_ = 1;
  std::vector<double> values_;
};

}  // namespace trammel
