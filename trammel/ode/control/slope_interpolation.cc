#include "trammel/ode/control/slope_interpolation.h"

#include <cmath>

namespace trammel {

SlopeInterpolation::SlopeInterpolation(int points) : points_(points) {
  // -1, 1 and the zeros of P'_{n-1}: of 5 x^2 - 1, or of x (33 x^4 - 30 x^2 + 5); moved to [0, 1].
  if (points == 4) {
    const double a = std::sqrt(1.0 / 5);
    points_ << -1, -a, a, 1;
  } else {
    const double a = std::sqrt((15 - 2 * std::sqrt(15.0)) / 33), b = std::sqrt((15 + 2 * std::sqrt(15.0)) / 33);
    points_ << -1, -b, -a, 0, a, b, 1;
  }
  points_ = (0.5 * (points_.array() + 1)).eval();
  Mat powers(points, points);  // of each point, in its row
  for (int i = 0; i < points; ++i) {
    powers(i, 0) = 1;
    for (int j = 1; j < points; ++j) powers(i, j) = powers(i, j - 1) * points_[i];
  }
  integrals_ = powers.inverse().transpose();
  for (int j = 0; j < points; ++j) integrals_.col(j) /= j + 1;
}

void SlopeInterpolation::evaluate(double theta, double h, const Vec& y0, const Vec& y1, Vec& y) const {
  const double blend = theta * theta * (3 - 2 * theta);
  y = (1 - blend) * y0 + blend * y1;
  for (Eigen::Index i = 0; i < points_.size(); ++i) {
    double here = 0, whole = 0;
    for (Eigen::Index j = points_.size(); j-- > 0;) {
      here = (here + integrals_(i, j)) * theta;
      whole += integrals_(i, j);
    }
    y += (h * (here - blend * whole)) * slopes_.col(i);
  }
}

void SlopeInterpolation::visit(Archive& archive) {
  archive(known_);
  if (known_) archive(slopes_);
  archive.expect(!known_ || slopes_.cols() == points_.size());
}

}  // namespace trammel
