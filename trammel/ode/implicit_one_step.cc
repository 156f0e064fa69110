#include "trammel/ode/implicit_one_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/math/hermite.h"

namespace trammel {

ImplicitOptions ImplicitOptions::from(const OdeSettings& settings) {
  ImplicitOptions o;
  o.tolerance = settings.tolerance;
  o.fixed_step = settings.fixed_step;
  const double corrector = settings.options.number("corrector");
  // Never below round-off. At fixed steps nothing tells how small the error is: the corrector goes near round-off.
  const double least = 10 * std::numeric_limits<double>::epsilon() / settings.tolerance;
  o.newton.kappa = corrector > 0         ? corrector
                   : settings.fixed_step ? 1e-15 / settings.tolerance
                                         : std::max(least, std::min(0.03, std::sqrt(settings.tolerance)));
  o.newton.most_iterations = static_cast<int>(settings.options.number("most_iterations"));
  if (settings.fixed_step) o.newton.most_iterations = std::max(o.newton.most_iterations, 40);
  o.newton.keep_rate = settings.options.number("keep_rate");
  o.secant = settings.options.get<bool>("secant");
  o.newton.exactly = static_cast<int>(settings.options.number("corrections"));
  return o;
}

std::vector<Field> with_newton_options(std::vector<Field> own) {
  own.push_back({"corrector", FieldKind::number, Quantity::none, 0.0,
                 "Part of the tolerance that Newton may leave; 0 is 0.03 or less with step control, and near round-off "
                 "at fixed steps. Smaller if results change with it.",
                 0, 0.1});
  own.push_back({"most_iterations", FieldKind::number, Quantity::none, 10.0,
                 "Newton corrections before a step is given up; at least 40 at fixed steps.", 2, 100});
  own.push_back({"keep_rate", FieldKind::number, Quantity::none, 0.02,
                 "The Jacobian is kept from step to step while corrections contract by this factor or better; 0 "
                 "evaluates it every step.",
                 0, 0.9});
  own.push_back({"secant", FieldKind::boolean, Quantity::none, false,
                 "Broyden's secant method: each correction improves the kept derivatives by what it has shown of them. "
                 "Worth it where derivatives are dear and change fast."});
  own.push_back({"corrections", FieldKind::number, Quantity::none, 0.0,
                 "Exactly so many Newton corrections of each stage in every step, with derivatives of the step itself: "
                 "each step costs the same, as real time asks. 0: as many as it takes.",
                 0, 20});
  return own;
}

ImplicitOneStep::ImplicitOneStep(FirstOrderProblem& problem, const ImplicitOptions& options)
    : problem_(problem), options_(options), n_(problem.size()), jacobian_(problem), newton_(options.newton) {
  for (Vec* v : {&y_, &dydt_, &trial_, &trial_dydt_, &previous_, &previous_dydt_, &scales_}) v->setZero(n_);
}

void ImplicitOneStep::start(double t, const Vec& y) {
  t_ = t;
  y_ = trial_ = previous_ = y;
  last_step_ = 0;
  restart();
  previous_dydt_ = dydt_;
}

void ImplicitOneStep::restart() {
  if (evaluate(problem_, t_, y_, dydt_, counts_) != Verdict::ok)
    dydt_.setConstant(std::numeric_limits<double>::quiet_NaN());
  J_valid_ = J_current_ = false;
  rejected_ = true;
  newton_.forget();
  forget();
}

Verdict ImplicitOneStep::evaluate_jacobian(double t, const Vec& y, const Vec& dydt, double h) {
  const long before = jacobian_.evaluations();
  const Eval result = jacobian_.evaluate(t, y, dydt, h, false);
  counts_.evaluations += jacobian_.evaluations() - before;
  ++counts_.linearisations;
  J_valid_ = J_current_ = result == Eval::ok;
  newton_.forget();
  matrix_changed();
  return result == Eval::ok ? Verdict::ok : Verdict::evaluation_rejected;
}

double ImplicitOneStep::size_of(const Vec& correction) const {
  int worst = 0;
  return error_norm(correction, scales_, options_.tolerance, worst);
}

Verdict ImplicitOneStep::end_slope() {
  if (end_known_) return Verdict::ok;
  const Verdict verdict = evaluate(problem_, t_ + trial_h_, trial_, trial_dydt_, counts_);
  end_known_ = verdict == Verdict::ok;
  return verdict;
}

Attempt ImplicitOneStep::attempt(double h) {
  Attempt result;
  trial_h_ = h;
  end_known_ = false;
  problem_.error_scales(y_, y_, scales_);
  noise_ = 10 * std::numeric_limits<double>::epsilon() * size_of(y_);
  for (int pass = 0;; ++pass) {
    if (iterates() && !J_valid_) {
      result.verdict = evaluate_jacobian(h);
      if (!J_valid_) return result;
    }
    result.verdict = solve_stages(h);
    result.newton_iterations += newton_.iterations();
    result.newton_rate = newton_.rate();
    counts_.newton_iterations += newton_.iterations();
    if (result.verdict == Verdict::ok) break;
    if (!iterates() || renewing_) break;
    if (J_current_ || pass > 0) {
      if (!options_.fixed_step || !can_renew()) return result;
      renewing_ = true;
      newton_.set_patient(true);
    }
    J_valid_ = false;  // the derivatives were of an earlier point
  }
  if (renewing_) {
    renewing_ = J_valid_ = J_current_ = false;
    newton_.set_patient(false);
  }
  if (result.verdict != Verdict::ok) return result;
  if (!trial_.allFinite()) {
    result.verdict = Verdict::not_finite;
    return result;
  }
  if (!options_.fixed_step) {
    problem_.error_scales(y_, trial_, scales_);
    result.error = estimate(h, result);
    if (result.verdict == Verdict::ok && !std::isfinite(result.error)) result.verdict = Verdict::not_finite;
    if (result.verdict != Verdict::ok) return result;
    rejected_ = result.error > 1;
    if (rejected_) return result;
    result.suggested_h = suggest(h, result.error);
  }
  result.verdict = end_slope();
  if (options_.fixed_step || result.verdict != Verdict::ok) return result;
  const int worst = result.worst_velocity;
  const double unseen_error = unseen(h, result);
  if (unseen_error <= 1) {
    result.worst_velocity = worst;
  } else {
    result.error = unseen_error;
    result.suggested_h = 0;
    rejected_ = true;
  }
  return result;
}

void ImplicitOneStep::accept() {
  if (!end_known_ && end_slope() != Verdict::ok) trial_dydt_.setConstant(std::numeric_limits<double>::quiet_NaN());
  accepted();
  previous_.swap(y_);
  previous_dydt_.swap(dydt_);
  y_ = trial_;
  dydt_ = trial_dydt_;
  t_ += trial_h_;
  last_step_ = trial_h_;
  J_current_ = false;
  J_valid_ = J_valid_ && newton_.good_rate();
  rejected_ = false;
  end_known_ = false;
  ++counts_.steps;
}

void ImplicitOneStep::interpolate(double t, Vec& y) const {
  const double theta = last_step_ != 0 ? 1 + (t - t_) / last_step_ : 1;
  y.resize(n_);
  if (theta == 1) {
    y = y_;
  } else if (!interpolate_own(theta, y)) {
    hermite(theta, last_step_, previous_, previous_dydt_, y_, dydt_, y);
  }
}

// J is kept: in coordinates that moved a little it still serves; where it does not, Newton says so.
void ImplicitOneStep::rebase(std::span<const Point> past) {
  y_ = trial_ = previous_ = past.front().y;
  dydt_ = previous_dydt_ = past.front().dydt;
  last_step_ = 0;
  J_current_ = false;
  forget();
}

void ImplicitOneStep::visit(Archive& archive) {
  archive(t_, last_step_, y_, dydt_, previous_, previous_dydt_, J_valid_, J_current_, rejected_, jacobian_.J(), newton_,
          counts_);
  for (const Vec* v : {&y_, &dydt_, &previous_, &previous_dydt_}) archive.expect(v->size() == n_);
  if (!archive.reading()) return;
  trial_ = y_;
  end_known_ = false;
}

}  // namespace trammel
