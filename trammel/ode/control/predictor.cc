#include "trammel/ode/control/predictor.h"

#include <cmath>

namespace trammel {

void Predictor::resize(int size, int judged) {
  judged_ = judged;
  for (Vec& d : D_) d.setZero(size);
  clear();
}

void Predictor::add(double t, const Vec& value, const Vec& scales) {
  const int known = points_ > most ? most + 1 : points_;  // earlier points in use
  std::array<double, most + 1> span{}, inverse{};         // t - t_i, newest first
  for (int i = 0; i < known; ++i) {
    span[i] = t - time_[i];
    inverse[i] = 1 / span[i];
  }
  std::array<double, most + 2> miss{};  // squared norms of the new D_1 .. D_4
  const auto n = value.size();
  for (Eigen::Index j = 0; j < n; ++j) {
    double fresh = value[j];
    const double weight = j < judged_ ? 1 / scales[j] : 0;
    for (int k = 0; k <= most; ++k) {
      double& slot = D_[k][j];
      const double old = slot;
      slot = fresh;
      if (k >= known) break;
      fresh = (fresh - old) * inverse[k];
      miss[k + 1] += weight * weight * fresh * fresh;
    }
  }
  for (int i = most; i > 0; --i) time_[i] = time_[i - 1];
  time_[0] = t;
  if (points_ <= most) ++points_;
  // Degree k missed the new value by |D_{k+1}| times the product of k+1 spans.
  degree_ = 0;
  double best = 0, product = 1;
  for (int k = 0; k < known && k <= limit_; ++k) {
    product *= span[k];
    const double missed = std::sqrt(miss[k + 1]) * std::abs(product);
    if (k == 0 || missed < best) {
      best = missed;
      degree_ = k;
    }
  }
}

void Predictor::predict(double t, Vec& out) const {
  if (degree_ == 0) {
    out = D_[0];
    return;
  }
  const double s0 = t - time_[0], s1 = t - time_[1], s2 = t - time_[2];
  switch (degree_) {
    case 1: out = D_[0] + s0 * D_[1]; break;
    case 2: out = D_[0] + s0 * (D_[1] + s1 * D_[2]); break;
    default: out = D_[0] + s0 * (D_[1] + s1 * (D_[2] + s2 * D_[3])); break;
  }
}

void Predictor::visit(Archive& archive) { archive(limit_, degree_, points_, time_, D_); }

}  // namespace trammel
