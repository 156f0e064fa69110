// The joint graph of compiled equations at a state, for the rank analysis by loops.
#pragma once
#include "trammel/equations/equations.h"
#include "trammel/rank/loops.h"

namespace trammel {

ConstraintGraph constraint_graph(const Equations& equations, const State& state, Workspace& work);
std::vector<std::string> constraint_names(
    const Equations& equations);  // "joint 'pin'", in the order of the graph's edges

}  // namespace trammel
