// CVODE and ARKODE of SUNDIALS as they are meant to be used: their own drivers, exact dense derivatives, the same
// weights in the error norm as our methods have.
#pragma once
#include "trammel/ode/problem.h"

namespace trammel::bench {

struct PeerRun {
  bool good = false;
  Vec y;
  long steps = 0, evaluations = 0, jacobians = 0;
};

enum class Peer {
  cvode_adams,
  cvode_bdf,
  arkode_explicit_5,        // Dormand-Prince 5(4)
  arkode_explicit_8,        // Fehlberg 8(7)
  arkode_implicit_3,        // diagonally implicit, order 3, L-stable
  arkode_implicit_4,        // order 4, the tableau of Hairer and Wanner
  arkode_explicit_first_4,  // order 4, the first stage explicit, of Kennedy and Carpenter
};
const char* to_text(Peer peer);

// `tuned`: the implicit ones of ARKODE with its SetOptimalParams, which helps on some problems and fails on others.
PeerRun run_peer(Peer peer, FirstOrderProblem& problem, double t0, const Vec& y0, double end, double tolerance,
                 bool tuned = false);

}  // namespace trammel::bench
