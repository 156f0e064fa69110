#include "trammel/formulate/state_space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "trammel/base/archive.h"
#include "trammel/equations/row_masses.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

// (values on gv) T: the columns of rotations against increments of the chart.
void times_tangent(const Equations& equations, const Vec& G, const std::vector<Mat3>& T, Vec& out) {
  const Pattern& gv = equations.gv();
  const std::vector<int>& rotations = equations.rotation_columns();
  out = G;
  for (std::size_t r = 0; r < rotations.size(); ++r) {
    const auto u = static_cast<std::size_t>(rotations[r]);
    const int count = gv.start()[u + 1] - gv.start()[u];
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < count; ++i) {
        double sum = 0;
        for (int l = 0; l < 3; ++l) sum += G[gv.start()[u + static_cast<std::size_t>(l)] + i] * T[r](l, k);
        out[gv.start()[u + static_cast<std::size_t>(k)] + i] = sum;
      }
    }
  }
}

// A factorisation costs a few solves: an old matrix serves while each iteration gains more than this factor.
constexpr double slow = 0.02;

// out += (blocks on the rotations, identity or nothing elsewhere) x
void multiply_blocks(const std::vector<int>& rotations, const std::vector<Mat3>& blocks, const Vec& x, Vec& out) {
  for (std::size_t r = 0; r < rotations.size(); ++r)
    out.segment<3>(rotations[r]) += blocks[r] * x.segment<3>(rotations[r]);
}

}  // namespace

class StateSpace::SecondOrder final : public SecondOrderProblem {
 public:
  explicit SecondOrder(StateSpace& space) : space_(space) {}
  int freedoms() const override { return static_cast<int>(space_.positions_.size()); }
  Eval acceleration(double t, const Vec& y, const Vec& v, Vec& a) override {
    stack(y, v);
    const Eval result = space_.compute(t, state_);
    if (result == Eval::ok) {
      a.resize(freedoms());
      for (int k = 0; k < freedoms(); ++k) a[k] = space_.point_.z_second[space_.positions_[k]];
    }
    return result;
  }
  bool has_jacobian() const override { return true; }
  Eval acceleration_jacobian(double t, const Vec& y, const Vec& v, Mat& J1, Mat& J2, Vec& f_t) override {
    stack(y, v);
    const int n = freedoms();
    const Eval result = space_.jacobian(t, state_, J_, f_t_);
    if (result != Eval::ok) return result;
    J1 = J_.dense.bottomLeftCorner(n, n);
    J2 = J_.dense.bottomRightCorner(n, n);
    f_t = f_t_.tail(n);
    return result;
  }
  void error_scales(const Vec& before, const Vec& after, Vec& scales) const override {
    space_.error_scales(before, after, scales);
  }

 private:
  void stack(const Vec& y, const Vec& v) {
    state_.resize(2 * freedoms());
    state_ << y, v;
  }
  StateSpace& space_;
  Vec state_, f_t_;
  Jacobian J_;
};

StateSpace::StateSpace(const Equations& equations, const StateSpaceOptions& options)
    : equations_(equations),
      options_(options),
      nv_(equations.sizes().nv),
      rows_(equations.sizes().multipliers()),
      nx_(equations.sizes().nx),
      chart_(equations),
      scales_(equations.scales()),
      partials_(equations.make_partials(Detail::all)),
      at_point_(equations.make_partials(Detail::projection)),
      residual_(equations.make_residual()),
      zero_(equations.make_rates()),
      spring_(equations.make_rates()),
      work_(equations.make_workspace()),
      index1_(equations, equations.mass_slots(), options.penalty > 0 ? 1 / options.penalty : 1e-8),
      recovery_(equations, equations.mass_slots()) {
  work_.without_derivatives = options.forces_without_derivatives;
  equations.mass(equations.initial_state().q, at_point_);
  for (Vec* v : {&dz_, &dz_dot_, &dq_, &dv_, &probe_, &turned_, &point_.z, &point_.z_dot, &point_.z_second, &at_base_.z,
                 &at_base_.z_dot, &at_base_.z_second})
    v->setZero(nv_);
  for (Vec* v : {&right_, &solution_}) v->setZero(nv_ + rows_);
  for (Vec* v : {&gamma_, &gdot_, &rate_change_, &value_change_}) v->setZero(rows_);
  if (!equations.velocity_rows().empty())
    velocity_recovery_ = std::make_unique<SaddleSystem>(equations, equations.mass_slots());
  T_.assign(equations.rotation_columns().size(), Mat3::Identity());
}

SecondOrderProblem* StateSpace::second_order() {
  if (positions_ != velocities_ || nx_ > 0) return nullptr;
  if (!second_) second_ = std::make_unique<SecondOrder>(*this);
  return second_.get();
}

