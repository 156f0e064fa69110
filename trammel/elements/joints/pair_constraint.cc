#include "trammel/elements/joints/pair_constraint.h"

#include <array>
#include <cmath>
#include <complex>

#include "trammel/math/rotation.h"

namespace trammel {

// F(s) or F(s0, s1): value of the row without its time function, and the derivatives the chain rule asks for.
struct PairConstraint::Scalar {
  int count = 1;  // number of invariants
  std::array<Invariant, 2> s;
  double value = 0;
  std::array<double, 2> F1{};  // dF/ds_i
  std::array<std::array<double, 2>, 2> F2{};
  std::array<std::array<std::array<double, 2>, 2>, 2> F3{};
};

PairConstraint::PairConstraint(std::vector<PairRowSpec> rows, std::vector<Expression> functions)
    : rows_(std::move(rows)), functions_(std::move(functions)) {
  for (const PairRowSpec& row : rows_) angles_ += row.kind == Primitive::angle ? 1 : 0;
}

RowUnit PairConstraint::row_unit(int i) const {
  const Primitive kind = row(i).kind;
  return kind == Primitive::dot || kind == Primitive::angle ? RowUnit::torque : RowUnit::force;
}

std::string PairConstraint::row_name(int i) const {
  static const char* const axes[] = {"x", "y", "z"};
  const PairRowSpec& r = row(i);
  switch (r.kind) {
    case Primitive::point: return std::string("points coincide along world ") + axes[r.i];
    case Primitive::in_plane:
      return std::string(r.function < 0 ? "point in the plane normal to " : "displacement along ") + axes[r.i];
    case Primitive::distance: return "distance";
    case Primitive::dot: return std::string("axis ") + axes[r.i] + " perpendicular to axis " + axes[r.j];
    case Primitive::angle: return "angle about z";
  }
  return "";
}

PairConstraint::Scalar PairConstraint::scalar(const PairRowSpec& row, const FrameState& a, const FrameState& b) const {
  Scalar out;
  switch (row.kind) {
    case Primitive::point: break;  // linear in the frames' positions; handled where it occurs
    case Primitive::in_plane:
      out.s[0] = {{Owner::a, a.R.col(row.i)}, {Owner::line, b.p - a.p}};
      out.value = out.s[0].value();
      out.F1[0] = 1;
      break;
    case Primitive::dot:
      out.s[0] = {{Owner::a, a.R.col(row.i)}, {Owner::b, b.R.col(row.j)}};
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
    case Primitive::angle: {
      // angle = Im log(z), z = s0 + i s1, s0 = b_x . a_x, s1 = b_x . a_y; every d/ds1 multiplies by i.
      out.count = 2;
      out.s[0] = {{Owner::a, a.R.col(0)}, {Owner::b, b.R.col(0)}};
      out.s[1] = {{Owner::a, a.R.col(1)}, {Owner::b, b.R.col(0)}};
      const std::complex<double> z(out.s[0].value(), out.s[1].value());
      const std::complex<double> i(0, 1);
      const std::complex<double> L1 = 1.0 / z, L2 = -L1 * L1, L3 = -2.0 * L2 * L1;
      out.value = std::arg(z);
      const auto power = [&](int n) {
        return n == 0 ? std::complex<double>(1) : n == 1 ? i : n == 2 ? i * i : i * i * i;
      };
      for (int p = 0; p < 2; ++p) {
        const auto up = static_cast<std::size_t>(p);
        out.F1[up] = (power(p) * L1).imag();
        for (int q = 0; q < 2; ++q) {
          const auto uq = static_cast<std::size_t>(q);
          out.F2[up][uq] = (power(p + q) * L2).imag();
          for (int r = 0; r < 2; ++r) out.F3[up][uq][static_cast<std::size_t>(r)] = (power(p + q + r) * L3).imag();
        }
      }
      break;
    }
  }
  return out;
}

double PairConstraint::target(const PairRowSpec& row, double t) const {
  return row.function < 0 ? 0.0 : functions_[static_cast<std::size_t>(row.function)].value(t, {});
}

double PairConstraint::angle(const PairRowSpec& /*row*/, const ElementInput& in, int memory_index) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  const double raw = std::atan2(b.R.col(0).dot(a.R.col(1)), b.R.col(0).dot(a.R.col(0)));
  return unwrap_angle(raw, in.memory[memory_index]);
}

