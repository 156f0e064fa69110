#include "trammel/integrate/bdf/bdf_constrained.h"

#include <algorithm>
#include <cmath>

#include "trammel/integrate/methods.h"
#include "trammel/math/rotation.h"

namespace trammel {

ConstrainedBdf::ConstrainedBdf(const Equations& equations, const ConstrainedBdfOptions& options)
    : MotionIntegrator(equations, options.tolerance),
      options_(options),
      chart_(equations),
      memory_(2 * nv_ + nx_, top, {}),
      tested_((options.stabilised ? 2 : 1) * nv_ + nx_),
      T_(equations.rotation_columns().size()),
      S_(T_.size()),
      multiplier_units_(Vec::Ones(ng_)),
      corrector_(equations, {options.stabilised, options.tolerance, options.misfit}, counts_),
      newton_(options.newton, options.refresh_ratio) {
  const int n = 2 * nv_ + nx_;
  for (Vec* v : {&y_, &change_}) v->setZero(n);
  for (Vec* v : {&z_dot_, &u_, &du_, &later_, &later_rate_}) v->setZero(nv_);
  old_q_.fill(Vec::Zero(equations.sizes().nq));
  state_right_.setZero(nx_);
  y_scales_.setOnes(n);
  for (int i = 0; i < ng_; ++i)
    if (equations.row_unit(i) == RowUnit::torque) multiplier_units_[i] = equations.length();
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

void ConstrainedBdf::restart(std::string_view /*why*/) {
  memory_.clear(options_.fixed_step ? std::min(2, options_.order) : std::min(2, options_.most_order));
  failures_ = 0;
  chart_.move_to(now_.q);
  multipliers_.clear();
  multipliers_.add(now_.t, rates_.lambda, multiplier_units_);
  newton_.linearise_next();
  if (!starter_) return;
  past_count_ = 0;
  past_h_ = 0;
  remember_point();
}

void ConstrainedBdf::set_scales(const Vec& y) {
  y_scales_.head(nv_) = scales_;
  for (int i = nv_; i < y_scales_.size(); ++i) {
    const bool is_velocity = i < 2 * nv_;
    y_scales_[i] = (is_velocity ? rate_ * scales_[i - nv_] : 1) + std::max(std::abs(memory_.D(i, 0)), std::abs(y[i]));
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

// ---- a step ---------------------------------------------------------------------------------------------------------

Attempt ConstrainedBdf::attempt(double h) {
  trial_.t = now_.t + h;
  trial_h_ = h;
  if (!starting()) follow(h);
  if (starting()) return attempt_by_starter(h);
  const Attempt result = solve_step(h);
  if (options_.fixed_step) return result;
  // What the differences remember may be of no use any more, behind a jump of the forces.
  failures_ = result.verdict == Verdict::ok && result.error <= 1 ? 0 : failures_ + 1;
  if (failures_ == 4) restart("failures");
  return result;
}

Attempt ConstrainedBdf::solve_step(double h) {
  Attempt result;
  take_differences(h);
  memory_.predict();
  set_scales(memory_.predicted);
  c_ = memory_.alpha() / h;
  allowed_ = options_.tolerance * (memory_.order() + 1);
  if (!newton_.solve(*this, c_, 16 * equations_.round_off(now_.q, scales_), result)) return result;
  if (newton_.passes() > 1) newton_.linearise_next();  // old derivatives did not serve: neither will these
  if (nx_ > 0) trial_rates_.xdot = c_ * (memory_.psi.tail(nx_) + memory_.d.tail(nx_));
  set_scales(y_);
  result.error = size_of(memory_.d, &result.worst_velocity) / allowed_;
  // Below what Newton can know smaller steps do not help.
  if (newton_.monitor().in_noise() && result.error * allowed_ < 4 * newton_.monitor().last())
    result.error = std::min(result.error, 1.0);
  if (options_.fixed_step)
    memory_.keep_order();
  else
    memory_.choose_next(result, 0.9, 4, options_.most_order, false, [this](int k, const Vec& difference) {
      return size_of(difference) / (options_.tolerance * (k + 1));
    });
  if (turns_in_doubt(h)) result.verdict = Verdict::angle_too_large;
  return result;
}

// Before the first step the differences are those of z = h s v + (h s)^2/2 a, v = v + h s a, x = x + h s x' at s = 0,
// -1, -2: at index 3 a start that knows the acceleration has no transient of first order.
void ConstrainedBdf::take_differences(double h) {
  Mat& differences = memory_.begin(h);
  if (!memory_.empty()) return;
  Mat& D = memory_.D;
  D.setZero();
  D.col(0).segment(nv_, nv_) = now_.v;
  if (nx_ > 0) D.col(0).tail(nx_) = equations_.states_of(now_);
  differences = D;
  differences.col(1).head(nv_) = h * (now_.v - chart_.rate()) - (0.5 * h * h) * rates_.a;
  differences.col(2).head(nv_) = (h * h) * rates_.a;
  differences.col(1).segment(nv_, nv_) = h * rates_.a;
  if (nx_ > 0) differences.col(1).tail(nx_) = h * rates_.xdot;
}

void ConstrainedBdf::predict() {
  y_ = memory_.predicted;
  place();
  if (options_.stabilised) {  // from here u = v and eta = 0 are a solution of the kinematic equation
    y_.segment(nv_, nv_) = u_;
    corrector_.slack().begin_step();
    place();
  }
  multipliers_.predict(trial_.t, trial_rates_.lambda);
}

void ConstrainedBdf::place() {
  const Vec &psi = memory_.psi, &predicted = memory_.predicted;
  z_dot_ = c_ * (psi.head(nv_) + y_.head(nv_) - predicted.head(nv_));
  u_ = z_dot_;
  const std::vector<int>& rotations = equations_.rotation_columns();
  for (std::size_t i = 0; i < rotations.size(); ++i) {
    T_[i] = rotation_tangent(y_.segment<3>(rotations[i]));
    u_.segment<3>(rotations[i]) =
        T_[i] * z_dot_.segment<3>(rotations[i]) + chart_.drift(rotations[i], y_.segment<3>(rotations[i]));
  }
  if (!options_.stabilised) y_.segment(nv_, nv_) = u_;
  du_ = y_.head(nv_);
  chart_.place(trial_.t, du_, trial_.q);
  trial_.v = y_.segment(nv_, nv_);
  trial_rates_.a = c_ * (psi.segment(nv_, nv_) + trial_.v - predicted.segment(nv_, nv_));
  if (nx_ > 0) trial_.u.tail(nx_) = y_.tail(nx_);
}

Verdict ConstrainedBdf::prepare_matrix(bool anew) {
  if (anew) {
    const Verdict verdict = corrector_.linearise(trial_, trial_rates_, work_);
    if (verdict != Verdict::ok) return verdict;
  }
  const std::vector<int>& rotations = equations_.rotation_columns();
  for (std::size_t i = 0; i < rotations.size(); ++i) {
    const int j = rotations[i];
    const Mat3 C = rotation_tangent_derivative(y_.segment<3>(j), z_dot_.segment<3>(j)) +
                   skew(chart_.drift(j, y_.segment<3>(j))) * T_[i];
    S_[i] = c_ * T_[i] * (c_ * T_[i] + C).inverse();
  }
  return corrector_.factor(weights(), &S_);
}

NewtonStage::Correction ConstrainedBdf::correct() {
  if (!corrector_.evaluate(trial_, trial_rates_, work_)) return {.size = HUGE_VAL};
  if (nx_ > 0)
    state_right_ = trial_rates_.xdot / c_ - (memory_.psi.tail(nx_) + y_.tail(nx_) - memory_.predicted.tail(nx_));
  corrector_.solve(weights(), trial_rates_.lambda, state_right_);
  apply_correction();
  const double size = size_of(change_);
  if (!std::isfinite(size)) return {.size = size};
  place();
  memory_.d = y_ - memory_.predicted;
  const double reference = options_.fixed_step ? std::min(size_of(memory_.d), allowed_) : allowed_;
  return {size, reference,
          ng_ > 0 && equations_.size_of_rows(corrector_.residual().g) < 1e-14 * equations_.reach(now_.q)};
}

void ConstrainedBdf::apply_correction() {
  const Vec& z = corrector_.increment();
  trial_rates_.lambda += z.tail(ng_);
  change_.segment(nv_, nv_) = z.head(nv_) / c_;  // dv
  du_ = change_.segment(nv_, nv_);
  if (options_.stabilised) {
    u_ -= trial_.v;
    du_ +=
        corrector_.slack().solve(u_, change_.segment(nv_, nv_), 1, corrector_.residual().g, -c_, corrector_.misfits());
    ++counts_.solves;
    y_.segment(nv_, nv_) += change_.segment(nv_, nv_);
  }
  const std::vector<int>& rotations = equations_.rotation_columns();
  for (std::size_t i = 0; i < rotations.size(); ++i)
    du_.segment<3>(rotations[i]) = (T_[i].inverse() * (S_[i] * du_.segment<3>(rotations[i]))).eval();
  change_.head(nv_) = du_ / c_;  // dz
  y_.head(nv_) += change_.head(nv_);
  if (nx_ > 0) {
    change_.tail(nx_) = state_right_;
    y_.tail(nx_) += state_right_;
  }
}

void ConstrainedBdf::arrived() {
  multipliers_.add(now_.t, rates_.lambda, multiplier_units_);
  ++counts_.predictor_degree[multipliers_.degree()];
  if (starting())
    remember_point();
  else
    memory_.accept();
}

// ---- the chart ------------------------------------------------------------------------------------------------------

// The chart for a step h.
void ConstrainedBdf::follow(double h) {
  u_ = now_.v - chart_.rate();
  if (memory_.empty()) {  // z = 0
    if (chart_.turn(u_) * h > 2) {
      chart_.move_to(now_.q, now_.t, now_.v, h);
      newton_.forget_matrix();
    }
    return;
  }
  Mat& D = memory_.D;
  const double apart = memory_.step();
  du_ = D.col(0).head(nv_);
  if (!(chart_.turn(du_) > 0.5 || chart_.turn_ahead(du_, u_, h) > 2)) return;
  const int count = std::min(std::max(memory_.order(), memory_.last_order()) + 3, memory_.columns());
  sum_differences(D, count);
  for (int i = 0; i < count; ++i) {
    du_ = D.col(i).head(nv_);
    chart_.place(now_.t - i * apart, du_, old_q_[i]);
  }
  const bool turned = !chart_.rate().isZero(0);
  chart_.move_to(now_.q, now_.t, now_.v, std::max(h, apart) * count);
  if (turned || !chart_.rate().isZero(0)) newton_.forget_matrix();  // S is another
  const int kept = locate_points(count);
  difference_points(D, kept);
  if (kept == count) return;
  // Older points are lost behind half a turn of unsteady rotation.
  const bool shorter = kept <= memory_.order();
  if (shorter) ++cut_;
  if (shorter && (starter_ || kept < 2)) {
    restart("fast rotation");
    follow(h);
    return;
  }
  memory_.cut(kept);
}

// Positions of the points old_q_, newest first, as far apart as the differences, in the chart of now; their velocities
// are in D. Returns how many of them it can tell apart from others that are whole turns away.
int ConstrainedBdf::locate_points(int count) {
  Mat& D = memory_.D;
  const double apart = memory_.step();
  for (int i = 0; i < count; ++i) {
    u_ = D.col(i).segment(nv_, nv_);
    chart_.locate(now_.t - i * apart, old_q_[i], u_, du_, z_dot_);
    if (i > 0 && !chart_.follows(du_, z_dot_, later_, later_rate_, apart)) return i;
    D.col(i).head(nv_) = du_;
    later_ = du_;
    later_rate_ = z_dot_;
  }
  D.col(0).head(nv_).setZero();
  return count;
}

void ConstrainedBdf::interpolate_inside(double t, double s, State& out) const {
  if (memory_.empty()) {  // among the first fixed steps: a cubic from point to point
    MotionIntegrator::interpolate_inside(t, s, out);
    return;
  }
  Vec y;
  memory_.evaluate(t - now_.t, y);
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
  if (turns_in_doubt(h)) result.verdict = Verdict::angle_too_large;
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
  Mat& D = memory_.D;
  D.setZero();
  for (int i = 0; i < past_count_; ++i) {
    const PastPoint& p = past_[i];
    old_q_[i] = p.q;
    D.col(i).segment(nv_, nv_) = p.v;
    D.col(i).tail(nx_) = p.x;
  }
  memory_.set(past_h_, options_.order);
  const int kept = locate_points(past_count_);
  if (kept == past_count_) {
    difference_points(D, past_count_);
    return;
  }
  // Older ones are lost behind half a turn of unsteady rotation: it goes on starting.
  past_count_ = kept;
  memory_.clear(std::min(2, options_.order));
  ++cut_;
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
  const std::span<const long> by_order = memory_.steps_by_order();
  for (std::size_t k = 1; k < by_order.size(); ++k) text += (k == 1 ? "" : "/") + std::to_string(by_order[k]);
  text += " steps of order 1/2/..." + memory_.remark();
  if (cut_ > 0) text += "; past shortened " + std::to_string(cut_) + " times, where rotation was fast and unsteady";
  return text;
}

void ConstrainedBdf::visit_method(Archive& archive) {
  archive(chart_, memory_, multipliers_, newton_, corrector_, S_, failures_, cut_, past_count_, past_h_);
  if (starter_) archive(past_, *starter_);
}

long ConstrainedBdf::memory_bytes() const {
  return memory_.memory_bytes() + 8L * (2 * y_.size() + 16 * nv_ + 4 * ng_) + corrector_.memory_bytes() +
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