void StateSpace::set_base(const State& state, const Rates& rates) {
  base_ = state;
  base_rates_.a = rates.a;
  base_rates_.lambda = rates.lambda;
  base_rates_.xdot = rates.xdot;
  if (chart_.origin().size() == 0) {
    rate_ = equations_.rate(state, rates);
    chart_.move_to(state.q);
    state_ = state;
    rates_ = rates;
    if (sprung()) {
      if (const int bare = velocity_without_mass(equations_); bare >= 0)
        throw Failure({Severity::error,
                       "method-refuses",
                       "with joints as springs the method needs the inverse of all masses: " +
                           equations_.name_of_velocity(bare) + " has none",
                       "give it mass or inertia, or take the method split, whose joints act within a step",
                       {}});
      const double w = 2 * std::numbers::pi * options_.joint_frequency;
      row_stiffness_ = (w * w) * row_masses(equations_, state, work_);
    }
  }
  chart_.locate(base_.t, base_.q, base_.v, at_base_.z, at_base_.z_dot);
  chart_.second(at_base_.z, at_base_.z_dot, base_rates_.a, at_base_.z_second);
  state_.memory = base_.memory;
  state_.u = base_.u;
  equations_.set_scales(base_.q, options_.tolerance, scales_);
  recovery_stale_ = true;
  index1_is_base_ = index1_is_current_ && base_.t == state_.t && base_.q == state_.q && base_.v == state_.v;
  if (position_weights_.size() == 0) repartition();
  project_base();
}

void StateSpace::forget() {
  chart_.move_to(Vec());
  position_weights_.resize(0);
  current_ = index1_is_base_ = index1_is_current_ = recovery_failed_ = false;
}

void StateSpace::project_base() {
  base_y_.resize(size());
  Eigen::Index k = 0;
  for (const int i : positions_) base_y_[k++] = at_base_.z[i];
  for (const int i : velocities_) base_y_[k++] = at_base_.z_dot[i];
  base_y_.tail(nx_) = equations_.states_of(base_);
}

void StateSpace::set_step(double h) { h_ = h; }

void StateSpace::move_chart(double window) {
  chart_.move_to(base_.q, base_.t, base_.v, window);
  at_base_.z.setZero();
  at_base_.z_dot = base_.v - chart_.rate();
  chart_.second(at_base_.z, at_base_.z_dot, base_rates_.a, at_base_.z_second);
  current_ = false;
  recovery_stale_ = true;
  project_base();
}

void StateSpace::choose(double least) {
  const Vec units = equations_.scales();
  // Angles never come to a dead point of their own joint, positions do: a pendulum steered by its height would change
  // its coordinate twice a swing.
  Vec weights = Vec::Ones(nv_);
  for (int i = 0; i < nv_; ++i)
    if (equations_.is_angle(i)) weights[i] = 0.2;
  // A body that spins takes its axes along: what a turn about one of them steers now, another steers a quarter turn
  // later. Those of slower bodies last longer, and so does the axis of the spin.
  double rate = 0;
  for (int i = 0; i < nv_; ++i)
    rate = std::max({rate, std::abs(base_.v[i]) / units[i], std::sqrt(std::abs(base_rates_.a[i]) / units[i])});
  for (const int j : equations_.rotation_columns()) {
    for (int k = 0; k < 3 && rate > 0; ++k)
      weights[j + k] *= 1 + std::hypot(base_.v[j + (k + 1) % 3], base_.v[j + (k + 2) % 3]) / rate;
  }
  std::vector<bool> all(static_cast<std::size_t>(rows_), true), holonomic = all;
  for (const int row : equations_.velocity_rows()) holonomic[row] = false;
  equations_.jacobian(base_, at_point_, work_);
  positions_ =
      choose_independent(equations_.gv(), at_point_.G, units, weights, holonomic, options_.named, least).independent;
  velocities_ =
      equations_.velocity_rows().empty()
          ? positions_
          : choose_independent(equations_.gv(), at_point_.G, units, weights, all, options_.named, least).independent;
}

void StateSpace::set_weights() {
  const double length = equations_.length();
  const Vec units = equations_.scales();
  position_weights_.resize(nv_);
  for (int i = 0; i < nv_; ++i)
    position_weights_[i] = equations_.greatest_mass() * (length / units[i]) * (length / units[i]);
  velocity_weights_ = position_weights_;
  for (const int i : positions_) position_weights_[i] = std::numeric_limits<double>::infinity();
  for (const int i : velocities_) velocity_weights_[i] = std::numeric_limits<double>::infinity();
}

