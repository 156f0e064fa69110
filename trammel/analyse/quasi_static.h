// Quasi-static analysis: the equilibrium (7.1) at each time while motions and loads change slowly, without inertia. The
// step adapts to how far the positions move; each time starts from the secant through the last two.
#pragma once
#include <functional>

#include "trammel/analyse/statics.h"

namespace trammel {

struct QuasiStaticOptions {
  double end = 1;
  int outputs = 100;           // intervals between the outputs, on a grid from the start to the end
  double greatest_move = 0.3;  // in one step, in L and rad; more is a jump, approached with smaller steps
  StaticOptions statics{};
};

struct QuasiStaticReport {
  bool finished = false;
  double reached = 0;
  long outputs = 0, steps = 0, rejected = 0, iterations = 0;
  double largest_residual = 0;
  std::vector<std::pair<double, double>> jumps;  // (time, size): the equilibrium was lost and another one found
  StaticReport first, last;
  std::string why;
};

// From `state` (on the constraints) at its time; `each` sees every output.
QuasiStaticReport run_quasi_static(const Equations& equations, State& state, Rates& rates, Workspace& work,
                                   const QuasiStaticOptions& options,
                                   const std::function<void(const State&, const Rates&)>& each);

}  // namespace trammel
