// Dense matrices of one constraint before they are scattered.
#pragma once
#include "trammel/equations/equations.h"

namespace trammel {

// On rigid bodies: against the six rigid velocities of each of its frames' bodies.
struct Equations::Local {
  FrameMatrix force_q;  // rows and columns: 6 per frame
  RowMatrix G, K_q, Gv_q, Ga_q, gamma_q, gamma_v;
  RowVector g_t, gamma, gamma_t, Ga_t;
  FrameVector force_t;
};

// Of one constraint on any bodies: rows by rows, force_q and force_t by columns; n velocities of its bodies.
struct Equations::ConstraintValues {
  const double *G, *K_q, *Gv_q, *Ga_q, *gamma_q, *gamma_v;
  const double *force_q, *force_t;
  const RowVector *g_t, *gamma, *gamma_t, *Ga_t;
};

}  // namespace trammel
