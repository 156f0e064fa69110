#include "trammel/ode/rosenbrock/rosenbrock_nystrom_dense.h"

#include <cmath>
#include <limits>

#include "trammel/base/archive.h"
#include "trammel/math/hermite.h"
#include "trammel/ode/control/error_norm.h"

namespace trammel {

RosenbrockNystromDense::RosenbrockNystromDense(SecondOrderProblem& problem, const RosenbrockOptions& options)
    : problem_(problem), options_(options), n_(problem.freedoms()), step_(*options.tableau, n_), derivatives_(problem) {
  for (Vec* v : {&q_, &v_, &a_, &trial_a_, &right_}) v->setZero(n_);
  for (Vec* v : {&y_, &dydt_, &trial_, &previous_, &previous_rates_, &error_, &scales_}) v->setZero(2 * n_);
  matrix_.setIdentity(n_, n_);
  lu_.compute(matrix_);
}

bool RosenbrockNystromDense::evaluate(double t, const Vec& y, const Vec& v, Vec& a) {
  ++counts_.evaluations;
  return problem_.acceleration(t, y, v, a) == Eval::ok && std::isfinite(a.sum());
}

void RosenbrockNystromDense::start(double t, const Vec& state) {
  t_ = t;
  y_ = trial_ = state;
  q_ = state.head(n_);
  v_ = state.tail(n_);
  if (!evaluate(t_, q_, v_, a_)) a_.setConstant(std::numeric_limits<double>::quiet_NaN());
  dydt_ << v_, a_;
  previous_ = y_;
  previous_rates_ = dydt_;
  last_step_ = 0;
  restart();
}

Eval RosenbrockNystromDense::linearise(double h) {
  age_ = 0;
  linearised_ = true;
  if (options_.no_derivatives) return Eval::ok;  // they are zero from the beginning
  const long before = derivatives_.evaluations();
  const Eval result = derivatives_.evaluate(t_, q_, v_, a_, h);
  ++counts_.linearisations;
  counts_.evaluations += derivatives_.evaluations() - before;
  linearised_ = result == Eval::ok;
  return result;
}

Verdict RosenbrockNystromDense::factor(double h) {
  const double g = step_.tableau().gamma;
  matrix_ = (-h * g) * derivatives_.J2 - (h * h * g * g) * derivatives_.J1;
  matrix_.diagonal().array() += 1;
  ++counts_.combinations;
  if (!std::isfinite(matrix_.sum())) return Verdict::not_finite;
  lu_.compute(matrix_);
  ++counts_.factorisations;
  const bool regular = n_ == 0 || lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
  return regular ? Verdict::ok : Verdict::singular_matrix;
}

Verdict RosenbrockNystromDense::accelerate(int /*stage*/, double alpha, const Vec& z, const Vec& z_dot, Vec& f) {
  trial_ << z, z_dot;
  const bool good = std::isfinite(trial_.sum()) && evaluate(t_ + alpha * trial_h_, z, z_dot, f);
  return good ? Verdict::ok : Verdict::evaluation_rejected;
}

void RosenbrockNystromDense::solve(int /*stage*/, const Vec& rho, const Vec& p, double scale, double time, Vec& x) {
  right_ = rho;
  right_.noalias() += scale * (derivatives_.J1 * p);
  if (time != 0) right_ += time * derivatives_.f_t;
  x = lu_.solve(right_);
  ++counts_.solves;
}

Attempt RosenbrockNystromDense::attempt(double h) {
  Attempt result;
  trial_h_ = h;
  trial_known_ = false;
  if (!linearised_ && linearise(h) != Eval::ok) {
    result.verdict = Verdict::evaluation_rejected;
    return result;
  }
  result.verdict = factor(h);
  if (result.verdict == Verdict::ok) result.verdict = step_.take(h, q_, v_, a_, options_.scaled_estimate, *this);
  if (result.verdict != Verdict::ok) return result;
  trial_ << step_.z, step_.z_dot;
  error_ << step_.e_z, step_.e_rate;
  problem_.error_scales(y_, trial_, scales_);
  result.error = error_norm(error_, scales_, options_.tolerance, result.worst_velocity);
  if (!options_.fixed_step && result.error > 1) return result;  // a step that will be rejected
  trial_known_ = evaluate(t_ + h, step_.z, step_.z_dot, trial_a_);
  if (!trial_known_) result.verdict = Verdict::evaluation_rejected;
  return result;
}

void RosenbrockNystromDense::accept() {
  if (!trial_known_) evaluate(t_ + trial_h_, step_.z, step_.z_dot, trial_a_);
  previous_.swap(y_);
  previous_rates_.swap(dydt_);
  q_ = step_.z;
  v_ = step_.z_dot;
  a_ = trial_a_;
  y_ << q_, v_;
  dydt_ << v_, a_;
  t_ += trial_h_;
  last_step_ = trial_h_;
  if (++age_ >= options_.keep_derivatives) linearised_ = false;
  ++counts_.steps;
}

void RosenbrockNystromDense::interpolate(double t, Vec& state) const {
  const double h = last_step_, s = h != 0 ? 1 + (t - t_) / h : 1;
  state = y_;
  if (s == 1) return;
  hermite_quintic(s, h, previous_.head(n_), previous_.tail(n_), previous_rates_.tail(n_), q_, v_, a_, state.head(n_),
                  state.tail(n_));
}

void RosenbrockNystromDense::rebase(std::span<const Point> past) {
  y_ = trial_ = previous_ = past.front().y;
  dydt_ = previous_rates_ = past.front().dydt;
  q_ = y_.head(n_);
  v_ = y_.tail(n_);
  a_ = dydt_.tail(n_);
  last_step_ = 0;
  linearised_ = false;
}

void RosenbrockNystromDense::visit(Archive& archive) {
  archive(t_, last_step_, y_, dydt_, previous_, previous_rates_, age_, linearised_);
  if (linearised_) archive(derivatives_.J1, derivatives_.J2, derivatives_.f_t);
  archive(counts_);
  archive.expect(y_.size() == 2 * n_);
  if (!archive.reading()) return;
  trial_ = y_;
  q_ = y_.head(n_);
  v_ = y_.tail(n_);
  a_ = dydt_.tail(n_);
}

}  // namespace trammel