bool StateSpace::named_in_use() const {
  return std::all_of(options_.named.begin(), options_.named.end(),
                     [&](int i) { return std::binary_search(velocities_.begin(), velocities_.end(), i); });
}

bool StateSpace::repartition(double least) {
  const std::vector<int> old_positions = positions_, old_velocities = velocities_;
  if (options_.all_coordinates) {
    positions_.resize(nv_);
    for (int i = 0; i < nv_; ++i) positions_[i] = i;
    velocities_ = positions_;
  } else {
    choose(least);
  }
  if (position_weights_.size() > 0) {
    // A freedom that appears in a singular position lasts no longer than it: the choice made before carries across.
    if (positions_.size() > old_positions.size() || velocities_.size() > old_velocities.size()) {
      positions_ = old_positions;
      velocities_ = old_velocities;
    }
    if (positions_ == old_positions && velocities_ == old_velocities) return false;
  }
  set_weights();
  current_ = false;
  recovery_stale_ = true;
  project_base();
  return true;
}

bool StateSpace::factor(SaddleSystem& saddle) {
  const KluSolver& solver = saddle.solver();
  const int factors = solver.factors(), refactors = solver.refactors();
  const bool good = saddle.factor();
  counts_.factorisations += solver.factors() - factors;
  counts_.refactorisations += solver.refactors() - refactors;
  return good;
}

bool StateSpace::refresh_recovery(const State& at, const Vec& z) {
  recovery_stale_ = false;
  if (rows_ == 0 || options_.all_coordinates) return true;
  equations_.jacobian(at, at_point_, work_);
  equations_.retract_derivative(z, T_);
  times_tangent(equations_, at_point_.G, T_, GT_);
  recovery_.combine_projection(position_weights_, GT_, Level::position);
  if (!factor(recovery_)) return false;
  if (!velocity_recovery_) return true;
  velocity_recovery_->combine_projection(velocity_weights_, GT_, Level::velocity);
  return factor(*velocity_recovery_);
}

double StateSpace::strain() {
  if (rows_ == 0 || options_.all_coordinates) return 0;
  if (recovery_stale_ && !refresh_recovery(base_, at_base_.z)) return std::numeric_limits<double>::infinity();
  const double of_positions = strain_of(recovery_, positions_);
  return velocity_recovery_ ? std::max(of_positions, strain_of(*velocity_recovery_, velocities_)) : of_positions;
}

// With S = -G_D^-1 G_I in units of the scales, one step of the power method: x, S x, S^T S x, and then S for the signs
// of that, which give the largest row. Near a dead point one direction outgrows all others and is found at once. The
// matrix is symmetric and serves both ways:
//
//   [ W    G_D^T ] [ S x ]   [    0     ]        [ W    G_D^T ] [   0    ]   [ y ]
//   [ G_D   -E   ] [  .  ] = [ -G_I x_I ],       [ G_D   -E   ] [ lambda ] = [ 0 ],   S^T y = -G_I^T lambda
double StateSpace::strain_of(SaddleSystem& saddle, const std::vector<int>& independent) {
  const Pattern& gv = equations_.gv();
  const auto follow = [&] {
    right_.setZero();
    gv.multiply_add(GT_, -1, probe_.data(), right_.data() + nv_);
    if (velocity_recovery_ && &saddle == &recovery_)
      for (const int row : equations_.velocity_rows()) right_[nv_ + row] = 0;
    counts_.solves += saddle.solve_refined(right_, solution_, 2);
  };
  // An irregular start: what is the same or opposite in equal parts of a mechanism does not cancel in it.
  probe_.setZero();
  double part = 0;
  for (const int i : independent) {
    part += std::numbers::phi - 1;
    part -= std::floor(part);
    probe_[i] = scales_[i] * (0.5 + part);
  }
  follow();
  right_.head(nv_) = solution_.head(nv_).cwiseQuotient(scales_.cwiseAbs2());
  right_.tail(rows_).setZero();
  counts_.solves += saddle.solve_refined(right_, solution_, 2);
  turned_.setZero();
  gv.transpose_multiply_add(GT_, -1, solution_.data() + nv_, turned_.data());
  for (const int i : independent) probe_[i] = turned_[i] < 0 ? -scales_[i] : scales_[i];
  follow();
  return solution_.head(nv_).cwiseQuotient(scales_).lpNorm<Eigen::Infinity>();
}

