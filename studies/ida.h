// IDA of SUNDIALS on a mechanism, as a comparator that gets its best: the equations as a sparse implicit problem with
// exact derivatives (ida_problem.h), KLU, multipliers left out of the error test.
#pragma once
#include <string>

#include "studies/ida_problem.h"

namespace trammel {

struct IdaRun {
  bool good = false;
  std::string why;  // not good: what IDA says
  double reached = 0;
  State last;  // where it ended
  long steps = 0, evaluations = 0, jacobians = 0, error_failures = 0, newton_failures = 0;
  double seconds = 0;  // of one core, stepping alone
};

// From a consistent state with its accelerations and multipliers to the end; the same weights and the same
// largest step (0: none) as our methods.
IdaRun run_ida(const Equations& equations, const State& state, const Rates& rates, IdaForm form, double tolerance,
               double end, double greatest_step = 0);

}  // namespace trammel
