// Factorises, and adds to the counts of a method what its solver did for it: new pivots, or old ones again.
#pragma once
#include "trammel/ode/attempt.h"

namespace trammel {

template <class Solver, class Factor>
bool count_factors(const Solver& solver, Counts& counts, Factor&& factor) {
  const int factors = solver.factors(), refactors = solver.refactors();
  const bool good = factor();
  counts.factorisations += solver.factors() - factors;
  counts.refactorisations += solver.refactors() - refactors;
  return good;
}

}  // namespace trammel