bool StateSpace::moves_on() {
  if (rows_ == 0 || options_.all_coordinates) return true;
  const double speed = at_base_.z_dot.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>(),
               dt = std::min(0.01 / speed, h_ > 0 ? 100 * h_ : 1.0);
  if (!(speed * dt > 1e-6)) return true;  // at rest
  if (recovery_stale_ && !refresh_recovery(base_, at_base_.z)) return false;
  current_ = index1_is_current_ = false;
  const double h = std::exchange(h_, dt);
  state_.t = base_.t + dt;
  predict(state_.t);
  current_y_.resize(size());
  Eigen::Index k = 0;
  for (const int i : positions_) current_y_[k++] = point_.z[i];
  const bool found = recover_positions();
  h_ = h;
  recovery_stale_ = true;
  dz_ = point_.z - at_base_.z - dt * at_base_.z_dot;
  return found && dz_.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>() < 0.5 * dt * speed;
}

bool StateSpace::recover_positions() {
  Eigen::Index k = 0;
  for (const int i : positions_) point_.z[i] = current_y_[k++];
  const double length = equations_.length(),
               round_off = std::numeric_limits<double>::epsilon() * equations_.reach(base_.q),
               small = std::max(1e-13 * length, 8 * round_off),
               // RN's rule and one iteration more than it asks: each gains a factor of the size of the step
      target = std::max(small, 0.05 * options_.tolerance * std::min(1.0, h_ > 0 ? rate_ * h_ : 1.0) * length),
               enough = std::max({1e-10 * length, 32 * round_off, target, 2 * options_.misfit});
  double before = 0;
  bool one_more = true;
  int refreshed = 0;
  for (int i = 0; i < 20; ++i) {
    chart_.place(state_.t, point_.z, point_.z_dot, state_.q, state_.v);
    if (rows_ == 0 || options_.all_coordinates) return true;
    if (!state_.q.allFinite()) return false;
    if (equations_.residual(state_, zero_, joints, residual_, work_) != Eval::ok) return false;
    for (const int row : equations_.velocity_rows()) residual_.g[row] = 0;
    const double size = equations_.size_of_rows(residual_.g, &worst_row_);
    if (!std::isfinite(size)) return false;
    if (size <= small) return true;
    if (size <= target) {
      if (!one_more) return true;
      one_more = false;
    }
    if (i > 0 && size > slow * before) {
      if (size > 0.5 * before && size <= enough) return true;  // round-off, or a loop that does not close
      if (size > 0.5 * before && refreshed > 8) return false;
      if (size > 1e3 * length) return false;
      // The matrix of the step's start no longer serves: that of this place.
      if (size > target) {
        if (!refresh_recovery(state_, point_.z)) return false;
        recovery_stale_ = true;  // for the next point
        ++refreshed;
      }
    }
    before = size;
    right_.head(nv_).setZero();
    right_.tail(rows_) = -residual_.g;
    counts_.solves += recovery_.solve_refined(right_, solution_, 2);
    point_.z += solution_.head(nv_);
  }
  return false;
}

bool StateSpace::recover_velocities() {
  auto k = static_cast<Eigen::Index>(positions_.size());
  for (const int i : velocities_) point_.z_dot[i] = current_y_[k++];
  const double length = equations_.length(),
               known = std::max(1e-13, 8 * std::numeric_limits<double>::epsilon() * equations_.reach(base_.q) / length);
  SaddleSystem& saddle = velocity_recovery_ ? *velocity_recovery_ : recovery_;
  double before = 0;
  for (int i = 0; i < 20; ++i) {
    chart_.place(state_.t, point_.z, point_.z_dot, state_.q, state_.v);
    if (rows_ == 0 || options_.all_coordinates) return true;
    equations_.velocity_residual(state_, gdot_, work_);
    const double size = equations_.size_of_rows(gdot_, &worst_row_);
    if (!std::isfinite(size)) return false;
    const double speed = length * (rate_ + state_.v.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>()),
                 allowed = known * speed;
    if (size <= allowed) return true;
    if (i > 0 && size > slow * before) {
      if (size > 0.5 * before && (i > 3 || size <= 1e3 * allowed)) return size <= std::max(1e-6 * speed, allowed);
      if (size > 1e2 * allowed) {
        if (!refresh_recovery(state_, point_.z)) return false;
        recovery_stale_ = true;
      }
    }
    before = size;
    right_.head(nv_).setZero();
    right_.tail(rows_) = -gdot_;
    counts_.solves += saddle.solve_refined(right_, solution_, 2);
    point_.z_dot += solution_.head(nv_);
  }
  return false;
}

void StateSpace::add_stabilisation(const Vec& velocity_level, const Vec& position_level, double scale,
                                   double* out) const {
  const double first = 2 * options_.damping * options_.frequency, second = options_.frequency * options_.frequency;
  for (int i = 0; i < rows_; ++i) {
    out[i] += scale * (equations_.level(i) == Level::velocity ? options_.frequency * velocity_level[i]
                                                              : first * velocity_level[i] + second * position_level[i]);
  }
}

