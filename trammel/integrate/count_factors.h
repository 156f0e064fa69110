// Of the saddle matrix of a mechanism: factorises, and counts what its solver did.
#pragma once
#include "trammel/equations/saddle.h"
#include "trammel/ode/count_factors.h"

namespace trammel {

inline bool count_factors(SaddleSystem& system, Counts& counts) {
  return count_factors(system.solver(), counts, [&system] { return system.factor(); });
}

}  // namespace trammel
