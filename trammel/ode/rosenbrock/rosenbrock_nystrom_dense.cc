#include "trammel/ode/rosenbrock/rosenbrock_nystrom_dense.h"

#include <cmath>
#include <limits>

#include "trammel/base/archive.h"
#include "trammel/ode/control/error_norm.h"

namespace trammel {

RosenbrockNystromDense::RosenbrockNystromDense(SecondOrderProblem& problem, const RosenbrockOptions& options)
    : problem_(problem), options_(options), table_(*options.tableau), n_(problem.freedoms()), derivatives_(problem) {
  for (Vec* v : {&y_, &v_, &a_, &z_, &w_, &stage_a_, &trial_a_, &right_, &p0_, &e_y_, &e_v_}) v->setZero(n_);
  for (Vec* v : {&state_, &rates_, &trial_, &previous_, &previous_rates_, &error_, &scales_}) v->setZero(2 * n_);
  for (Vec& l : l_) l.setZero(n_);
  matrix_.setIdentity(n_, n_);
  lu_.compute(matrix_);
}

bool RosenbrockNystromDense::accelerate(double t, const Vec& y, const Vec& v, Vec& a) {
  ++counts_.evaluations;
  return problem_.acceleration(t, y, v, a) == Eval::ok && std::isfinite(a.sum());
}

void RosenbrockNystromDense::start(double t, const Vec& state) {
  t_ = t;
  state_ = trial_ = state;
  y_ = state.head(n_);
  v_ = state.tail(n_);
  if (!accelerate(t_, y_, v_, a_)) a_.setConstant(std::numeric_limits<double>::quiet_NaN());
  rates_ << v_, a_;
  previous_ = state_;
  previous_rates_ = rates_;
  last_step_ = 0;
  restart();
}

Eval RosenbrockNystromDense::linearise(double h) {
  age_ = 0;
  linearised_ = true;
  if (options_.no_derivatives) return Eval::ok;  // they are zero from the beginning
  const long before = derivatives_.evaluations();
  const Eval result = derivatives_.evaluate(t_, y_, v_, a_, h);
  ++counts_.linearisations;
  counts_.evaluations += derivatives_.evaluations() - before;
  linearised_ = result == Eval::ok;
  return result;
}

Attempt RosenbrockNystromDense::attempt(double h) {
  Attempt result;
  const NystromTableau& c = table_;
  const Mat &J1 = derivatives_.J1, &J2 = derivatives_.J2;
  const double g = c.gamma;
  trial_h_ = h;
  trial_known_ = false;
  if (!linearised_ && linearise(h) != Eval::ok) {
    result.verdict = Verdict::evaluation_rejected;
    return result;
  }
  matrix_ = (-h * g) * J2 - (h * h * g * g) * J1;
  matrix_.diagonal().array() += 1;
  ++counts_.combinations;
  if (!std::isfinite(matrix_.sum())) {
    result.verdict = Verdict::not_finite;
    return result;
  }
  lu_.compute(matrix_);
  ++counts_.factorisations;
  if (n_ > 0 && !(lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0)) {
    result.verdict = Verdict::singular_matrix;
    return result;
  }
  stage_a_ = a_;
  for (int stage = 0; stage < c.stages; ++stage) {
    const auto i = static_cast<std::size_t>(stage);
    if (stage > 0 && !c.same_point[i]) {
      z_ = y_ + (c.alpha[i] * h) * v_;
      w_ = v_;
      for (std::size_t j = 0; j < i; ++j) {
        z_ += (h * c.theta[i][j]) * l_[j];
        w_ += c.a[i][j] * l_[j];
      }
      trial_ << z_, w_;
      if (!std::isfinite(trial_.sum()) || !accelerate(t_ + c.alpha[i] * h, z_, w_, stage_a_)) {
        result.verdict = Verdict::evaluation_rejected;
        return result;
      }
    }
    right_ = (g * h) * stage_a_;
    p0_ = c.gamma_sum[i] * v_;
    for (std::size_t j = 0; j < i; ++j) {
      right_ += (g * c.c[i][j]) * l_[j];
      p0_ += c.delta[i][j] * l_[j];
    }
    right_.noalias() += (g * h * h) * (J1 * p0_);
    right_ += (g * h * h * c.gamma_sum[i]) * derivatives_.f_t;
    l_[i] = lu_.solve(right_);
    ++counts_.solves;
  }
  z_ = y_ + h * v_;
  w_ = v_;
  e_y_.setZero();
  e_v_.setZero();
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.stages); ++i) {
    z_ += (h * c.mu[i]) * l_[i];
    w_ += c.m[i] * l_[i];
    e_y_ += (h * (c.mu[i] - c.mu_hat[i])) * l_[i];
    e_v_ += (c.m[i] - c.m_hat[i]) * l_[i];
  }
  trial_ << z_, w_;
  if (!std::isfinite(trial_.sum())) {
    result.verdict = Verdict::not_finite;
    return result;
  }
  if (options_.scaled_estimate) {  // E_v solves (...) E_v = e_v + h g J1 e_y;  E_y = e_y + h g E_v
    right_ = e_v_;
    right_.noalias() += (h * g) * (J1 * e_y_);
    e_v_ = lu_.solve(right_);
    e_y_ += (h * g) * e_v_;
    ++counts_.solves;
  }
  error_ << e_y_, e_v_;
  problem_.error_scales(state_, trial_, scales_);
  result.error = error_norm(error_, scales_, options_.tolerance, result.worst_velocity);
  if (!options_.fixed_step && result.error > 1) return result;  // a step that will be rejected
  trial_known_ = accelerate(t_ + h, z_, w_, trial_a_);
  if (!trial_known_) result.verdict = Verdict::evaluation_rejected;
  return result;
}