void StateSpace::spring_forces(const Vec& value, const Vec& rate, Vec& lambda) const {
  for (int i = 0; i < rows_; ++i) {
    const double position = equations_.level(i) == Level::velocity ? 0 : value[i];
    lambda[i] = row_stiffness_[i] * (position + options_.joint_time * rate[i]);
  }
}

bool StateSpace::accelerate() {
  const bool stabilised = options_.frequency > 0 && rows_ > 0;
  if (sprung()) {
    if (equations_.residual(state_, zero_, joints, residual_, work_) != Eval::ok) return false;
    equations_.velocity_residual(state_, gdot_, work_);
    spring_forces(residual_.g, gdot_, spring_.lambda);
  }
  const unsigned parts = stabilised || sprung() ? everything : inertia | Part::forces;
  if (equations_.residual(state_, sprung() ? spring_ : zero_, parts, residual_, work_) != Eval::ok) return false;
  ++counts_.evaluations;
  if (sprung()) {
    at_point_.G.setZero();
    gamma_.setZero();
  } else {
    equations_.jacobian_and_gamma(state_, at_point_, gamma_, work_);
  }
  if (equations_.body_with_varying_mass() >= 0) equations_.mass(state_.q, at_point_);
  index1_.combine_mass(at_point_);
  index1_is_base_ = false;
  if (!factor(index1_)) return false;
  index1_is_current_ = true;
  right_.head(nv_) = -residual_.force;
  right_.tail(rows_) = gamma_;
  if (stabilised) {
    equations_.velocity_residual(state_, gdot_, work_);
    add_stabilisation(gdot_, residual_.g, -1, right_.data() + nv_);
  }
  counts_.solves += index1_.solve_refined(right_, solution_, options_.sweeps);
  counts_.unrefined = index1_.unrefined();
  rates_.a = solution_.head(nv_);
  if (sprung())
    rates_.lambda = spring_.lambda;
  else
    rates_.lambda = solution_.tail(rows_);
  if (nx_ > 0 && equations_.state_rates(state_, rates_.xdot, work_) != Eval::ok) return false;
  return std::isfinite(solution_.sum()) && (nx_ == 0 || std::isfinite(rates_.xdot.sum()));
}

bool StateSpace::is_current(double t, const Vec& y) const {
  return current_ && t == current_t_ && y.size() == current_y_.size() && y == current_y_;
}

void StateSpace::predict(double t) {
  const double dt = t - base_.t;
  // Stiff parts have accelerations that do not last for a step: what they would do to the start values is bounded.
  const double bend = 0.5 * dt * dt * at_base_.z_second.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>();
  const double lasting = bend > 0.2 ? 0.2 / bend : 1;
  point_.z = at_base_.z + dt * at_base_.z_dot + (0.5 * dt * dt * lasting) * at_base_.z_second;
  point_.z_dot = at_base_.z_dot + (dt * lasting) * at_base_.z_second;
}

double StateSpace::surprise() {
  const double dt = current_t_ - base_.t;
  dz_ = point_.z - at_base_.z - dt * at_base_.z_dot - (0.5 * dt * dt) * at_base_.z_second;
  return nv_ > 0 ? dz_.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>() : 0;
}

Eval StateSpace::compute(double t, const Vec& y) {
  if (is_current(t, y)) return Eval::ok;
  current_ = index1_is_current_ = recovery_failed_ = false;
  current_y_ = y;
  current_t_ = state_.t = t;
  // Accelerations at the start of a run are those of true constraints.
  if (t == base_.t && y == base_y_ && !sprung()) {
    state_.q = base_.q;
    state_.v = base_.v;
    rates_.a = base_rates_.a;
    rates_.lambda = base_rates_.lambda;
    rates_.xdot = base_rates_.xdot;
    state_.u = base_.u;
    point_.z = at_base_.z;
    point_.z_dot = at_base_.z_dot;
    point_.z_second = at_base_.z_second;
    current_ = true;
    return Eval::ok;
  }
  if (recovery_stale_ && !refresh_recovery(base_, at_base_.z)) {
    recovery_failed_ = true;
    return Eval::rejected;
  }
  predict(t);
  if (!y.allFinite()) return Eval::rejected;
  state_.u.tail(nx_) = y.tail(nx_);
  if (!recover_positions() || !recover_velocities()) {
    recovery_failed_ = true;
    return Eval::rejected;
  }
  if (!accelerate()) return Eval::rejected;
  chart_.second(point_.z, point_.z_dot, rates_.a, point_.z_second);
  current_ = true;
  return Eval::ok;
}

