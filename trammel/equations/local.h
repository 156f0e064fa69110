// Dense matrices of one constraint against the six rigid velocities of each of its frames' bodies, before they are
// scattered.
#pragma once
#include "trammel/equations/equations.h"

namespace trammel {

struct Equations::Local {
  FrameMatrix force_q;  // rows and columns: 6 per frame
  RowMatrix G, K_q, Gv_q, Ga_q, gamma_q, gamma_v;
  RowVector g_t, gamma, gamma_t, Ga_t;
  FrameVector force_t;
};

}  // namespace trammel
