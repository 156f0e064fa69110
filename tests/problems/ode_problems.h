// Small problems with known solutions, for methods without mechanics.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trammel/ode/problem.h"

namespace trammel::problems {

struct OdeCase {
  std::string name;
  // One of the two.
  std::function<std::unique_ptr<FirstOrderProblem>()> first;
  std::function<std::unique_ptr<SecondOrderProblem>()> second;
  std::function<Vec(double)> solution;  // from t = 0
  double end = 1;
  bool stiff = false;
  bool linear = false;  // methods may be better than their order there

  std::unique_ptr<FirstOrderProblem> make() const { return first ? first() : second(); }
};

// Linear, nonlinear, non-autonomous, stiff, of second order, with a configuration-dependent inertia as a closed loop
// has, on the rotation group by quaternions and by a rotation vector.
const std::vector<OdeCase>& ode_cases();
const OdeCase& ode_case(const std::string& name);

// y' = Q S Q^T y with S skew and Q a rotation that may be changed under way; errors are weighed alike in all
// directions.
class TurnedOscillators final : public FirstOrderProblem {
 public:
  TurnedOscillators();
  int size() const override { return 4; }
  Eval f(double t, const Vec& y, Vec& dydt) override;
  bool has_jacobian() const override { return true; }
  Eval jacobian(double t, const Vec& y, Jacobian& J, Vec& f_t) override;
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override;
  void turn(const Mat& Q) { matrix_ = Q * skew_ * Q.transpose(); }

 private:
  Mat skew_, matrix_;
};

// y' = 1/sqrt(1 - t)/2: rejected from t = 1 on, or not a number there.
class EndsAtOne final : public FirstOrderProblem {
 public:
  explicit EndsAtOne(bool rejects) : rejects_(rejects) {}
  int size() const override { return 1; }
  Eval f(double t, const Vec& y, Vec& dydt) override;

 private:
  bool rejects_;
};

}  // namespace trammel::problems
