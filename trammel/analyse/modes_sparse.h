// The lowest modes of large models by shift and invert; see modes.h.
#pragma once
#include "trammel/analyse/modes.h"

namespace trammel {

Modes find_modes_sparse(const Equations& equations, const State& state, const Rates& rates, const ModeOptions& options);

// A mode from an eigenvalue and a shape, named and scaled; eigenvalues up to `rigid_below` count as zero.
Mode make_mode(const Equations& equations, std::complex<double> s, Eigen::VectorXcd shape, double rigid_below);
// s of an undamped mode with s^2 = -w2.
std::complex<double> undamped_eigenvalue(double w2);

}  // namespace trammel
