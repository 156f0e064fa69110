// A time integration method: `attempt` tries one step and leaves the accepted state untouched, `accept` moves on. A
// method holds formulas; Newton's stopping rules, predictors, norms and step control live in ode/control/, the time
// loop in run/.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "trammel/base/archive.h"
#include "trammel/equations/equations.h"
#include "trammel/ode/attempt.h"

namespace trammel {

class Integrator {
 public:
  virtual ~Integrator() = default;
  virtual int error_order() const = 0;  // the error estimate is proportional to h^error_order
  // Starts from a consistent state with its accelerations and multipliers.
  virtual void start(const State& state, const Rates& rates) = 0;
  virtual Attempt attempt(double h) = 0;
  virtual void accept() = 0;
  // Rows came into force or ceased to be: what was chosen for those before is forgotten. `start` follows.
  virtual void forget() {}
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
  // As good as the interpolation, but on the constraints and with accelerations and multipliers that satisfy the
  // equations of motion there. False: the method cannot tell them, or multipliers are not unique; `out` and `rates`
  // mean nothing then.
  virtual bool complete_at(double /*t*/, State& /*out*/, Rates& /*rates*/) { return false; }
  // Whether the accepted `rates` are such.
  virtual bool rates_complete() const { return false; }
  virtual double last_step() const = 0;
  // Where the last attempt ended or gave up, for the search for the element to blame.
  virtual const State& trial_state() const { return state(); }
  virtual const Rates& trial_rates() const { return rates(); }
  virtual const Counts& counts() const = 0;

  // Complete: a run that is saved, restored in a new process and continued gives the same bits.
  virtual void visit(Archive& archive) = 0;
  void save(Bytes& out) const { write_state(*this, out); }
  void restore(std::span<const std::byte>& in) { read_state(*this, in); }
  virtual long memory_bytes() const { return 0; }
  // What a user should know of the run beside the counts; empty if nothing.
  virtual std::string remark() const { return ""; }
};

}  // namespace trammel
