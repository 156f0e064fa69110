// Sparse LU by KLU: one symbolic analysis, pivots fixed by the first factorisation, refactorisations and solves that
// allocate nothing. Pivots stay on the diagonal down to `pivot_tolerance`: with the small block -E on the multiplier
// rows every diagonal pivot order exists, and KLU's usual tolerance would explode the fill (measured: 10 to 90 times).
#pragma once
#include <memory>

#include "trammel/linalg/pattern.h"

namespace trammel {

class KluSolver {
 public:
  KluSolver();
  ~KluSolver();
  KluSolver(KluSolver&&) noexcept;
  KluSolver& operator=(KluSolver&&) noexcept;

  // `pattern` must outlive the solver and hold the whole diagonal. With `scales` s the pivots are those of S A S, S =
  // diag(s), so that their sizes can be compared whatever the units; powers of two change no bit of a solution.
  void analyse(const Pattern& pattern, double pivot_tolerance, const Vec& scales = {});
  // Chooses pivots anew. False: singular.
  bool factor(const Vec& values);
  // Keeps the pivots of the last `factor` (does it if there was none). False: singular or not finite.
  bool refactor(const Vec& values);
  void solve(Vec& right_side) const;
  void solve_transposed(Vec& right_side) const;

  bool factored() const;
  double greatest() const;  // |entry| of S A S, as last factored
  long fill() const;        // entries of L + U
  long memory() const;      // bytes held by the factors and the analysis
  int factors() const;      // counts since analyse
  int refactors() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trammel