void RosenbrockNystromDense::accept() {
  if (!trial_known_) accelerate(t_ + trial_h_, z_, w_, trial_a_);
  previous_.swap(state_);
  previous_rates_.swap(rates_);
  y_ = z_;
  v_ = w_;
  a_ = trial_a_;
  state_ << y_, v_;
  rates_ << v_, a_;
  t_ += trial_h_;
  last_step_ = trial_h_;
  if (++age_ >= options_.keep_derivatives) linearised_ = false;
  ++counts_.steps;
}

// Quintic Hermite interpolation of y from y, v, a at both ends; v is its derivative.
void RosenbrockNystromDense::interpolate(double t, Vec& state) const {
  const double h = last_step_, s = h != 0 ? 1 + (t - t_) / h : 1;
  state.resize(2 * n_);
  if (s == 1) {
    state = state_;
    return;
  }
  const double s2 = s * s, s3 = s2 * s;
  for (int i = 0; i < n_; ++i) {
    const double y0 = previous_[i], v0 = previous_[n_ + i], a0 = previous_rates_[n_ + i];
    const double r0 = state_[i] - y0 - h * v0 - 0.5 * h * h * a0, r1 = h * (state_[n_ + i] - v0) - h * h * a0,
                 r2 = h * h * (rates_[n_ + i] - a0);
    const double A = 10 * r0 - 4 * r1 + 0.5 * r2, B = -15 * r0 + 7 * r1 - r2, C = 6 * r0 - 3 * r1 + 0.5 * r2;
    state[i] = y0 + h * s * v0 + 0.5 * h * h * s2 * a0 + s3 * (A + s * B + s2 * C);
    state[n_ + i] = v0 + h * s * a0 + (s2 / h) * (3 * A + 4 * s * B + 5 * s2 * C);
  }
}

void RosenbrockNystromDense::rebase(std::span<const Point> past) {
  state_ = trial_ = previous_ = past.front().y;
  rates_ = previous_rates_ = past.front().dydt;
  y_ = state_.head(n_);
  v_ = state_.tail(n_);
  a_ = rates_.tail(n_);
  last_step_ = 0;
  linearised_ = false;
}

void RosenbrockNystromDense::visit(Archive& archive) {
  archive(t_, last_step_, state_, rates_, previous_, previous_rates_, age_, linearised_);
  if (linearised_) archive(derivatives_.J1, derivatives_.J2, derivatives_.f_t);
  archive(counts_);
  archive.expect(state_.size() == 2 * n_);
  if (!archive.reading()) return;
  trial_ = state_;
  y_ = state_.head(n_);
  v_ = state_.tail(n_);
  a_ = rates_.tail(n_);
}

}  // namespace trammel
