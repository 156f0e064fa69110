// Eigenvalues and mode shapes of the linear system near a state,
//
//   undamped   K phi = w^2 M phi on the motions the constraints leave          (at rest)                    (7.12)
//   damped     A x = s x,   s = -zeta w_n +- i w_n sqrt(1 - zeta^2)                                         (7.13)
//
// Small models: dense, all modes. Large ones: the lowest modes by shift and invert (Spectra's Lanczos and Arnoldi
// iterations), one sparse factorisation of [K - sigma M, G^T; G, 0] and a solve for each iteration.
#pragma once
#include <complex>
#include <string>
#include <vector>

#include "trammel/analyse/linearise.h"

namespace trammel {

struct Mode {
  std::complex<double> eigenvalue;  // s, rad/s; undamped: i w, or +- |w| if unstable
  double frequency = 0;             // |s| / 2 pi, Hz
  double damping = 0;               // ratio: -Re s / |s|
  bool oscillates = false, rigid = false, stable = true;
  Eigen::VectorXcd shape;  // nv: displacement of centres of mass and rotation, world axes; largest 1 (in L, rad)
  std::vector<std::string> bodies;  // that move most, largest first
};

enum class ModeSolver { automatic, dense, sparse };

struct ModeOptions {
  int count = 0;  // lowest modes; 0: all if dense, 10 if sparse
  ModeSolver solver = ModeSolver::automatic;
  bool damped = true;
};

struct Modes {
  std::vector<Mode> undamped;  // by frequency; empty for a moving state
  std::vector<Mode>
      damped;              // one of each conjugate pair, by frequency; empty if nothing damps and the state is at rest
  int freedoms = -1;       // -1: not counted (sparse)
  int displacements = -1;  // of them more than freedoms where conditions bind velocities only
  int rigid = 0;           // displacements without stiffness: undamped modes, or what no acceleration follows
  bool sparse = false;
  bool at_rest = true, equilibrium = true, symmetric = true;
  std::vector<std::string> notes;
};

Modes find_modes(const Equations& equations, const State& state, const Rates& rates, const ModeOptions& options = {});

// A shape by bodies: rows are bodies, columns displacement of the body's origin and rotation, world axes.
Eigen::MatrixXcd shape_of_bodies(const Equations& equations, const State& state, const Mode& mode);

}  // namespace trammel