Eval StateSpace::f(double t, const Vec& y, Vec& dydt) {
  const Eval result = compute(t, y);
  if (result != Eval::ok) return result;
  dydt.resize(size());
  Eigen::Index k = 0;
  for (const int i : positions_) dydt[k++] = point_.z_dot[i];
  for (const int i : velocities_) dydt[k++] = point_.z_second[i];
  if (nx_ > 0) dydt.tail(nx_) = rates_.xdot;
  return result;
}

Eval StateSpace::evaluate(double t, const Vec& y, State& state, Rates& rates) {
  const Eval result = compute(t, y);
  if (result != Eval::ok) return result;
  state.t = t;
  state.q = state_.q;
  state.v = state_.v;
  state.u = state_.u;
  rates.a = rates_.a;
  rates.lambda = rates_.lambda;
  rates.xdot = rates_.xdot;
  return result;
}

bool StateSpace::recover(double t, const Vec& y, State& state) {
  if (!is_current(t, y)) {
    current_ = index1_is_current_ = false;
    current_y_ = y;
    current_t_ = state_.t = t;
    if (recovery_stale_ && !refresh_recovery(base_, at_base_.z)) return false;
    predict(t);
    state_.u.tail(nx_) = y.tail(nx_);
    if (!recover_positions() || !recover_velocities()) return false;
  }
  state.t = t;
  state.q = state_.q;
  state.v = state_.v;
  state.u = state_.u;
  return true;
}

void StateSpace::project(double t, const Vec& q, const Vec& v, const Vec& u, const Vec& a, const Vec& xdot, Vec& y,
                         Vec& dydt) {
  chart_.locate(t, q, v, dz_, dz_dot_);
  chart_.second(dz_, dz_dot_, a, dq_);
  y.resize(size());
  dydt.resize(size());
  Eigen::Index k = 0;
  for (const int i : positions_) {
    y[k] = dz_[i];
    dydt[k++] = dz_dot_[i];
  }
  for (const int i : velocities_) {
    y[k] = dz_dot_[i];
    dydt[k++] = dq_[i];
  }
  if (nx_ == 0) return;
  y.tail(nx_) = u.tail(nx_);
  dydt.tail(nx_) = xdot;
}

Eval StateSpace::jacobian(double t, const Vec& y, Jacobian& J, Vec& f_t) {
  const Eval result = compute(t, y);
  if (result != Eval::ok) return result;
  if (equations_.linearise(state_, rates_, Detail::all, partials_, work_) != Eval::ok) return Eval::rejected;
  ++counts_.linearisations;
  chart_.differentiate(point_.z, point_.z_dot, point_.z_second, chart_derivatives_);
  if (!factor_for_jacobian(t == base_.t && y == base_y_)) return Eval::rejected;
  if (nx_ > 0) equations_.linearise_states(state_, state_partials_, work_);
  const auto n_positions = static_cast<Eigen::Index>(positions_.size()), n = static_cast<Eigen::Index>(size());
  J.dense.resize(n, n);
  f_t.resize(n);
  for (Eigen::Index k = 0; k < n_positions; ++k) vary({.position = positions_[k]}, J.dense.col(k));
  for (Eigen::Index k = n_positions; k < n - nx_; ++k) vary({.velocity = velocities_[k - n_positions]}, J.dense.col(k));
  for (int x = 0; x < nx_; ++x) vary({.state = x}, J.dense.col(n - nx_ + x));
  vary({.dt = 1}, f_t);
  return Eval::ok;
}

bool StateSpace::factor_for_jacobian(bool at_base) {
  if (!(at_base ? index1_is_base_ : index1_is_current_)) {
    if (sprung()) {
      equations_.mass(state_.q, at_point_);
      at_point_.G.setZero();
    }
    index1_.combine_mass(sprung() ? at_point_ : partials_);
    if (!factor(index1_)) return false;
    index1_is_base_ = at_base;
    index1_is_current_ = true;
  }
  if (!refresh_recovery(state_, point_.z)) return false;
  recovery_stale_ = true;  // whatever comes next starts from the base
  return true;
}