bool PairConstraint::evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  const Vec3 d = b.p - a.p;
  Vec3 force = Vec3::Zero();  // on B's origin, minus that on A's
  Vec3 torque_a = Vec3::Zero(), torque_b = Vec3::Zero();
  int angle_index = 0;
  bool good = true;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const PairRowSpec& row = rows_[k];
    const double l = lambda == nullptr ? 0.0 : lambda[k];
    switch (row.kind) {
      case Primitive::point:
        g[k] = d[row.i];
        force[row.i] += l;
        break;
      case Primitive::in_plane: {
        const Vec3 axis = a.R.col(row.i);
        g[k] = axis.dot(d) - target(row, in.t);
        force += l * axis;
        torque_a += l * axis.cross(d);
        break;
      }
      case Primitive::distance: {
        const double length = d.norm();
        if (!(length > 0)) good = false;
        g[k] = length - target(row, in.t);
        force += (l / length) * d;
        break;
      }
      case Primitive::dot: {
        const Vec3 x = a.R.col(row.i), y = b.R.col(row.j);
        g[k] = x.dot(y);
        const Vec3 c = l * x.cross(y);
        torque_a += c;
        torque_b -= c;
        break;
      }
      case Primitive::angle: {
        const Scalar s = scalar(row, a, b);
        g[k] = angle(row, in, angle_index++) - target(row, in.t);
        const Vec3 c0 = s.s[0].x.x.cross(s.s[0].y.x), c1 = s.s[1].x.x.cross(s.s[1].y.x);
        const Vec3 c = l * (s.F1[0] * c0 + s.F1[1] * c1);
        if (!c.allFinite()) good = false;
        torque_a += c;
        torque_b -= c;
        break;
      }
    }
  }
  if (wrench != nullptr) {
    for (int i = 0; i < 3; ++i) {
      wrench[i] = -force[i];
      wrench[3 + i] = torque_a[i];
      wrench[6 + i] = force[i];
      wrench[9 + i] = torque_b[i];
    }
  }
  return good;
}

namespace {
PairRow point_row(int i) {
  PairRow row = PairRow::Zero();
  row[i] = -1;
  row[6 + i] = 1;
  return row;
}

void pack_twist(const FrameState& a, const FrameState& b, double* tau) {
  Eigen::Map<Vec3>(tau, 3) = a.v;
  Eigen::Map<Vec3>(tau + 3, 3) = a.w;
  Eigen::Map<Vec3>(tau + 6, 3) = b.v;
  Eigen::Map<Vec3>(tau + 9, 3) = b.w;
}
}  // namespace

void PairConstraint::jacobian(const ElementInput& in, RowMatrix& C) const {
  C.setZero(rows(), 12);
  for (int k = 0; k < rows(); ++k) {
    const PairRowSpec& spec = row(k);
    if (spec.kind == Primitive::point) {
      C.row(k) = point_row(spec.i);
      continue;
    }
    const Scalar s = scalar(spec, in.frames[0], in.frames[1]);
    for (std::size_t p = 0; p < static_cast<std::size_t>(s.count); ++p) C.row(k) += s.F1[p] * s.s[p].gradient();
  }
}

void PairConstraint::rate(const ElementInput& in, double* g_dot) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  std::array<double, 12> tau;
  pack_twist(a, b, tau.data());
  const PairTwist u(tau.data());
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const PairRowSpec& spec = rows_[k];
    if (spec.kind == Primitive::point) {
      g_dot[k] = u.v_line[spec.i];
      continue;
    }
    const Scalar s = scalar(spec, a, b);
    double sum = 0;
    for (std::size_t p = 0; p < static_cast<std::size_t>(s.count); ++p) sum += s.F1[p] * s.s[p].rate(u);
    if (spec.function >= 0) sum -= functions_[static_cast<std::size_t>(spec.function)].time_derivatives(in.t, {})[1];
    g_dot[k] = sum;
  }
}

void PairConstraint::curvature(const ElementInput& in, double* c) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  std::array<double, 12> tau;
  pack_twist(a, b, tau.data());
  const PairTwist u(tau.data());
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const PairRowSpec& spec = rows_[k];
    double sum =
        spec.function < 0 ? 0.0 : -functions_[static_cast<std::size_t>(spec.function)].time_derivatives(in.t, {})[2];
    if (spec.kind != Primitive::point) {
      const Scalar s = scalar(spec, a, b);
      const auto count = static_cast<std::size_t>(s.count);
      std::array<double, 2> sdot{};
      for (std::size_t p = 0; p < count; ++p) sdot[p] = s.s[p].rate(u);
      for (std::size_t p = 0; p < count; ++p) {
        sum += s.F1[p] * s.s[p].curvature(u);
        for (std::size_t q = 0; q < count; ++q) sum += s.F2[p][q] * sdot[p] * sdot[q];
      }
    }
    c[k] = sum;
  }
}

void PairConstraint::linearise(const ElementInput& in, const double* lambda, RowMatrix& C,
                               FrameMatrix& wrench_pose) const {
  C.setZero(rows(), 12);
  wrench_pose.setZero(12, 12);
  for (int k = 0; k < rows(); ++k) {
    const PairRowSpec& spec = row(k);
    if (spec.kind == Primitive::point) {
      C.row(k) = point_row(spec.i);
      continue;
    }
    const Scalar s = scalar(spec, in.frames[0], in.frames[1]);
    const auto count = static_cast<std::size_t>(s.count);
    std::array<PairRow, 2> gradient;
    for (std::size_t p = 0; p < count; ++p) {
      gradient[p] = s.s[p].gradient();
      C.row(k) += s.F1[p] * gradient[p];
      wrench_pose += (lambda[k] * s.F1[p]) * s.s[p].hessian();
    }
    for (std::size_t p = 0; p < count; ++p) {
      for (std::size_t q = 0; q < count; ++q) {
        if (s.F2[p][q] != 0) wrench_pose += (lambda[k] * s.F2[p][q]) * gradient[p].transpose() * gradient[q];
      }
    }
  }
}

