// A method for y' = f(t, y), y'' = f(t, y, y') or F(t, y, y') = 0: `attempt` tries one step and leaves the accepted
// values untouched, `accept` moves on. It is made for one problem and holds no other reference. Users drive it with
// integrate/solve.h; formulations drive it for a mechanism (formulate/).
#pragma once
#include <span>

#include "trammel/base/archive.h"
#include "trammel/ode/attempt.h"
#include "trammel/ode/problem.h"

namespace trammel {

class OdeMethod {
 public:
  virtual ~OdeMethod() = default;
  // The last estimate is proportional to h^error_order; it changes with the order of a variable-order method.
  virtual int error_order() const = 0;
  virtual int order() const = 0;  // in use now
  virtual void start(double t, const Vec& y) = 0;
  // worst_velocity of the result is the component with the largest share of the error.
  virtual Attempt attempt(double h) = 0;
  virtual void accept() = 0;
  // The accepted point.
  double t() const { return t_; }
  const Vec& y() const { return y_; }
  const Vec& dydt() const { return dydt_; }
  double last_step() const { return last_step_; }  // that led to it; 0: none in these coordinates
  virtual const Vec& trial() const = 0;
  // Inside the last accepted step, with the method's own dense output.
  virtual void interpolate(double t, Vec& y) const = 0;
  // The same without evaluations for it, as good as a cubic.
  virtual void interpolate_cheaply(double t, Vec& y) const { interpolate(t, y); }
  // Whether that is as good as the ends of the step, stiff parts included, as far as the method can tell.
  virtual bool interpolation_holds() const { return false; }
  // Forgets history across a discontinuity; t and y stay.
  virtual void restart() = 0;

  // A point of the solution's past in the coordinates of now.
  struct Point {
    double t = 0;
    Vec y, dydt;
  };
  // How many past points, the present one included, the method remembers at most; 1 for one-step methods.
  virtual int memory() const { return 1; }
  // The problem's coordinates changed: the same solution in the new ones, the newest point first, as many as are known
  // of the last memory() accepted ones.
  virtual void rebase(std::span<const Point> past) = 0;
  // The coordinates are the same; the points were moved, by less than the tolerance, onto constraints. Derivatives and
  // what is made of them stay good.
  virtual void moved(std::span<const Point> past) { rebase(past); }

  // Steps that were limited by stability, not by accuracy, as far as the method watches that.
  virtual long stiff_steps() const { return 0; }
  // Steps taken with each order, [0] unused; empty if the order is fixed.
  virtual std::span<const long> steps_by_order() const { return {}; }
  // What else the summary should say of them; begins with "; ".
  virtual std::string remark_on_orders() const { return {}; }

  const Counts& counts() const { return counts_; }
  // Complete: what is saved, restored and continued gives the same bits.
  virtual void visit(Archive& archive) = 0;
  void save(Bytes& out) const { write_state(*this, out); }
  void restore(std::span<const std::byte>& in) { read_state(*this, in); }

 protected:
  double t_ = 0, last_step_ = 0;
  Vec y_, dydt_;
  mutable Counts counts_;  // dense output may evaluate f
};

}  // namespace trammel
