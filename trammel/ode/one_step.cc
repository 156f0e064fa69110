#include "trammel/ode/one_step.h"

#include "trammel/math/hermite.h"

namespace trammel {

OneStepMethod::OneStepMethod(FirstOrderProblem& problem, double tolerance, bool fixed_step, bool doubling)
    : problem_(problem), tolerance_(tolerance), fixed_step_(fixed_step), doubling_(doubling && !fixed_step) {
  for (Vec* v : {&y_, &dydt_, &previous_y_, &previous_dydt_, &new_y_, &new_dydt_, &scales_, &work_})
    v->setZero(problem.size());
  if (doubling_) {
    for (Vec* v : {&middle_y_, &middle_dydt_, &new_middle_y_, &new_middle_dydt_}) v->setZero(problem.size());
  }
}

void OneStepMethod::start(double t, const Vec& y) {
  t_ = t;
  y_ = y;
  restart();
}

void OneStepMethod::restart() {
  if (evaluate(problem_, t_, y_, dydt_, counts_) != Verdict::ok) dydt_.setConstant(std::nan(""));
  last_step_ = 0;
}

Attempt OneStepMethod::attempt(double h) {
  Attempt result;
  if (doubling_) {
    result.verdict = advance(t_, y_, dydt_, h, work_);
    if (result.verdict != Verdict::ok) return result;
    const double half = 0.5 * h;
    result.verdict = advance(t_, y_, dydt_, half, new_middle_y_);
    if (result.verdict != Verdict::ok) return result;
    result.verdict = evaluate(problem_, t_ + half, new_middle_y_, new_middle_dydt_, counts_);
    if (result.verdict != Verdict::ok) return result;
    result.verdict = advance(t_ + half, new_middle_y_, new_middle_dydt_, half, new_y_);
    if (result.verdict != Verdict::ok) return result;
    problem_.error_scales(y_, new_y_, scales_);
    work_ = (new_y_ - work_) / (std::ldexp(1.0, order()) - 1);
    result.error = error_norm(work_, scales_, tolerance_, result.worst_velocity);
  } else {
    result.verdict = advance(t_, y_, dydt_, h, new_y_);
    if (result.verdict != Verdict::ok) return result;
    problem_.error_scales(y_, new_y_, scales_);
    result.error = estimate(h, result.worst_velocity);
  }
  if (!std::isfinite(result.error)) {
    result.verdict = Verdict::not_finite;
    return result;
  }
  result.suggested_h = next_step(h, result.error);
  last_attempt_h_ = h;
  completed_ = false;
  if (result.error > 1 && !fixed_step_) return result;
  result.verdict = finish_attempt();
  if (fixed_step_ || result.verdict != Verdict::ok) return result;
  int worst = -1;
  const double unseen_error = unseen(doubling_ ? 0.5 * h : h, new_dydt_, worst);
  if (unseen_error <= 1) return result;
  result.error = unseen_error;
  result.worst_velocity = worst;
  result.suggested_h = next_step(h, unseen_error);
  return result;
}

// f at the end of the step.
Verdict OneStepMethod::finish_attempt() {
  if (const double* slope = doubling_ ? nullptr : end_slope()) {
    new_dydt_ = Eigen::Map<const Vec>(slope, new_y_.size());
    if (!new_dydt_.allFinite()) return Verdict::not_finite;
  } else {
    const Verdict verdict = evaluate(problem_, t_ + last_attempt_h_, new_y_, new_dydt_, counts_);
    if (verdict != Verdict::ok) return verdict;
  }
  completed_ = true;
  return Verdict::ok;
}

void OneStepMethod::accept() {
  if (!completed_ && finish_attempt() != Verdict::ok) new_dydt_.setConstant(std::nan(""));
  ++counts_.steps;
  last_step_ = last_attempt_h_;
  t_ += last_step_;
  previous_y_.swap(y_);
  previous_dydt_.swap(dydt_);
  y_.swap(new_y_);
  dydt_.swap(new_dydt_);
  middle_y_.swap(new_middle_y_);
  middle_dydt_.swap(new_middle_dydt_);
  if (refined_) refined_->forget();
  accepted();
}

void OneStepMethod::interpolate(double t, Vec& y) const {
  const double start = t_ - last_step_;
  const auto slope = [&](double theta, Vec& f) {
    interpolate_cheaply(start + theta * last_step_, inside_);
    return evaluate(problem_, start + theta * last_step_, inside_, f, counts_) == Verdict::ok;
  };
  if (refined_ && last_step_ != 0 && t != t_ && refined_->find(previous_dydt_, dydt_, slope))
    refined_->evaluate((t - start) / last_step_, last_step_, previous_y_, y_, y);
  else
    interpolate_cheaply(t, y);
}

void OneStepMethod::interpolate_cheaply(double t, Vec& y) const {
  if (last_step_ == 0 || t == t_) {
    y = y_ + (t - t_) * dydt_;
    return;
  }
  const double theta = 1 + (t - t_) / last_step_;
  if (doubling_) {
    if (theta < 0.5)
      hermite(2 * theta, 0.5 * last_step_, previous_y_, previous_dydt_, middle_y_, middle_dydt_, y);
    else
      hermite(2 * theta - 1, 0.5 * last_step_, middle_y_, middle_dydt_, y_, dydt_, y);
  } else if (!interpolate_own(theta, y)) {
    hermite(theta, last_step_, previous_y_, previous_dydt_, y_, dydt_, y);
  }
}

void OneStepMethod::rebase(std::span<const Point> past) {
  t_ = past[0].t;
  y_ = past[0].y;
  dydt_ = past[0].dydt;
  last_step_ = 0;  // the last step is in other coordinates
}

void OneStepMethod::visit(Archive& archive) {
  archive(t_, last_step_, y_, dydt_, previous_y_, previous_dydt_, middle_y_, middle_dydt_);
  archive.expect(y_.size() == problem_.size());
  if (refined_) archive(*refined_);
  archive(counts_);
}

}  // namespace trammel