// A column of the Jacobian: what the given increment of an independent position, velocity, state or of time does to y'.
void StateSpace::vary(const Variation& by, Eigen::Ref<Vec> out) {
  const Chart::Derivatives& c = chart_derivatives_;
  const std::vector<int>& rotations = equations_.rotation_columns();
  vary_positions(by);
  vary_velocities(by);
  vary_forces(by);
  if (nx_ > 0) {
    const StatePartials& sp = state_partials_;
    out.tail(nx_) = sp.rate_q * dq_ + sp.rate_v * dv_ + by.dt * sp.rate_t;
    if (by.state >= 0) out.tail(nx_) += sp.rate_x.col(by.state);
  }
  if ((options_.frequency > 0 && rows_ > 0) || sprung()) vary_softness(by);
  counts_.solves += index1_.solve_refined(right_, solution_, options_.sweeps);
  dq_ = solution_.head(nv_);  // dv', then dz''
  for (std::size_t r = 0; r < rotations.size(); ++r) {
    const int j = rotations[r];
    dq_.segment<3>(j) =
        (c.T_inverse[r] * (dq_.segment<3>(j) - c.B[r] * dz_.segment<3>(j) - c.A[r] * dz_dot_.segment<3>(j))).eval();
  }
  Eigen::Index k = 0;
  for (const int i : positions_) out[k++] = dz_dot_[i];
  for (const int i : velocities_) out[k++] = dq_[i];
}

// dz of all positions, and dq.
void StateSpace::vary_positions(const Variation& by) {
  const Chart::Derivatives& c = chart_derivatives_;
  const std::vector<int>& rotations = equations_.rotation_columns();
  const Pattern& gv = equations_.gv();
  dz_.setZero();
  if (by.position >= 0) dz_[by.position] = 1;
  if (rows_ > 0 && !options_.all_coordinates && (by.position >= 0 || by.dt != 0)) {
    right_.setZero();
    gv.multiply_add(GT_, -1, dz_.data(), right_.data() + nv_);
    right_.tail(rows_) -= by.dt * partials_.g_t;
    if (by.dt != 0) {
      dv_.setZero();
      for (std::size_t r = 0; r < rotations.size(); ++r) dv_.segment<3>(rotations[r]) = by.dt * c.b[r];
      gv.multiply_add(partials_.G, -1, dv_.data(), right_.data() + nv_);
    }
    for (const int row : equations_.velocity_rows()) right_[nv_ + row] = 0;
    counts_.solves += recovery_.solve_refined(right_, solution_);
    dz_ += solution_.head(nv_);
  }
  dq_ = dz_;
  for (std::size_t r = 0; r < rotations.size(); ++r)
    dq_.segment<3>(rotations[r]) = c.T[r] * dz_.segment<3>(rotations[r]) + by.dt * c.b[r];
}

// dz' of all velocities, and dv.
void StateSpace::vary_velocities(const Variation& by) {
  const Chart::Derivatives& c = chart_derivatives_;
  const std::vector<int>& rotations = equations_.rotation_columns();
  const Pattern& gv = equations_.gv();
  dz_dot_.setZero();
  if (by.velocity >= 0) dz_dot_[by.velocity] = 1;
  if (rows_ > 0 && !options_.all_coordinates) {
    right_.setZero();
    gv.multiply_add(GT_, -1, dz_dot_.data(), right_.data() + nv_);
    dv_.setZero();
    multiply_blocks(rotations, c.C, dz_, dv_);
    gv.multiply_add(partials_.G, -1, dv_.data(), right_.data() + nv_);
    add_rates_by_position(dq_, -1, right_.data() + nv_);
    if (by.dt != 0) {
      right_.tail(rows_) += by.dt * partials_.gamma;
      add_rates_by_position(state_.v, by.dt, right_.data() + nv_);
    }
    SaddleSystem& saddle = velocity_recovery_ ? *velocity_recovery_ : recovery_;
    counts_.solves += saddle.solve_refined(right_, solution_);
    dz_dot_ += solution_.head(nv_);
  }
  dv_ = dz_dot_;
  for (std::size_t r = 0; r < rotations.size(); ++r)
    dv_.segment<3>(rotations[r]) = c.T[r] * dz_dot_.segment<3>(rotations[r]) + c.C[r] * dz_.segment<3>(rotations[r]);
}

// The right side of the accelerations, in right_.
void StateSpace::vary_forces(const Variation& by) {
  const Pattern &vv = *partials_.vv, &gv = equations_.gv();
  right_.setZero();
  vv.multiply_add(partials_.Ma_q, -1, dq_.data(), right_.data());
  vv.multiply_add(partials_.force_q, -1, dq_.data(), right_.data());
  vv.multiply_add(partials_.force_v, -1, dv_.data(), right_.data());
  if (!sprung()) {
    gv.multiply_add(partials_.Ga_q, -1, dq_.data(), right_.data() + nv_);
    gv.multiply_add(partials_.gamma_q, 1, dq_.data(), right_.data() + nv_);
    gv.multiply_add(partials_.gamma_v, 1, dv_.data(), right_.data() + nv_);
  }
  if (by.state >= 0) right_.head(nv_) -= state_partials_.force_x.col(by.state);
  if (by.dt == 0) return;
  right_.head(nv_) -= by.dt * partials_.force_t;
  if (!sprung()) right_.tail(rows_) -= by.dt * (partials_.Ga_t - partials_.gamma_t);
}

