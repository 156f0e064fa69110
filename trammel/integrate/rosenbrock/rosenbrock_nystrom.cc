#include "trammel/integrate/rosenbrock/rosenbrock_nystrom.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/base/archive.h"
#include "trammel/integrate/count_factors.h"
#include "trammel/math/hermite.h"

namespace trammel {

RosenbrockNystrom::RosenbrockNystrom(const Equations& equations, const RosenbrockNystromOptions& options)
    : MotionIntegrator(equations, options.tolerance),
      options_(options),
      step_(*options.tableau, nv_),
      partials_(equations.make_partials(Detail::all)),
      at_point_(equations.make_partials(Detail::projection)),
      residual_(equations.make_residual()),
      zero_(equations.make_rates()),
      stage_matrix_(equations),
      index1_(equations, equations.mass_slots()),
      coupling_(equations) {
  for (Vec& k : k_) k.setZero(nx_);
  for (Vec* v : {&stage_rate_, &state_right_, &e_x_}) v->setZero(nx_);
  for (Vec* v : {&zero_z_, &turned_}) v->setZero(nv_);
  for (Vec* v : {&right_, &solution_}) v->setZero(nv_ + ng_);
  for (Vec* v : {&gamma_, &gdot_}) v->setZero(ng_);
  work_.without_derivatives = options.forces_without_derivatives;
  equations.mass(equations.initial_state().q, at_point_);
  C_.assign(equations.rotation_columns().size(), Mat3::Zero());
  D_ = C_;
}

void RosenbrockNystrom::started() {
  end_rate_ = now_.v;
  previous_a_ = end_second_ = rates_.a;
  last_z_.setZero(nv_);
}

// ---- derivatives and matrix -----------------------------------------------------------------------------------------

void RosenbrockNystrom::linearise() {
  equations_.linearise(now_, rates_, Detail::all, partials_, work_);
  ++counts_.linearisations;
  if (options_.no_derivatives) {
    for (Vec* v : {&partials_.Ma_q, &partials_.force_q, &partials_.force_v, &partials_.Ga_q, &partials_.gamma_q,
                   &partials_.gamma_v, &partials_.force_t, &partials_.gamma_t, &partials_.Ga_t})
      v->setZero();
  }
  if (!options_.time_terms) {
    for (Vec* v : {&partials_.force_t, &partials_.gamma_t, &partials_.Ga_t}) v->setZero();
  }
  r_q_ = partials_.Ma_q + partials_.force_q;
  s_q_ = partials_.Ga_q - partials_.gamma_q;
  s_t_ = partials_.Ga_t - partials_.gamma_t;
  const std::vector<int>& rotations = equations_.rotation_columns();
  for (std::size_t i = 0; i < rotations.size(); ++i) {
    if (!options_.chart_terms || options_.no_derivatives) {
      C_[i].setZero();
      D_[i].setZero();
      continue;
    }
    const Mat3 w = skew(now_.v.segment<3>(rotations[i]));
    C_[i] = 0.5 * w;
    D_[i] = -0.5 * skew(rates_.a.segment<3>(rotations[i])) + w * w / 6;
  }
  if (nx_ > 0) linearise_states();
  linearised_ = true;
  age_ = 0;
}

void RosenbrockNystrom::linearise_states() {
  equations_.linearise_states(now_, state_partials_, work_);
  if (options_.no_derivatives)
    for (Mat* m : {&state_partials_.rate_q, &state_partials_.rate_v, &state_partials_.rate_x, &state_partials_.force_x})
      m->setZero();
  if (options_.no_derivatives || !options_.time_terms) state_partials_.rate_t.setZero();
  rate_z_ = state_partials_.rate_q;
  const std::vector<int>& rotations = equations_.rotation_columns();
  for (std::size_t i = 0; i < rotations.size(); ++i)
    rate_z_.middleCols<3>(rotations[i]) += state_partials_.rate_v.middleCols<3>(rotations[i]) * C_[i];
}

bool RosenbrockNystrom::prepare_matrix(double h) {
  stage_matrix_.combine_stage(partials_, r_q_, s_q_, h * step_.tableau().gamma, C_, D_);
  ++counts_.combinations;
  const bool good = count_factors(stage_matrix_, counts_);
  if (!good || nx_ == 0) return good;
  const double hg = h * step_.tableau().gamma;
  coupling_.B = hg * state_partials_.force_x;
  coupling_.C = -hg * state_partials_.rate_v - (hg * hg) * rate_z_;
  coupling_.D.setIdentity();
  coupling_.D -= hg * state_partials_.rate_x;
  return coupling_.prepare(stage_matrix_);
}

void RosenbrockNystrom::place(const Vec& z, const Vec& z_dot) {
  equations_.retract(now_.q, z, trial_.q);
  trial_.v = z_dot;
  for (const int j : equations_.rotation_columns())
    trial_.v.segment<3>(j) = rotation_tangent(z.segment<3>(j)) * z_dot.segment<3>(j);
}

bool RosenbrockNystrom::accelerate(const State& state, Rates& out) {
  if (equations_.residual(state, zero_, inertia | Part::forces, residual_, work_) != Eval::ok) return false;
  ++counts_.evaluations;
  equations_.jacobian_and_gamma(state, at_point_, gamma_, work_);
  if (equations_.body_with_varying_mass() >= 0) equations_.mass(state.q, at_point_);
  index1_.combine_mass(at_point_);
  const bool good = count_factors(index1_, counts_);
  if (!good) return false;
  right_.head(nv_) = -residual_.force;
  right_.tail(ng_) = gamma_;
  counts_.solves += index1_.solve_refined(right_, solution_);
  counts_.unrefined = index1_.unrefined();
  out.a = solution_.head(nv_);
  out.lambda = solution_.tail(ng_);
  if (nx_ > 0 && equations_.state_rates(state, out.xdot, work_) != Eval::ok) return false;
  return std::isfinite(solution_.sum()) && (nx_ == 0 || std::isfinite(out.xdot.sum()));
}

// T is singular after a whole turn.
bool RosenbrockNystrom::turns_too_far(const Vec& z) const {
  const std::vector<int>& rotations = equations_.rotation_columns();
  return std::any_of(rotations.begin(), rotations.end(), [&](int j) { return z.segment<3>(j).norm() > 5; });
}

// w = T th', w' = T th'' + T' th'  ->  th'' = T^-1 (w' - T' th')
void RosenbrockNystrom::to_chart(const Vec& z, const Vec& z_dot, const Vec& a, Vec& z_second) const {
  z_second = a;
  for (const int j : equations_.rotation_columns()) {
    const Vec3 theta = z.segment<3>(j), rate = z_dot.segment<3>(j);
    z_second.segment<3>(j) =
        rotation_tangent_inverse(theta) * (a.segment<3>(j) - rotation_tangent_derivative(theta, rate) * rate);
  }
}

void RosenbrockNystrom::subtract_position_terms(const Vec& x, double scale, Vec& right) {
  const Pattern &vv = *partials_.vv, &gv = equations_.gv();
  vv.multiply_add(r_q_, -scale, x.data(), right.data());
  gv.multiply_add(s_q_, -scale, x.data(), right.data() + nv_);
  if (C_.empty()) return;
  const std::vector<int>& rotations = equations_.rotation_columns();
  turned_.setZero();
  for (std::size_t i = 0; i < rotations.size(); ++i)
    turned_.segment<3>(rotations[i]) = C_[i] * x.segment<3>(rotations[i]);
  vv.multiply_add(partials_.force_v, -scale, turned_.data(), right.data());
  gv.multiply_add(partials_.gamma_v, scale, turned_.data(), right.data() + nv_);  // s_v = -gamma_v
  for (std::size_t i = 0; i < rotations.size(); ++i)
    turned_.segment<3>(rotations[i]) = D_[i] * x.segment<3>(rotations[i]);
  vv.multiply_add(partials_.M, scale, turned_.data(), right.data());
  gv.multiply_add(partials_.G, scale, turned_.data(), right.data() + nv_);
}

// ---- a step ---------------------------------------------------------------------------------------------------------

Attempt RosenbrockNystrom::attempt(double h) {
  Attempt result;
  trial_h_ = h;
  if (!linearised_ || age_ >= options_.keep_derivatives) linearise();
  if (!prepare_matrix(h)) {
    result.verdict = Verdict::singular_matrix;
    return result;
  }
  stage_rate_ = rates_.xdot;
  result.verdict = step_.take(h, zero_z_, now_.v, rates_.a, options_.scaled_estimate, *this);
  if (result.verdict != Verdict::ok) return result;
  if (nx_ > 0) finish_states();
  result.error = weighted(step_.e_z, step_.e_rate, e_x_, result.worst_velocity) / options_.tolerance;
  // A step that will be rejected is not worth its return to the constraints.
  if (!options_.fixed_step && result.error > 1) return result;
  trial_.t = now_.t + h;
  if (!return_to_constraints()) {
    result.verdict = Verdict::newton_diverged;
    if (ng_ > 0) residual_.g.cwiseAbs().maxCoeff(&result.worst_row);
    return result;
  }
  if (!accelerate(trial_, trial_rates_)) {
    result.verdict = Verdict::evaluation_rejected;
    return result;
  }
  if (turns_too_far(step_.z) || turns_in_doubt(h)) result.verdict = Verdict::angle_too_large;
  return result;
}

Verdict RosenbrockNystrom::accelerate(int stage, double alpha, const Vec& z, const Vec& z_dot, Vec& f) {
  if (turns_too_far(z)) return Verdict::angle_too_large;
  trial_.t = now_.t + alpha * trial_h_;
  if (nx_ > 0) {
    trial_.u.tail(nx_) = equations_.states_of(now_);
    for (int j = 0; j < stage; ++j) trial_.u.tail(nx_) += step_.tableau().a[stage][j] * k_[j];
  }
  place(z, z_dot);
  if (!trial_.q.allFinite() || !accelerate(trial_, trial_rates_)) return Verdict::evaluation_rejected;
  to_chart(z, z_dot, trial_rates_.a, f);
  stage_rate_ = trial_rates_.xdot;
  return Verdict::ok;
}

void RosenbrockNystrom::solve(int stage, const Vec& rho, const Vec& p, double scale, double time, Vec& x) {
  right_.setZero();
  partials_.vv->multiply_add(partials_.M, 1, rho.data(), right_.data());
  equations_.gv().multiply_add(partials_.G, 1, rho.data(), right_.data() + nv_);
  subtract_position_terms(p, scale, right_);
  if (time != 0) {
    right_.head(nv_) -= time * partials_.force_t;
    right_.tail(ng_) -= time * s_t_;
  }
  counts_.solves += stage_matrix_.solve_refined(right_, solution_);
  if (nx_ > 0) solve_states(stage, p, scale, time);
  x = solution_.head(nv_);
}

// k of a stage, or the error of the states in the place of it, together with solution_.
void RosenbrockNystrom::solve_states(int stage, const Vec& p, double scale, double time) {
  const NystromTableau& c = step_.tableau();
  if (stage == estimate) {
    e_x_.setZero();
    for (int i = 0; i < c.stages; ++i) e_x_ += (c.m[i] - c.m_hat[i]) * k_[i];
    e_x_ += scale * (rate_z_ * p);
    coupling_.solve(solution_, e_x_);
    return;
  }
  const double g = c.gamma;
  state_right_ = (g * trial_h_) * stage_rate_ + time * state_partials_.rate_t + scale * (rate_z_ * p);
  for (int j = 0; j < stage; ++j) state_right_ += (g * c.c[stage][j]) * k_[j];
  coupling_.solve(solution_, state_right_);
  k_[stage] = state_right_;
}

void RosenbrockNystrom::finish_states() {
  const NystromTableau& c = step_.tableau();
  state_right_.setZero();
  for (int i = 0; i < c.stages; ++i) state_right_ += c.m[i] * k_[i];
  trial_.u.tail(nx_) = equations_.states_of(now_) + state_right_;
  if (options_.scaled_estimate) return;
  e_x_.setZero();
  for (int i = 0; i < c.stages; ++i) e_x_ += (c.m[i] - c.m_hat[i]) * k_[i];
}

bool RosenbrockNystrom::return_to_constraints() {
  const double length = equations_.length(),
               round_off = std::numeric_limits<double>::epsilon() * equations_.reach(now_.q),
               small = std::max(1e-13 * length, 8 * round_off),
               enough =
                   std::max({1e-10 * length, 32 * round_off, 0.05 * options_.tolerance * length, 2 * options_.misfit});
  Vec &z = step_.z, &z_dot = step_.z_dot;
  double before = 0;
  for (int i = 0; i < 12; ++i) {
    place(z, z_dot);
    if (ng_ == 0) return true;
    if (equations_.residual(trial_, zero_, joints, residual_, work_) != Eval::ok) return false;
    for (const int row : equations_.velocity_rows()) residual_.g[row] = 0;
    const double size = equations_.size_of_rows(residual_.g);
    if (!std::isfinite(size)) return false;
    if (size <= small) break;
    if (i > 0 && size > 0.5 * before) {  // no longer falls: round-off, or it cannot be reached
      if (size <= enough) break;
      if (size > before) return false;
    }
    before = size;
    right_.head(nv_).setZero();
    right_.tail(ng_) = -residual_.g;
    counts_.solves += stage_matrix_.solve_refined(right_, solution_, 2);
    z += solution_.head(nv_);
  }
  if (equations_.size_of_rows(residual_.g) > enough) return false;
  return return_velocities(small);
}

bool RosenbrockNystrom::return_velocities(double small) {
  double before = 0;
  for (int i = 0; i < 6; ++i) {
    place(step_.z, step_.z_dot);
    equations_.velocity_residual(trial_, gdot_, work_);
    const double size = equations_.size_of_rows(gdot_);
    if (!std::isfinite(size)) return false;
    if (size <= rate_ * small || (i > 1 && size > 0.5 * before)) break;
    before = size;
    right_.head(nv_).setZero();
    right_.tail(ng_) = -gdot_;
    counts_.solves += stage_matrix_.solve_refined(right_, solution_, 2);
    step_.z_dot += solution_.head(nv_);
  }
  place(step_.z, step_.z_dot);
  return true;
}

// Root mean square over positions and velocities; a velocity counts by the greater of its size and scale times rate.
double RosenbrockNystrom::weighted(const Vec& e_y, const Vec& e_v, const Vec& e_x, int& worst) const {
  double sum = 0, most = 0;
  for (int i = 0; i < nv_; ++i) {
    const double y = e_y[i] / scales_[i], v = e_v[i] / std::max(rate_ * scales_[i], std::abs(now_.v[i]));
    const double here = y * y + v * v;
    sum += here;
    if (here > most) {
      most = here;
      worst = i;
    }
  }
  for (int i = 0; i < nx_; ++i) {
    const double x = e_x[i] / (1 + std::abs(now_.u[now_.u.size() - nx_ + i]));
    sum += x * x;
  }
  return nv_ + nx_ > 0 ? std::sqrt(sum / (2 * nv_ + nx_)) : 0;
}

// ---- between steps --------------------------------------------------------------------------------------------------

void RosenbrockNystrom::leaving() {
  previous_a_ = rates_.a;
  last_z_ = step_.z;
  end_rate_ = step_.z_dot;
}

void RosenbrockNystrom::arrived() {
  to_chart(last_z_, end_rate_, rates_.a, end_second_);
  ++age_;
  if (age_ >= options_.keep_derivatives) linearised_ = false;
}

// In the chart of the step.
void RosenbrockNystrom::interpolate_inside(double /*t*/, double s, State& out) const {
  if (nx_ > 0)
    hermite(s, last_step_, previous_x_, previous_xdot_, equations_.states_of(now_), rates_.xdot, out.u.tail(nx_));
  Vec z(nv_);
  hermite_quintic(s, last_step_, zero_z_, previous_v_, previous_a_, last_z_, end_rate_, end_second_, z, out.v);
  for (const int j : equations_.rotation_columns())
    out.v.segment<3>(j) = (rotation_tangent(z.segment<3>(j)) * out.v.segment<3>(j)).eval();
  equations_.retract(previous_q_, z, out.q);
}

void RosenbrockNystrom::visit_method(Archive& archive) {
  archive(previous_a_, last_z_, end_rate_, end_second_, age_, linearised_);
  equations_.visit_pattern(archive, partials_.vv);
  if (linearised_)
    archive(partials_.M, partials_.G, partials_.force_v, partials_.gamma_v, partials_.force_t, r_q_, s_q_, s_t_, C_, D_,
            rate_z_, state_partials_);
  archive(stage_matrix_, index1_);
}

long RosenbrockNystrom::memory_bytes() const {
  return stage_matrix_.memory_bytes() + index1_.memory_bytes() +
         8L * (9 * equations_.vv().size() + 9 * equations_.gv().size() + 40 * nv_ + 12 * ng_) +
         static_cast<long>(work_.bodies.size() * sizeof(BodyState));
}

}  // namespace trammel
