// The manifold of the coordinates: spatial bodies add a rotation vector from the right, everything else adds.
#include <cmath>
#include <limits>

#include "trammel/equations/equations.h"

namespace trammel {

void Equations::retract(const Vec& q, const Vec& delta, Vec& out) const {
  for (const BodyRecord& b : bodies_) {
    const double* from = q.data() + b.q0;
    const double* step = delta.data() + b.v0;
    double* to = out.data() + b.q0;
    const int plain = columns_of(b.kind).count - (b.kind == BodyKind::spatial ? 3 : 0);
    for (int i = 0; i < plain; ++i) to[i] = from[i] + step[i];
    if (b.kind == BodyKind::spatial) {
      // exp(theta/2) as in rotation_exp; normalised so that ten million steps do not stretch the quaternion
      Quat turned = Quat(from[3], from[4], from[5], from[6]) * rotation_exp(Vec3(step[3], step[4], step[5]));
      turned.coeffs() *= 1.5 - 0.5 * turned.squaredNorm();  // Newton step for 1/|q|: the deviation is of round-off size
      to[3] = turned.w();
      to[4] = turned.x();
      to[5] = turned.y();
      to[6] = turned.z();
    }
  }
}

void Equations::local(const Vec& from, const Vec& to, Vec& delta) const {
  for (const BodyRecord& b : bodies_) {
    const double* p = from.data() + b.q0;
    const double* q = to.data() + b.q0;
    double* d = delta.data() + b.v0;
    const int plain = columns_of(b.kind).count - (b.kind == BodyKind::spatial ? 3 : 0);
    for (int i = 0; i < plain; ++i) d[i] = q[i] - p[i];
    if (b.kind == BodyKind::spatial) {
      Eigen::Map<Vec3>(d + 3) = rotation_log(Quat(p[3], p[4], p[5], p[6]).conjugate() * Quat(q[3], q[4], q[5], q[6]));
    }
  }
}

void Equations::retract_derivative(const Vec& delta, std::vector<Mat3>& T) const {
  T.resize(rotation_columns_.size());
  for (std::size_t i = 0; i < T.size(); ++i) T[i] = rotation_tangent(delta.segment<3>(rotation_columns_[i]));
}

Vec Equations::scales() const {
  Vec y = Vec::Constant(sizes_.nv, length_);
  for (const BodyRecord& b : bodies_) {
    if (b.kind == BodyKind::planar) y[b.v0 + 2] = 1;
    if (b.kind == BodyKind::scalar && !b.is_length) y[b.v0] = 1;
    if (b.kind == BodyKind::spatial) y.segment<3>(b.v0 + 3).setOnes();
  }
  return y;
}

bool Equations::is_angle(int i) const {
  const BodyRecord& b = bodies_[body_of_velocity(i)];
  if (b.kind == BodyKind::scalar) return !b.is_length;
  return i - b.v0 >= translations_of(b.kind);
}

void Equations::set_scales(const Vec& q, double tolerance, Vec& y) const {
  const double round_off = 100 * std::numeric_limits<double>::epsilon();
  for (const BodyRecord& b : bodies_) {
    if (b.kind == BodyKind::scalar && !b.is_length) continue;
    for (int i = 0; i < translations_of(b.kind); ++i)
      y[b.v0 + i] = std::max(length_, round_off * std::abs(q[b.q0 + i]) / tolerance);
  }
}

double Equations::reach(const Vec& q) const {
  double most = length_;
  for (const BodyRecord& b : bodies_) {
    if (b.kind == BodyKind::scalar && !b.is_length) continue;
    for (int i = 0; i < translations_of(b.kind); ++i) most = std::max(most, std::abs(q[b.q0 + i]));
  }
  return most;
}

double Equations::round_off(const Vec& q, const Vec& scales) const {
  double most = 1;
  for (const BodyRecord& b : bodies_) {
    if (b.kind == BodyKind::scalar && !b.is_length) continue;
    for (int i = 0; i < translations_of(b.kind); ++i) most = std::max(most, std::abs(q[b.q0 + i]) / scales[b.v0 + i]);
  }
  return most * std::numeric_limits<double>::epsilon();
}

double Equations::rate(const State& start, const Rates& rates) const {
  if (const double g = model_.gravity.norm(); g > 0) return std::sqrt(g / length_);
  if (sizes_.nv > 0) {
    const Vec y = scales();
    if (const double v = start.v.cwiseQuotient(y).lpNorm<Eigen::Infinity>(); v > 0) return v;
    if (const double a = rates.a.cwiseQuotient(y).lpNorm<Eigen::Infinity>(); a > 0) return std::sqrt(a);
  }
  return model_.simulation.end > 0 ? 1 / model_.simulation.end : 1;
}

double Equations::size_of_rows(const Vec& rows, int* worst) const {
  if (rows.size() == 0) return 0;
  int at = 0;
  const double size = rows.cwiseAbs().cwiseProduct(row_arms_).maxCoeff(&at);
  if (worst != nullptr) *worst = at;
  return size;
}

}  // namespace trammel