// d(G v + g_t) = V dq + G dv + V_t dt and dg = G dq + g_t dt, as stabilisation or as springs.
void StateSpace::vary_softness(const Variation& by) {
  const Pattern& gv = equations_.gv();
  rate_change_.setZero();
  value_change_ = by.dt * partials_.g_t;
  gv.multiply_add(partials_.G, 1, dv_.data(), rate_change_.data());
  gv.multiply_add(partials_.G, 1, dq_.data(), value_change_.data());
  add_rates_by_position(dq_, 1, rate_change_.data());
  if (by.dt != 0) {
    rate_change_ -= by.dt * partials_.gamma;
    add_rates_by_position(state_.v, -by.dt, rate_change_.data());
  }
  if (sprung()) {
    spring_forces(value_change_, rate_change_, spring_.lambda);
    gv.transpose_multiply_add(partials_.G, -1, spring_.lambda.data(), right_.data());
  } else {
    add_stabilisation(rate_change_, value_change_, -1, right_.data() + nv_);
  }
}

// V = d(G v + g_t)/dq or k_q. Holonomic rows: V dq = -gamma_v dq / 2 - G (w x dq) / 2, because increments of rotations
// do not commute. gamma = -(V v + V_t).
void StateSpace::add_rates_by_position(const Vec& dq, double scale, double* out) {
  const Pattern& gv = equations_.gv();
  gdot_.setZero();
  gv.multiply_add(partials_.gamma_v, -0.5, dq.data(), gdot_.data());
  turned_.setZero();
  for (const int j : equations_.rotation_columns())
    turned_.segment<3>(j) = 0.5 * Vec3(state_.v.segment<3>(j)).cross(Vec3(dq.segment<3>(j)));
  gv.multiply_add(partials_.G, -1, turned_.data(), gdot_.data());
  if (!equations_.velocity_rows().empty()) {
    solution_.tail(rows_).setZero();
    gv.multiply_add(partials_.K_q, 1, dq.data(), solution_.data() + nv_);
    for (const int row : equations_.velocity_rows()) gdot_[row] = solution_[nv_ + row];
  }
  for (int i = 0; i < rows_; ++i) out[i] += scale * gdot_[i];
}

// Positions by the scale of the chart's increments, velocities by (4) of RN with scale times rate as absolute part.
// Named coordinates are the user's own variables: (4) with their value.
void StateSpace::error_scales(const Vec& before, const Vec& after, Vec& scales) const {
  scales.resize(size());
  Eigen::Index k = 0;
  const auto widen = [this](double scale, double value) {
    return options_.greater_counts ? std::max(scale, value) : scale + value;
  };
  for (const int i : positions_) {
    scales[k] = scales_[i];
    const int body = equations_.body_of_velocity(i);
    if (std::find(options_.named.begin(), options_.named.end(), i) != options_.named.end()) {
      const double from = chart_.origin()[equations_.first_coordinate(body) + i - equations_.first_velocity(body)];
      scales[k] = widen(scales[k], std::max(std::abs(from + before[k]), std::abs(from + after[k])));
    }
    ++k;
  }
  for (const int i : velocities_) {
    const double w = chart_.rate()[i];
    scales[k] = widen(rate_ * scales_[i], std::max(std::abs(w + before[k]), std::abs(w + after[k])));
    ++k;
  }
  for (; k < scales.size(); ++k) scales[k] = widen(1, std::max(std::abs(before[k]), std::abs(after[k])));
}

void StateSpace::visit(Archive& archive) {
  archive(base_, base_rates_, at_base_.z, at_base_.z_dot, at_base_.z_second, scales_, chart_, positions_, velocities_);
  archive.expect(positions_.size() <= static_cast<std::size_t>(nv_) &&
                 velocities_.size() <= static_cast<std::size_t>(nv_));
  if (archive.reading()) set_weights();
  archive(h_, index1_is_base_, index1_, recovery_);
  if (velocity_recovery_) archive(*velocity_recovery_);
  archive(row_stiffness_, rate_, counts_);
  if (!archive.reading()) return;
  state_ = base_;
  rates_ = base_rates_;
  current_ = index1_is_current_ = false;
  recovery_stale_ = true;
  project_base();
}

long StateSpace::memory_bytes() const {
  return index1_.memory_bytes() + recovery_.memory_bytes() +
         (velocity_recovery_ ? velocity_recovery_->memory_bytes() : 0) +
         8L * (12 * equations_.vv().size() + 12 * equations_.gv().size() + 40 * nv_ + 8 * rows_);
}

}  // namespace trammel
