#include "studies/ida_problem.h"

#include <algorithm>
#include <cmath>

#include "trammel/base/diagnosis.h"

namespace trammel {

const char* to_text(IdaForm form) {
  switch (form) {
    case IdaForm::index_1: return "index 1";
    case IdaForm::index_2: return "index 2";
    case IdaForm::stabilised: return "stabilised index 2";
  }
  return "";
}

namespace {

// Place in the values, row and column of each entry.
template <class Take>
void walk_block(const Pattern& block, const Take& take) {
  for (int j = 0; j < block.columns(); ++j) {
    const auto u = static_cast<std::size_t>(j);
    for (int p = block.start()[u]; p < block.start()[u + 1]; ++p) take(p, block.row()[static_cast<std::size_t>(p)], j);
  }
}

}  // namespace

IdaProblem::IdaProblem(const Equations& equations, const State& state, const Rates& rates, IdaForm form,
                       double tolerance)
    : equations_(equations),
      form_(form),
      tolerance_(tolerance),
      nq_(equations.sizes().nq),
      nv_(equations.sizes().nv),
      m_(equations.sizes().multipliers()),
      rotation_(static_cast<std::size_t>(nv_), -1),
      state_(state),
      rates_(rates),
      work_(equations.make_workspace()),
      residual_(equations.make_residual()),
      partials_(equations.make_partials(Detail::all)),
      gamma_(Vec::Zero(m_)),
      scales_(equations.scales()),
      u_(Vec::Zero(nv_)) {
  if (equations.sizes().nx > 0 || (form == IdaForm::stabilised && !equations.velocity_rows().empty())) {
    throw Failure({Severity::error,
                   "method-refuses",
                   "the comparison with IDA takes neither states of first order nor, at stabilised index 2, "
                   "nonholonomic rows",
                   "",
                   {}});
  }
  const std::vector<int>& columns = equations.rotation_columns();
  for (std::size_t r = 0; r < columns.size(); ++r)
    for (int k = 0; k < 3; ++k) rotation_[static_cast<std::size_t>(columns[r] + k)] = static_cast<int>(r);
  quaternions_.resize(columns.size());
  for (int i = 0; i < nv_; ++i) {
    const int body = equations.body_of_velocity(i), r = rotation_[static_cast<std::size_t>(i)];
    const int k = i - equations.first_velocity(body);
    coordinate_.push_back(equations.first_coordinate(body) + (r < 0 ? k : 3));
    if (r >= 0) quaternions_[static_cast<std::size_t>(r)] = coordinate_.back();
  }
  E_.resize(columns.size());
  square_.resize(columns.size());
  make_pattern();
}

void IdaProblem::start(Eigen::Ref<Vec> y, Eigen::Ref<Vec> ydot) {
  y.setZero();
  ydot.setZero();
  y.head(nq_) = state_.q;
  y.segment(nq_, nv_) = state_.v;
  y.segment(nq_ + nv_, m_) = rates_.lambda;
  ydot.segment(nq_, nv_) = rates_.a;
  place(state_.t, Vec(y), Vec(ydot));
  for (int i = 0; i < nv_; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (rotation_[k] < 0) ydot[coordinate_[k]] = state_.v[i];
  }
  for (std::size_t r = 0; r < E_.size(); ++r)
    ydot.segment<4>(quaternions_[r]) = 0.5 * E_[r] * state_.v.segment<3>(equations_.rotation_columns()[r]);
}

void IdaProblem::place_positions(double t, const Vec& y) {
  state_.t = t;
  state_.q = y.head(nq_);
  state_.v = y.segment(nq_, nv_);
  for (std::size_t r = 0; r < E_.size(); ++r) {
    auto p = state_.q.segment<4>(quaternions_[r]);
    E_[r] << -p[1], -p[2], -p[3], p[0], -p[3], p[2], p[3], p[0], -p[1], -p[2], p[1], p[0];
    square_[r] = p.squaredNorm();
    p /= std::sqrt(square_[r]);
  }
}

void IdaProblem::place(double t, const Vec& y, const Vec& ydot) {
  place_positions(t, y);
  rates_.a = ydot.segment(nq_, nv_);
  rates_.lambda = y.segment(nq_ + nv_, m_);
}

void IdaProblem::accept(double t, const Vec& y) {
  place_positions(t, y);
  equations_.accept(state_, work_);
}

// u = v, or v + G^T mu; the latter needs G of the state.
void IdaProblem::place_slopes(const Vec& y) {
  u_ = state_.v;
  if (form_ == IdaForm::stabilised)
    equations_.gv().transpose_multiply_add(partials_.G, 1, y.data() + size() - m_, u_.data());
}

bool IdaProblem::residual(double t, const Vec& y, const Vec& ydot, Eigen::Ref<Vec> F) {
  place(t, y, ydot);
  if (equations_.residual(state_, rates_, everything, residual_, work_) != Eval::ok) return false;
  F.segment(nq_, nv_) = residual_.inertia + residual_.force;
  if (form_ == IdaForm::index_1) {
    equations_.jacobian_and_gamma(state_, partials_, gamma_, work_);
    F.tail(m_) = -gamma_;
    equations_.gv().multiply_add(partials_.G, 1, rates_.a.data(), F.data() + nq_ + nv_);
  } else {
    equations_.velocity_residual(state_, gamma_, work_);
    F.tail(m_) = gamma_;
  }
  if (form_ == IdaForm::stabilised) {
    F.segment(nq_ + nv_, m_) = residual_.g;
    equations_.jacobian(state_, partials_, work_);
  }
  place_slopes(y);
  F.head(nq_) = ydot.head(nq_);
  for (int i = 0; i < nv_; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (rotation_[k] < 0) F[coordinate_[k]] -= u_[i];
  }
  for (std::size_t r = 0; r < E_.size(); ++r)
    F.segment<4>(quaternions_[r]) -= 0.5 * E_[r] * u_.segment<3>(equations_.rotation_columns()[r]);
  return F.allFinite();
}

// Blocks by positions are those of the equations, by small turns; B of the head makes them blocks by quaternions.
//
//              r, p                 v               lambda   mu
//   r' row     c I                  -I                       -G^T
//   p' row     c I - (E u / 2)_p    -E / 2                   -(E / 2) G^T
//   M v'       Ma_q + force_q       c M + force_v   G^T
//   g          G                                                           (stabilised)
//   last       (G v)_q              G                                      (index 2, stabilised)
//              (G a - gamma)_q      c G - gamma_v                          (index 1)
bool IdaProblem::jacobian(double t, const Vec& y, const Vec& ydot, double c, double* values) {
  place(t, y, ydot);
  if (equations_.linearise(state_, rates_, Detail::all, partials_, work_) != Eval::ok) return false;
  place_slopes(y);
  std::fill(values, values + pattern_.size(), 0.0);
  const auto put = [&](const std::vector<int>& slots, const Vec& from, double weight) {
    for (std::size_t i = 0; i < slots.size(); ++i) values[slots[i]] += weight * from[static_cast<Eigen::Index>(i)];
  };
  for (const int slot : identity_q_) values[slot] = c;
  for (const int slot : identity_v_) values[slot] = -1;
  for (std::size_t r = 0; r < E_.size(); ++r) {
    // E(p) u = [ 0  -u^T ; u  -u~ ] p
    const Vec3 u = 0.5 * u_.segment<3>(equations_.rotation_columns()[r]);
    Eigen::Matrix4d by_p = Eigen::Matrix4d::Zero();
    by_p.topRightCorner<1, 3>() = -u.transpose();
    by_p.bottomLeftCorner<3, 1>() = u;
    by_p.bottomRightCorner<3, 3>() = -skew(u);
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i)
        values[turn_p_[r][static_cast<std::size_t>(4 * j + i)]] += (i == j ? c : 0) - by_p(i, j);
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 4; ++i) values[turn_v_[r][static_cast<std::size_t>(4 * j + i)]] -= 0.5 * E_[r](i, j);
  }
  put_by_coordinates(vv_q_, partials_.Ma_q, 1, values);
  put_by_coordinates(vv_q_, partials_.force_q, 1, values);
  put(vv_v_, partials_.M, c);
  put(vv_v_, partials_.force_v, 1);
  put(lambda_, partials_.G, 1);
  if (form_ == IdaForm::index_1) {
    put_by_coordinates(last_q_, partials_.Ga_q, 1, values);
    put_by_coordinates(last_q_, partials_.gamma_q, -1, values);
    put(last_v_, partials_.G, c);
    put(last_v_, partials_.gamma_v, -1);
  } else {
    put_by_coordinates(last_q_, partials_.Gv_q, 1, values);
    put(last_v_, partials_.G, 1);
  }
  if (form_ == IdaForm::stabilised) {
    put_by_coordinates(position_, partials_.G, 1, values);
    for (const Plain& e : mu_.plain) values[e.slot] -= partials_.G[e.from];
    for (const Turned& e : mu_.turned)
      for (int i = 0; i < 4; ++i)
        values[e.slots[static_cast<std::size_t>(i)]] -=
            0.5 * E_[static_cast<std::size_t>(e.rotation)](i, e.axis) * partials_.G[e.from];
  }
  return true;
}

