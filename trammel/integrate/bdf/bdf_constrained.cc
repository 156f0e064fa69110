#include "trammel/integrate/bdf/bdf_constrained.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/integrate/count_factors.h"
#include "trammel/integrate/hermite_motion.h"
#include "trammel/integrate/methods.h"
#include "trammel/math/hermite.h"
#include "trammel/math/rotation.h"

namespace trammel {

ConstrainedBdf::ConstrainedBdf(const Equations& equations, const ConstrainedBdfOptions& options)
    : equations_(equations),
      options_(options),
      nv_(equations.sizes().nv),
      ng_(equations.sizes().multipliers()),
      nx_(equations.sizes().nx),
      chart_(equations),
      scales_(equations.scales()),
      tested_((options.stabilised ? 2 : 1) * nv_ + nx_),
      multiplier_units_(Vec::Ones(ng_)),
      monitor_(options.newton),
      saddle_(equations),
      slack_(options.stabilised ? std::make_unique<PositionSlack>(equations) : nullptr),
      partials_(equations.make_partials(options.stabilised ? Detail::all : Detail::newton)),
      residual_(equations.make_residual()),
      work_space_(equations.make_workspace()),
      right_(Vec::Zero(nv_ + ng_)),
      unregularised_(Vec::Zero(nv_ + ng_)),
      gdot_(Vec::Zero(ng_)),
      coupling_(equations) {
  for (std::size_t k = 1; k < gamma_.size(); ++k) gamma_[k] = gamma_[k - 1] + 1.0 / static_cast<double>(k);
  const int n = 2 * nv_ + nx_;
  D_.setZero(n, columns);
  try_D_.setZero(n, columns);
  for (Vec* v : {&predicted_, &psi_, &y_, &d_, &work_}) v->setZero(n);
  for (Vec* v : {&z_dot_, &u_, &a_, &later_, &later_rate_}) v->setZero(nv_);
  old_q_.fill(Vec::Zero(equations.sizes().nq));
  state_right_.setZero(nx_);
  y_scales_.setOnes(n);
  for (int i = 0; i < ng_; ++i)
    if (equations.row_unit(i) == RowUnit::torque) multiplier_units_[i] = equations.length();
  T_.resize(equations.rotation_columns().size());
  S_.resize(T_.size());
  multipliers_.resize(ng_, ng_);
  if (options_.fixed_step && options_.order > 1) {
    ConstrainedRungeKuttaOptions start;
    start.stabilised = start.fixed_step = true;  // at index 2 its velocities have order 5 too
    start.misfit = options_.misfit;
    start.newton = {.c = 1e-9, .most_iterations = 40, .keep_rate = 0};
    starter_ = std::make_unique<ConstrainedRungeKutta>(equations, ImplicitTableau::radau_iia(3), start);
    past_.resize(static_cast<std::size_t>(options_.order) + 1);
  }
}

void ConstrainedBdf::start(const State& state, const Rates& rates) {
  now_ = trial_ = state;
  rates_ = trial_rates_ = rates;
  equations_.set_scales(now_.q, options_.tolerance, scales_);
  rate_ = equations_.rate(now_, rates_);
  equations_.state_rates(now_, rates_.xdot, work_space_);
  trial_rates_.xdot = rates_.xdot;
  restart("start");
}

void ConstrainedBdf::restart(std::string_view /*why*/) {
  h_ = 0;
  k_ = last_k_ = tried_ = std::min(options_.fixed_step ? options_.order : 2, options_.most_order);
  if (!options_.fixed_step || options_.order > 1) k_ = std::min(2, k_);
  next_k_ = k_;
  equal_steps_ = failures_ = 0;
  chart_.move_to(now_.q);
  multipliers_.clear();
  multipliers_.add(now_.t, rates_.lambda, multiplier_units_);
  linearise_next_ = true;
  if (!starter_) return;
  past_count_ = 0;
  past_h_ = 0;
  remember_point();
}

void ConstrainedBdf::set_scales(const Vec& y) {
  y_scales_.head(nv_) = scales_;
  for (int i = nv_; i < y_scales_.size(); ++i) {
    const bool is_velocity = i < 2 * nv_;
    y_scales_[i] = (is_velocity ? rate_ * scales_[i - nv_] : 1) + std::max(std::abs(D_(i, 0)), std::abs(y[i]));
  }
}

double ConstrainedBdf::size_of(const Vec& y, int* worst) const {
  double sum = 0, greatest = 0;
  for (int i = 0; i < y.size(); ++i) {
    if (!options_.stabilised && i >= nv_ && i < 2 * nv_) continue;
    const double e = y[i] / y_scales_[i];
    sum += e * e;
    if (worst != nullptr && e * e > greatest && i < 2 * nv_) {
      greatest = e * e;
      *worst = i % nv_;
    }
  }
  return tested_ == 0 ? 0 : std::sqrt(sum / tested_);
}

// Before the first step the differences are those of z = h s v + (h s)^2/2 a, v = v + h s a, x = x + h s x' at s = 0,
// -1, -2: at index 3 a start that knows the acceleration has no transient of first order.
void ConstrainedBdf::take_differences(double h) {
  if (h_ != 0) {
    rescale_differences(D_, k_, h / h_, try_D_);
    return;
  }
  D_.setZero();
  D_.col(0).segment(nv_, nv_) = now_.v;
  if (nx_ > 0) D_.col(0).tail(nx_) = equations_.states_of(now_);
  try_D_ = D_;
  try_D_.col(1).head(nv_) = h * (now_.v - chart_.rate()) - (0.5 * h * h) * rates_.a;
  try_D_.col(2).head(nv_) = (h * h) * rates_.a;
  try_D_.col(1).segment(nv_, nv_) = h * rates_.a;
  if (nx_ > 0) try_D_.col(1).tail(nx_) = h * rates_.xdot;
}

void ConstrainedBdf::place(double c) {
  z_dot_ = c * (psi_.head(nv_) + y_.head(nv_) - predicted_.head(nv_));
  u_ = z_dot_;
  const std::vector<int>& rotations = equations_.rotation_columns();
  for (std::size_t i = 0; i < rotations.size(); ++i) {
    T_[i] = rotation_tangent(y_.segment<3>(rotations[i]));
    u_.segment<3>(rotations[i]) =
        T_[i] * z_dot_.segment<3>(rotations[i]) + chart_.drift(rotations[i], y_.segment<3>(rotations[i]));
  }
  if (!options_.stabilised) y_.segment(nv_, nv_) = u_;
  a_ = y_.head(nv_);
  chart_.place(trial_.t, a_, trial_.q);
  trial_.v = y_.segment(nv_, nv_);
  trial_rates_.a = c * (psi_.segment(nv_, nv_) + trial_.v - predicted_.segment(nv_, nv_));
  if (nx_ > 0) trial_.u.tail(nx_) = y_.tail(nx_);
}

Verdict ConstrainedBdf::prepare_matrix(double c, bool anew) {
  if (anew) {
    const Detail detail = options_.stabilised ? Detail::all : Detail::newton;
    if (equations_.linearise(trial_, trial_rates_, detail, partials_, work_space_) != Eval::ok)
      return Verdict::evaluation_rejected;
    if (nx_ > 0) equations_.linearise_states(trial_, state_partials_, work_space_);
    ++counts_.linearisations;
    linearise_next_ = false;
  }
  const std::vector<int>& rotations = equations_.rotation_columns();
  for (std::size_t i = 0; i < rotations.size(); ++i) {
    const int j = rotations[i];
    const Mat3 C = rotation_tangent_derivative(y_.segment<3>(j), z_dot_.segment<3>(j)) +
                   skew(chart_.drift(j, y_.segment<3>(j))) * T_[i];
    S_[i] = c * T_[i] * (c * T_[i] + C).inverse();
  }
  const double c2 = 1 / (c * c);
  const Blend::Rows rows = options_.stabilised ? Blend::Rows::velocity : Blend::Rows::own;
  saddle_.combine(partials_, {1, c2, c2, 1 / c, 1 / c, rows}, &S_);
  ++counts_.combinations;
  matrix_c_ = c;
  monitor_.forget_rate();
  bool good = count_factors(saddle_, counts_);
  if (good && slack_) good = slack_->factor(partials_, S_, counts_);
  if (good && nx_ > 0) {
    couple_states(c);
    if (!coupling_.prepare(saddle_)) return Verdict::singular_matrix;
  }
  if (good) return Verdict::ok;
  return std::isfinite(saddle_.values().sum()) ? Verdict::singular_matrix : Verdict::not_finite;
}

// x' = c (psi + x - x^p) = f, divided by c.
void ConstrainedBdf::couple_states(double c) {
  coupling_.B = state_partials_.force_x;
  coupling_.C = (-1 / (c * c * c)) * state_partials_.rate_q;
  const std::vector<int>& rotations = equations_.rotation_columns();
  for (std::size_t i = 0; i < rotations.size(); ++i)
    coupling_.C.middleCols<3>(rotations[i]) = (coupling_.C.middleCols<3>(rotations[i]) * S_[i]).eval();
  coupling_.C -= (1 / (c * c)) * state_partials_.rate_v;
  coupling_.D.setIdentity();
  coupling_.D -= (1 / c) * state_partials_.rate_x;
}

bool ConstrainedBdf::residual(double c) {
  ++counts_.evaluations;
  if (equations_.residual(trial_, trial_rates_, everything, residual_, work_space_) != Eval::ok) return false;
  if (options_.stabilised) equations_.velocity_residual(trial_, gdot_, work_space_);
  if (nx_ == 0) return true;
  if (equations_.state_rates(trial_, trial_rates_.xdot, work_space_) != Eval::ok) return false;
  state_right_ = trial_rates_.xdot / c - (psi_.tail(nx_) + y_.tail(nx_) - predicted_.tail(nx_));
  return true;
}

double ConstrainedBdf::correct(double c) {
  const bool misfits = options_.misfit > 1e-10 * equations_.length();
  right_.head(nv_) = -(residual_.inertia + residual_.force);
  if (options_.stabilised) {
    right_.tail(ng_) = -c * gdot_;
  } else {
    right_.tail(ng_) = (-c * c) * residual_.g;
    for (const int row : equations_.velocity_rows()) right_[nv_ + row] = -c * residual_.g[row];
  }
  if (misfits) saddle_.project_right_side(right_.tail(ng_));
  unregularised_ = right_;
  right_.tail(ng_) += saddle_.E().cwiseProduct(trial_rates_.lambda);
  saddle_.solve(right_);
  // What -E leaves of g is E lambda / c^2, below round-off; of g' it is E lambda / c, seen by tests of velocities.
  if (options_.stabilised) saddle_.refine(unregularised_, right_);
  ++counts_.solves;
  ++counts_.newton_iterations;
  if (nx_ > 0) coupling_.solve(right_, state_right_);
  trial_rates_.lambda += right_.tail(ng_);
  work_.segment(nv_, nv_) = right_.head(nv_) / c;  // dv
  a_ = work_.segment(nv_, nv_);                    // du
  if (slack_) {
    u_ -= trial_.v;
    a_ += slack_->solve(u_, work_.segment(nv_, nv_), 1, residual_.g, -c, misfits);
    ++counts_.solves;
    y_.segment(nv_, nv_) += work_.segment(nv_, nv_);
  }
  const std::vector<int>& rotations = equations_.rotation_columns();
  for (std::size_t i = 0; i < rotations.size(); ++i)
    a_.segment<3>(rotations[i]) = (T_[i].inverse() * (S_[i] * a_.segment<3>(rotations[i]))).eval();
  work_.head(nv_) = a_ / c;  // dz
  y_.head(nv_) += work_.head(nv_);
  if (nx_ > 0) {
    work_.tail(nx_) = state_right_;
    y_.tail(nx_) += state_right_;
  }
  return size_of(work_);
}

Attempt ConstrainedBdf::solve_step(double h) {
  Attempt result;
  take_differences(h);
  const auto k = static_cast<std::size_t>(k_);
  predicted_ = try_D_.col(0);
  psi_.setZero();
  for (int j = 1; j <= k_; ++j) {
    predicted_ += try_D_.col(j);
    psi_ += (gamma_[j] / gamma_[k]) * try_D_.col(j);
  }
  set_scales(predicted_);
  const double c = gamma_[k] / h;
  const double allowed = options_.tolerance * (k_ + 1);
  const double noise = 16 * equations_.round_off(now_.q, scales_);

  bool renewed = false;
  for (int pass = 0;; ++pass) {  // a second pass only with fresh derivatives
    y_ = predicted_;
    place(c);
    if (options_.stabilised) {  // from here u = v and eta = 0 are a solution of the kinematic equation
      y_.segment(nv_, nv_) = u_;
      slack_->begin_step();
      place(c);
    }
    multipliers_.predict(trial_.t, trial_rates_.lambda);
    const bool anew = linearise_next_ || pass > 0 || options_.newton.exactly > 0;
    const double ratio = c / matrix_c_;
    if (anew || !(ratio < options_.refresh_ratio && ratio * options_.refresh_ratio > 1)) {
      result.verdict = prepare_matrix(c, anew);
      if (result.verdict != Verdict::ok) {
        linearise_next_ = true;
        return result;
      }
    }
    monitor_.begin(anew);
    NewtonMonitor::Decision decision = NewtonMonitor::Decision::go_on;
    bool evaluable = true;
    while (decision == NewtonMonitor::Decision::go_on) {
      evaluable = residual(c);
      if (!evaluable) break;
      const double correction = correct(c);
      if (!std::isfinite(correction)) {
        evaluable = false;
        break;
      }
      place(c);
      d_ = y_ - predicted_;
      const double reference = options_.fixed_step ? std::min(size_of(d_), allowed) : allowed;
      const bool closed = ng_ > 0 && equations_.size_of_rows(residual_.g) < 1e-14 * equations_.reach(now_.q);
      decision = monitor_.next(correction, reference, noise, closed);
    }
    result.newton_iterations += monitor_.iterations();
    result.newton_rate = monitor_.rate();
    renewed = pass > 0;  // old derivatives did not serve: neither will these in the next step
    if (evaluable && decision == NewtonMonitor::Decision::converged) break;
    if (pass == 0 && !anew) continue;  // old derivatives may be to blame
    linearise_next_ = true;
    result.verdict = evaluable ? Verdict::newton_diverged : Verdict::evaluation_rejected;
    if (!right_.allFinite() || !residual_.force.allFinite()) result.verdict = Verdict::not_finite;
    if (nv_ > 0) right_.head(nv_).cwiseAbs().maxCoeff(&result.worst_velocity);
    if (ng_ > 0) residual_.g.cwiseAbs().maxCoeff(&result.worst_row);
    return result;
  }
  if (monitor_.slow() || renewed) linearise_next_ = true;
  if (nx_ > 0) trial_rates_.xdot = c * (psi_.tail(nx_) + d_.tail(nx_));
  set_scales(y_);
  result.error = size_of(d_, &result.worst_velocity) / allowed;
  // Below what Newton can know smaller steps do not help.
  if (monitor_.in_noise() && result.error * allowed < 4 * monitor_.last()) result.error = std::min(result.error, 1.0);
  choose_next(h, result);
  if (equations_.turned(trial_, h, work_space_) > 1.57) result.verdict = Verdict::angle_too_large;
  return result;
}

Attempt ConstrainedBdf::attempt(double h) {
  trial_.t = now_.t + h;
  trial_h_ = h;
  if (!starting()) follow(h);
  tried_ = k_;
  if (starting()) return attempt_by_starter(h);
  const Attempt result = solve_step(h);
  if (options_.fixed_step) return result;
  // What the differences remember may be of no use any more, behind a jump of the forces.
  failures_ = result.verdict == Verdict::ok && result.error <= 1 ? 0 : failures_ + 1;
  if (failures_ == 4) restart("failures");
  return result;
}

void ConstrainedBdf::choose_next(double h, Attempt& result) {
  next_k_ = k_;
  if (options_.fixed_step) return;
  const double safety = 0.9;
  const bool rejected = result.error > 1;
  if (k_ > 2) {
    difference_after(try_D_, k_, d_, 3, work_);
    const double of_2 = size_of(work_) / (3 * options_.tolerance);
    if (watch_.falls_back(k_, result.error, of_2, rejected)) {
      next_k_ = 2;
      if (rejected) k_ = 2;
      equal_steps_ = 0;
      result.suggested_h = h * std::clamp(safety * choose_order(2, -1, of_2, -1).factor, 0.2, rejected ? 0.9 : 1.0);
      return;
    }
  }
  if (rejected) {
    result.suggested_h = h * std::clamp(safety * choose_order(k_, -1, result.error, -1).factor, 0.2, 0.9);
    return;
  }
  result.suggested_h = h;
  const int equal = h_ != 0 && h == h_ ? equal_steps_ + 1 : 1;
  if (equal < k_ + 1) return;
  double down = -1, up = -1;
  if (k_ > 1) {
    work_ = try_D_.col(k_) + d_;
    down = size_of(work_) / (options_.tolerance * k_);
  }
  if (k_ < watch_.most_order(options_.most_order)) {
    work_ = d_ - try_D_.col(k_ + 1);
    up = size_of(work_) / (options_.tolerance * (k_ + 2));
  }
  const OrderChoice best = choose_order(k_, down, result.error, up);
  next_k_ = best.order;
  const double factor = std::min(4.0, safety * best.factor);
  if (factor > 1.2 || factor < 0.9)
    result.suggested_h = h * factor;
  else
    next_k_ = std::min(next_k_, k_);
}

void ConstrainedBdf::accept() {
  now_.t = trial_.t;
  now_.q.swap(trial_.q);
  now_.v.swap(trial_.v);
  now_.u = trial_.u;
  rates_.a.swap(trial_rates_.a);
  rates_.lambda.swap(trial_rates_.lambda);
  rates_.xdot = trial_rates_.xdot;
  equations_.accept(now_, work_space_);
  trial_.memory = now_.memory;
  equations_.set_scales(now_.q, options_.tolerance, scales_);
  multipliers_.add(now_.t, rates_.lambda, multiplier_units_);
  ++counts_.predictor_degree[multipliers_.degree()];
  ++counts_.steps;
  last_step_ = trial_h_;
  if (starting()) {
    remember_point();
    return;
  }
  ++by_order_[tried_];
  watch_.accept(trial_h_);
  equal_steps_ = h_ != 0 && trial_h_ == h_ ? equal_steps_ + 1 : 1;
  advance_differences(try_D_, k_, d_);
  D_.swap(try_D_);
  h_ = trial_h_;
  last_k_ = k_;
  k_ = next_k_;
  if (k_ != last_k_) equal_steps_ = 0;
}

// The chart for a step h.
void ConstrainedBdf::follow(double h) {
  u_ = now_.v - chart_.rate();
  if (h_ == 0) {  // z = 0
    if (chart_.turn(u_) * h > 2) {
      chart_.move_to(now_.q, now_.t, now_.v, h);
      matrix_c_ = 0;
    }
    return;
  }
  a_ = D_.col(0).head(nv_);
  if (!(chart_.turn(a_) > 0.5 || chart_.turn_ahead(a_, u_, h) > 2)) return;
  const int count = std::min(std::max(k_, last_k_) + 3, columns);
  sum_differences(D_, count);
  for (int i = 0; i < count; ++i) {
    a_ = D_.col(i).head(nv_);
    chart_.place(now_.t - i * h_, a_, old_q_[i]);
  }
  const bool turned = !chart_.rate().isZero(0);
  chart_.move_to(now_.q, now_.t, now_.v, std::max(h, h_) * count);
  if (turned || !chart_.rate().isZero(0)) matrix_c_ = 0;  // S is another
  const int kept = locate_points(count);
  difference_points(D_, kept);
  if (kept == count) return;
  // Older points are lost behind half a turn of unsteady rotation.
  D_.rightCols(columns - kept).setZero();
  equal_steps_ = 0;
  if (kept > k_) return;
  ++cut_;
  if (starter_ || kept < 2) {
    restart("fast rotation");
    follow(h);
    return;
  }
  k_ = kept - 1;
}

// Positions of the points old_q_, newest first, at the distance h_, in the chart of now; their velocities are in D_.
// Returns how many of them it can tell apart from others that are whole turns away.
int ConstrainedBdf::locate_points(int count) {
  for (int i = 0; i < count; ++i) {
    u_ = D_.col(i).segment(nv_, nv_);
    chart_.locate(now_.t - i * h_, old_q_[i], u_, a_, z_dot_);
    if (i > 0 && !chart_.follows(a_, z_dot_, later_, later_rate_, h_)) return i;
    D_.col(i).head(nv_) = a_;
    later_ = a_;
    later_rate_ = z_dot_;
  }
  D_.col(0).head(nv_).setZero();
  return count;
}

void ConstrainedBdf::interpolate(double t, State& out) const {
  out.t = t;
  out.memory = now_.memory;
  out.u = now_.u;
  out.q = now_.q;
  out.v = now_.v;
  if (t == now_.t || !(last_step_ > 0)) return;
  if (h_ == 0) {  // among the first fixed steps: a cubic from point to point
    const PastPoint &from = past_[1], &to = past_[0];
    const double s = 1 + (t - now_.t) / last_step_;
    hermite_motion(equations_, s, last_step_, from.q, from.v, to.q, to.v, out);
    if (nx_ > 0) hermite(s, last_step_, from.x, from.xdot, to.x, to.xdot, out.u.tail(nx_));
    return;
  }
  Vec y;
  evaluate_differences(D_, last_k_, (t - now_.t) / h_, y);
  const Vec z = y.head(nv_);
  chart_.place(t, z, out.q);
  out.v = y.segment(nv_, nv_);
  if (nx_ > 0) out.u.tail(nx_) = y.tail(nx_);
}

// ---- the first fixed steps --------------------------------------------------------------------------------------

Attempt ConstrainedBdf::attempt_by_starter(double h) {
  Attempt result;
  for (int parts = 4; parts <= 64; parts *= 4) {
    starter_->start(now_, rates_);
    for (int i = 0; i < parts; ++i) {
      result = starter_->attempt(h / parts);
      if (result.verdict != Verdict::ok) break;
      starter_->accept();
    }
    if (result.verdict == Verdict::ok) break;
  }
  result.error = result.suggested_h = 0;
  if (result.verdict != Verdict::ok) return result;
  trial_.q = starter_->state().q;
  trial_.v = starter_->state().v;
  trial_.u = starter_->state().u;
  trial_rates_ = starter_->rates();
  if (equations_.turned(trial_, h, work_space_) > 1.57) result.verdict = Verdict::angle_too_large;
  return result;
}

// With enough points of equal distance the differences are theirs.
void ConstrainedBdf::remember_point() {
  if (past_count_ > 1 && std::abs(trial_h_ - past_h_) > 1e-9 * past_h_) past_count_ = 1;
  if (past_count_ > 0) past_h_ = trial_h_;
  std::rotate(past_.begin(), past_.end() - 1, past_.end());
  past_[0] = {now_.q, now_.v, equations_.states_of(now_), rates_.xdot};
  ++past_count_;
  if (past_count_ <= options_.order) return;
  chart_.move_to(now_.q, now_.t, now_.v, past_h_ * past_count_);
  D_.setZero();
  for (int i = 0; i < past_count_; ++i) {
    const PastPoint& p = past_[i];
    old_q_[i] = p.q;
    D_.col(i).segment(nv_, nv_) = p.v;
    D_.col(i).tail(nx_) = p.x;
  }
  h_ = past_h_;
  const int kept = locate_points(past_count_);
  if (kept < past_count_) {  // older ones are lost behind half a turn of unsteady rotation: it goes on starting
    past_count_ = kept;
    h_ = 0;
    ++cut_;
    return;
  }
  difference_points(D_, past_count_);
  k_ = last_k_ = next_k_ = options_.order;
}

// ---- reports, saving --------------------------------------------------------------------------------------------

const Counts& ConstrainedBdf::counts() const {
  if (!starter_) return counts_;
  all_counts_ = counts_;
  const Counts& first = starter_->counts();
  all_counts_.evaluations += first.evaluations;
  all_counts_.linearisations += first.linearisations;
  all_counts_.combinations += first.combinations;
  all_counts_.factorisations += first.factorisations;
  all_counts_.refactorisations += first.refactorisations;
  all_counts_.solves += first.solves;
  all_counts_.newton_iterations += first.newton_iterations;
  return all_counts_;
}

std::string ConstrainedBdf::remark() const {
  std::string text;
  for (std::size_t k = 1; k < by_order_.size(); ++k) text += (k == 1 ? "" : "/") + std::to_string(by_order_[k]);
  text += " steps of order 1/2/..." + watch_.remark();
  if (cut_ > 0) text += "; past shortened " + std::to_string(cut_) + " times, where rotation was fast and unsteady";
  return text;
}

void ConstrainedBdf::visit(Archive& archive) {
  const Eigen::Index size = D_.size();
  archive(now_, rates_, scales_, chart_, cut_, D_, multipliers_, monitor_, watch_);
  archive.expect(D_.size() == size);
  archive(h_, last_step_, matrix_c_, past_h_, k_, tried_, last_k_, next_k_, equal_steps_, failures_, past_count_,
          linearise_next_, by_order_);
  archive(partials_.M, partials_.Ma_q, partials_.force_q, partials_.force_v, partials_.G, partials_.K_q, partials_.Gv_q,
          S_, state_partials_, saddle_);
  if (slack_) archive(*slack_);
  coupling_.visit(archive, saddle_);
  archive(counts_);
  if (archive.reading()) {
    trial_ = now_;
    trial_rates_ = rates_;
  }
  if (!starter_) return;
  for (int i = 0; i < past_count_ && i <= options_.order; ++i) {
    PastPoint& p = past_[i];
    archive(p.q, p.v, p.x, p.xdot);
  }
  archive(*starter_);
}

long ConstrainedBdf::memory_bytes() const {
  long doubles = D_.size() + try_D_.size() + 8L * y_.size() + 4L * right_.size() + 8L * nv_;
  for (const Vec* v : {&partials_.M, &partials_.Ma_q, &partials_.force_q, &partials_.force_v, &partials_.G,
                       &partials_.Gv_q, &partials_.Ga_q, &partials_.gamma_q, &partials_.gamma_v})
    doubles += v->size();
  return 8 * doubles + saddle_.memory_bytes() + (slack_ ? slack_->memory_bytes() : 0) +
         (starter_ ? starter_->memory_bytes() : 0);
}

namespace methods {

MethodInfo constrained_bdf(bool stabilised) {
  MethodInfo m;
  m.order = ConstrainedBdf::top;
  m.error_order = ConstrainedBdf::top + 1;
  m.variable_order = true;
  m.stiff = m.steps_to_outputs = true;
  m.stability = "A-stable for orders 1 and 2; A(alpha) with 86, 73, 52, 18 degrees for 3 to 6";
  m.options = {
      {"most_order", FieldKind::number, Quantity::none, 5.0,
       "Highest order (KMAX). 2 where lightly damped vibrations must not grow; 6 for the smoothest motions.", 1,
       ConstrainedBdf::top},
      {"order", FieldKind::number, Quantity::none, 2.0,
       "Of fixed steps; higher ones are accurate where the motion is smooth and well damped.", 1, ConstrainedBdf::top},
      {"most_iterations", FieldKind::number, Quantity::none, 10.0,
       "Newton corrections before a step is given up (MAXIT).", 2, 100},
      {"corrector", FieldKind::number, Quantity::none, 0.0,
       "Part of the allowed error that Newton may leave; 0 is 1e-3 with step control and 1e-4 at fixed steps.", 0, 0.1},
      {"keep_rate", FieldKind::number, Quantity::none, 0.3,
       "Derivatives are kept from step to step while corrections contract by this factor or better; 0 evaluates them "
       "every step.",
       0, 0.9},
      iterations_option()};
  m.make = [stabilised](const Equations& e, const MethodSettings& s) {
    ConstrainedBdfOptions options;
    options.stabilised = stabilised;
    options.fixed_step = s.fixed_step;
    options.tolerance = s.tolerance;
    options.misfit = s.misfit;
    options.most_order = static_cast<int>(s.options.number("most_order"));
    options.order = static_cast<int>(s.options.number("order"));
    const double corrector = s.options.number("corrector");
    // The two systems of index 2 contract more slowly: the four-bar of the conformance suite showed 8e-6 with 1e-4.
    const double at_fixed_steps = stabilised ? 1e-6 : 1e-4;
    options.newton.c = corrector > 0 ? corrector : s.fixed_step ? at_fixed_steps : 1e-3;
    options.newton.most_iterations = static_cast<int>(s.options.number("most_iterations"));
    options.newton.keep_rate = s.options.number("keep_rate");
    options.newton.exactly = static_cast<int>(s.options.number("iterations"));
    return std::make_unique<ConstrainedBdf>(e, options);
  };
  return m;
}

}  // namespace methods
}  // namespace trammel
