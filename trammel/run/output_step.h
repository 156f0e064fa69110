// The state of a mechanism between two steps: the end of a step from the start of the accepted step to the output time,
// kept for the output only. Its error is that of a step, in stiff parts too, where a polynomial through the step that
// is off by e gives a force that is off by K e (docs/decisions/0019).
//
// A second integrator of the same kind takes it, from where the first one stood before the accepted step: the run knows
// nothing of it. Stiff methods take it as a step of fixed size: it cannot be rejected, and the corrector goes near
// round-off, because what it leaves is multiplied by K as well. Methods of variable order would keep another order
// then. Where round-off is too near (penalties), a step as in the run follows.
#pragma once
#include <memory>
#include <vector>

#include "trammel/integrate/registry.h"

namespace trammel {

class OutputStep {
 public:
  // `state` and `rates`: any consistent ones, for the sizes.
  OutputStep(const MethodInfo& method, const Equations& equations, const MethodSettings& settings, const State& state,
             const Rates& rates);

  // Before the first attempt of a step inside which an output may lie.
  void note_start(const Integrator& integrator);
  // The state at t inside the last step of `integrator`; null if no step leads to it, or its start was not noted. The
  // work for it is added to `work`.
  const State* at(double t, const Integrator& integrator, Counts& work);

 private:
  struct Twin {
    std::unique_ptr<Integrator> integrator;
    bool fixed_step;
  };
  std::vector<Twin> twins_;  // tried in this order
  Bytes start_;
  double start_t_ = 0;
  Counts counts_at_start_;
};

}  // namespace trammel
