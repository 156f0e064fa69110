// Linear systems with a stiffness in place of a mass,
//
//   [ A  G^T ] [ x ]   [ b1 ]
//   [ G   0  ] [ l ] = [ b2 ]
//
// where A may be indefinite or have nothing on its diagonal, so that the static pivots of the saddle matrix would be
// zeros. Multipliers are eliminated first, against a small block -E: (A + G^T E^-1 G) dx = r1 + G^T E^-1 r2,
// dl = E^-1 (G dx - r2), by sparse LU with pivoting, and sweeps of refinement against the system without E remove its
// effect. Redundant rows need no care. Everything is scaled by the units of the columns (L, 1 rad) and the rows' sizes.
#pragma once
#include <memory>

#include "trammel/equations/equations.h"

namespace trammel {

class TangentSolver {
 public:
  explicit TangentSolver(const Equations& equations);
  ~TangentSolver();
  TangentSolver(const TangentSolver&) = delete;
  TangentSolver& operator=(const TangentSolver&) = delete;

  // A on Equations::vv(), G on Equations::gv(). False: singular on the motions that G leaves.
  bool factor(const Vec& A, const Vec& G);
  // z = (x, l) from b = (b1, b2); false if refinement does not converge.
  bool solve(const Vec& b, Vec& z, int sweeps = 6);
  // Directions that G leaves in which the symmetric part of A is negative: the negative pivots of A + G^T E^-1 G, by
  // Sylvester's law. After factor(); -1 if a pivot vanishes.
  int negative_directions() const;
  double size() const;  // largest entry of the scaled A: N m

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trammel
