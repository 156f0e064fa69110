#include "trammel/integrate/runge_kutta/constrained_runge_kutta.h"
#include "trammel/formulate/formulation_keys.h"

#include <algorithm>
#include <cmath>

#include "trammel/integrate/count_factors.h"
#include "trammel/integrate/methods.h"
#include "trammel/math/rotation.h"

namespace trammel {

ConstrainedRungeKutta::ConstrainedRungeKutta(const Equations& equations, const ImplicitTableau& tableau,
                                             const ConstrainedRungeKuttaOptions& options)
    : MotionIntegrator(equations, options.tolerance),
      options_(options),
      table_(tableau),
      transform_(tableau),
      s_(tableau.stages()),
      corrector_(equations, {options.stabilised, options.tolerance, options.misfit}, counts_),
      newton_(options.newton, 1),
      pattern_(corrector_.saddle().pattern()),
      v_scales_(scales_) {
  for (const StageTransform::Pair& pair : transform_.pairs) {
    pairs_.push_back({{pair.k, std::conj(pair.mu)},
                      ShiftedSolver<Complex>(nv_ + ng_, &pattern_),
                      StateCouplingOf<Complex>(equations)});
    pairs_.back().solver.set_pivoting(corrector_.saddle().scale(), corrector_.saddle().pivot_tolerance());
  }
  for (Mat* m : {&Z_, &U_, &V_, &Vdot_, &dZ_, &dV_, &last_Vdot_, &last_Z_, &last_V_, &first_}) m->setZero(nv_, s_);
  for (Mat* m : {&Lambda_, &last_Lambda_, &G_rows_, &Gdot_rows_, &Eta_, &once_, &twice_}) m->setZero(ng_, s_);
  for (Mat* m : {&X_stages_, &Xdot_, &dX_, &last_X_}) m->setZero(nx_, s_);
  for (Mat* m : {&R_, &hat_}) m->setZero(nv_ + ng_, s_);
  x_scales_.setOnes(nx_);
  r_x_.setZero(nx_);
  complex_states_.setZero(nx_);
  for (Vec* v : {&r_z_, &r_v_, &work_vec_}) v->setZero(nv_);
  g_.setZero(ng_);
  for (CVec* v : {&complex_right_, &complex_solution_}) v->setZero(nv_ + ng_);
  complex_values_.setZero(pattern_.size());
  right_.setZero(nv_ + ng_);
  weights_.setZero(s_);
}

void ConstrainedRungeKutta::restart(std::string_view /*why*/) {
  history_ = false;
  newton_.linearise_next();
}

// ---- a step ---------------------------------------------------------------------------------------------------------

Attempt ConstrainedRungeKutta::attempt(double h) {
  Attempt result;
  trial_h_ = h;
  v_scales_ = rate_ * scales_ + now_.v.cwiseAbs();
  if (nx_ > 0) x_scales_ = equations_.states_of(now_).cwiseAbs().array() + 1;
  other_way_ = false;
  if (!newton_.solve(*this, h, 4 * equations_.round_off(now_.q, scales_), result)) return result;
  result.error = estimate(result);
  // Below what Newton can know smaller steps do not help.
  if (newton_.monitor().in_noise() && result.error * options_.tolerance < 4 * newton_.monitor().last())
    result.error = std::min(result.error, 1.0);
  trial_.t = now_.t + h;
  work_vec_ = Z_.col(s_ - 1);
  equations_.retract(now_.q, work_vec_, trial_.q);
  trial_.v = V_.col(s_ - 1);
  trial_rates_.a = Vdot_.col(s_ - 1);
  trial_rates_.lambda = Lambda_.col(s_ - 1);
  if (nx_ > 0) {
    trial_.u.tail(nx_) = X_stages_.col(s_ - 1);
    trial_rates_.xdot = Xdot_.col(s_ - 1);
  }
  if (!std::isfinite(result.error)) result.verdict = Verdict::not_finite;
  if (turns_in_doubt(h)) result.verdict = Verdict::angle_too_large;
  if (!options_.fixed_step && result.verdict == Verdict::ok) suggest(result);
  return result;
}

// Accelerations and multipliers of the last step continued, or those of its end.
void ConstrainedRungeKutta::predict() {
  const double h = trial_h_;
  for (int i = 0; i < s_; ++i) {
    if (history_) {
      transform_.lagrange(1 + h / last_step_ * table_.c[i], false, weights_);
      Vdot_.col(i).noalias() = last_Vdot_ * weights_;
      Lambda_.col(i).noalias() = last_Lambda_ * weights_;
    } else {
      Vdot_.col(i) = rates_.a;
      Lambda_.col(i) = rates_.lambda;
    }
  }
  V_.noalias() = h * Vdot_.lazyProduct(table_.A.transpose());
  V_.colwise() += now_.v;
  Z_.noalias() = h * V_.lazyProduct(table_.A.transpose());
  for (int i = 0; i < s_ && nx_ > 0; ++i)
    X_stages_.col(i) = equations_.states_of(now_) + (h * table_.c[i]) * rates_.xdot;
  Eta_.setZero();
  place();
  if (options_.stabilised) {
    V_ = U_;
    place();
  }
  first_ = Z_;
}

void ConstrainedRungeKutta::place() {
  const double h = trial_h_;
  const Mat& inverse = transform_.inverse;
  U_.noalias() = (1 / h) * Z_.lazyProduct(inverse.transpose());
  for (const int j : equations_.rotation_columns()) {
    for (int i = 0; i < s_; ++i)
      U_.col(i).segment<3>(j) = (rotation_tangent(Z_.col(i).segment<3>(j)) * U_.col(i).segment<3>(j)).eval();
  }
  if (!options_.stabilised) V_ = U_;
  dV_ = V_.colwise() - now_.v;
  Vdot_.noalias() = (1 / h) * dV_.lazyProduct(inverse.transpose());
  if (nx_ == 0) return;
  dX_ = X_stages_.colwise() - equations_.states_of(now_);
  Xdot_.noalias() = (1 / h) * dX_.lazyProduct(inverse.transpose());
}

// ---- the matrices ---------------------------------------------------------------------------------------------------

Verdict ConstrainedRungeKutta::prepare_matrix(bool anew) {
  factored_h_ = 0;
  if (anew) {
    const Verdict verdict = corrector_.linearise(now_, rates_, work_);
    if (verdict != Verdict::ok) return verdict;
  }
  Verdict verdict = factor_pairs(trial_h_);
  if (verdict != Verdict::ok) return verdict;
  const double w = trial_h_ / transform_.mu_0, rate = options_.stabilised && projecting_ ? 0 : 1;
  verdict = corrector_.factor({1, w, w * w, w, rate * w, 1 / w, 1 / (w * w)}, nullptr);
  if (verdict != Verdict::ok) return verdict;
  if (!couple_states(trial_h_)) return Verdict::singular_matrix;
  factored_h_ = trial_h_;
  return Verdict::ok;
}

// Contacts of sets that are near have changed the pattern of the saddle matrix.
void ConstrainedRungeKutta::follow_pattern() {
  const SaddleSystem& saddle = corrector_.saddle();
  if (saddle.pattern().start() == pattern_.start() && saddle.pattern().row() == pattern_.row()) return;
  pattern_ = saddle.pattern();
  for (Pair& pair : pairs_) {
    pair.solver = ShiftedSolver<Complex>(nv_ + ng_, &pattern_);
    pair.solver.set_pivoting(saddle.scale(), saddle.pivot_tolerance());
  }
  complex_values_.setZero(pattern_.size());
}

Verdict ConstrainedRungeKutta::factor_pairs(double h) {
  if (pairs_.empty()) return Verdict::ok;
  SaddleSystem& saddle = corrector_.saddle();
  const Partials& partials = corrector_.partials();
  const Blend::Rows rows = options_.stabilised ? Blend::Rows::velocity : Blend::Rows::own;
  // G of a redundant mechanism has a rank that its rate (G v)_q has not: their sum would hold a freedom, the more
  // firmly the larger the step. Without the rate, corrections of velocities contract like h (G v)_q.
  const double rate = options_.stabilised && projecting_ ? 0 : 1;
  // What does not depend on c, to be taken away from imaginary parts.
  saddle.combine(partials, {0, 0, 0, 0, 0, rows}, nullptr);
  follow_pattern();
  constant_values_ = saddle.values();
  for (Pair& pair : pairs_) {
    const Complex w = h / pair.mu, w2 = w * w;
    saddle.combine(partials, {0, w2.imag(), w2.imag(), w.imag(), rate * w.imag(), rows}, nullptr);
    real_values_ = saddle.values() - constant_values_;
    complex_values_.imag() = real_values_;
    saddle.combine(partials, {1, w2.real(), w2.real(), w.real(), rate * w.real(), rows}, nullptr);
    complex_values_.real() = saddle.values();
    if (!count_factors(pair.solver, counts_, [&] { return pair.solver.factor_values(complex_values_); }))
      return complex_values_.allFinite() ? Verdict::singular_matrix : Verdict::not_finite;
  }
  return Verdict::ok;
}

// dx' = c dx = f_q dq + f_v dv + f_x dx in each of the systems, divided by c.
bool ConstrainedRungeKutta::couple_states(double h) {
  if (nx_ == 0) return true;
  const StatePartials& partials = corrector_.state_partials();
  for (Pair& pair : pairs_) {
    const Complex w = h / pair.mu;
    pair.states.B = partials.force_x;
    pair.states.C.leftCols(nv_) = (-w * w * w) * partials.rate_q - (w * w) * partials.rate_v;
    if (equations_.sees_rates()) {
      pair.states.C.leftCols(nv_) -= w * partials.rate_a;
      pair.states.C.rightCols(ng_) = -w * partials.rate_lambda;
    }
    pair.states.D = -w * partials.rate_x;
    pair.states.D.diagonal().array() += 1;
    if (!pair.states.prepare_by([&](const CVec& r, CVec& z) { pair.solver.solve(r, z); })) return false;
  }
  return true;
}

// ---- corrections ----------------------------------------------------------------------------------------------------

bool ConstrainedRungeKutta::evaluate_stage(int i) {
  trial_.t = now_.t + table_.c[i] * trial_h_;
  work_vec_ = Z_.col(i);
  equations_.retract(now_.q, work_vec_, trial_.q);
  trial_.v = V_.col(i);
  trial_rates_.a = Vdot_.col(i);
  trial_rates_.lambda = Lambda_.col(i);
  if (nx_ > 0) trial_.u.tail(nx_) = X_stages_.col(i);
  if (!trial_.v.allFinite() || !corrector_.evaluate(trial_, trial_rates_, work_)) return false;
  if (nx_ > 0) dX_.col(i) = trial_rates_.xdot - Xdot_.col(i);  // what the stage lacks
  const Residual& residual = corrector_.residual();
  R_.col(i).head(nv_) = -(residual.inertia + residual.force);
  G_rows_.col(i) = residual.g;
  if (options_.stabilised) Gdot_rows_.col(i) = corrector_.velocity_residual();
  return true;
}

NewtonStage::Correction ConstrainedRungeKutta::correct() {
  for (int i = 0; i < s_; ++i)
    if (!evaluate_stage(i)) return {.size = HUGE_VAL};
  set_right_sides();
  solve_systems();
  apply_correction();
  const double size = size_of(dZ_, dV_, dX_);
  if (!std::isfinite(size)) return {.size = size};
  U_ = Z_ - first_;
  const double reference =
      options_.fixed_step ? std::min(size_of(U_, dV_, dX_), options_.tolerance) : options_.tolerance;
  place();
  return {size, reference, ng_ > 0 && greatest_g() < 1e-14 * equations_.reach(now_.q)};
}

// R_ holds -(M v' + G^T lambda - Q) above and, below, what the rows lack: (h A)^-2 g or (h A)^-1 (G v + g_t), k.
void ConstrainedRungeKutta::set_right_sides() {
  const double h = trial_h_;
  const Mat& inverse = transform_.inverse;
  // The rows that depend on others do so by another combination at each stage. By that of the matrix, which is of the
  // step's start, right sides of the stages seem to contradict one another: -E would turn that into huge multipliers.
  const bool project = projecting_ || corrector_.misfits();
  SaddleSystem& saddle = corrector_.saddle();
  const Mat& rows = options_.stabilised ? Gdot_rows_ : G_rows_;
  once_.noalias() = (1 / h) * rows.lazyProduct(inverse.transpose());
  R_.bottomRows(ng_) = -once_;
  if (!options_.stabilised) {
    twice_.noalias() = (1 / h) * once_.lazyProduct(inverse.transpose());
    R_.bottomRows(ng_) = -twice_;
    for (const int row : equations_.velocity_rows()) R_.row(nv_ + row) = -once_.row(row);
  }
  for (int i = 0; i < s_; ++i) {
    if (project) {
      right_ = R_.col(i);
      saddle.project_right_side(right_.tail(ng_));
      R_.col(i) = right_;
    }
    // Multipliers as a whole, without memory of their null part; later corrections take away what -E then leaves of g'.
    if (newton_.monitor().iterations() == 0) R_.col(i).tail(ng_) += saddle.E().cwiseProduct(Lambda_.col(i));
  }
}

// R_ and what the states lack, dX_, become the increments of V' and Lambda, and of X.
void ConstrainedRungeKutta::solve_systems() {
  const double h = trial_h_;
  hat_.noalias() = R_.lazyProduct(transform_.X_inverse.transpose());
  if (nx_ > 0) Xdot_.noalias() = dX_.lazyProduct(transform_.X_inverse.transpose());
  for (const StageTransform::RealValue& real : transform_.real) {
    right_ = hat_.col(real.k);
    if (nx_ > 0) r_x_ = (h / real.mu) * Xdot_.col(real.k);
    corrector_.solve(right_, r_x_);
    if (nx_ > 0) Xdot_.col(real.k) = r_x_;
    hat_.col(real.k) = right_;
  }
  for (Pair& pair : pairs_) {
    complex_right_.real() = hat_.col(pair.k);
    complex_right_.imag() = hat_.col(pair.k + 1);
    pair.solver.solve(complex_right_, complex_solution_);
    ++counts_.solves;
    if (nx_ > 0) {
      complex_states_.real() = Xdot_.col(pair.k);
      complex_states_.imag() = Xdot_.col(pair.k + 1);
      complex_states_ *= h / pair.mu;
      pair.states.solve(complex_solution_, complex_states_);
      Xdot_.col(pair.k) = complex_states_.real();
      Xdot_.col(pair.k + 1) = complex_states_.imag();
    }
    hat_.col(pair.k) = complex_solution_.real();
    hat_.col(pair.k + 1) = complex_solution_.imag();
  }
  ++counts_.newton_iterations;
  R_.noalias() = hat_.lazyProduct(transform_.X.transpose());
  if (nx_ > 0) dX_.noalias() = Xdot_.lazyProduct(transform_.X.transpose());
}

void ConstrainedRungeKutta::apply_correction() {
  const double h = trial_h_;
  Lambda_ += R_.bottomRows(ng_);
  if (nx_ > 0) X_stages_ += dX_;
  dV_.noalias() = h * R_.topRows(nv_).lazyProduct(table_.A.transpose());
  U_ -= V_;  // the slack, zero at index 3
  V_ += dV_;
  dZ_ = dV_;
  if (options_.stabilised) {
    const bool project = projecting_ || corrector_.misfits();
    PositionSlack& slack = corrector_.slack();
    once_.noalias() = (1 / h) * G_rows_.lazyProduct(transform_.inverse.transpose());
    for (int i = 0; i < s_; ++i) {
      slack.eta() = Eta_.col(i);
      r_z_ = U_.col(i);
      g_ = once_.col(i);
      dZ_.col(i) += slack.solve(r_z_, dV_.col(i), 1, g_, -1, project);
      Eta_.col(i) = slack.eta();
      ++counts_.solves;
    }
  }
  U_ = h * dZ_;
  dZ_.noalias() = U_.lazyProduct(table_.A.transpose());
  Z_ += dZ_;
}

double ConstrainedRungeKutta::size_of(const Mat& z, const Mat& v, const Mat& x) const {
  double sum = 0;
  for (int i = 0; i < s_; ++i) {
    for (int j = 0; j < nx_; ++j) sum += std::pow(x(j, i) / x_scales_[j], 2);
    for (int j = 0; j < nv_; ++j) {
      sum += std::pow(z(j, i) / scales_[j], 2);
      if (options_.stabilised) sum += std::pow(v(j, i) / v_scales_[j], 2);
    }
  }
  const double entries = s_ * ((options_.stabilised ? 2.0 : 1.0) * nv_ + nx_);
  return entries == 0 ? 0 : std::sqrt(sum / entries);
}

double ConstrainedRungeKutta::greatest_g() {
  double most = 0;
  for (int i = 0; i < s_; ++i) {
    g_ = G_rows_.col(i);
    most = std::max(most, equations_.size_of_rows(g_));
  }
  return most;
}

// Near singular positions a projected right side leaves open what the matrix of the step's start takes for redundant.
bool ConstrainedRungeKutta::holds() {
  return !(projecting_ && greatest_g() > options_.tolerance * equations_.length() + options_.misfit);
}

bool ConstrainedRungeKutta::retries(int pass, bool anew) {
  if (pass == 0 && (!anew || history_)) {
    history_ = history_ && !anew;  // the continued values may be to blame too
    return true;
  }
  // Projected right sides serve where redundant rows change; not near singular positions, where more of them are lost
  // than depend on others elsewhere. Which of the two is the case Newton tells.
  if (!options_.redundant) return false;
  projecting_ = !projecting_;
  other_way_ = !other_way_;
  return other_way_;
}

void ConstrainedRungeKutta::blame(Attempt& result) {
  failed_h_ = trial_h_;
  if (!R_.allFinite()) result.verdict = Verdict::not_finite;
  if (ng_ > 0) corrector_.residual().g.cwiseAbs().maxCoeff(&result.worst_row);
}

// ---- error and step -------------------------------------------------------------------------------------------------

double ConstrainedRungeKutta::estimate(Attempt& result) {
  const double c = transform_.mu_0 / trial_h_;
  const Vec& weights = transform_.error_weights;
  const Partials& partials = corrector_.partials();
  // r_z, r_v of e = (c - J)^-1 r
  r_z_ = now_.v;
  r_z_.noalias() += c * Z_.lazyProduct(weights);
  r_v_ = rates_.a - (c * weights.sum()) * now_.v;
  r_v_.noalias() += c * V_.lazyProduct(weights);
  equations_.multiply_mass(now_.q, r_v_, work_vec_);
  right_.setZero();
  right_.head(nv_) = work_vec_;
  if (equations_.sees_rates()) partials.vv->multiply_add(partials.force_a, 1, r_v_.data(), right_.data());
  partials.vv->multiply_add(partials.force_q, -1 / c, r_z_.data(), right_.data());
  partials.vv->multiply_add(partials.Ma_q, -1 / c, r_z_.data(), right_.data());
  g_.setZero();
  equations_.gv().multiply_add(partials.G, -c, r_z_.data(), g_.data());
  for (const int row : equations_.velocity_rows()) g_[row] = 0;
  if (!options_.stabilised) right_.tail(ng_) = g_;
  if (nx_ > 0) {
    r_x_ = rates_.xdot / c - weights.sum() * equations_.states_of(now_);
    r_x_.noalias() += X_stages_.lazyProduct(weights);
    r_x_.noalias() += (1 / (c * c)) * corrector_.state_partials().rate_q * r_z_;
  }
  corrector_.solve(right_, r_x_);
  r_v_ = right_.head(nv_) / c;
  r_z_ = (r_z_ + r_v_) / c;
  double sum = 0, worst = 0;
  for (int i = 0; i < nv_; ++i) {
    const double z = r_z_[i] / scales_[i], v = options_.stabilised ? r_v_[i] / v_scales_[i] : 0, share = z * z + v * v;
    sum += share;
    if (share > worst) {
      worst = share;
      result.worst_velocity = i;
    }
  }
  for (int i = 0; i < nx_; ++i) sum += std::pow(r_x_[i] / x_scales_[i], 2);
  const double entries = (options_.stabilised ? 2.0 : 1.0) * nv_ + nx_;
  return entries == 0 ? 0 : std::sqrt(sum / entries) / options_.tolerance;
}

void ConstrainedRungeKutta::suggest(Attempt& result) {
  const double h = trial_h_, most = options_.newton.most_iterations;
  const double safety = 0.9 * (2 * most + 1) / (2 * most + newton_.monitor().iterations());
  const double factor = std::clamp(safety * std::pow(std::max(result.error, 1e-10), -1.0 / error_order()), 0.2, 4.0);
  result.suggested_h = factor >= 1 && factor <= 1.2 ? h : h * factor;
  // Where Newton failed before, a little less will do; the place is forgotten slowly.
  if (failed_h_ > 0) result.suggested_h = std::min(result.suggested_h, std::max(0.7 * failed_h_, h));
}

// ---- between steps --------------------------------------------------------------------------------------------------

void ConstrainedRungeKutta::arrived() {
  last_Vdot_ = Vdot_;
  last_Lambda_ = Lambda_;
  last_Z_ = Z_;
  last_V_ = V_;
  last_X_ = X_stages_;
  history_ = true;
  failed_h_ *= 1.05;
}

// The polynomials through the start and the stages.
void ConstrainedRungeKutta::interpolate_inside(double /*t*/, double s, State& out) const {
  Vec w(s_);
  transform_.lagrange(s, false, w);
  double start = 1;
  for (int i = 0; i < s_; ++i) {
    w[i] *= s / table_.c[i];
    start *= 1 - s / table_.c[i];
  }
  const Vec z = last_Z_ * w;
  out.v = start * previous_v_ + last_V_ * w;
  if (nx_ > 0) out.u.tail(nx_) = start * previous_x_ + last_X_ * w;
  equations_.retract(previous_q_, z, out.q);
}

void ConstrainedRungeKutta::visit_method(Archive& archive) {
  archive(last_Vdot_, last_Lambda_, last_Z_, last_V_, last_X_, newton_, corrector_, factored_h_, failed_h_, history_,
          projecting_);
  if (archive.reading()) follow_pattern();
  for (Pair& pair : pairs_) archive(pair.solver);
  if (archive.reading() && factored_h_ > 0) couple_states(factored_h_);
}

long ConstrainedRungeKutta::memory_bytes() const {
  return corrector_.memory_bytes() + corrector_.saddle().memory_bytes() * 2 * static_cast<long>(pairs_.size()) +
         8L * s_ * (9 * nv_ + 4 * ng_ + 2 * (nv_ + ng_));
}

namespace methods {

void add_constrained_runge_kutta(MethodInfo& m, const ImplicitTableau& tableau) {
  m.formulations.insert(m.formulations.end(), {formulation::index_3, formulation::stabilised_index_2});
  m.make = [tableau](const Equations& e, const MethodSettings& s) -> std::unique_ptr<Integrator> {
    if (s.options.number("corrections") > 0 || s.options.get<bool>("secant"))
      throw Failure({Severity::error,
                     "method-refuses",
                     "with constraints beside the equations Newton's method corrects the stages until they converge: "
                     "options `corrections` and `secant` belong to the forms that are differential equations",
                     "take --formulation state-space, penalty or joint-coordinates, or hht-i3 with `iterations`",
                     {}});
    ConstrainedRungeKuttaOptions options;
    options.stabilised = s.formulation == formulation::stabilised_index_2;
    options.fixed_step = s.fixed_step;
    options.tolerance = s.tolerance;
    options.misfit = s.misfit;
    options.redundant = s.freedoms >= 0 && e.sizes().multipliers() > e.sizes().nv - s.freedoms;
    const double corrector = s.options.number("corrector");
    // What Newton leaves in the velocities, of the size tol c / h, goes on with the motion: over 5 s of the spatial
    // slider-crank at 1e-10 and c = 1e-2 it made 1.5e-6 rad where the method itself makes 1e-10.
    options.newton.c = corrector > 0 ? corrector : s.fixed_step ? 1e-6 : std::min(1e-2, std::sqrt(s.tolerance));
    options.newton.most_iterations =
        std::max(s.fixed_step ? 40 : 2, static_cast<int>(s.options.number("most_iterations")));
    options.newton.keep_rate = s.options.number("keep_rate");
    // Where a step reaches over a singular position the matrix of its start has the wrong sign behind it, in the
    // direction that is lost: corrections contract slowly, and smaller steps would end in that position.
    options.newton.slow_will_do = !s.fixed_step;
    return std::make_unique<ConstrainedRungeKutta>(e, tableau, options);
  };
}

}  // namespace methods
}  // namespace trammel
