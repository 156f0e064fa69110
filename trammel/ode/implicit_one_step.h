// What implicit methods of one step for y' = f share: the accepted point and the one before, the Jacobian and when it
// is kept, Newton's settings, values between steps, saving.
//
// Between steps there is Hermite's cubic, or a polynomial of the method's own.
//
// J is kept from step to step while the corrections contract well; a step whose corrections do not converge is tried
// once more with J of its own start before it is given up. Steps of fixed size cannot be shortened: a method that can
// takes J anew for every correction then, Newton's method in full.
#pragma once
#include "trammel/base/archive.h"
#include "trammel/ode/control/error_norm.h"
#include "trammel/ode/control/secant_updates.h"
#include "trammel/ode/control/simplified_newton.h"
#include "trammel/ode/count_factors.h"
#include "trammel/ode/ode_method.h"
#include "trammel/ode/registry.h"
#include "trammel/ode/shifted_solver.h"

namespace trammel {

struct ImplicitOptions {
  double tolerance = 1e-5;
  bool fixed_step = false;
  SimplifiedNewton::Options newton;
  bool secant = false;  // Broyden's updates of kept derivatives

  // From the options of with_newton_options.
  static ImplicitOptions from(const OdeSettings& settings);
};
std::vector<Field> with_newton_options(std::vector<Field> own);

class ImplicitOneStep : public OdeMethod {
 public:
  void start(double t, const Vec& y) override;
  Attempt attempt(double h) override;
  void accept() override;
  const Vec& trial() const override { return trial_; }
  void interpolate(double t, Vec& y) const override;
  void restart() override;
  void rebase(std::span<const Point> past) override;
  void visit(Archive& archive) override;

 protected:
  ImplicitOneStep(FirstOrderProblem& problem, const ImplicitOptions& options);

  // trial_ from y_, dydt_ with J as it is. newton_diverged: tried again if J is not of this point.
  virtual Verdict solve_stages(double h) = 0;
  virtual bool iterates() const { return true; }    // false: J is the method's own affair
  virtual bool can_renew() const { return false; }  // solve_stages heeds renewing_
  // The error of trial_ by tolerance; end_slope() may be asked for.
  virtual double estimate(double h, Attempt& result) = 0;
  virtual double suggest(double /*h*/, double /*error*/) { return 0; }
  // What f at the end shows that neither the stages nor the estimate have seen, as an error by tolerance: a force that
  // sets in behind the last stage, or between the values where the stages were evaluated and those they ended with.
  virtual double unseen(double /*h*/, Attempt& /*result*/) { return 0; }
  virtual void accepted() {}
  virtual void forget() {}          // what was kept of earlier steps
  virtual void matrix_changed() {}  // J is another one
  virtual bool interpolate_own(double /*theta*/, Vec& /*y*/) const { return false; }

  Verdict evaluate_jacobian(double h) { return evaluate_jacobian(t_, y_, dydt_, h); }
  Verdict evaluate_jacobian(double t, const Vec& y, const Vec& dydt, double h);
  // trial_dydt_ = f at the end of the attempt.
  Verdict end_slope();
  // Size of a correction by tolerance, and what of it is round-off.
  double size_of(const Vec& correction) const;
  double noise() const { return noise_; }
  // Corrections of kept derivatives, one after the other since `begin`, become those of the secant method if asked for.
  void begin_secant() { secant_.begin(); }
  void improve_by_secant(Eigen::Ref<Vec> correction) {
    if (options_.secant && !renewing_) secant_.improve(correction);
  }
  template <class Scalar>
  bool factor(ShiftedSolver<Scalar>& solver, Scalar c) {
    return count_factors(solver, counts_, [&] { return solver.factor(c, jacobian_.J()); });
  }

  FirstOrderProblem& problem_;
  ImplicitOptions options_;
  int n_;
  JacobianSource jacobian_;
  SimplifiedNewton newton_;
  double trial_h_ = 0;
  Vec trial_, trial_dydt_, previous_, previous_dydt_, scales_;
  bool J_valid_ = false, J_current_ = false, end_known_ = false, rejected_ = true;
  bool renewing_ = false;  // J for every correction

 private:
  SecantUpdates secant_;
  double noise_ = 0;
};

}  // namespace trammel
