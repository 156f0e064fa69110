// IDA of SUNDIALS on a mechanism, as a comparator that gets its best: the equations as a sparse implicit problem with
// exact derivatives, KLU, multipliers left out of the error test. For mechanisms of planar bodies and points, whose
// coordinates are a vector space.
#pragma once
#include <string>

#include "trammel/equations/equations.h"

namespace trammel {

enum class IdaForm {
  index_1,     // q' = v,  M v' + G^T lambda = Q,  G v' = gamma
  index_2,     // q' = v,  M v' + G^T lambda = Q,  G v + g_t = 0
  stabilised,  // q' = v + G^T mu,  M v' + G^T lambda = Q,  g = 0,  G v + g_t = 0
};
const char* to_text(IdaForm form);

struct IdaRun {
  bool good = false;
  std::string why;  // not good: what IDA says
  double reached = 0;
  Vec q, v;  // at the end
  long steps = 0, evaluations = 0, jacobians = 0, error_failures = 0, newton_failures = 0;
  double seconds = 0;  // of one core, stepping alone
};

// From a consistent state with its accelerations and multipliers to the end; the same weights as our methods.
IdaRun run_ida(const Equations& equations, const State& state, const Rates& rates, IdaForm form, double tolerance,
               double end);

}  // namespace trammel
