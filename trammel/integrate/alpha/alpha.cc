#include "trammel/integrate/alpha/alpha.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trammel {

namespace {

// What Newton leaves in constraint directions comes back in later steps: a must undo it. Along g = 0 the pair (v, h a)
// follows a recursion with determinant 1 - (gamma - 1/2)/beta and trace 2 - (gamma + 1/2)/beta; its roots decide how
// often, a gain of about 1/(1 - r)^2. The published c = 0.001 belongs to damped methods; with less damping than alpha =
// -0.3 it is made smaller by the gain.
NewtonMonitor::Options stricter(const AlphaOptions& options) {
  const AlphaParameters& p = options.parameters;
  const auto margin = [](const AlphaParameters& q) {
    const double determinant = 1 - (q.gamma - 0.5) / q.beta, half = 1 - 0.5 * (q.gamma + 0.5) / q.beta;
    const double spread = half * half - determinant;
    const double r = spread > 0 ? std::abs(half) + std::sqrt(spread) : std::sqrt(std::max(0.0, determinant));
    return (1 - r) * (1 - r);
  };
  NewtonMonitor::Options newton = options.newton;
  newton.c *= std::clamp(margin(p) / margin(AlphaParameters::hht(-0.3)), 1e-4, 1.0);
  return newton;
}

}  // namespace

AlphaMethod::AlphaMethod(const Equations& equations, const AlphaOptions& options)
    : MotionIntegrator(equations, options.tolerance),
      options_(options),
      s_(Vec::Zero(nv_)),
      z_(Vec::Zero(nv_ + ng_)),
      T_(equations.rotation_columns().size()),
      corrector_(equations, {options.stabilised, options.tolerance, options.misfit}, counts_),
      newton_(stricter(options), options.refresh_ratio),
      projector_(options.projection == AlphaOptions::Projection::exact ||
                         (options.energy && options.projection == AlphaOptions::Projection::none)
                     ? std::make_unique<AccelerationSolver>(equations, SaddleSystem::Keep::resumable)
                     : nullptr),
      iterated_(options.projection == AlphaOptions::Projection::iterated
                    ? std::make_unique<IteratedProjection>(equations, options.penalty, options.sweeps)
                    : nullptr) {
  predictor_.resize(nv_ + ng_, nv_);
  predictor_.set_limit(options.predictor_degree);
}

void AlphaMethod::started() {
  a_ = a_start_ = trial_a_ = rates_.a;
  delta_ = Vec::Zero(nv_);
  w_ = trial_w_ = w_start_ = state_right_ = rates_.xdot;
}

void AlphaMethod::restart(std::string_view /*why*/) {
  // A consistent a at the start of a smooth piece is the acceleration itself.
  a_ = rates_.a;
  w_ = rates_.xdot;
  predictor_.clear();
  z_.head(nv_) = a_;
  z_.tail(ng_) = rates_.lambda;
  predictor_.add(now_.t, z_, scales_);
  newton_.linearise_next();
  states_begin_ = true;
  if (!options_.energy) return;
  const Energy now = equations_.energy(now_, rates_, work_);
  energy_ = now.kinetic + now.potential;
  power_ = now.external_power - now.dissipated_power;
}

double AlphaMethod::norm(const Vec& x) const {
  double sum = 0;
  for (int i = 0; i < nv_; ++i) {
    const double e = x[i] / scales_[i];
    sum += e * e;
  }
  return std::sqrt(sum);
}

double AlphaMethod::state_norm(const Vec& x) const {
  double sum = 0;
  for (int i = 0; i < nx_; ++i) {
    const double e = x[i] / (1 + std::abs(now_.u[now_.u.size() - nx_ + i]));
    sum += e * e;
  }
  return std::sqrt(sum);
}

// ---- a step ---------------------------------------------------------------------------------------------------------

