// What methods without memory share: steps from (t, y, f), an error estimate of their own or by step doubling,
// values between steps, saving.
//
// Between steps methods up to order 3 have Hermite's cubic. The others would lose by it, and a little by dense outputs
// of an order less than theirs: f at some points of those, evaluated when a step is first asked, gives a polynomial
// that errs by an order more (slope_interpolation.h).
//
// Step doubling (TEXT 7.1.4): one step h and two steps h/2 give y_1 and y_2; (y_2 - y_1) / (2^p - 1) estimates the
// error of y_2, which is kept.
#pragma once
#include <optional>

#include "trammel/base/archive.h"
#include "trammel/ode/control/error_norm.h"
#include "trammel/ode/control/slope_interpolation.h"
#include "trammel/ode/ode_method.h"

namespace trammel {

class OneStepMethod : public OdeMethod {
 public:
  void start(double t, const Vec& y) override;
  Attempt attempt(double h) override;
  void accept() override;
  const Vec& trial() const override { return new_y_; }
  void interpolate(double t, Vec& y) const override;
  void interpolate_cheaply(double t, Vec& y) const override;
  void restart() override;
  void rebase(std::span<const Point> past) override;
  void visit(Archive& archive) override;

 protected:
  OneStepMethod(FirstOrderProblem& problem, double tolerance, bool fixed_step, bool doubling);

  // y_new after a step from (t, y) where f(t, y) = f.
  virtual Verdict advance(double t, const Vec& y, const Vec& f, double h, Vec& y_new) = 0;
  // f at the end of the last `advance` if it was evaluated there, else null.
  virtual const double* end_slope() const { return nullptr; }
  // Error by tolerance of the last `advance`, with new_y_; unused where steps are doubled.
  virtual double estimate(double /*h*/, int& /*worst*/) { return 0; }
  // What f at the end of the last `advance`, of size h, shows that it has not seen, as an error by tolerance: a force
  // that sets in behind its last stage, or between the values of that stage and those of the end.
  virtual double unseen(double /*h*/, const Vec& /*f_end*/, int& /*worst*/) { return 0; }
  virtual double next_step(double /*h*/, double /*error*/) { return 0; }
  virtual void accepted() {}
  // Inside the last step, theta from 0 to 1; false: none of its own.
  virtual bool interpolate_own(double /*theta*/, Vec& /*y*/) const { return false; }

  // Interpolates by f at so many points of a step.
  void refine_interpolation(int points) { refined_.emplace(points); }

  FirstOrderProblem& problem_;
  double tolerance_;
  bool fixed_step_, doubling_;                               // doubling is for controlled steps
  Vec previous_y_, previous_dydt_, middle_y_, middle_dydt_;  // of the last accepted step
  Vec new_y_, new_dydt_, new_middle_y_, new_middle_dydt_, scales_, work_;

 private:
  Verdict finish_attempt();

  mutable std::optional<SlopeInterpolation> refined_;
  mutable Vec inside_;
  double last_attempt_h_ = 0;
  bool completed_ = false;
};

}  // namespace trammel
