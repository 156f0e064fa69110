#include "trammel/integrate/runge_kutta/constrained_runge_kutta.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/integrate/count_factors.h"
#include "trammel/integrate/methods.h"
#include "trammel/math/rotation.h"

namespace trammel {

ConstrainedRungeKutta::ConstrainedRungeKutta(const Equations& equations, const ImplicitTableau& tableau,
                                             const ConstrainedRungeKuttaOptions& options)
    : equations_(equations),
      options_(options),
      table_(tableau),
      s_(tableau.stages()),
      nv_(equations.sizes().nv),
      ng_(equations.sizes().multipliers()),
      nx_(equations.sizes().nx),
      A_(tableau.A),
      inverse_(tableau.A.inverse()),
      scales_(equations.scales()),
      v_scales_(scales_),
      monitor_(options.newton),
      saddle_(equations),
      slack_(options.stabilised ? std::make_unique<PositionSlack>(equations) : nullptr),
      partials_(equations.make_partials(options.stabilised ? Detail::all : Detail::newton)),
      residual_(equations.make_residual()),
      work_(equations.make_workspace()),
      states_(equations) {
  const Eigen::EigenSolver<Mat> eigen(inverse_);
  X_.resize(s_, s_);
  int k = 0;
  for (int i = 0; i < s_; ++i) {
    const Complex value = eigen.eigenvalues()[i];
    if (std::abs(value.imag()) < 1e-10) {
      X_.col(k) = eigen.eigenvectors().col(i).real();
      real_ = k++;
      mu_ = value.real();
    } else if (value.imag() > 0) {
      X_.col(k) = eigen.eigenvectors().col(i).real();
      X_.col(k + 1) = eigen.eigenvectors().col(i).imag();
      pairs_.push_back({k, std::conj(value), ShiftedSolver<Complex>(nv_ + ng_, &saddle_.pattern()),
                        StateCouplingOf<Complex>(equations)});
      pairs_.back().solver.set_pivoting(saddle_.scale(), saddle_.pivot_tolerance());
      k += 2;
    }
  }
  X_inverse_ = X_.inverse();
  if (real_ < 0) mu_ = std::abs(pairs_.front().mu);
  // b^ of order s with 1/mu on f at the start, as in implicit_runge_kutta.cc
  Mat W(s_, s_);
  Vec moments(s_);
  for (int q = 0; q < s_; ++q) {
    moments[q] = 1.0 / (q + 1) - (q == 0 ? 1 / mu_ : 0);
    for (int i = 0; i < s_; ++i) W(q, i) = q == 0 ? 1 : std::pow(table_.c[i], q);
  }
  error_weights_ = ((Vec(W.fullPivLu().solve(moments)) - table_.b).transpose() * inverse_).transpose();
  for (Mat* m : {&Z_, &U_, &V_, &Vdot_, &dZ_, &dV_, &last_Vdot_, &last_Z_, &last_V_, &first_}) m->setZero(nv_, s_);
  for (Mat* m : {&Lambda_, &last_Lambda_, &G_rows_, &Gdot_rows_, &Eta_, &once_, &twice_}) m->setZero(ng_, s_);
  for (Mat* m : {&X_stages_, &Xdot_, &dX_, &last_X_}) m->setZero(nx_, s_);
  x_scales_.setOnes(nx_);
  r_x_.setZero(nx_);
  complex_states_.setZero(nx_);
  for (Vec* v : {&r_z_, &r_v_}) v->setZero(nv_);
  g_.setZero(ng_);
  for (Mat* m : {&R_, &hat_}) m->setZero(nv_ + ng_, s_);
  complex_right_.setZero(nv_ + ng_);
  complex_solution_.setZero(nv_ + ng_);
  complex_values_.setZero(saddle_.pattern().size());
  right_.setZero(nv_ + ng_);
  work_vec_.setZero(nv_);
  weights_.setZero(s_);
  T_.resize(equations.rotation_columns().size(), Mat3::Identity());
}

void ConstrainedRungeKutta::start(const State& state, const Rates& rates) {
  now_ = trial_ = state;
  rates_ = trial_rates_ = rates;
  previous_q_ = now_.q;
  previous_v_ = now_.v;
  previous_x_ = equations_.states_of(now_);
  rate_ = equations_.rate(now_, rates_);
  equations_.state_rates(now_, rates_.xdot, work_);
  trial_rates_.xdot = rates_.xdot;
  equations_.set_scales(now_.q, options_.tolerance, scales_);
  restart("start");
}

void ConstrainedRungeKutta::restart(std::string_view /*why*/) {
  history_ = false;
  linearise_next_ = true;
}

void ConstrainedRungeKutta::lagrange(double theta, Vec& weights) const {
  for (int i = 0; i < s_; ++i) {
    double w = 1;
    for (int j = 0; j < s_; ++j) {
      if (j != i) w *= (theta - table_.c[j]) / (table_.c[i] - table_.c[j]);
    }
    weights[i] = w;
  }
}

// Accelerations and multipliers of the last step continued, or those of its end.
void ConstrainedRungeKutta::predict(double h) {
  for (int i = 0; i < s_; ++i) {
    if (history_) {
      lagrange(1 + h / last_step_ * table_.c[i], weights_);
      Vdot_.col(i).noalias() = last_Vdot_ * weights_;
      Lambda_.col(i).noalias() = last_Lambda_ * weights_;
    } else {
      Vdot_.col(i) = rates_.a;
      Lambda_.col(i) = rates_.lambda;
    }
  }
  V_.noalias() = h * Vdot_.lazyProduct(A_.transpose());
  V_.colwise() += now_.v;
  Z_.noalias() = h * V_.lazyProduct(A_.transpose());
  for (int i = 0; i < s_ && nx_ > 0; ++i)
    X_stages_.col(i) = equations_.states_of(now_) + (h * table_.c[i]) * rates_.xdot;
  Eta_.setZero();
}

void ConstrainedRungeKutta::place(double h) {
  U_.noalias() = (1 / h) * Z_.lazyProduct(inverse_.transpose());
  for (const int j : equations_.rotation_columns()) {
    for (int i = 0; i < s_; ++i)
      U_.col(i).segment<3>(j) = (rotation_tangent(Z_.col(i).segment<3>(j)) * U_.col(i).segment<3>(j)).eval();
  }
  if (!slack_) V_ = U_;
  dV_ = V_.colwise() - now_.v;
  Vdot_.noalias() = (1 / h) * dV_.lazyProduct(inverse_.transpose());
  if (nx_ == 0) return;
  dX_ = X_stages_.colwise() - equations_.states_of(now_);
  Xdot_.noalias() = (1 / h) * dX_.lazyProduct(inverse_.transpose());
}

bool ConstrainedRungeKutta::set_stage(int i, double h) {
  trial_.t = now_.t + table_.c[i] * h;
  work_vec_ = Z_.col(i);
  equations_.retract(now_.q, work_vec_, trial_.q);
  trial_.v = V_.col(i);
  trial_rates_.a = Vdot_.col(i);
  trial_rates_.lambda = Lambda_.col(i);
  if (nx_ > 0) trial_.u.tail(nx_) = X_stages_.col(i);
  ++counts_.evaluations;
  if (!trial_.v.allFinite() || equations_.residual(trial_, trial_rates_, everything, residual_, work_) != Eval::ok)
    return false;
  if (nx_ == 0) return true;
  if (equations_.state_rates(trial_, trial_rates_.xdot, work_) != Eval::ok) return false;
  dX_.col(i) = trial_rates_.xdot - Xdot_.col(i);  // what the stage lacks
  return true;
}

Verdict ConstrainedRungeKutta::prepare_matrices(double h, bool anew) {
  if (anew) {
    const Detail detail = slack_ ? Detail::all : Detail::newton;
    if (equations_.linearise(now_, rates_, detail, partials_, work_) != Eval::ok) return Verdict::evaluation_rejected;
    if (nx_ > 0) equations_.linearise_states(now_, state_partials_, work_);
    ++counts_.linearisations;
    linearise_next_ = false;
  }
  const Blend::Rows rows = slack_ ? Blend::Rows::velocity : Blend::Rows::own;
  // G of a redundant mechanism has a rank that its rate (G v)_q has not: their sum would hold a freedom, the more
  // firmly the larger the step. Without the rate, corrections of velocities contract like h (G v)_q.
  const double rate = slack_ && projecting_ ? 0 : 1;
  factored_h_ = 0;
  monitor_.forget_rate();
  // What does not depend on c, to be taken away from imaginary parts.
  saddle_.combine(partials_, {0, 0, 0, 0, 0, rows}, nullptr);
  identity_values_ = saddle_.values();
  for (Pair& pair : pairs_) {
    const Complex w = h / pair.mu, w2 = w * w;
    saddle_.combine(partials_, {0, w2.imag(), w2.imag(), w.imag(), rate * w.imag(), rows}, nullptr);
    real_values_ = saddle_.values() - identity_values_;
    complex_values_.imag() = real_values_;
    saddle_.combine(partials_, {1, w2.real(), w2.real(), w.real(), rate * w.real(), rows}, nullptr);
    complex_values_.real() = saddle_.values();
    if (!count_factors(pair.solver, counts_, [&] { return pair.solver.factor_values(complex_values_); }))
      return complex_values_.allFinite() ? Verdict::singular_matrix : Verdict::not_finite;
  }
  const double w = h / mu_;
  saddle_.combine(partials_, {1, w * w, w * w, w, rate * w, rows}, nullptr);
  ++counts_.combinations;
  bool good = count_factors(saddle_, counts_);
  if (good && slack_) good = slack_->factor(partials_, T_, counts_);
  if (good) good = couple_states(h);
  if (!good) return std::isfinite(saddle_.values().sum()) ? Verdict::singular_matrix : Verdict::not_finite;
  factored_h_ = h;
  return Verdict::ok;
}

// dx' = c dx = f_q dq + f_v dv + f_x dx in each of the systems, divided by c.
bool ConstrainedRungeKutta::couple_states(double h) {
  if (nx_ == 0) return true;
  const auto fill = [&](auto c, auto& to) {
    const auto w = 1.0 / c;
    to.B = state_partials_.force_x;
    to.C = (-w * w * w) * state_partials_.rate_q - (w * w) * state_partials_.rate_v;
    to.D = -w * state_partials_.rate_x;
    to.D.diagonal().array() += 1;
  };
  for (Pair& pair : pairs_) {
    fill(pair.mu / h, pair.states);
    if (!pair.states.prepare_by([&](const CVec& r, CVec& z) { pair.solver.solve(r, z); })) return false;
  }
  fill(mu_ / h, states_);
  return states_.prepare(saddle_);
}

double ConstrainedRungeKutta::size_of(const Mat& z, const Mat& v, const Mat& x) const {
  double sum = 0;
  for (int i = 0; i < s_; ++i) {
    for (int j = 0; j < nx_; ++j) sum += std::pow(x(j, i) / x_scales_[j], 2);
    for (int j = 0; j < nv_; ++j) {
      sum += std::pow(z(j, i) / scales_[j], 2);
      if (slack_) sum += std::pow(v(j, i) / v_scales_[j], 2);
    }
  }
  const double entries = s_ * ((slack_ ? 2.0 : 1.0) * nv_ + nx_);
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

// R_ holds -(M v' + G^T lambda - Q) above and, below, what the rows lack: (h A)^-2 g or (h A)^-1 (G v + g_t), k.
double ConstrainedRungeKutta::correct(double h) {
  // The rows that depend on others do so by another combination at each stage. By that of the matrix, which is of the
  // step's start, right sides of the stages seem to contradict one another: -E would turn that into huge multipliers.
  const bool misfits = projecting_ || options_.misfit > 1e-10 * equations_.length();
  Mat& rows = slack_ ? Gdot_rows_ : G_rows_;
  once_.noalias() = (1 / h) * rows.lazyProduct(inverse_.transpose());
  R_.bottomRows(ng_) = -once_;
  if (!slack_) {
    twice_.noalias() = (1 / h) * once_.lazyProduct(inverse_.transpose());
    R_.bottomRows(ng_) = -twice_;
    for (const int row : equations_.velocity_rows()) R_.row(nv_ + row) = -once_.row(row);
  }
  for (int i = 0; i < s_; ++i) {
    if (misfits) {
      right_ = R_.col(i);
      saddle_.project_right_side(right_.tail(ng_));
      R_.col(i) = right_;
    }
    // Multipliers as a whole, without memory of their null part; later corrections take away what -E then leaves of g'.
    if (monitor_.iterations() == 0) R_.col(i).tail(ng_) += saddle_.E().cwiseProduct(Lambda_.col(i));
  }
  hat_.noalias() = R_.lazyProduct(X_inverse_.transpose());
  if (nx_ > 0) Xdot_.noalias() = dX_.lazyProduct(X_inverse_.transpose());
  if (real_ >= 0) {
    right_ = hat_.col(real_);
    saddle_.solve(right_);
    if (nx_ > 0) {
      r_x_ = (h / mu_) * Xdot_.col(real_);
      states_.solve(right_, r_x_);
      Xdot_.col(real_) = r_x_;
    }
    hat_.col(real_) = right_;
  }
  for (Pair& pair : pairs_) {
    complex_right_.real() = hat_.col(pair.k);
    complex_right_.imag() = hat_.col(pair.k + 1);
    pair.solver.solve(complex_right_, complex_solution_);
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
  counts_.solves += 1 + static_cast<long>(pairs_.size());
  ++counts_.newton_iterations;
  R_.noalias() = hat_.lazyProduct(X_.transpose());
  Lambda_ += R_.bottomRows(ng_);
  if (nx_ > 0) {
    dX_.noalias() = Xdot_.lazyProduct(X_.transpose());
    X_stages_ += dX_;
  }
  dV_.noalias() = h * R_.topRows(nv_).lazyProduct(A_.transpose());
  U_ -= V_;  // the slack, zero at index 3
  V_ += dV_;
  dZ_ = dV_;
  if (slack_) {
    once_.noalias() = (1 / h) * G_rows_.lazyProduct(inverse_.transpose());
    for (int i = 0; i < s_; ++i) {
      slack_->eta() = Eta_.col(i);
      r_z_ = U_.col(i);
      g_ = once_.col(i);
      dZ_.col(i) += slack_->solve(r_z_, dV_.col(i), 1, g_, -1, misfits);
      Eta_.col(i) = slack_->eta();
      ++counts_.solves;
    }
  }
  U_ = h * dZ_;
  dZ_.noalias() = U_.lazyProduct(A_.transpose());
  Z_ += dZ_;
  return size_of(dZ_, dV_, dX_);
}

double ConstrainedRungeKutta::estimate(double h, Attempt& result) {
  const double c = mu_ / h;
  // r_z, r_v of e = (c - J)^-1 r
  r_z_ = now_.v;
  r_z_.noalias() += c * Z_.lazyProduct(error_weights_);
  r_v_ = rates_.a - (c * error_weights_.sum()) * now_.v;
  r_v_.noalias() += c * V_.lazyProduct(error_weights_);
  equations_.multiply_mass(now_.q, r_v_, work_vec_);
  right_.setZero();
  right_.head(nv_) = work_vec_;
  equations_.vv().multiply_add(partials_.force_q, -1 / c, r_z_.data(), right_.data());
  equations_.vv().multiply_add(partials_.Ma_q, -1 / c, r_z_.data(), right_.data());
  g_.setZero();
  equations_.gv().multiply_add(partials_.G, -c, r_z_.data(), g_.data());
  for (const int row : equations_.velocity_rows()) g_[row] = 0;
  if (!slack_) right_.tail(ng_) = g_;
  saddle_.solve(right_);
  ++counts_.solves;
  if (nx_ > 0) {
    r_x_ = rates_.xdot / c - error_weights_.sum() * equations_.states_of(now_);
    r_x_.noalias() += X_stages_.lazyProduct(error_weights_);
    r_x_.noalias() += (1 / (c * c)) * state_partials_.rate_q * r_z_;
    states_.solve(right_, r_x_);
  }
  r_v_ = right_.head(nv_) / c;
  r_z_ = (r_z_ + r_v_) / c;
  double sum = 0, worst = 0;
  for (int i = 0; i < nv_; ++i) {
    const double z = r_z_[i] / scales_[i], v = slack_ ? r_v_[i] / v_scales_[i] : 0, share = z * z + v * v;
    sum += share;
    if (share > worst) {
      worst = share;
      result.worst_velocity = i;
    }
  }
  for (int i = 0; i < nx_; ++i) sum += std::pow(r_x_[i] / x_scales_[i], 2);
  const double entries = (slack_ ? 2.0 : 1.0) * nv_ + nx_;
  return entries == 0 ? 0 : std::sqrt(sum / entries) / options_.tolerance;
}

Attempt ConstrainedRungeKutta::attempt(double h) {
  Attempt result;
  trial_h_ = h;
  v_scales_ = rate_ * scales_ + now_.v.cwiseAbs();
  if (nx_ > 0) x_scales_ = equations_.states_of(now_).cwiseAbs().array() + 1;
  const double noise = 4 * equations_.round_off(now_.q, scales_);
  bool other_way = false;
  for (int pass = 0;; ++pass) {
    const bool anew = linearise_next_ || pass > 0 || options_.newton.exactly > 0;
    if (anew || factored_h_ != h) {
      result.verdict = prepare_matrices(h, anew);
      if (result.verdict != Verdict::ok) {
        linearise_next_ = true;
        return result;
      }
    }
    predict(h);
    place(h);
    if (slack_) {
      V_ = U_;
      place(h);
    }
    first_ = Z_;
    monitor_.begin(anew);
    NewtonMonitor::Decision decision = NewtonMonitor::Decision::go_on;
    bool evaluable = true;
    while (decision == NewtonMonitor::Decision::go_on) {
      for (int i = 0; i < s_ && evaluable; ++i) {
        evaluable = set_stage(i, h);
        if (!evaluable) break;
        R_.col(i).head(nv_) = -(residual_.inertia + residual_.force);
        G_rows_.col(i) = residual_.g;
        if (slack_) {
          equations_.velocity_residual(trial_, g_, work_);
          Gdot_rows_.col(i) = g_;
        }
      }
      if (!evaluable) break;
      const double correction = correct(h);
      if (!std::isfinite(correction)) {
        evaluable = false;
        break;
      }
      U_ = Z_ - first_;
      const double reference =
          options_.fixed_step ? std::min(size_of(U_, dV_, dX_), options_.tolerance) : options_.tolerance;
      place(h);
      const bool closed = ng_ > 0 && greatest_g() < 1e-14 * equations_.reach(now_.q);
      decision = monitor_.next(correction, reference, noise, closed);
    }
    result.newton_iterations += monitor_.iterations();
    result.newton_rate = monitor_.rate();
    // Near singular positions a projected right side leaves open what the matrix of the step's start takes for
    // redundant.
    const bool left_open =
        projecting_ && evaluable && greatest_g() > options_.tolerance * equations_.length() + options_.misfit;
    if (evaluable && !left_open && decision == NewtonMonitor::Decision::converged) break;
    if (pass == 0 && (!anew || history_)) {
      history_ = history_ && !anew;  // the continued values may be to blame too
      continue;
    }
    // Projected right sides serve where redundant rows change; not near singular positions, where more of them are lost
    // than depend on others elsewhere. Which of the two is the case Newton tells.
    if (options_.redundant) {
      projecting_ = !projecting_;
      other_way = !other_way;
      if (other_way) continue;
    }
    linearise_next_ = true;
    failed_h_ = h;
    result.verdict = evaluable ? Verdict::newton_diverged : Verdict::evaluation_rejected;
    if (!R_.allFinite()) result.verdict = Verdict::not_finite;
    if (ng_ > 0) residual_.g.cwiseAbs().maxCoeff(&result.worst_row);
    return result;
  }
  if (monitor_.slow()) linearise_next_ = true;
  result.error = estimate(h, result);
  // Below what Newton can know smaller steps do not help.
  if (monitor_.in_noise() && result.error * options_.tolerance < 4 * monitor_.last())
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
  if (equations_.turned(trial_, h, work_) > 1.57) result.verdict = Verdict::angle_too_large;
  if (!options_.fixed_step && result.verdict == Verdict::ok) {
    const double most = options_.newton.most_iterations;
    const double safety = 0.9 * (2 * most + 1) / (2 * most + monitor_.iterations());
    const double factor = std::clamp(safety * std::pow(std::max(result.error, 1e-10), -1.0 / error_order()), 0.2, 4.0);
    result.suggested_h = factor >= 1 && factor <= 1.2 ? h : h * factor;
    // Where Newton failed before, a little less will do; the place is forgotten slowly.
    if (failed_h_ > 0) result.suggested_h = std::min(result.suggested_h, std::max(0.7 * failed_h_, h));
  }
  return result;
}

void ConstrainedRungeKutta::accept() {
  previous_q_.swap(now_.q);
  previous_v_.swap(now_.v);
  previous_x_ = equations_.states_of(now_);
  now_.u = trial_.u;
  rates_.xdot = trial_rates_.xdot;
  now_.q = trial_.q;
  now_.v = trial_.v;
  now_.t = trial_.t;
  rates_.a = trial_rates_.a;
  rates_.lambda = trial_rates_.lambda;
  equations_.accept(now_, work_);
  trial_.memory = now_.memory;
  equations_.set_scales(now_.q, options_.tolerance, scales_);
  last_Vdot_ = Vdot_;
  last_Lambda_ = Lambda_;
  last_Z_ = Z_;
  last_V_ = V_;
  last_X_ = X_stages_;
  history_ = true;
  failed_h_ *= 1.05;
  last_step_ = trial_h_;
  ++counts_.steps;
}

// The polynomials through the start and the stages.
void ConstrainedRungeKutta::interpolate(double t, State& out) const {
  out.t = t;
  out.memory = now_.memory;
  out.u = now_.u;
  out.q = now_.q;
  out.v = now_.v;
  if (t == now_.t || !(last_step_ > 0)) return;
  const double theta = 1 + (t - now_.t) / last_step_;
  Vec w(s_);
  lagrange(theta, w);
  double start = 1;
  for (int i = 0; i < s_; ++i) {
    w[i] *= theta / table_.c[i];
    start *= 1 - theta / table_.c[i];
  }
  const Vec z = last_Z_ * w;
  out.v = start * previous_v_ + last_V_ * w;
  if (nx_ > 0) out.u.tail(nx_) = start * previous_x_ + last_X_ * w;
  equations_.retract(previous_q_, z, out.q);
}

void ConstrainedRungeKutta::visit(Archive& archive) {
  archive(now_, rates_, scales_, previous_q_, previous_v_, previous_x_);
  archive(last_Vdot_, last_Lambda_, last_Z_, last_V_, last_X_);
  archive(monitor_, factored_h_, last_step_, failed_h_, linearise_next_, history_, projecting_);
  archive(partials_.M, partials_.Ma_q, partials_.force_q, partials_.force_v, partials_.G, partials_.K_q, partials_.Gv_q,
          state_partials_, saddle_);
  for (Pair& pair : pairs_) archive(pair.solver);
  if (slack_) archive(*slack_);
  archive(counts_);
  if (!archive.reading()) return;
  if (factored_h_ > 0) couple_states(factored_h_);
  trial_ = now_;
  trial_rates_ = rates_;
}

long ConstrainedRungeKutta::memory_bytes() const {
  return saddle_.memory_bytes() * (1 + 2 * static_cast<long>(pairs_.size())) + (slack_ ? slack_->memory_bytes() : 0) +
         8L * s_ * (9 * nv_ + 4 * ng_ + 2 * (nv_ + ng_));
}

namespace methods {

void add_constrained_runge_kutta(MethodInfo& m, const ImplicitTableau& tableau) {
  m.formulations.insert(m.formulations.end(), {"index-3", "stabilised-index-2"});
  m.make = [tableau](const Equations& e, const MethodSettings& s) -> std::unique_ptr<Integrator> {
    ConstrainedRungeKuttaOptions options;
    options.stabilised = s.formulation == "stabilised-index-2";
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
