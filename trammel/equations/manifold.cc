// The manifold of the coordinates, as the bodies' kinds say it, and scales of norms on it.
#include <cmath>
#include <limits>

#include "trammel/equations/equations.h"

namespace trammel {

void Equations::retract(const Vec& q, const Vec& delta, Vec& out) const {
  for (const auto& group : groups_) group->retract(q, delta, out);
}

void Equations::local(const Vec& from, const Vec& to, Vec& delta) const {
  for (const auto& group : groups_) group->local(from, to, delta);
}

void Equations::retract_derivative(const Vec& delta, std::vector<Mat3>& T) const {
  T.resize(rotation_columns_.size());
  for (std::size_t i = 0; i < T.size(); ++i) T[i] = rotation_tangent(delta.segment<3>(rotation_columns_[i]));
}

Vec Equations::scales() const {
  Vec y = Vec::Ones(sizes_.nv);
  for (const LengthColumn& column : lengths_) y[column.v] = length_;
  for (const int i : modal_) {
    const BodyVelocity& mode = velocity(i);
    y[i] = 1 / std::max(mode.displacement / length_, mode.turn);
  }
  return y;
}

bool Equations::is_angle(int i) const { return velocity(i).quantity != Quantity::length; }

void Equations::set_scales(const Vec& q, double tolerance, Vec& y) const {
  const double round_off = 100 * std::numeric_limits<double>::epsilon();
  for (const LengthColumn& column : lengths_)
    y[column.v] = std::max(length_, round_off * std::abs(q[column.q]) / tolerance);
}

double Equations::reach(const Vec& q) const {
  double most = length_;
  for (const LengthColumn& column : lengths_) most = std::max(most, std::abs(q[column.q]));
  return most;
}

double Equations::round_off(const Vec& q, const Vec& scales) const {
  double most = 1;
  for (const LengthColumn& column : lengths_) most = std::max(most, std::abs(q[column.q]) / scales[column.v]);
  return most * std::numeric_limits<double>::epsilon();
}

double Equations::rate(const State& start, const Rates& rates) const {
  if (model_.simulation.time_scale) return 1 / *model_.simulation.time_scale;
  if (const double g = model_.gravity.norm(); g > 0) return std::sqrt(g / length_);
  if (sizes_.nv > 0) {
    const Vec y = scales();
    const double v = start.v.cwiseQuotient(y).lpNorm<Eigen::Infinity>(),
                 by_a = std::sqrt(rates.a.cwiseQuotient(y).lpNorm<Eigen::Infinity>());
    constexpr double at_rest = 1e-6;  // slower is round-off, as where something that stuck sets off
    if (v > at_rest * by_a) return v;
    if (by_a > 0) return by_a;
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
