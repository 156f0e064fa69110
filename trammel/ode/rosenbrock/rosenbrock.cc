#include "trammel/ode/rosenbrock/rosenbrock.h"

namespace trammel {

RosenbrockMethod::RosenbrockMethod(FirstOrderProblem& problem, const RosenbrockOptions& options)
    : ImplicitOneStep(problem, {.tolerance = options.tolerance, .fixed_step = options.fixed_step, .newton = {}}),
      own_(options),
      table_(*options.tableau),
      solver_(n_, jacobian_.pattern()),
      age_(options.keep_derivatives) {
  for (Vec& u : u_) u.setZero(n_);
  for (Vec* v : {&stage_, &slope_, &right_, &error_}) v->setZero(n_);
}

Verdict RosenbrockMethod::solve_stages(double h) {
  const NystromTableau& c = table_;
  if (age_ >= own_.keep_derivatives && !own_.no_derivatives) {
    const long before = jacobian_.evaluations();
    const Eval result = jacobian_.evaluate(t_, y_, dydt_, h, true);
    counts_.evaluations += jacobian_.evaluations() - before;
    ++counts_.linearisations;
    if (result != Eval::ok) return Verdict::evaluation_rejected;
    age_ = 0;
  }
  if (!factor(solver_, 1 / (h * c.gamma))) return Verdict::singular_matrix;
  slope_ = dydt_;
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.stages); ++i) {
    if (i > 0 && !c.same_point[i]) {
      stage_ = y_;
      for (std::size_t j = 0; j < i; ++j) stage_ += c.a[i][j] * u_[j];
      const Verdict verdict = evaluate(problem_, t_ + c.alpha[i] * h, stage_, slope_, counts_);
      if (verdict != Verdict::ok) return verdict;
    }
    right_ = slope_ + (c.gamma_sum[i] * h) * jacobian_.f_t();
    for (std::size_t j = 0; j < i; ++j) right_ += (c.c[i][j] / h) * u_[j];
    solver_.solve(right_, u_[i]);
    ++counts_.solves;
  }
  trial_ = y_;
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.stages); ++i) trial_ += c.m[i] * u_[i];
  return Verdict::ok;
}

double RosenbrockMethod::estimate(double h, Attempt& result) {
  error_.setZero();
  for (std::size_t i = 0; i < static_cast<std::size_t>(table_.stages); ++i)
    error_ += (table_.m[i] - table_.m_hat[i]) * u_[i];
  if (own_.scaled_estimate) {
    right_ = (1 / (h * table_.gamma)) * error_;
    solver_.solve(right_, error_);
    ++counts_.solves;
  }
  return error_norm(error_, scales_, options_.tolerance, result.worst_velocity);
}

void RosenbrockMethod::visit(Archive& archive) {
  ImplicitOneStep::visit(archive);
  archive(age_, jacobian_.f_t(), solver_);
}

}  // namespace trammel