Attempt AlphaMethod::attempt(double h) {
  Attempt result;
  trial_h_ = h;
  trial_.t = now_.t + h;
  a_start_ = a_;
  if (nx_ > 0) start_states(h);
  const double root_p = std::sqrt(static_cast<double>(std::max(1, nv_)));
  // Round-off of constraint values of the size of the positions, seen through 1/(beta h^2).
  const double noise = 4 * equations_.round_off(now_.q, scales_) * root_p / (options_.parameters.beta * h * h);
  if (!newton_.solve(*this, h, noise, result)) return result;
  estimate(result);
  if (result.verdict != Verdict::ok) return result;
  if (turns_in_doubt(h)) result.verdict = Verdict::angle_too_large;
  if ((projector_ || iterated_) && result.verdict == Verdict::ok && (options_.fixed_step || result.error <= 1) &&
      !project_rates())
    result.verdict = Verdict::singular_matrix;
  return result;
}

void AlphaMethod::predict() {
  predictor_.predict(trial_.t, z_);
  trial_a_ = z_.head(nv_);
  trial_rates_.lambda = z_.tail(ng_);
  if (nx_ > 0) trial_.u.tail(nx_) = equations_.states_of(now_) + trial_h_ * w_start_;
  if (options_.stabilised) {
    s_.setZero();
    corrector_.slack().begin_step();
  }
  place();
}

void AlphaMethod::place() {
  const AlphaParameters& p = options_.parameters;
  const double h = trial_h_;
  delta_ = h * now_.v + (h * h) * ((0.5 - p.beta) * a_start_ + p.beta * trial_a_);
  if (options_.stabilised) delta_ += h * s_;
  trial_.v = now_.v + h * ((1 - p.gamma) * a_start_ + p.gamma * trial_a_);
  trial_rates_.a =
      ((1 - p.alpha_m) / (1 - p.alpha_f)) * trial_a_ + (p.alpha_m * a_start_ - p.alpha_f * rates_.a) / (1 - p.alpha_f);
  equations_.retract(now_.q, delta_, trial_.q);
}

// States: x_{n+1} = x_n + h (1 - gamma) w_n + h gamma w_{n+1}, and w_{n+1} by f_{n+1} as a by v'. So w is x' at another
// time, (alpha_m - alpha_f) h away, and has to follow the step size. Where a smooth piece begins it is not known yet:
// the first step is one of the trapezoidal rule.
void AlphaMethod::start_states(double h) {
  w_start_ = rates_.xdot;
  if (!states_begin_ && !by_rho()) w_start_ += (h / last_step_) * (w_ - rates_.xdot);
}

StageWeights AlphaMethod::weights() const {
  const AlphaParameters& p = options_.parameters;
  const double h = trial_h_, bh2 = p.beta * h * h;
  return {(1 - p.alpha_m) / (1 - p.alpha_f),
          p.gamma * h,
          bh2,
          by_rho()        ? options_.rho * h
          : states_begin_ ? 0.5 * h
                          : h * p.gamma * (1 - p.alpha_f) / (1 - p.alpha_m),
          p.beta * h / p.gamma,
          1 / (p.gamma * h),
          1 / bh2};
}

Verdict AlphaMethod::prepare_matrix(bool anew) {
  if (anew) {
    const Verdict verdict = corrector_.linearise(trial_, trial_rates_, work_);
    if (verdict != Verdict::ok) return verdict;
  }
  equations_.retract_derivative(delta_, T_);
  return corrector_.factor(weights(), &T_);
}

// sqrt(psi)/h^2, (35)
double AlphaMethod::allowed_change() const {
  const double root_p = std::sqrt(static_cast<double>(std::max(1, nv_)));
  return root_p * options_.tolerance / (std::abs(options_.parameters.error_factor()) * trial_h_ * trial_h_);
}

NewtonStage::Correction AlphaMethod::correct() {
  if (!corrector_.evaluate(trial_, trial_rates_, work_)) return {.size = HUGE_VAL};
  if (nx_ > 0) miss_states();
  const double size = solve_for_correction();
  if (!std::isfinite(size)) return {.size = size};
  trial_a_ += corrector_.increment().head(nv_);
  trial_rates_.lambda += corrector_.increment().tail(ng_);
  place();
  double change = 0;  // |a_{n+1} - a_n|, the x of (17)
  for (int i = 0; i < nv_; ++i) {
    const double e = (trial_a_[i] - a_start_[i]) / scales_[i];
    change += e * e;
  }
  const double allowed = allowed_change();
  return {size, options_.fixed_step ? std::min(std::sqrt(change), allowed) : allowed, false};
}

