// A step is not accepted if its energies do not add up by more than the mechanism holds,
//
//   |T_1 + U_1 - T_0 - U_0 - W + D| > (greatest T) + (range of U) + (|W| + |D|) / 2 + noise   (6.6)
//
// and what it held at the start. W and D, work and heat of the step, by the trapezoidal rule or by Simpson's, whichever
// leaves less. No method damps more than there is, so what remains is a step over something that it did not see: a
// force that grows faster than any step, a pole. Only steps that change velocities by a fifth are looked at, by |dv|^2
// in the metric of the masses, so that a smooth run pays one product with the mass matrix a step.
#pragma once
#include <optional>
#include <string>

#include "trammel/equations/equations.h"
#include "trammel/run/recorder.h"

namespace trammel {

// What a step brought that nothing explains, and the element whose power changed most over it.
struct UnexplainedEnergy {
  double t = 0, h = 0;
  double amount = 0, held = 0;  // J
  std::string part;             // "force 'drive'"
  bool by_force = false;        // the part is a force
  double power_before = 0, power_after = 0;
};

class EnergyGuard {
 public:
  EnergyGuard(const Equations& equations, double tolerance);

  // The step from one state to the other; `book` is that of the first.
  bool explains(const State& from, const Rates& from_rates, const State& to, const Rates& to_rates,
                const EnergyBook& book);
  // The same of a step that was booked, with the method's own middle; `noise` as of its start.
  bool explains(const EnergyBook& before, const EnergyBook& after, double noise);
  // Of the whole run: more is missing than the mechanism ever held and three quarters of what passed through it.
  bool beyond_belief(const EnergyBook& book, double noise);
  // What correctors may leave, and motion too slow to count, J.
  double noise_of(double h, const State& state, const Rates& rates);
  // After explains() was false, for the same step.
  UnexplainedEnergy blame(const State& from, const State& to);

 private:
  const Equations& equations_;
  double noise_;  // of positions, m
  Vec scales_;
  Workspace work_;
  State middle_;
  Rates middle_rates_;
  Vec dv_, Mdv_;
  double amount_ = 0, held_ = 0;
};

// The part of the model where `amount` of energy most likely went astray between two states: the force whose power
// changed most, if that is of any weight, or else the body whose velocity did.
UnexplainedEnergy blame_for_energy(const Equations& equations, const State& from, const State& to, double amount,
                                   Workspace& work);

}  // namespace trammel
