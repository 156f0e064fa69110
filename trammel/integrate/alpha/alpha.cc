#include "trammel/integrate/alpha/alpha.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/integrate/count_factors.h"
#include "trammel/integrate/hermite_motion.h"
#include "trammel/math/hermite.h"

namespace trammel {

AlphaParameters AlphaParameters::hht(double alpha) {
  return {0, -alpha, (1 - alpha) * (1 - alpha) / 4, (1 - 2 * alpha) / 2};
}

AlphaParameters AlphaParameters::generalized(double rho) {
  const double m = (2 * rho - 1) / (rho + 1), f = rho / (rho + 1);
  const double gamma = 0.5 - m + f;
  return {m, f, (gamma + 0.5) * (gamma + 0.5) / 4, gamma};
}

AlphaParameters AlphaParameters::newmark(double gamma, double beta) { return {0, 0, beta, gamma}; }

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
    : equations_(equations),
      options_(options),
      nv_(equations.sizes().nv),
      ng_(equations.sizes().multipliers()),
      scales_(equations.scales()),
      monitor_(stricter(options)),
      saddle_(equations),
      slack_(options.stabilised ? std::make_unique<PositionSlack>(equations) : nullptr),
      projector_(options.projection == AlphaOptions::Projection::exact ||
                         (options.energy && options.projection == AlphaOptions::Projection::none)
                     ? std::make_unique<AccelerationSolver>(equations, SaddleSystem::Keep::resumable)
                     : nullptr),
      iterated_(options.projection == AlphaOptions::Projection::iterated
                    ? std::make_unique<IteratedProjection>(equations, options.penalty, options.sweeps)
                    : nullptr),
      s_(Vec::Zero(nv_)),
      gdot_(Vec::Zero(ng_)),
      partials_(equations.make_partials(options.stabilised ? Detail::all : Detail::newton)),
      residual_(equations.make_residual()),
      work_(equations.make_workspace()),
      z_(Vec::Zero(nv_ + ng_)),
      nx_(equations.sizes().nx),
      coupling_(equations) {
  predictor_.resize(nv_ + ng_, nv_);
  predictor_.set_limit(options.predictor_degree);
  T_.resize(equations.rotation_columns().size());
  unregularised_ = z_;
  softness_ = gdot_;
}

void AlphaMethod::start(const State& state, const Rates& rates) {
  now_ = trial_ = state;
  rates_ = trial_rates_ = rates;
  a_ = a_start_ = trial_a_ = rates.a;
  delta_ = Vec::Zero(nv_);
  previous_q_ = now_.q;
  previous_v_ = now_.v;
  equations_.set_scales(now_.q, options_.tolerance, scales_);
  equations_.state_rates(now_, rates_.xdot, work_);
  trial_rates_.xdot = previous_xdot_ = w_ = trial_w_ = previous_w_ = state_right_ = rates_.xdot;
  previous_x_ = equations_.states_of(now_);
  restart("start");
}

void AlphaMethod::restart(std::string_view /*why*/) {
  // A consistent a at the start of a smooth piece is the acceleration itself.
  a_ = rates_.a;
  w_ = rates_.xdot;
  predictor_.clear();
  z_.head(nv_) = a_;
  z_.tail(ng_) = rates_.lambda;
  predictor_.add(now_.t, z_, scales_);
  linearise_next_ = true;
  history_of_states_ = false;
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

void AlphaMethod::place(double h) {
  const AlphaParameters& p = options_.parameters;
  delta_ = h * now_.v + (h * h) * ((0.5 - p.beta) * a_start_ + p.beta * trial_a_);
  if (slack_) delta_ += h * s_;
  trial_.v = now_.v + h * ((1 - p.gamma) * a_start_ + p.gamma * trial_a_);
  trial_rates_.a =
      ((1 - p.alpha_m) / (1 - p.alpha_f)) * trial_a_ + (p.alpha_m * a_start_ - p.alpha_f * rates_.a) / (1 - p.alpha_f);
  equations_.retract(now_.q, delta_, trial_.q);
}

// The Newton matrix is combined from partial derivatives at the trial state, or, if only the step size has changed,
// from those of an earlier step: that costs no evaluation.
Verdict AlphaMethod::prepare_matrix(double h, bool anew) {
  const AlphaParameters& p = options_.parameters;
  if (anew) {
    const Detail detail = slack_ ? Detail::all : Detail::newton;
    if (equations_.linearise(trial_, trial_rates_, detail, partials_, work_) != Eval::ok)
      return Verdict::evaluation_rejected;
    if (nx_ > 0) equations_.linearise_states(trial_, state_partials_, work_);
    ++counts_.linearisations;
    linearise_next_ = false;
  }
  equations_.retract_derivative(delta_, T_);
  const double bh2 = p.beta * h * h;
  const Blend::Rows rows = slack_ ? Blend::Rows::velocity : Blend::Rows::own;
  saddle_.combine(partials_, {(1 - p.alpha_m) / (1 - p.alpha_f), bh2, bh2, p.gamma * h, p.beta * h / p.gamma, rows},
                  &T_);
  ++counts_.combinations;
  matrix_h_ = h;
  monitor_.forget_rate();
  bool good = count_factors(saddle_, counts_);
  if (good && slack_) good = slack_->factor(partials_, T_, counts_);
  if (good && nx_ > 0) {
    couple_states(h);
    if (!coupling_.prepare(saddle_)) return Verdict::singular_matrix;
  }
  if (good) return Verdict::ok;
  return std::isfinite(saddle_.values().sum()) ? Verdict::singular_matrix : Verdict::not_finite;
}

// With c = h gamma (1 - alpha_f)/(1 - alpha_m):
//   x_{n+1} = x_n + h (1 - gamma) w_n + h gamma w_{n+1},  (1 - alpha_m) w_{n+1} + alpha_m w_n = (1 - alpha_f) f_{n+1} +
//   alpha_f f_n
void AlphaMethod::couple_states(double h) {
  const AlphaParameters& p = options_.parameters;
  const double c = h * p.gamma * (1 - p.alpha_f) / (1 - p.alpha_m), bh2 = p.beta * h * h;
  coupling_.B = state_partials_.force_x;
  coupling_.C = (-c * bh2) * state_partials_.rate_q;
  const std::vector<int>& rotations = equations_.rotation_columns();
  for (std::size_t i = 0; i < rotations.size(); ++i)
    coupling_.C.middleCols<3>(rotations[i]) = (coupling_.C.middleCols<3>(rotations[i]) * T_[i]).eval();
  coupling_.C -= (c * p.gamma * h) * state_partials_.rate_v;
  coupling_.D.setIdentity();
  coupling_.D -= c * state_partials_.rate_x;
}

bool AlphaMethod::state_residual(double h) {
  if (nx_ == 0) return true;
  const AlphaParameters& p = options_.parameters;
  if (equations_.state_rates(trial_, trial_rates_.xdot, work_) != Eval::ok) return false;
  trial_w_ = ((1 - p.alpha_f) * trial_rates_.xdot + p.alpha_f * rates_.xdot - p.alpha_m * w_) / (1 - p.alpha_m);
  state_right_ =
      equations_.states_of(now_) - equations_.states_of(trial_) + h * ((1 - p.gamma) * w_ + p.gamma * trial_w_);
  return true;
}

Attempt AlphaMethod::attempt(double h) {
  Attempt result;
  trial_h_ = h;
  trial_.t = now_.t + h;
  a_start_ = a_;
  for (int pass = 0;; ++pass) {  // a second pass only with fresh derivatives
    predict(h);
    const bool anew = linearise_next_ || pass > 0 || options_.newton.exactly > 0;
    const double ratio = h / matrix_h_;
    if (anew || !(ratio < options_.refresh_ratio && ratio * options_.refresh_ratio > 1)) {
      result.verdict = prepare_matrix(h, anew);
      if (result.verdict != Verdict::ok) {
        linearise_next_ = true;
        return result;
      }
    }
    monitor_.begin(anew);
    result.verdict = correct(h);
    result.newton_iterations += monitor_.iterations();
    result.newton_rate = monitor_.rate();
    if (result.verdict == Verdict::ok) break;
    if (pass == 0 && !anew) continue;  // old derivatives may be to blame
    linearise_next_ = true;
    if (!std::isfinite(z_.sum()) || !std::isfinite(residual_.force.sum())) result.verdict = Verdict::not_finite;
    if (nv_ > 0) z_.head(nv_).cwiseAbs().maxCoeff(&result.worst_velocity);
    if (ng_ > 0) residual_.g.cwiseAbs().maxCoeff(&result.worst_row);
    return result;
  }
  if (monitor_.slow()) linearise_next_ = true;
  estimate(h, result);
  if (result.verdict != Verdict::ok) return result;
  if (equations_.turned(trial_, h, work_) > 1.57) result.verdict = Verdict::angle_too_large;
  if ((projector_ || iterated_) && result.verdict == Verdict::ok && (options_.fixed_step || result.error <= 1) &&
      !project_rates())
    result.verdict = Verdict::singular_matrix;
  return result;
}

void AlphaMethod::predict(double h) {
  predictor_.predict(trial_.t, z_);
  trial_a_ = z_.head(nv_);
  trial_rates_.lambda = z_.tail(ng_);
  if (nx_ > 0) trial_.u.tail(nx_) = equations_.states_of(now_) + h * w_;
  if (slack_) {
    s_.setZero();
    slack_->begin_step();
  }
  place(h);
}

// sqrt(psi)/h^2, (35)
double AlphaMethod::allowed_change(double h) const {
  const double root_p = std::sqrt(static_cast<double>(std::max(1, nv_)));
  return root_p * options_.tolerance / (std::abs(options_.parameters.error_factor()) * h * h);
}

Verdict AlphaMethod::correct(double h) {
  const double root_p = std::sqrt(static_cast<double>(std::max(1, nv_))), allowed = allowed_change(h),
               // Round-off of constraint values of the size of the positions, seen through 1/(beta h^2).
      noise = 4 * equations_.round_off(now_.q, scales_) * root_p / (options_.parameters.beta * h * h);
  for (;;) {
    if (equations_.residual(trial_, trial_rates_, everything, residual_, work_) != Eval::ok || !state_residual(h)) {
      ++counts_.evaluations;
      return Verdict::evaluation_rejected;
    }
    ++counts_.evaluations;
    const double correction = solve_for_correction(h);
    if (!std::isfinite(correction)) return Verdict::evaluation_rejected;
    trial_a_ += z_.head(nv_);
    trial_rates_.lambda += z_.tail(ng_);
    place(h);
    double change = 0;  // |a_{n+1} - a_n|, the x of (17)
    for (int i = 0; i < nv_; ++i) {
      const double e = (trial_a_[i] - a_start_[i]) / scales_[i];
      change += e * e;
    }
    const double reference = options_.fixed_step ? std::min(std::sqrt(change), allowed) : allowed;
    const NewtonMonitor::Decision decision = monitor_.next(correction, reference, noise);
    if (decision == NewtonMonitor::Decision::converged) return Verdict::ok;
    if (decision != NewtonMonitor::Decision::go_on) return Verdict::newton_diverged;
  }
}

// One correction of a and lambda, in z_, and of states and slack, in place; returns its norm.
double AlphaMethod::solve_for_correction(double h) {
  const AlphaParameters& p = options_.parameters;
  const double bh2 = p.beta * h * h;
  const bool misfits = options_.misfit > 1e-10 * equations_.length();
  z_.head(nv_) = -(residual_.inertia + residual_.force);
  if (slack_) {
    equations_.velocity_residual(trial_, gdot_, work_);
    z_.tail(ng_) = gdot_ * (-1 / (p.gamma * h));
  } else {
    z_.tail(ng_) = residual_.g * (-1 / bh2);
    for (const int row : equations_.velocity_rows()) z_[nv_ + row] = residual_.g[row] / (-p.gamma * h);
  }
  if (misfits) saddle_.project_right_side(z_.tail(ng_));
  unregularised_ = z_;
  // solves for the multipliers themselves: no memory of their null part
  softness_ = saddle_.E().cwiseProduct(trial_rates_.lambda);
  z_.tail(ng_) += softness_;
  saddle_.solve(z_);
  // -E would leave E lambda gamma h of g', or E lambda beta h^2 of g, which the next step, if it is a small one, would
  // take for an acceleration
  if (slack_ || bh2 * equations_.size_of_rows(softness_) > 1e-3 * options_.tolerance * equations_.length())
    saddle_.refine(unregularised_, z_);
  ++counts_.solves;
  ++counts_.newton_iterations;
  double correction = norm(z_);
  if (nx_ > 0) {
    coupling_.solve(z_, state_right_);
    // counted like positions, which follow from accelerations by beta h^2
    correction = std::hypot(norm(z_), state_norm(state_right_) / bh2);
    trial_.u.tail(nx_) += state_right_;
  }
  if (slack_) {
    const auto ds = slack_->solve(s_, z_.head(nv_), p.beta * h, residual_.g, -1 / h, misfits);
    ++counts_.solves;
    s_ += ds;
    // h s moves positions like beta h^2 a
    double sum = 0;
    for (int i = 0; i < nv_; ++i) sum += std::pow(ds[i] / scales_[i], 2);
    correction = std::hypot(correction, std::sqrt(sum) / (p.beta * h));
  }
  return correction;
}

void AlphaMethod::estimate(double h, Attempt& result) {
  const AlphaParameters& p = options_.parameters;
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
    if (!state_residual(h)) {
      result.verdict = Verdict::evaluation_rejected;
      return;
    }
    // The local error of x is proportional to h^3 w'', w'' from how far w is from its straight continuation.
    const double lead = p.alpha_m - p.alpha_f,
                 factor = std::abs(1.0 / 6 - 0.5 * lead * lead - p.gamma * lead - 0.5 * p.gamma),
                 ratio = last_step_ > 0 && history_of_states_ ? h / last_step_ : 0;
    state_right_ = (factor * h) * (trial_w_ - w_ - ratio * (w_ - previous_w_));
    sum += std::pow(state_norm(state_right_) / (std::abs(p.error_factor()) * h * h), 2);
  }
  result.error = std::sqrt(sum) / allowed_change(h);
}

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

void AlphaMethod::accept() {
  energy_ = trial_energy_;
  power_ = trial_power_;
  previous_q_.swap(now_.q);
  previous_v_.swap(now_.v);
  now_.q.swap(trial_.q);
  now_.v.swap(trial_.v);
  now_.t = trial_.t;
  if (nx_ > 0) {
    previous_x_ = equations_.states_of(now_);
    previous_xdot_ = rates_.xdot;
    previous_w_ = w_;
    w_ = trial_w_;
    rates_.xdot = trial_rates_.xdot;
    now_.u = trial_.u;
    history_of_states_ = true;
  }
  a_.swap(trial_a_);
  rates_.a.swap(trial_rates_.a);
  rates_.lambda.swap(trial_rates_.lambda);
  equations_.accept(now_, work_);
  trial_.memory = now_.memory;
  equations_.set_scales(now_.q, options_.tolerance, scales_);
  ++counts_.predictor_degree[predictor_.degree()];
  z_.head(nv_) = a_;
  z_.tail(ng_) = rates_.lambda;
  predictor_.add(now_.t, z_, scales_);
  last_step_ = trial_h_;
  ++counts_.steps;
}

void AlphaMethod::interpolate(double t, State& out) const {
  const double h = last_step_;
  const double s = h > 0 ? 1 + (t - now_.t) / h : 1;
  out.t = t;
  out.memory = now_.memory;
  out.u = now_.u;
  out.q.resize(now_.q.size());
  if (s == 1) {
    out.q = now_.q;
    out.v = now_.v;
    return;
  }
  if (nx_ > 0) hermite(s, h, previous_x_, previous_xdot_, equations_.states_of(now_), rates_.xdot, out.u.tail(nx_));
  hermite_motion(equations_, s, h, previous_q_, previous_v_, now_.q, now_.v, out);
}

void AlphaMethod::visit(Archive& archive) {
  archive(now_, rates_, a_, previous_q_, previous_v_, scales_, predictor_);
  archive(w_, previous_w_, previous_x_, previous_xdot_, history_of_states_, state_partials_);
  archive(monitor_, last_step_, matrix_h_, linearise_next_);
  archive(partials_.M, partials_.Ma_q, partials_.force_q, partials_.force_v, partials_.G, partials_.K_q, saddle_);
  coupling_.visit(archive, saddle_);
  if (slack_) archive(partials_.Gv_q, *slack_);
  if (projector_ || iterated_)
    archive(iterated_ ? iterated_->saddle() : projector_->saddle(), energy_, power_, unbalanced_);
  archive(counts_);
  if (!archive.reading()) return;
  trial_ = now_;
  trial_rates_ = rates_;
  trial_a_ = a_start_ = a_;
}

long AlphaMethod::memory_bytes() const {
  const auto vec = [](const Vec& v) { return static_cast<long>(v.size()) * 8; };
  long sum = saddle_.memory_bytes() + static_cast<long>(T_.size() * sizeof(Mat3)) +
             static_cast<long>(work_.bodies.size() * sizeof(BodyState));
  for (const Vec* v : {&partials_.M,
                       &partials_.Ma_q,
                       &partials_.force_q,
                       &partials_.force_v,
                       &partials_.G,
                       &z_,
                       &scales_,
                       &a_,
                       &a_start_,
                       &trial_a_,
                       &delta_,
                       &previous_q_,
                       &previous_v_,
                       &now_.q,
                       &now_.v,
                       &trial_.q,
                       &trial_.v,
                       &rates_.a,
                       &rates_.lambda,
                       &trial_rates_.a,
                       &trial_rates_.lambda,
                       &residual_.force,
                       &residual_.inertia,
                       &residual_.g}) {
    sum += vec(*v);
  }
  if (slack_) sum += slack_->memory_bytes();
  return sum + 4 * 8 * (nv_ + ng_);  // predictor
}

}  // namespace trammel
