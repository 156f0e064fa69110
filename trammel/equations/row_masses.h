// The mass that each constraint row moves, 1 / (G M^-1 G^T)_ii: what a spring in the place of the row would swing.
#pragma once
#include "trammel/equations/equations.h"

namespace trammel {

// Directions without mass are left out; a row that moves nothing else gets the largest mass of the model.
Vec row_masses(const Equations& equations, const State& state, Workspace& work);

// A velocity whose direction has no mass, so that M has no inverse; -1: none.
int velocity_without_mass(const Equations& equations);

}  // namespace trammel
