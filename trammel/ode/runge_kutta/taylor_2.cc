// Taylor's series to order 2 with exact derivatives, TEXT (7.5)-(7.7): y_new = y + h f + h^2/2 (f_t + f_y f).
#include "trammel/ode/methods.h"
#include "trammel/ode/one_step.h"

namespace trammel {
namespace {

class TaylorMethod final : public OneStepMethod {
 public:
  TaylorMethod(FirstOrderProblem& problem, const OdeSettings& s)
      : OneStepMethod(problem, s.tolerance, s.fixed_step, true) {
    for (Vec* v : {&f_t_, &second_, &forward_, &backward_, &end_slope_}) v->setZero(problem.size());
  }
  int order() const override { return 2; }
  int error_order() const override { return 3; }

 protected:
  Verdict advance(double t, const Vec& y, const Vec& f, double h, Vec& y_new) override {
    if (problem_.has_jacobian() && problem_.has_time_derivative()) {
      ++counts_.linearisations;
      if (problem_.jacobian(t, y, J_, f_t_) == Eval::rejected) return Verdict::evaluation_rejected;
      second_ = f_t_;
      if (const Pattern* pattern = problem_.sparsity())
        pattern->multiply_add(J_.values, 1, f.data(), second_.data());
      else
        second_.noalias() += J_.dense * f;
    } else {
      // The derivative of f along the solution, by a central difference.
      const double small = 6e-6 * std::max(std::abs(t), y.norm() / std::max(f.norm(), 1e-300)) + 1e-300;
      const double step = std::min(small, std::abs(h));
      y_new = y + step * f;
      Verdict verdict = evaluate(problem_, t + step, y_new, forward_, counts_);
      if (verdict != Verdict::ok) return verdict;
      y_new = y - step * f;
      verdict = evaluate(problem_, t - step, y_new, backward_, counts_);
      if (verdict != Verdict::ok) return verdict;
      second_ = (forward_ - backward_) / (2 * step);
    }
    y_new = y + h * f + (0.5 * h * h) * second_;
    end_slope_ = f + h * second_;
    return y_new.allFinite() ? Verdict::ok : Verdict::not_finite;
  }
  // Nothing is evaluated behind the start of a series.
  double unseen(double h, const Vec& f_end, int& worst) override {
    work_ = (0.5 * h) * (f_end - end_slope_);
    return error_norm(work_, scales_, tolerance_, worst);
  }

 private:
  Jacobian J_;
  Vec f_t_, second_, forward_, backward_, end_slope_;  // end_slope_: of the series at its end
};

}  // namespace

namespace methods {

OdeMethodInfo taylor_2() {
  OdeMethodInfo m;
  m.key = "taylor-2";
  m.title = "Taylor series of order 2 with exact derivatives";
  m.source = "Garcia de Jalon, Bayo: Kinematic and Dynamic Simulation of Multibody Systems, (7.5)-(7.7)";
  m.order = m.dense_order = 2;
  m.error_order = 3;
  m.evaluations = 1;
  m.stability = "explicit; real axis to 2.00";
  m.is_explicit = true;
  m.make_first_order = [](FirstOrderProblem& problem, const OdeSettings& s) {
    return std::make_unique<TaylorMethod>(problem, s);
  };
  return m;
}

}  // namespace methods
}  // namespace trammel