void AlphaMethod::miss_states() {
  const AlphaParameters& p = options_.parameters;
  state_right_ = equations_.states_of(now_) - equations_.states_of(trial_);
  if (by_rho()) {
    trial_w_ = trial_rates_.xdot;
    state_right_ += trial_h_ * ((1 - options_.rho) * rates_.xdot + options_.rho * trial_rates_.xdot);
    return;
  }
  if (states_begin_) {
    trial_w_ = trial_rates_.xdot + (p.alpha_m - p.alpha_f) * (trial_rates_.xdot - rates_.xdot);
    state_right_ += (0.5 * trial_h_) * (rates_.xdot + trial_rates_.xdot);
    return;
  }
  trial_w_ = ((1 - p.alpha_f) * trial_rates_.xdot + p.alpha_f * rates_.xdot - p.alpha_m * w_start_) / (1 - p.alpha_m);
  state_right_ += trial_h_ * ((1 - p.gamma) * w_start_ + p.gamma * trial_w_);
}

// One correction of a and lambda, and of states and slack, in place; returns its norm.
double AlphaMethod::solve_for_correction() {
  const double beta = options_.parameters.beta, h = trial_h_;
  corrector_.solve(weights(), trial_rates_.lambda, state_right_);
  const Vec& z = corrector_.increment();
  double correction = norm(z);
  if (nx_ > 0) {
    // counted like positions, which follow from accelerations by beta h^2
    correction = by_rho() ? std::max(correction, state_correction())
                          : std::hypot(correction, state_norm(state_right_) / (beta * h * h));
    trial_.u.tail(nx_) += state_right_;
  }
  if (!options_.stabilised) return correction;
  const auto ds =
      corrector_.slack().solve(s_, z.head(nv_), beta * h, corrector_.residual().g, -1 / h, corrector_.misfits());
  ++counts_.solves;
  s_ += ds;
  // h s moves positions like beta h^2 a
  double sum = 0;
  for (int i = 0; i < nv_; ++i) sum += std::pow(ds[i] / scales_[i], 2);
  return std::hypot(correction, std::sqrt(sum) / (beta * h));
}

double AlphaMethod::allowed_state_change() const {
  const double root_n = std::sqrt(static_cast<double>(nx_)), h = trial_h_;
  if (options_.states == AlphaOptions::States::integral)
    return root_n * options_.tolerance / (std::abs(options_.parameters.beta - 1.0 / 6) * h * h);
  // With fixed steps rho may be 1/2, and corrections still have to end.
  return root_n * options_.tolerance / (std::max(options_.rho - 0.5, 0.05) * h);
}

double AlphaMethod::state_correction() const {
  return state_norm(state_right_) / (options_.rho * trial_h_) * allowed_change() / allowed_state_change();
}

// By (9) the step follows the square root of the error, (38b), where that of positions follows the third root.
double AlphaMethod::state_error() {
  state_right_ = trial_rates_.xdot - rates_.xdot;
  const double error = state_norm(state_right_) / allowed_state_change();
  return options_.states == AlphaOptions::States::published ? std::pow(error, 1.5) : error;
}

