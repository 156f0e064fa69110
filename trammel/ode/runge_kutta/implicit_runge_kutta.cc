#include "trammel/ode/runge_kutta/implicit_runge_kutta.h"

#include <algorithm>
#include <cmath>

namespace trammel {

ImplicitRungeKutta::ImplicitRungeKutta(FirstOrderProblem& problem, const ImplicitTableau& tableau,
                                       const ImplicitOptions& options)
    : ImplicitOneStep(problem, options),
      table_(tableau),
      transform_(tableau),
      s_(tableau.stages()),
      stiffly_accurate_(tableau.stiffly_accurate()),
      start_is_node_(tableau.c[0] > 0),
      gamma0_(1 / transform_.mu_0),
      error_solver_(n_, jacobian_.pattern()) {
  for (const StageTransform::RealValue& value : transform_.real)
    real_.push_back({value, ShiftedSolver<double>(n_, jacobian_.pattern())});
  for (const StageTransform::Pair& pair : transform_.pairs)
    complex_.push_back({pair, ShiftedSolver<Complex>(n_, jacobian_.pattern())});
  const Mat& inverse = transform_.inverse;
  update_ = (table_.b.transpose() * inverse).transpose();
  if (stiffly_accurate_) {
    end_weights_ = inverse.row(s_ - 1).transpose();
  } else {
    // the polynomial through the slopes of the stages, and through f_0 where no stage is at the start, at the end
    const double behind = 1 - table_.c[s_ - 1];
    Vec at_end(s_);
    end_start_ = start_is_node_ ? 1 : 0;
    for (int i = 0; i < s_; ++i) {
      const double c = table_.c[i];
      if (start_is_node_) end_start_ *= (1 - c) / -c;
      at_end[i] = start_is_node_ ? 1 / c : 1;
      for (int j = 0; j < s_; ++j) {
        if (j != i) at_end[i] *= (1 - table_.c[j]) / (c - table_.c[j]);
      }
    }
    end_weights_ = (at_end.transpose() * inverse).transpose();
    end_share_ = behind / gamma0_;
  }
  for (Mat* m : {&Z_, &W_, &F_, &R_, &dW_, &last_Z_}) m->setZero(n_, s_);
  for (Vec* v : {&stage_, &slope_, &right_, &correction_}) v->setZero(n_);
  complex_right_.setZero(n_);
  complex_correction_.setZero(n_);
  weights_.setZero(s_);
}

bool ImplicitRungeKutta::factor_all(double h) {
  factored_h_ = 0;
  for (RealPart& part : real_) {
    if (!factor(part.solver, part.mu / h)) return false;
  }
  for (ComplexPart& part : complex_) {
    if (!factor(part.solver, std::conj(part.mu) / h)) return false;
  }
  if (real_.empty() && !options_.fixed_step && !factor(error_solver_, 1 / (h * gamma0_))) return false;
  factored_h_ = h;
  return true;
}

void ImplicitRungeKutta::place(Start start, double h) {
  Z_.setZero();
  W_.setZero();
  newton_.begin();
  switch (start) {
    case Start::continued: {
      const double ratio = h / history_h_;
      for (int i = 0; i < s_; ++i) {
        transform_.lagrange(1 + ratio * table_.c[i], start_is_node_, weights_);
        Z_.col(i).noalias() = last_Z_ * weights_;
        Z_.col(i) += previous_ - y_;
      }
      W_.noalias() = Z_.lazyProduct(transform_.X_inverse.transpose());
      break;
    }
    case Start::linearised:
      F_.colwise() = dydt_;
      newton_.start_behind(correct(h), noise());
      break;
    case Start::flat: break;
  }
}

double ImplicitRungeKutta::correct(double h) {
  R_.noalias() = F_.lazyProduct(transform_.X_inverse.transpose());
  for (RealPart& part : real_) {
    right_ = R_.col(part.k) - (part.mu / h) * W_.col(part.k);
    part.solver.solve(right_, correction_);
    dW_.col(part.k) = correction_;
    ++counts_.solves;
  }
  for (ComplexPart& part : complex_) {
    const double a = part.mu.real() / h, b = part.mu.imag() / h;
    const int k = part.k;
    complex_right_.real() = R_.col(k) - a * W_.col(k) - b * W_.col(k + 1);
    complex_right_.imag() = R_.col(k + 1) + b * W_.col(k) - a * W_.col(k + 1);
    part.solver.solve(complex_right_, complex_correction_);
    dW_.col(k) = complex_correction_.real();
    dW_.col(k + 1) = complex_correction_.imag();
    ++counts_.solves;
  }
  improve_by_secant(Eigen::Map<Vec>(dW_.data(), dW_.size()));
  W_ += dW_;
  Z_.noalias() = W_.lazyProduct(transform_.X.transpose());
  double sum = 0;
  for (int k = 0; k < s_; ++k) {
    correction_ = dW_.col(k);
    const double size = size_of(correction_);
    sum += size * size;
  }
  return std::sqrt(sum / s_);
}

Verdict ImplicitRungeKutta::iterate(double h) {
  begin_secant();
  for (SimplifiedNewton::Decision next = SimplifiedNewton::Decision::go_on;
       next == SimplifiedNewton::Decision::go_on;) {
    for (int i = 0; i < s_; ++i) {
      stage_ = y_ + Z_.col(i);
      const Verdict verdict = evaluate(problem_, t_ + table_.c[i] * h, stage_, slope_, counts_);
      if (verdict != Verdict::ok) return verdict;
      F_.col(i) = slope_;
    }
    next = newton_.next(correct(h), noise());
    if (next == SimplifiedNewton::Decision::diverged) return Verdict::newton_diverged;
  }
  return Verdict::ok;
}

Verdict ImplicitRungeKutta::solve_stages(double h) {
  if (factored_h_ != h && !factor_all(h)) {
    newton_.begin();
    return Verdict::singular_matrix;
  }
  Verdict verdict = Verdict::ok;
  for (const Start start : {Start::continued, Start::linearised, Start::flat}) {
    if (start == Start::continued && !history_) continue;
    place(start, h);
    verdict = iterate(h);
    if (verdict == Verdict::ok || verdict == Verdict::newton_diverged) break;
    history_ = false;  // f has no value there
  }
  if (verdict != Verdict::ok) return verdict;
  trial_ = y_;
  if (stiffly_accurate_) {
    trial_ += Z_.col(s_ - 1);
  } else {
    trial_.noalias() += Z_ * update_;
  }
  return Verdict::ok;
}

double ImplicitRungeKutta::estimate(double h, Attempt& result) {
  const ShiftedSolver<double>& solver = real_.empty() ? error_solver_ : real_.front().solver;
  const double c = 1 / (h * gamma0_);
  right_.noalias() = Z_ * transform_.error_weights;
  right_ = c * right_ + dydt_;
  solver.solve(right_, correction_);
  ++counts_.solves;
  double error = error_norm(correction_, scales_, options_.tolerance, result.worst_velocity);
  // At the start and after a rejection the estimate may show a stiff part that the method has damped: once more
  // through the matrix.
  if (error > 1 && rejected_) {
    stage_ = y_ + correction_;
    if (evaluate(problem_, t_, stage_, slope_, counts_) == Verdict::ok) {
      right_ += slope_ - dydt_;
      solver.solve(right_, correction_);
      ++counts_.solves;
      error = error_norm(correction_, scales_, options_.tolerance, result.worst_velocity);
    }
  }
  return error;
}

double ImplicitRungeKutta::unseen(double h, Attempt& result) {
  const ShiftedSolver<double>& solver = real_.empty() ? error_solver_ : real_.front().solver;
  right_.noalias() = Z_ * end_weights_;
  right_ = end_share_ * (trial_dydt_ - end_start_ * dydt_ - right_ / h);
  solver.solve(right_, correction_);
  ++counts_.solves;
  return error_norm(correction_, scales_, options_.tolerance, result.worst_velocity);
}

// As the elementary rule has it; a change of less than a fifth is not worth new factors.
double ImplicitRungeKutta::suggest(double h, double error) {
  const double most = options_.newton.most_iterations;
  const double safety = 0.9 * (2 * most + 1) / (2 * most + newton_.iterations());
  const double factor = std::clamp(safety * std::pow(std::max(error, 1e-10), -1.0 / error_order()), 0.2, 8.0);
  return factor >= 1 && factor <= 1.2 ? h : h * factor;
}

void ImplicitRungeKutta::accepted() {
  last_Z_ = Z_;
  history_ = true;
  history_h_ = trial_h_;
}

// Stiffly accurate methods have their stages on the solution, however stiff; f of the others is not amplified much.
bool ImplicitRungeKutta::has_polynomial() const {
  return stiffly_accurate_ && s_ >= 3 && start_is_node_ && !real_.empty();
}

// The polynomial through the start and the stages.
bool ImplicitRungeKutta::interpolate_own(double theta, Vec& y) const {
  if (!has_polynomial() || !history_) return false;
  StageTransform::Weights weights(s_);
  transform_.lagrange(theta, true, weights);
  y = previous_;
  for (int i = 0; i < s_; ++i) y += weights[i] * last_Z_.col(i);
  return true;
}

void ImplicitRungeKutta::visit(Archive& archive) {
  ImplicitOneStep::visit(archive);
  archive(factored_h_, history_h_, history_, last_Z_);
  archive.expect(last_Z_.rows() == n_ && last_Z_.cols() == s_);
  for (RealPart& part : real_) archive(part.solver);
  for (ComplexPart& part : complex_) archive(part.solver);
  archive(error_solver_);
}

}  // namespace trammel
