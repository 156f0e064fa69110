// A time integration method: `attempt` tries one step and leaves the accepted state untouched, `accept` moves on. A
// method holds formulas; Newton's stopping rules, predictors, norms and step control live in control/, the time loop in
// run/.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "trammel/equations/equations.h"

namespace trammel {

enum class Verdict {
  ok,
  newton_diverged,  // the corrector did not converge, with derivatives of this very step
  singular_matrix,
  evaluation_rejected,  // an element cannot be evaluated at the trial state
  not_finite,           // a residual is infinite or not a number
  angle_too_large,      // a rotation so fast and unsteady that its turns could be miscounted
};
const char* to_text(Verdict);

struct Attempt {
  Verdict verdict = Verdict::ok;
  double error = 0;        // weighted local error by tolerance: accepted if <= 1
  double suggested_h = 0;  // of a method that chooses its order and step together; 0: the controller decides
  int newton_iterations = 0;
  double newton_rate = 0;   // contraction observed
  int worst_velocity = -1;  // velocity index with the largest share of the error, or of the last correction
  int worst_row = -1;       // constraint row with the largest residual, if the step failed
};

// Work counted since the start of the run.
struct Counts {
  long steps = 0, evaluations = 0, linearisations = 0, combinations = 0, factorisations = 0, refactorisations = 0,
       solves = 0;
  long newton_iterations = 0;
  long unrefined = 0;                      // solves for accelerations that the bound of sweeps ended
  long explicit_evaluations = 0;           // of part A, by methods that split
  std::array<long, 4> predictor_degree{};  // steps started with each degree
};

class Integrator {
 public:
  virtual ~Integrator() = default;
  virtual int error_order() const = 0;  // the error estimate is proportional to h^error_order
  // Starts from a consistent state with its accelerations and multipliers.
  virtual void start(const State& state, const Rates& rates) = 0;
  virtual Attempt attempt(double h) = 0;
  virtual void accept() = 0;
  // Forgets history across a discontinuity.
  virtual void restart(std::string_view why) = 0;

  virtual const State& state() const = 0;
  // Accelerations that satisfy the equations of motion with the multipliers at the accepted state.
  virtual const Rates& rates() const = 0;
  // Positions and velocities inside the last accepted step.
  virtual void interpolate(double t, State& out) const = 0;
  // Whether they are as good as at its ends, stiff parts included, as far as the method can tell.
  virtual bool interpolation_holds() const { return false; }
  // The same without evaluations for it, as good as a cubic: for what is summed up in every step.
  virtual void interpolate_cheaply(double t, State& out) const { interpolate(t, out); }
  virtual double last_step() const = 0;
  // Where the last attempt ended or gave up, for the search for the element to blame.
  virtual const State& trial_state() const { return state(); }
  virtual const Rates& trial_rates() const { return rates(); }
  virtual const Counts& counts() const = 0;

  // Complete: a run that is saved, restored in a new process and continued gives the same bits.
  virtual void save(Bytes& out) const = 0;
  virtual void restore(std::span<const std::byte>& in) = 0;
  virtual long memory_bytes() const { return 0; }
  // What a user should know of the run beside the counts; empty if nothing.
  virtual std::string remark() const { return ""; }
};

}  // namespace trammel