void AlphaMethod::estimate(Attempt& result) {
  const AlphaParameters& p = options_.parameters;
  const double h = trial_h_;
  double sum = 0, worst = 0;
  for (int i = 0; i < nv_; ++i) {
    const double e = (trial_a_[i] - a_start_[i]) / scales_[i];
    sum += e * e;
    if (e * e > worst) {
      worst = e * e;
      result.worst_velocity = i;
    }
  }
  if (nx_ > 0) {
    if (equations_.state_rates(trial_, trial_rates_.xdot, work_, &trial_rates_) != Eval::ok) {
      result.verdict = Verdict::evaluation_rejected;
      return;
    }
    miss_states();
    if (by_rho()) {
      result.error = std::max(std::sqrt(sum) / allowed_change(), state_error());
      return;
    }
    // The local error of x is proportional to h^3 x''', that from the slopes of x' in this step and the one before;
    // without one before, h^2 x'' stands for it.
    const double lead = p.alpha_m - p.alpha_f,
                 factor = std::abs(1.0 / 6 - 0.5 * lead * lead - p.gamma * lead - 0.5 * p.gamma);
    state_right_ = (factor * h) * (trial_rates_.xdot - rates_.xdot);
    if (!states_begin_) {
      const double ratio = h / last_step_;
      state_right_ -= (factor * h * ratio) * (rates_.xdot - previous_xdot_);
      state_right_ *= 2 * ratio / (1 + ratio);
    }
    sum += std::pow(state_norm(state_right_) / (std::abs(p.error_factor()) * h * h), 2);
  }
  result.error = std::sqrt(sum) / allowed_change();
}

// ---- projections ----------------------------------------------------------------------------------------------------

// The method's a lags behind v' on purpose: it moves by as much as v' does.
bool AlphaMethod::project_rates() {
  if (iterated_ && !iterated_->factor(trial_, work_, counts_)) return false;
  if (!project_velocities(trial_) || (options_.energy && !balance_energy(trial_h_))) return false;
  trial_a_ -= trial_rates_.a;
  if (!(iterated_ ? iterated_->project_accelerations(trial_, trial_rates_, work_)
                  : projector_->solve(trial_, trial_rates_, work_)))
    return false;
  trial_a_ += trial_rates_.a;
  ++counts_.evaluations;
  if (iterated_) return true;  // positions stay
  counts_.factorisations += 3;
  return true;
}

bool AlphaMethod::project_velocities(State& state) {
  return iterated_ ? iterated_->project_velocities(state, work_) : projector_->project(state, work_);
}

// What cannot be balanced, because hardly anything moves, stays wanted in the next step.
bool AlphaMethod::balance_energy(double h) {
  const Energy now = equations_.energy(trial_, trial_rates_, work_);
  trial_power_ = now.external_power - now.dissipated_power;
  trial_energy_ = energy_ + 0.5 * h * (power_ + trial_power_);
  imposed_ = trial_;
  imposed_.v.setZero();
  if (!project_velocities(imposed_)) return false;
  const double imposed = equations_.energy(imposed_, trial_rates_, work_).kinetic;
  const double ratio = (trial_energy_ - now.potential - imposed) / (now.kinetic - imposed);
  if (!(ratio > 0.5 && ratio < 2)) {
    ++unbalanced_;
    return true;
  }
  trial_.v = imposed_.v + std::sqrt(ratio) * (trial_.v - imposed_.v);
  return true;
}

std::string AlphaMethod::remark() const {
  if (unbalanced_ == 0) return "";
  return "energy not balanced in " + std::to_string(unbalanced_) + " attempts, for want of motion";
}

// ---- between steps --------------------------------------------------------------------------------------------------

void AlphaMethod::leaving() {
  energy_ = trial_energy_;
  power_ = trial_power_;
}

void AlphaMethod::arrived() {
  a_.swap(trial_a_);
  if (nx_ > 0) w_ = trial_w_;
  states_begin_ = false;
  ++counts_.predictor_degree[predictor_.degree()];
  z_.head(nv_) = a_;
  z_.tail(ng_) = rates_.lambda;
  predictor_.add(now_.t, z_, scales_);
}

void AlphaMethod::visit_method(Archive& archive) {
  archive(a_, predictor_, w_, states_begin_, newton_, corrector_);
  if (projector_ || iterated_)
    archive(iterated_ ? iterated_->saddle() : projector_->saddle(), energy_, power_, unbalanced_);
  if (archive.reading()) trial_a_ = a_start_ = a_;
}

long AlphaMethod::memory_bytes() const {
  return corrector_.memory_bytes() + static_cast<long>(T_.size() * sizeof(Mat3)) +
         static_cast<long>(work_.bodies.size() * sizeof(BodyState)) + 8L * (18 * nv_ + 3 * ng_) +
         4 * 8 * (nv_ + ng_);  // predictor
}

}  // namespace trammel
