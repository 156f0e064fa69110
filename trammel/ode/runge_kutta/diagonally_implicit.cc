#include "trammel/ode/runge_kutta/diagonally_implicit.h"

#include "trammel/math/hermite.h"

namespace trammel {

DiagonallyImplicit::DiagonallyImplicit(FirstOrderProblem& problem, const ImplicitTableau& tableau,
                                       const ImplicitOptions& options)
    : ImplicitOneStep(problem, options),
      table_(tableau),
      gamma_(tableau.A(tableau.stages() - 1, tableau.stages() - 1)),
      last_is_new_(tableau.stiffly_accurate()),
      solver_(n_, jacobian_.pattern()),
      k_(static_cast<std::size_t>(tableau.stages()), Vec::Zero(n_)) {
  for (Vec* v : {&z_, &known_, &stage_, &slope_, &right_, &correction_}) v->setZero(n_);
}

Verdict DiagonallyImplicit::solve_stages(double h) {
  const double c = 1 / (h * gamma_);
  newton_.begin();
  if (factored_h_ != h) {
    factored_h_ = 0;
    if (!factor(solver_, c)) return Verdict::singular_matrix;
    factored_h_ = h;
  }
  for (int i = 0; i < table_.stages(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (table_.A(i, i) == 0) {
      k_[at] = dydt_;  // an explicit first stage
      continue;
    }
    known_.setZero();
    for (int j = 0; j < i; ++j) known_ += (h * table_.A(i, j)) * k_[j];
    // From the slope before; where that leads far away (a stiff transient) from the values of the step's start.
    z_ = known_ + (h * gamma_) * (i > 0 ? k_[at - 1] : dydt_);
    if (size_of(z_) * options_.tolerance > 1) z_.setZero();
    if (i > 0) newton_.begin();
    begin_secant();
    for (SimplifiedNewton::Decision next = SimplifiedNewton::Decision::go_on;
         next == SimplifiedNewton::Decision::go_on;) {
      stage_ = y_ + z_;
      const Verdict verdict = evaluate(problem_, t_ + table_.c[i] * h, stage_, slope_, counts_);
      if (verdict != Verdict::ok) return verdict;
      if (renewing_) {
        const Verdict renewed = evaluate_jacobian(t_ + table_.c[i] * h, stage_, slope_, h);
        if (renewed != Verdict::ok) return renewed;
        if (!factor(solver_, c)) return Verdict::singular_matrix;
      }
      right_ = slope_ + c * (known_ - z_);
      solver_.solve(right_, correction_);
      ++counts_.solves;
      improve_by_secant(correction_);
      z_ += correction_;
      next = newton_.next(size_of(correction_), noise());
      if (next == SimplifiedNewton::Decision::diverged) return Verdict::newton_diverged;
    }
    k_[at] = c * (z_ - known_);
  }
  trial_ = y_;
  if (last_is_new_) {
    trial_ += z_;
  } else {
    for (std::size_t i = 0; i < k_.size(); ++i) trial_ += (h * table_.b[static_cast<Eigen::Index>(i)]) * k_[i];
  }
  return Verdict::ok;
}

double DiagonallyImplicit::estimate(double h, Attempt& result) {
  result.verdict = end_slope();
  if (result.verdict != Verdict::ok) return 0;
  if (table_.b_hat.size() > 0) {
    right_.setZero();
    for (std::size_t i = 0; i < k_.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      right_ += ((table_.b[at] - table_.b_hat[at]) / gamma_) * k_[i];
    }
  } else {
    hermite(0.5, h, y_, dydt_, trial_, trial_dydt_, stage_);
    result.verdict = evaluate(problem_, t_ + 0.5 * h, stage_, slope_, counts_);
    if (result.verdict != Verdict::ok) return 0;
    right_ = (1 / (h * gamma_)) * (y_ - trial_ + (h / 6) * (dydt_ + 4 * slope_ + trial_dydt_));
  }
  solver_.solve(right_, correction_);
  ++counts_.solves;
  return error_norm(correction_, scales_, options_.tolerance, result.worst_velocity);
}

// An estimate by Hermite's cubic has used f at the end. A last stage at the end has its slope from the formula, f was
// evaluated before the last correction.
double DiagonallyImplicit::unseen(double /*h*/, Attempt& result) {
  if (!last_is_new_ || table_.b_hat.size() == 0) return 0;
  right_ = trial_dydt_ - k_.back();
  solver_.solve(right_, correction_);
  ++counts_.solves;
  return error_norm(correction_, scales_, options_.tolerance, result.worst_velocity);
}

void DiagonallyImplicit::visit(Archive& archive) {
  ImplicitOneStep::visit(archive);
  archive(factored_h_, solver_);
}

}  // namespace trammel
