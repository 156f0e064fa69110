#include "trammel/elements/joints/pair_function.h"

#include <cmath>
#include <complex>

namespace trammel {
namespace {

constexpr std::size_t place(int i) { return static_cast<std::size_t>(i); }

// Im log(s_0 + i sign s_1): every d/ds_1 multiplies by i sign.
void set_argument(PairFunction& out, double sign) {
  out.count = 2;
  const std::complex<double> z(out.s[0].value(), sign * out.s[1].value());
  const std::complex<double> L1 = 1.0 / z, L2 = -L1 * L1, L3 = -2.0 * L2 * L1;
  const std::complex<double> i(0, sign);
  const std::array<std::complex<double>, 4> power{1.0, i, i * i, i * i * i};
  out.value = std::arg(z);
  for (std::size_t p = 0; p < 2; ++p) {
    out.F1[p] = (power[p] * L1).imag();
    for (std::size_t q = 0; q < 2; ++q) {
      out.F2[p][q] = (power[p + q] * L2).imag();
      for (std::size_t r = 0; r < 2; ++r) out.F3[p][q][r] = (power[p + q + r] * L3).imag();
    }
  }
}

// r = sqrt(s_0^2 + s_1^2), n = s / r:  r_p = n_p,  r_pq = (d_pq - n_p n_q) / r,
// r_pqr = -(d_pq n_r + d_pr n_q + d_qr n_p - 3 n_p n_q n_r) / r^2
void set_radius(PairFunction& out) {
  out.count = 2;
  const double x = out.s[0].value(), y = out.s[1].value(), r = std::hypot(x, y);
  const std::array<double, 2> n{x / r, y / r};
  const auto delta = [](std::size_t p, std::size_t q) { return p == q ? 1.0 : 0.0; };
  out.value = r;
  for (std::size_t p = 0; p < 2; ++p) {
    out.F1[p] = n[p];
    for (std::size_t q = 0; q < 2; ++q) {
      out.F2[p][q] = (delta(p, q) - n[p] * n[q]) / r;
      for (std::size_t k = 0; k < 2; ++k) {
        out.F3[p][q][k] =
            -(delta(p, q) * n[k] + delta(p, k) * n[q] + delta(q, k) * n[p] - 3 * n[p] * n[q] * n[k]) / (r * r);
      }
    }
  }
}

}  // namespace

PairFunction pair_function(Primitive kind, int i, int j, const FrameState& a, const FrameState& b) {
  const auto dot = [&](int of_a, int of_b) { return Invariant{{Owner::a, a.R.col(of_a)}, {Owner::b, b.R.col(of_b)}}; };
  const auto coordinate = [&](int of_a) { return Invariant{{Owner::a, a.R.col(of_a)}, {Owner::line, b.p - a.p}}; };
  PairFunction out;
  switch (kind) {
    case Primitive::point: break;  // handled where it occurs
    case Primitive::in_plane:
    case Primitive::dot:
      out.s[0] = kind == Primitive::dot ? dot(i, j) : coordinate(i);
      out.value = out.s[0].value();
      out.F1[0] = 1;
      break;
    case Primitive::distance: {
      out.s[0] = {{Owner::line, b.p - a.p}, {Owner::line, b.p - a.p}};
      const double s = out.s[0].value(), l = std::sqrt(s);
      out.value = l;
      out.F1[0] = 0.5 / l;
      out.F2[0][0] = -0.25 / (s * l);
      out.F3[0][0][0] = 0.375 / (s * s * l);
      break;
    }
    case Primitive::angle:
      out.s = {dot(0, 0), dot(1, 0)};
      set_argument(out, 1);
      break;
    case Primitive::twist:
      out.count = 2;
      out.s = {dot(1, 0), dot(0, 1)};
      out.value = 0.5 * (out.s[0].value() - out.s[1].value());
      out.F1 = {0.5, -0.5};
      break;
    case Primitive::radius:
      out.s = {coordinate(0), coordinate(1)};
      set_radius(out);
      break;
    case Primitive::polar:
      out.s = {coordinate(0), coordinate(1)};
      set_argument(out, 1);
      break;
    case Primitive::cardan:
      // R_A^T R_B: entry (x, z) is sin(beta), (y, z) and (z, z) are cos(beta) (-sin, cos)(alpha), (x, y) and (x, x) the
      // same of gamma.
      if (i == 1) {
        out.s[0] = dot(0, 2);
        const double s = out.s[0].value(), c2 = 1 - s * s, c = std::sqrt(c2);
        out.value = std::asin(s);
        out.F1[0] = 1 / c;
        out.F2[0][0] = s / (c * c2);
        out.F3[0][0][0] = (1 + 2 * s * s) / (c * c2 * c2);
      } else {
        out.s =
            i == 0 ? std::array<Invariant, 2>{dot(2, 2), dot(1, 2)} : std::array<Invariant, 2>{dot(0, 0), dot(0, 1)};
        set_argument(out, -1);
      }
      break;
  }
  return out;
}

PairTwist pair_twist_of(const FrameState& a, const FrameState& b) {
  std::array<double, 12> u;
  Eigen::Map<Eigen::Matrix<double, 12, 1>>(u.data()) << a.v, a.w, b.v, b.w;
  return PairTwist(u.data());
}

// (f o F)_p = f' F_p,  (f o F)_pq = f'' F_p F_q + f' F_pq,
// (f o F)_pqr = f''' F_p F_q F_r + f'' (F_pq F_r + F_pr F_q + F_qr F_p) + f' F_pqr
void PairFunction::compose(const std::array<double, 4>& f) {
  const auto n = place(count);
  const PairFunction before = *this;
  value = f[0];
  for (std::size_t p = 0; p < n; ++p) {
    F1[p] = f[1] * before.F1[p];
    for (std::size_t q = 0; q < n; ++q) {
      F2[p][q] = f[2] * before.F1[p] * before.F1[q] + f[1] * before.F2[p][q];
      for (std::size_t r = 0; r < n; ++r) {
        F3[p][q][r] =
            f[3] * before.F1[p] * before.F1[q] * before.F1[r] +
            f[2] * (before.F2[p][q] * before.F1[r] + before.F2[p][r] * before.F1[q] + before.F2[q][r] * before.F1[p]) +
            f[1] * before.F3[p][q][r];
      }
    }
  }
}

void PairFunction::scale(double factor) {
  value *= factor;
  for (std::size_t p = 0; p < 2; ++p) {
    F1[p] *= factor;
    for (std::size_t q = 0; q < 2; ++q) {
      F2[p][q] *= factor;
      for (double& third : F3[p][q]) third *= factor;
    }
  }
}

// With s_i' = rate, c_i = curvature, D_i(u) = d(grad s_i u)/dpose:
//   gradient        F_i grad_i
//   contracted(u)   F_ij (grad_i u) grad_j + F_i D_i(u)
//   curvature       F_i c_i + F_ij s_i' s_j'
//   its pose        F_i c_i,pose + F_ij c_i grad_j + F_ijk s_i' s_j' grad_k + 2 F_ij s_i' D_j(u)
//   its twist       F_i c_i,twist + 2 F_ij s_i' grad_j
PairRow PairFunction::gradient() const {
  PairRow row = F1[0] * s[0].gradient();
  if (count > 1) row += F1[1] * s[1].gradient();
  return row;
}

double PairFunction::rate(const PairTwist& u) const {
  double sum = F1[0] * s[0].rate(u);
  if (count > 1) sum += F1[1] * s[1].rate(u);
  return sum;
}

PairRow PairFunction::contracted(const PairTwist& u) const {
  PairRow row = PairRow::Zero();
  const auto n = place(count);
  for (std::size_t p = 0; p < n; ++p) {
    row += F1[p] * s[p].contracted(u);
    for (std::size_t q = 0; q < n; ++q) {
      if (F2[p][q] != 0) row += (F2[p][q] * s[p].rate(u)) * s[q].gradient();
    }
  }
  return row;
}

double PairFunction::curvature(const PairTwist& u) const {
  const auto n = place(count);
  std::array<double, 2> rates{};
  for (std::size_t p = 0; p < n; ++p) rates[p] = s[p].rate(u);
  double sum = 0;
  for (std::size_t p = 0; p < n; ++p) {
    sum += F1[p] * s[p].curvature(u);
    for (std::size_t q = 0; q < n; ++q) sum += F2[p][q] * rates[p] * rates[q];
  }
  return sum;
}

PairRow PairFunction::curvature_pose(const PairTwist& u) const {
  const auto n = place(count);
  std::array<PairRow, 2> gradients;
  std::array<double, 2> rates{};
  for (std::size_t p = 0; p < n; ++p) {
    gradients[p] = s[p].gradient();
    rates[p] = s[p].rate(u);
  }
  PairRow row = PairRow::Zero();
  for (std::size_t p = 0; p < n; ++p) {
    row += F1[p] * s[p].curvature_pose(u);
    const double c = s[p].curvature(u);
    for (std::size_t q = 0; q < n; ++q) {
      row += (F2[p][q] * c) * gradients[q] + (2 * F2[p][q] * rates[p]) * s[q].contracted(u);
      for (std::size_t r = 0; r < n; ++r) row += (F3[p][q][r] * rates[p] * rates[q]) * gradients[r];
    }
  }
  return row;
}

PairRow PairFunction::curvature_twist(const PairTwist& u) const {
  const auto n = place(count);
  PairRow row = PairRow::Zero();
  for (std::size_t p = 0; p < n; ++p) {
    row += F1[p] * s[p].curvature_twist(u);
    const double rate_p = s[p].rate(u);
    for (std::size_t q = 0; q < n; ++q) row += (2 * F2[p][q] * rate_p) * s[q].gradient();
  }
  return row;
}

}  // namespace trammel
