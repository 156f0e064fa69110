#include "trammel/integrate/rosenbrock/rosenbrock_nystrom.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/base/archive.h"
#include "trammel/integrate/count_factors.h"
#include "trammel/math/hermite.h"

namespace trammel {

RosenbrockNystrom::RosenbrockNystrom(const Equations& equations, const RosenbrockNystromOptions& options)
    : equations_(equations),
      options_(options),
      table_(*options.tableau),
      nv_(equations.sizes().nv),
      rows_(equations.sizes().multipliers()),
      scales_(equations.scales()),
      partials_(equations.make_partials(Detail::all)),
      at_point_(equations.make_partials(Detail::projection)),
      residual_(equations.make_residual()),
      zero_(equations.make_rates()),
      work_(equations.make_workspace()),
      stage_matrix_(equations),
      index1_(equations, equations.mass_slots()),
      nx_(equations.sizes().nx),
      coupling_(equations) {
  for (Vec& k : k_) k.setZero(nx_);
  for (Vec* v : {&stage_rate_, &state_right_, &e_x_, &state_change_}) v->setZero(nx_);
  for (Vec* v : {&z_, &z_dot_, &stage_a_, &second_, &p0_, &rho_, &turned_, &e_y_, &e_v_}) v->setZero(nv_);
  for (Vec& x : x_) x.setZero(nv_);
  for (Vec* v : {&right_, &solution_}) v->setZero(nv_ + rows_);
  for (Vec* v : {&gamma_, &gdot_}) v->setZero(rows_);
  work_.without_derivatives = options.forces_without_derivatives;
  equations.mass(equations.initial_state().q, at_point_);
  C_.assign(equations.rotation_columns().size(), Mat3::Zero());
  D_ = C_;
}

void RosenbrockNystrom::start(const State& state, const Rates& rates) {
  now_ = trial_ = state;
  rates_ = trial_rates_ = rates;
  previous_q_ = now_.q;
  previous_v_ = end_rate_ = now_.v;
  previous_a_ = end_second_ = rates_.a;
  last_z_.setZero(nv_);
  equations_.state_rates(now_, rates_.xdot, work_);
  trial_rates_.xdot = previous_xdot_ = rates_.xdot;
  previous_x_ = equations_.states_of(now_);
  equations_.set_scales(now_.q, options_.tolerance, scales_);
  rate_ = equations_.rate(now_, rates_);
  restart("start");
}

void RosenbrockNystrom::restart(std::string_view /*why*/) { linearised_ = false; }

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
  if (nx_ > 0) {
    equations_.linearise_states(now_, state_partials_, work_);
    if (options_.no_derivatives)
      for (Mat* m :
           {&state_partials_.rate_q, &state_partials_.rate_v, &state_partials_.rate_x, &state_partials_.force_x})
        m->setZero();
    if (options_.no_derivatives || !options_.time_terms) state_partials_.rate_t.setZero();
    rate_z_ = state_partials_.rate_q;
    for (std::size_t i = 0; i < rotations.size(); ++i)
      rate_z_.middleCols<3>(rotations[i]) += state_partials_.rate_v.middleCols<3>(rotations[i]) * C_[i];
  }
  linearised_ = true;
  age_ = 0;
}

