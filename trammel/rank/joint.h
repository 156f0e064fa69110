// One joint within the rank analysis (loops.h): its rows on the motions its bodies can make, and what they leave.
// Twists are [v; w l] and wrenches [F; T / l] with a length l, so that their product is power and all entries are
// alike.
#pragma once
#include <vector>

#include "trammel/base/types.h"
#include "trammel/rank/algebra.h"
#include "trammel/rank/loops.h"

namespace trammel::rank {

// Takes a twist [v; w l] about `from` to the one about `to`.
Mat6 moved(const Vec3& from, const Vec3& to, double l);

// Coefficients on twists [v; w l], each row of unit length.
Mat unit_rows(const ConstraintEdge&, double l);

// True if up to six rows between two bodies are clearly independent; allocates nothing, for the many bridges.
bool clearly_independent(const ConstraintEdge&, double l);

// The span of the motions that the bodies of a connected part can make.
struct Ambient {
  bool full = true;
  Vec3 point = Vec3::Zero();
  Mat basis;  // 6 x a at `point`, orthonormal in [v; w L]; only if not full

  void widen(const ReducedBody&, double length);
  // Orthonormal in [v; w l] at another point.
  Mat at_point(const Vec3& p, double l, double length) const;
};

Mat scaled_basis(const ReducedBody&, double length);

// The motions within the ambient at its own point that a reduced body cannot make: 6 x n, orthonormal in [v; w L].
Mat lacking_motions(const ReducedBody&, const Ambient&, double length);

struct Joint {
  int edge = -1;  // the caller's; -1: virtual rows
  const ConstraintEdge* source = nullptr;
  Index legs = 1;            // bodies - 1
  Mat rows;                  // k x 6 legs at the joint point, unit
  Mat to_centre;             // a x a: ambient coordinates at the joint point -> at the block's centre
  RowSplit split;            // of the rows in ambient coordinates, k x a legs
  std::vector<int> leg_ids;  // in the block's graph
  Index first_row = 0;       // in the block's self-stresses

  Joint(const ConstraintEdge&, int number, const Ambient&, const Vec3& centre, double l, double length,
        const LoopOptions&);
  Index row_count() const { return rows.rows(); }
  Index deficiency() const { return split.null.cols(); }
  Index ambient() const { return to_centre.rows(); }
  // Freedoms about the block's centre: a legs x f, orthonormal.
  Mat centre_freedoms() const;
};

}  // namespace trammel::rank