// Chain rule for g = F(s_0, s_1) - f(t), s_i' = rate, c_i = curvature, D_i(u) = d(grad s_i u)/dpose:
//   C      = F_i grad_i
//   (C u)_pose = F_ij (grad_i u) grad_j + F_i D_i(u)
//   c      = F_i c_i + F_ij s_i' s_j' - f''
//   c_pose = F_i c_i,pose + F_ij c_i grad_j + F_ijk s_i' s_j' grad_k + 2 F_ij s_i' D_j(tau)
//   c_twist = F_i c_i,twist + 2 F_ij s_i' grad_j
void PairConstraint::linearise_all(const ElementInput& in, const double* lambda, const double* rate, const double* bias,
                                   ConstraintPartials& out) const {
  const FrameState &a = in.frames[0], &b = in.frames[1];
  out.set_zero(rows(), 2);
  linearise(in, lambda, out.C, out.wrench_pose);
  std::array<double, 12> tau;
  pack_twist(a, b, tau.data());
  const std::array<PairTwist, 3> u{PairTwist(tau.data()), PairTwist(rate), PairTwist(bias)};
  const std::array<RowMatrix*, 3> contracted{&out.Ctwist_pose, &out.Crate_pose, &out.Cbias_pose};
  for (int k = 0; k < rows(); ++k) {
    const PairRowSpec& spec = row(k);
    if (spec.function >= 0) {
      const auto f = functions_[static_cast<std::size_t>(spec.function)].time_derivatives(in.t, {});
      out.g_t[k] = -f[1];
      out.curvature[k] = -f[2];
      out.curvature_t[k] = -f[3];
    }
    if (spec.kind == Primitive::point) continue;
    const Scalar s = scalar(spec, a, b);
    const auto count = static_cast<std::size_t>(s.count);
    std::array<PairRow, 2> gradient;
    std::array<double, 2> sdot{}, curvature{};
    for (std::size_t p = 0; p < count; ++p) {
      gradient[p] = s.s[p].gradient();
      sdot[p] = s.s[p].rate(u[0]);
      curvature[p] = s.s[p].curvature(u[0]);
    }
    for (std::size_t p = 0; p < count; ++p) {
      for (std::size_t which = 0; which < 3; ++which)
        contracted[which]->row(k) += s.F1[p] * s.s[p].contracted(u[which]);
      out.curvature[k] += s.F1[p] * curvature[p];
      out.curvature_pose.row(k) += s.F1[p] * s.s[p].curvature_pose(u[0]);
      out.curvature_twist.row(k) += s.F1[p] * s.s[p].curvature_twist(u[0]);
      for (std::size_t q = 0; q < count; ++q) {
        const double F2 = s.F2[p][q];
        for (std::size_t which = 0; which < 3; ++which) {
          contracted[which]->row(k) += (F2 * s.s[p].rate(u[which])) * gradient[q];
        }
        out.curvature[k] += F2 * sdot[p] * sdot[q];
        out.curvature_pose.row(k) += F2 * curvature[p] * gradient[q] + (2 * F2 * sdot[p]) * s.s[q].contracted(u[0]);
        out.curvature_twist.row(k) += (2 * F2 * sdot[p]) * gradient[q];
        for (std::size_t r = 0; r < count; ++r) {
          out.curvature_pose.row(k) += (s.F3[p][q][r] * sdot[p] * sdot[q]) * gradient[r];
        }
      }
    }
  }
}

void PairConstraint::start(const ElementInput& in, double* memory) const {
  int index = 0;
  for (const PairRowSpec& spec : rows_) {
    if (spec.kind == Primitive::angle) memory[index++] = target(spec, in.t);
  }
  accept({in.t, in.frames, memory}, memory);
}

void PairConstraint::accept(const ElementInput& in, double* memory) const {
  int index = 0;
  for (const PairRowSpec& spec : rows_) {
    if (spec.kind != Primitive::angle) continue;
    memory[index] = angle(spec, in, index);
    ++index;
  }
}

double PairConstraint::turned(const ElementInput& in) const {
  double most = 0;
  int index = 0;
  for (const PairRowSpec& spec : rows_) {
    if (spec.kind != Primitive::angle) continue;
    most = std::max(most, std::abs(angle(spec, in, index) - in.memory[index]));
    ++index;
  }
  return most;
}

}  // namespace trammel
