// The closure matrix of one block's loops: see rank_closure.h.
#include "trammel/rank/closure.h"

#include <cmath>
#include <cstdlib>
#include <map>

namespace trammel::rank {
namespace {

// Joints in series lie on the same cycles and enter C as [S_1 ... S_p] only; its triangular factor has at most a
// columns and the same left singular vectors and values. It keeps C small where loops are long.
Mat in_series(const std::vector<Mat>& freedoms) {
  Index columns = 0;
  for (const Mat& s : freedoms) columns += s.cols();
  Mat all(freedoms.front().rows(), columns);
  Index next = 0;
  for (const Mat& s : freedoms) {
    all.middleCols(next, s.cols()) = s;
    next += s.cols();
  }
  return columns <= all.rows() ? all : lower_factor(all);
}

}  // namespace

Closure::Closure(const std::vector<Joint>& joints, const CycleBasis& cycles, std::size_t legs)
    : ambient_(joints.front().ambient()), rows_(ambient_ * static_cast<Index>(cycles.cycles.size())), passages_(legs) {
  for (std::size_t c = 0; c < cycles.cycles.size(); ++c) {
    for (const CyclePart& part : cycles.cycles[c]) {
      passages_[part.leg].push_back({static_cast<int>(c), part.sign});
    }
  }
  std::map<std::vector<int>, std::vector<Mat>> series;  // by the cycles passed, +-(cycle + 1) with the first positive
  for (const Joint& joint : joints) {
    const Mat s = joint.centre_freedoms();
    if (s.cols() == 0) continue;
    if (joint.legs == 1) {
      const std::vector<Passage>& passages = passages_[joint.leg_ids.front()];
      std::vector<int> signature;
      signature.reserve(passages.size());
      for (const Passage& p : passages) signature.push_back(p.sign * passages.front().sign * (p.cycle + 1));
      series[signature].push_back(s);
      continue;
    }
    std::map<int, Mat> sums;  // a cycle may pass several legs of one coupler
    for (Index i = 0; i < joint.legs; ++i) {
      for (const Passage& p : passages_[joint.leg_ids[i]]) {
        sums.try_emplace(p.cycle, Mat::Zero(ambient_, s.cols())).first->second +=
            p.sign * s.middleRows(ambient_ * i, ambient_);
      }
    }
    add({sums.begin(), sums.end()}, s.cols());
  }
  for (const auto& [signature, freedoms] : series) {
    const Mat s = in_series(freedoms);
    std::vector<std::pair<int, Mat>> parts;
    for (const int c : signature) parts.emplace_back(std::abs(c) - 1, c > 0 ? s : Mat(-s));
    add(std::move(parts), s.cols());
  }
}

void Closure::add(std::vector<std::pair<int, Mat>> parts, Index count) {
  blocks_.push_back({columns_, std::move(parts)});
  columns_ += count;
}

Mat Closure::dense() const {
  Mat c = Mat::Zero(rows_, columns_);
  for (const Columns& block : blocks_) {
    for (const auto& [cycle, s] : block.parts) c.block(ambient_ * cycle, block.first, ambient_, s.cols()) = s;
  }
  return c;
}

std::vector<Entry> Closure::entries() const {
  std::vector<Entry> entries;
  for (const Columns& block : blocks_) {
    for (const auto& [cycle, s] : block.parts) {
      for (Index j = 0; j < s.cols(); ++j) {
        for (Index i = 0; i < ambient_; ++i) {
          if (std::abs(s(i, j)) < 1e-15) continue;
          entries.push_back({static_cast<int>(ambient_ * cycle + i), static_cast<int>(block.first + j), s(i, j)});
        }
      }
    }
  }
  return entries;
}

Mat Closure::wrench(const Joint& joint, const Mat& null) const {
  Mat wrench(ambient_ * joint.legs, null.cols());
  Mat about_centre(ambient_, null.cols());
  for (Index i = 0; i < joint.legs; ++i) {
    about_centre.setZero();
    for (const Passage& p : passages_[joint.leg_ids[i]]) {
      about_centre += p.sign * null.middleRows(ambient_ * p.cycle, ambient_);
    }
    wrench.middleRows(ambient_ * i, ambient_) = joint.to_centre.transpose() * about_centre;
  }
  return wrench;
}

}  // namespace trammel::rank
