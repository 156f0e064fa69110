#include "trammel/linalg/block_cholesky.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trammel {

BlockCholesky::BlockCholesky(const std::vector<int>& sizes, const std::vector<std::pair<int, int>>& coupled)
    : size_(sizes), start_(sizes.size() + 1, 0), place_(sizes.size()) {
  const std::size_t n = sizes.size();
  for (std::size_t i = 0; i < n; ++i) start_[i + 1] = start_[i] + sizes[i];
  std::vector<std::vector<int>> neighbours(n);
  for (const auto& [a, b] : coupled) {
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  for (std::vector<int>& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  order(std::move(neighbours));
  int blocks = 0;
  for (std::size_t k = 0; k < n; ++k) {
    diagonal_.push_back(blocks++);
    for (Below& each : below_[k]) each.row = place_[each.row];
    std::sort(below_[k].begin(), below_[k].end(), [](const Below& a, const Below& b) { return a.row < b.row; });
    for (Below& each : below_[k]) each.block = blocks++;
  }
  values_.setZero(static_cast<Eigen::Index>(entries) * blocks);
  updates_.resize(n);
  for (std::size_t k = 0; k < n; ++k) {
    const long width = size_[order_[k]];
    for (const Below& left : below_[k]) {
      const int rows = size_[order_[left.row]];
      for (const Below& right : below_[k]) {
        if (right.row > left.row) break;
        const int columns = size_[order_[right.row]];
        updates_[k].push_back(
            {number_of_block(order_[left.row], order_[right.row]), left.block, right.block, rows, columns});
        operations_ += width * rows * columns;
      }
      operations_ += width * width * rows / 2;
    }
    operations_ += width * width * width / 6;
  }
}

// Least degree: always the block with the fewest neighbours, which then become neighbours of each other.
void BlockCholesky::order(std::vector<std::vector<int>> neighbours) {
  const std::size_t n = neighbours.size();
  below_.resize(n);
  std::set<std::pair<std::size_t, int>> left;  // by degree, then by number
  for (std::size_t i = 0; i < n; ++i) left.emplace(neighbours[i].size(), static_cast<int>(i));
  std::vector<int> merged;
  for (std::size_t k = 0; k < n; ++k) {
    const int best = left.begin()->second;
    left.erase(left.begin());
    order_.push_back(best);
    place_[best] = static_cast<int>(k);
    const std::vector<int> clique = neighbours[best];
    for (const int i : clique) {
      below_[k].push_back({i, 0});
      std::vector<int>& own = neighbours[i];
      left.erase({own.size(), i});
      merged.clear();
      std::set_union(own.begin(), own.end(), clique.begin(), clique.end(), std::back_inserter(merged));
      own.clear();
      for (const int j : merged)
        if (j != i && j != best) own.push_back(j);
      left.emplace(own.size(), i);
    }
  }
}

int BlockCholesky::number_of_block(int row, int column) const {
  const int later = std::max(place_[row], place_[column]), earlier = std::min(place_[row], place_[column]);
  if (later == earlier) return diagonal_[later];
  const std::vector<Below>& list = below_[earlier];
  const auto found =
      std::lower_bound(list.begin(), list.end(), later, [](const Below& b, int wanted) { return b.row < wanted; });
  return found == list.end() || found->row != later ? -1 : found->block;
}

// The lower triangle, with 1/l on the diagonal.
void BlockCholesky::factor_diagonal(double* d, int rows, bool& good) const {
  for (int c = 0; c < rows; ++c) {
    double sum = d[most_rows * c + c];
    for (int k = 0; k < c; ++k) sum -= d[most_rows * c + k] * d[most_rows * c + k];
    good = good && sum > 0;
    const double over = 1 / std::sqrt(sum);
    d[most_rows * c + c] = over;
    for (int r = c + 1; r < rows; ++r) {
      double x = d[most_rows * r + c];
      for (int k = 0; k < c; ++k) x -= d[most_rows * r + k] * d[most_rows * c + k];
      d[most_rows * r + c] = x * over;
    }
  }
}

bool BlockCholesky::factor() {
  bool good = true;
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const int width = size_[order_[k]];
    double* d = values_of(diagonal_[k]);
    factor_diagonal(d, width, good);
    for (const Below& each : below_[k]) {
      double* b = values_of(each.block);
      const int rows = size_[order_[each.row]];
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < width; ++c) {
          double x = b[most_rows * r + c];
          for (int l = 0; l < c; ++l) x -= b[most_rows * r + l] * d[most_rows * c + l];
          b[most_rows * r + c] = x * d[most_rows * c + c];
        }
      }
    }
    for (const Update& u : updates_[k]) {
      double* target = values_of(u.target);
      const double *left = values_of(u.left), *right = values_of(u.right);
      for (int r = 0; r < u.rows; ++r) {
        for (int c = 0; c < u.columns; ++c) {
          double sum = 0;
          for (int l = 0; l < width; ++l) sum += left[most_rows * r + l] * right[most_rows * c + l];
          target[most_rows * r + c] -= sum;
        }
      }
    }
  }
  return good;
}

void BlockCholesky::solve(double* x) const {
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const int width = size_[order_[k]];
    const double* d = values_of(diagonal_[k]);
    double* own = x + start_[order_[k]];
    for (int r = 0; r < width; ++r) {
      for (int c = 0; c < r; ++c) own[r] -= d[most_rows * r + c] * own[c];
      own[r] *= d[most_rows * r + r];
    }
    for (const Below& each : below_[k]) {
      const double* b = values_of(each.block);
      double* other = x + start_[order_[each.row]];
      for (int r = 0; r < size_[order_[each.row]]; ++r)
        for (int c = 0; c < width; ++c) other[r] -= b[most_rows * r + c] * own[c];
    }
  }
  for (std::size_t k = order_.size(); k-- > 0;) {
    const int width = size_[order_[k]];
    const double* d = values_of(diagonal_[k]);
    double* own = x + start_[order_[k]];
    for (const Below& each : below_[k]) {
      const double* b = values_of(each.block);
      const double* other = x + start_[order_[each.row]];
      for (int r = 0; r < size_[order_[each.row]]; ++r)
        for (int c = 0; c < width; ++c) own[c] -= b[most_rows * r + c] * other[r];
    }
    for (int r = width - 1; r >= 0; --r) {
      for (int c = r + 1; c < width; ++c) own[r] -= d[most_rows * c + r] * own[c];
      own[r] *= d[most_rows * r + r];
    }
  }
}

long BlockCholesky::memory_bytes() const {
  long bytes = 8L * values_.size();
  for (const auto& list : updates_) bytes += static_cast<long>(list.capacity() * sizeof(Update));
  for (const auto& list : below_) bytes += static_cast<long>(list.capacity() * sizeof(Below));
  return bytes;
}

}  // namespace trammel
