// Mechanisms made from a seed: trees with loops of every joint of the registry, motions, springs and other forces of
// the registry, of spatial, planar and point bodies, some with redundant joints. Each can be judged without a reference
// solution: derivatives against differences, the energy balance, and two tolerances against each other.
#pragma once
#include <string>
#include <vector>

#include "trammel/model/model.h"

namespace trammel::problems {

// The same model for the same seed, with the same compiler: the order in which arguments are drawn is its own.
Model random_model(unsigned seed);

struct RandomModelReport {
  unsigned seed = 0;
  std::string kind;  // "spatial", "planar bodies", "points", "redundant"
  int bodies = 0, rows = 0, freedoms = 0, redundant = 0;
  long steps = 0;                // of the finer run
  double derivative_error = 0;   // relative, directional derivatives of residual and constraints
  double imbalance = 0;          // of energy, relative to what was exchanged
  double difference = 0;         // of the bodies' places between the tolerances, relative to the length scale
  bool refused = false;          // before the run, with a diagnosis: a random loop may not assemble
  std::string stopped;           // a run that ended early for a cause that was proved: a random force may blow up
  std::string failure;           // why it is not as it should be; empty if all is well
  std::vector<std::string> ids;  // of messages of a refusal or a failure
};

// Makes the model, compares derivatives, runs it at `coarse` and `fine` tolerances and judges. Never throws.
RandomModelReport judge_random_model(unsigned seed, double coarse = 1e-5, double fine = 1e-7);

}  // namespace trammel::problems