void IdaProblem::put_by_coordinates(const ByCoordinates& block, const Vec& from, double weight, double* values) const {
  for (const Plain& e : block.plain) values[e.slot] += weight * from[e.from];
  for (const Turned& e : block.turned) {
    const auto r = static_cast<std::size_t>(e.rotation);
    const double factor = 2 * weight / square_[r] * from[e.from];
    for (int i = 0; i < 4; ++i) values[e.slots[static_cast<std::size_t>(i)]] += factor * E_[r](i, e.axis);
  }
}

// A turn by theta is |dp| = theta / 2.
void IdaProblem::weigh(const Vec& y, Eigen::Ref<Vec> weights) const {
  weights.setOnes();
  for (int i = 0; i < nv_; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (rotation_[k] < 0) weights[coordinate_[k]] = 1 / (tolerance_ * scales_[i]);
    weights[nq_ + i] = 1 / (tolerance_ * std::max(scales_[i], std::abs(y[nq_ + i])));
  }
  for (const int p : quaternions_) weights.segment<4>(p).setConstant(2 / tolerance_);
}

void IdaProblem::make_pattern() {
  const Pattern &vv = equations_.vv(), &gv = equations_.gv();
  const int multiplier = nq_ + nv_, last = size() - m_;
  // Every block twice: its entries for the pattern, then its slots.
  std::vector<Pattern::Entry> entries;
  bool finding = false;
  const auto at = [&](int row, int column) {
    if (finding) return pattern_.slot(row, column);
    entries.push_back({row, column});
    return -1;
  };
  const auto plain = [&](const Pattern& block, int row, int column, bool transposed, std::vector<int>& slots) {
    walk_block(block, [&](int, int i, int j) {
      slots.push_back(transposed ? at(row + j, column + i) : at(row + i, column + j));
    });
  };
  // The velocities' index of a block becomes that of a coordinate: of its column, or of its row if transposed.
  const auto by_coordinates = [&](const Pattern& block, int other, bool transposed, ByCoordinates& slots) {
    walk_block(block, [&](int from, int i, int j) {
      const auto k = static_cast<std::size_t>(j);
      const auto place = [&](int a) {
        return transposed ? at(coordinate_[k] + a, other + i) : at(other + i, coordinate_[k] + a);
      };
      const int r = rotation_[k];
      if (r < 0) {
        slots.plain.push_back({from, place(0)});
      } else {
        slots.turned.push_back({from,
                                r,
                                j - equations_.rotation_columns()[static_cast<std::size_t>(r)],
                                {place(0), place(1), place(2), place(3)}});
      }
    });
  };
  for (const bool second : {false, true}) {
    finding = second;
    identity_q_.clear();
    identity_v_.clear();
    turn_p_.clear();
    turn_v_.clear();
    for (std::vector<int>* slots : {&vv_v_, &lambda_, &last_v_}) slots->clear();
    for (ByCoordinates* slots : {&vv_q_, &last_q_, &position_, &mu_}) *slots = {};
    for (int i = 0; i < nv_; ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (rotation_[k] >= 0) continue;
      identity_q_.push_back(at(coordinate_[k], coordinate_[k]));
      identity_v_.push_back(at(coordinate_[k], nq_ + i));
    }
    for (std::size_t r = 0; r < quaternions_.size(); ++r) {
      const int p = quaternions_[r], v = nq_ + equations_.rotation_columns()[r];
      turn_p_.emplace_back();
      turn_v_.emplace_back();
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) turn_p_.back()[static_cast<std::size_t>(4 * j + i)] = at(p + i, p + j);
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 4; ++i) turn_v_.back()[static_cast<std::size_t>(4 * j + i)] = at(p + i, v + j);
    }
    by_coordinates(vv, nq_, false, vv_q_);
    plain(vv, nq_, nq_, false, vv_v_);
    plain(gv, nq_, multiplier, true, lambda_);
    by_coordinates(gv, last, false, last_q_);
    plain(gv, last, nq_, false, last_v_);
    if (form_ == IdaForm::stabilised) {
      by_coordinates(gv, multiplier, false, position_);
      by_coordinates(gv, last, true, mu_);
    }
    if (!second) pattern_ = Pattern(size(), size(), entries);
  }
}

}  // namespace trammel
