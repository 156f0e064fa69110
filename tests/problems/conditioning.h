// Condition numbers of the index-3 Newton matrix for the three choices the HHT paper weighs, b = beta h^2:
//
//   (a) positions and multipliers   (b) accelerations and multipliers   (c) as (b), constraint rows divided by b
//       [ Mh/b  G^T ]                   [ Mh   G^T ]                        [ Mh  G^T ]
//       [ G     0   ]                   [ b G  0   ]                        [ G   0   ]
#pragma once
#include "trammel/integrate/alpha/alpha.h"

namespace trammel::problems {

struct Conditions {
  double a = 0, b = 0, c = 0;
};

// At a state with its accelerations and multipliers, from dense singular values in extended precision; without the
// block -E. Meant for small models whose constraints are independent.
Conditions newton_conditions(const Equations& equations, const State& state, const Rates& rates,
                             const AlphaParameters& parameters, double h);

}  // namespace trammel::problems
