#include "trammel/elements/scalars/pair_scalar.h"

#include <cmath>
#include <complex>

namespace trammel {

// Im log(s_0 + i sign s_1): every d/ds_1 multiplies by i sign.
void PairScalar::set_argument(double sign) {
  count_ = 2;
  const std::complex<double> z(s_[0].value(), sign * s_[1].value());
  value_ = std::arg(z);
  good_ = std::norm(z) > least_sine * least_sine;
  if (order_ < 1) return;
  const std::complex<double> L1 = 1.0 / z, L2 = -L1 * L1, L3 = -2.0 * L2 * L1;
  const std::complex<double> i(0, sign);
  const std::array<std::complex<double>, 4> power{1.0, i, i * i, i * i * i};
  for (std::size_t p = 0; p < 2; ++p) {
    F1_[p] = (power[p] * L1).imag();
    if (order_ < 2) continue;
    for (std::size_t q = 0; q < 2; ++q) {
      F2_[p][q] = (power[p + q] * L2).imag();
      if (order_ < 3) continue;
      for (std::size_t r = 0; r < 2; ++r) F3_[p][q][r] = (power[p + q + r] * L3).imag();
    }
  }
}

// r = sqrt(s_0^2 + s_1^2), n = s / r:  r_p = n_p,  r_pq = (d_pq - n_p n_q) / r,
// r_pqr = -(d_pq n_r + d_pr n_q + d_qr n_p - 3 n_p n_q n_r) / r^2
void PairScalar::set_radius() {
  count_ = 2;
  const double x = s_[0].value(), y = s_[1].value(), r = std::hypot(x, y);
  const std::array<double, 2> n{x / r, y / r};
  const auto delta = [](std::size_t p, std::size_t q) { return p == q ? 1.0 : 0.0; };
  value_ = r;
  good_ = r > least_length;
  F1_ = n;
  if (order_ < 2) return;
  for (std::size_t p = 0; p < 2; ++p) {
    for (std::size_t q = 0; q < 2; ++q) {
      F2_[p][q] = (delta(p, q) - n[p] * n[q]) / r;
      for (std::size_t k = 0; k < 2; ++k) {
        F3_[p][q][k] =
            -(delta(p, q) * n[k] + delta(p, k) * n[q] + delta(q, k) * n[p] - 3 * n[p] * n[q] * n[k]) / (r * r);
      }
    }
  }
}

void PairScalar::set_derivatives(double F1, double F2, double F3) {
  F1_[0] = F1;
  F2_[0][0] = F2;
  F3_[0][0][0] = F3;
}

void PairScalar::set_function(const Scalar& which, const FrameState& a, const FrameState& b) {
  const auto dot = [&](int of_a, int of_b) { return Invariant{{Owner::a, a.R.col(of_a)}, {Owner::b, b.R.col(of_b)}}; };
  const auto coordinate = [&](int of_a) { return Invariant{{Owner::a, a.R.col(of_a)}, {Owner::line, b.p - a.p}}; };
  plain_ = false;
  switch (which.kind) {
    case Primitive::distance: {
      s_[0] = {{Owner::line, b.p - a.p}, {Owner::line, b.p - a.p}};
      const double s = s_[0].value(), l = std::sqrt(s);
      value_ = l;
      good_ = l > least_length;
      set_derivatives(0.5 / l, -0.25 / (s * l), 0.375 / (s * s * l));
      break;
    }
    case Primitive::angle:
      s_ = {dot(0, 0), dot(1, 0)};
      set_argument(1);
      break;
    case Primitive::twist:
      count_ = 2;
      s_ = {dot(1, 0), dot(0, 1)};
      value_ = 0.5 * (s_[0].value() - s_[1].value());
      F1_ = {0.5, -0.5};
      F2_ = {};
      F3_ = {};
      break;
    case Primitive::radius:
      s_ = {coordinate(0), coordinate(1)};
      set_radius();
      break;
    case Primitive::polar:
      s_ = {coordinate(0), coordinate(1)};
      set_argument(1);
      good_ = std::hypot(s_[0].value(), s_[1].value()) > least_length;
      break;
    case Primitive::cardan:
      // R_A^T R_B: entry (x, z) is sin(beta), (y, z) and (z, z) are cos(beta) (-sin, cos)(alpha), (x, y) and (x, x) the
      // same of gamma.
      if (which.i == 1) {
        s_[0] = dot(0, 2);
        const double s = s_[0].value(), c2 = 1 - s * s, c = std::sqrt(c2);
        value_ = std::asin(s);
        good_ = c2 > least_sine * least_sine;
        set_derivatives(1 / c, s / (c * c2), (1 + 2 * s * s) / (c * c2 * c2));
      } else {
        if (which.i == 0)
          s_ = {dot(2, 2), dot(1, 2)};
        else
          s_ = {dot(0, 0), dot(0, 1)};
        set_argument(-1);
      }
      break;
    default: break;  // a product itself
  }
}

// (f o F)_p = f' F_p,  (f o F)_pq = f'' F_p F_q + f' F_pq,
// (f o F)_pqr = f''' F_p F_q F_r + f'' (F_pq F_r + F_pr F_q + F_qr F_p) + f' F_pqr
void PairScalar::compose(const std::array<double, 4>& f) {
  value_ = f[0];
  good_ = good_ && std::isfinite(f[0]) && std::isfinite(f[1]);
  if (order_ < 1) return;
  if (plain_) {
    plain_ = false;
    set_derivatives(f[1], f[2], f[3]);
    return;
  }
  const auto before1 = F1_;
  const auto before2 = F2_;
  for (std::size_t p = 0; p < count_; ++p) {
    F1_[p] = f[1] * before1[p];
    if (order_ < 2) continue;
    for (std::size_t q = 0; q < count_; ++q) {
      F2_[p][q] = f[2] * before1[p] * before1[q] + f[1] * before2[p][q];
      if (order_ < 3) continue;
      for (std::size_t r = 0; r < count_; ++r) {
        F3_[p][q][r] = f[3] * before1[p] * before1[q] * before1[r] +
                       f[2] * (before2[p][q] * before1[r] + before2[p][r] * before1[q] + before2[q][r] * before1[p]) +
                       f[1] * F3_[p][q][r];
      }
    }
  }
}

void PairScalar::scale(double factor) {
  if (factor != 1) compose({factor * value_, factor, 0, 0});
}

// With s_i' = rate, c_i = curvature, D_i(u) = d(grad s_i u)/dpose:
//   gradient        F_i grad_i
//   contracted(u)   F_ij (grad_i u) grad_j + F_i D_i(u)
//   curvature       F_i c_i + F_ij s_i' s_j'
//   its pose        F_i c_i,pose + F_ij c_i grad_j + F_ijk s_i' s_j' grad_k + 2 F_ij s_i' D_j(u)
//   its twist       F_i c_i,twist + 2 F_ij s_i' grad_j
double PairScalar::rate(const PairTwist& u) const {
  if (plain_) return s_[0].rate(u);
  double sum = F1_[0] * s_[0].rate(u);
  if (count_ > 1) sum += F1_[1] * s_[1].rate(u);
  return sum;
}

PairSlope PairScalar::contracted(const PairTwist& u) const {
  if (plain_) return s_[0].contracted(u);
  PairSlope out;
  for (std::size_t p = 0; p < count_; ++p) {
    out.add(F1_[p], s_[p].contracted(u));
    for (std::size_t q = 0; q < count_; ++q) {
      if (F2_[p][q] != 0) out.add(F2_[p][q] * s_[p].rate(u), s_[q].gradient());
    }
  }
  return out;
}

double PairScalar::curvature(const PairTwist& u) const {
  if (plain_) return s_[0].curvature(u);
  std::array<double, 2> rates{};
  for (std::size_t p = 0; p < count_; ++p) rates[p] = s_[p].rate(u);
  double sum = 0;
  for (std::size_t p = 0; p < count_; ++p) {
    sum += F1_[p] * s_[p].curvature(u);
    for (std::size_t q = 0; q < count_; ++q) sum += F2_[p][q] * rates[p] * rates[q];
  }
  return sum;
}

PairSlope PairScalar::curvature_pose(const PairTwist& u) const {
  if (plain_) return s_[0].curvature_pose(u);
  std::array<PairSlope, 2> gradients;
  std::array<double, 2> rates{};
  for (std::size_t p = 0; p < count_; ++p) {
    gradients[p] = s_[p].gradient();
    rates[p] = s_[p].rate(u);
  }
  PairSlope out;
  for (std::size_t p = 0; p < count_; ++p) {
    out.add(F1_[p], s_[p].curvature_pose(u));
    const double c = s_[p].curvature(u);
    for (std::size_t q = 0; q < count_; ++q) {
      out.add(F2_[p][q] * c, gradients[q]);
      out.add(2 * F2_[p][q] * rates[p], s_[q].contracted(u));
      for (std::size_t r = 0; r < count_; ++r) out.add(F3_[p][q][r] * rates[p] * rates[q], gradients[r]);
    }
  }
  return out;
}

PairSlope PairScalar::curvature_twist(const PairTwist& u) const {
  if (plain_) return s_[0].curvature_twist(u);
  PairSlope out;
  for (std::size_t p = 0; p < count_; ++p) {
    out.add(F1_[p], s_[p].curvature_twist(u));
    const double rate_p = s_[p].rate(u);
    for (std::size_t q = 0; q < count_; ++q) out.add(2 * F2_[p][q] * rate_p, s_[q].gradient());
  }
  return out;
}

TotalAngle total_angle(const Scalar& which, const FrameState& a, const FrameState& b, const double* memory, double t) {
  const PairScalar s(which, a, b, 1);
  return {RememberedAngle(memory).total(s.value(), t), s.rate(PairTwist(a, b))};
}

}  // namespace trammel
