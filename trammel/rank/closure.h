// The closure matrix C of one block's loops (loops.h): rows are cycles, columns joint freedoms, kept by blocks.
#pragma once
#include <utility>
#include <vector>

#include "trammel/base/types.h"
#include "trammel/rank/algebra.h"
#include "trammel/rank/graph.h"
#include "trammel/rank/joint.h"
#include "trammel/rank/sparse.h"

namespace trammel::rank {

class Closure {
 public:
  Closure(const std::vector<Joint>& joints, const CycleBasis& cycles, std::size_t legs);
  Index rows() const { return rows_; }
  Mat dense() const;
  std::vector<Entry> entries() const;
  Index columns() const { return columns_; }

  // The wrench of a joint (coordinates at its point, a legs x d) from left null vectors of C.
  Mat wrench(const Joint&, const Mat& null) const;

 private:
  struct Passage {
    int cycle;
    int sign;
  };
  struct Columns {
    Index first = 0;
    std::vector<std::pair<int, Mat>> parts;  // cycle, a x f
  };
  void add(std::vector<std::pair<int, Mat>> parts, Index count);

  Index ambient_ = 6, rows_ = 0, columns_ = 0;
  std::vector<std::vector<Passage>> passages_;  // for each leg
  std::vector<Columns> blocks_;
};

}  // namespace trammel::rank