bool RosenbrockNystrom::prepare_matrix(double h) {
  stage_matrix_.combine_stage(partials_, r_q_, s_q_, h * table_.gamma, C_, D_);
  ++counts_.combinations;
  const bool good = count_factors(stage_matrix_, counts_);
  if (!good || nx_ == 0) return good;
  const double hg = h * table_.gamma;
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
  index1_.combine_mass(at_point_);
  const bool good = count_factors(index1_, counts_);
  if (!good) return false;
  right_.head(nv_) = -residual_.force;
  right_.tail(rows_) = gamma_;
  counts_.solves += index1_.solve_refined(right_, solution_);
  counts_.unrefined = index1_.unrefined();
  out.a = solution_.head(nv_);
  out.lambda = solution_.tail(rows_);
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
  const Pattern &vv = equations_.vv(), &gv = equations_.gv();
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

Attempt RosenbrockNystrom::attempt(double h) {
  Attempt result;
  const NystromTableau& c = table_;
  trial_h_ = h;
  if (!linearised_ || age_ >= options_.keep_derivatives) linearise();
  if (!prepare_matrix(h)) {
    result.verdict = Verdict::singular_matrix;
    return result;
  }
  const double g = c.gamma;
  stage_a_ = rates_.a;
  stage_rate_ = rates_.xdot;
  for (int stage = 0; stage < c.stages; ++stage) {
    const auto i = static_cast<std::size_t>(stage);
    if (stage > 0 && !c.same_point[i]) {
      z_ = (c.alpha[i] * h) * now_.v;
      z_dot_ = now_.v;
      for (std::size_t j = 0; j < i; ++j) {
        z_ += (h * c.theta[i][j]) * x_[j];
        z_dot_ += c.a[i][j] * x_[j];
      }
      if (turns_too_far(z_)) {
        result.verdict = Verdict::angle_too_large;
        return result;
      }
      trial_.t = now_.t + c.alpha[i] * h;
      if (nx_ > 0) {
        trial_.u.tail(nx_) = equations_.states_of(now_);
        for (std::size_t j = 0; j < i; ++j) trial_.u.tail(nx_) += c.a[i][j] * k_[j];
      }
      place(z_, z_dot_);
      if (!trial_.q.allFinite() || !accelerate(trial_, trial_rates_)) {
        result.verdict = Verdict::evaluation_rejected;
        return result;
      }
      to_chart(z_, z_dot_, trial_rates_.a, stage_a_);
      stage_rate_ = trial_rates_.xdot;
    }
    rho_ = (g * h) * stage_a_;
    p0_ = c.gamma_sum[i] * now_.v;
    for (std::size_t j = 0; j < i; ++j) {
      rho_ += (g * c.c[i][j]) * x_[j];
      p0_ += c.delta[i][j] * x_[j];
    }
    right_.setZero();
    equations_.vv().multiply_add(partials_.M, 1, rho_.data(), right_.data());
    equations_.gv().multiply_add(partials_.G, 1, rho_.data(), right_.data() + nv_);
    subtract_position_terms(p0_, g * h * h, right_);
    const double tau = g * h * h * c.gamma_sum[i];
    right_.head(nv_) -= tau * partials_.force_t;
    right_.tail(rows_) -= tau * s_t_;
    counts_.solves += stage_matrix_.solve_refined(right_, solution_);
    if (nx_ > 0) {
      state_right_ = (g * h) * stage_rate_ + tau * state_partials_.rate_t + (g * h * h) * (rate_z_ * p0_);
      for (std::size_t j = 0; j < i; ++j) state_right_ += (g * c.c[i][j]) * k_[j];
      coupling_.solve(solution_, state_right_);
      k_[i] = state_right_;
    }
    x_[i] = solution_.head(nv_);
  }
  z_ = h * now_.v;
  z_dot_ = now_.v;
  e_y_.setZero();
  e_v_.setZero();
  e_x_.setZero();
  state_change_.setZero();
  for (std::size_t i = 0; i < static_cast<std::size_t>(c.stages); ++i) {
    z_ += (h * c.mu[i]) * x_[i];
    z_dot_ += c.m[i] * x_[i];
    e_y_ += (h * (c.mu[i] - c.mu_hat[i])) * x_[i];
    e_v_ += (c.m[i] - c.m_hat[i]) * x_[i];
    if (nx_ == 0) continue;
    e_x_ += (c.m[i] - c.m_hat[i]) * k_[i];
    state_change_ += c.m[i] * k_[i];
  }
  if (nx_ > 0) trial_.u.tail(nx_) = equations_.states_of(now_) + state_change_;
  if (!std::isfinite(z_.sum() + z_dot_.sum())) {
    result.verdict = Verdict::not_finite;
    return result;
  }
  if (options_.scaled_estimate) {
    right_.setZero();
    equations_.vv().multiply_add(partials_.M, 1, e_v_.data(), right_.data());
    equations_.gv().multiply_add(partials_.G, 1, e_v_.data(), right_.data() + nv_);
    subtract_position_terms(e_y_, h * g, right_);
    counts_.solves += stage_matrix_.solve_refined(right_, solution_);
    if (nx_ > 0) {
      e_x_ += (h * g) * (rate_z_ * e_y_);
      coupling_.solve(solution_, e_x_);
    }
    e_v_ = solution_.head(nv_);
    e_y_ += (h * g) * e_v_;
  }
  result.error = weighted(e_y_, e_v_, e_x_, result.worst_velocity) / options_.tolerance;
  // A step that will be rejected is not worth its return to the constraints.
  if (!options_.fixed_step && result.error > 1) return result;
  trial_.t = now_.t + h;
  if (!return_to_constraints()) {
    result.verdict = Verdict::newton_diverged;
    if (rows_ > 0) residual_.g.cwiseAbs().maxCoeff(&result.worst_row);
    return result;
  }
  if (!accelerate(trial_, trial_rates_)) {
    result.verdict = Verdict::evaluation_rejected;
    return result;
  }
  if (turns_too_far(z_) || equations_.turned(trial_, h, work_) > 1.57) result.verdict = Verdict::angle_too_large;
  return result;
}

bool RosenbrockNystrom::return_to_constraints() {
  const double length = equations_.length(),
               round_off = std::numeric_limits<double>::epsilon() * equations_.reach(now_.q),
               small = std::max(1e-13 * length, 8 * round_off),
               enough =
                   std::max({1e-10 * length, 32 * round_off, 0.05 * options_.tolerance * length, 2 * options_.misfit});
  double before = 0;
  for (int i = 0; i < 12; ++i) {
    place(z_, z_dot_);
    if (rows_ == 0) return true;
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
    right_.tail(rows_) = -residual_.g;
    counts_.solves += stage_matrix_.solve_refined(right_, solution_, 2);
    z_ += solution_.head(nv_);
  }
  if (equations_.size_of_rows(residual_.g) > enough) return false;
  before = 0;
  for (int i = 0; i < 6; ++i) {
    place(z_, z_dot_);
    equations_.velocity_residual(trial_, gdot_, work_);
    const double size = equations_.size_of_rows(gdot_);
    if (!std::isfinite(size)) return false;
    if (size <= rate_ * small || (i > 1 && size > 0.5 * before)) break;
    before = size;
    right_.head(nv_).setZero();
    right_.tail(rows_) = -gdot_;
    counts_.solves += stage_matrix_.solve_refined(right_, solution_, 2);
    z_dot_ += solution_.head(nv_);
  }
  place(z_, z_dot_);
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

void RosenbrockNystrom::accept() {
  previous_q_ = now_.q;
  previous_v_ = now_.v;
  previous_a_ = rates_.a;
  last_z_ = z_;
  end_rate_ = z_dot_;
  now_.q = trial_.q;
  now_.v = trial_.v;
  now_.t = trial_.t;
  if (nx_ > 0) {
    previous_x_ = equations_.states_of(now_);
    previous_xdot_ = rates_.xdot;
    now_.u = trial_.u;
    rates_.xdot = trial_rates_.xdot;
  }
  rates_.a = trial_rates_.a;
  rates_.lambda = trial_rates_.lambda;
  to_chart(last_z_, end_rate_, rates_.a, end_second_);
  equations_.accept(now_, work_);
  trial_.memory = now_.memory;
  equations_.set_scales(now_.q, options_.tolerance, scales_);
  last_step_ = trial_h_;
  ++age_;
  if (age_ >= options_.keep_derivatives) linearised_ = false;
  ++counts_.steps;
}

// Quintic Hermite interpolation in the chart of the step: values, rates and accelerations at both ends.
void RosenbrockNystrom::interpolate(double t, State& out) const {
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
  // z = h v0 s + h^2 a0 s^2/2 + s^3 (A + B s + C s^2), with the rest of value, slope and curvature at s = 1
  const Vec r0 = last_z_ - h * previous_v_ - (0.5 * h * h) * previous_a_,
            r1 = h * (end_rate_ - previous_v_) - (h * h) * previous_a_, r2 = (h * h) * (end_second_ - previous_a_);
  const Vec A = 10 * r0 - 4 * r1 + 0.5 * r2, B = -15 * r0 + 7 * r1 - r2, C = 6 * r0 - 3 * r1 + 0.5 * r2;
  const double s2 = s * s, s3 = s2 * s;
  const Vec z = (h * s) * previous_v_ + (0.5 * h * h * s2) * previous_a_ + s3 * (A + s * B + s2 * C);
  out.v = previous_v_ + (h * s) * previous_a_ + (s2 / h) * (3 * A + (4 * s) * B + (5 * s2) * C);
  for (const int j : equations_.rotation_columns())
    out.v.segment<3>(j) = (rotation_tangent(z.segment<3>(j)) * out.v.segment<3>(j)).eval();
  equations_.retract(previous_q_, z, out.q);
}

void RosenbrockNystrom::visit(Archive& archive) {
  archive(now_, rates_, previous_q_, previous_v_, previous_a_, last_z_, end_rate_, end_second_, scales_, previous_x_,
          previous_xdot_, last_step_, age_, linearised_);
  if (linearised_)
    archive(partials_.M, partials_.G, partials_.force_v, partials_.gamma_v, partials_.force_t, r_q_, s_q_, s_t_, C_, D_,
            rate_z_, state_partials_);
  archive(stage_matrix_, index1_, counts_);
  if (!archive.reading()) return;
  trial_ = now_;
  trial_rates_ = rates_;
}

long RosenbrockNystrom::memory_bytes() const {
  return stage_matrix_.memory_bytes() + index1_.memory_bytes() +
         8L * (9 * equations_.vv().size() + 9 * equations_.gv().size() + 40 * nv_ + 12 * rows_) +
         static_cast<long>(work_.bodies.size() * sizeof(BodyState));
}

}  // namespace trammel
