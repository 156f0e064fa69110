// Values inside a step from slopes: with the polynomial p through f at the points theta_i of Lobatto's quadrature, from
// 0, the step's start, to 1, its end,
//
//   y(theta) = y0 + h int_0^theta p + theta^2 (3 - 2 theta) r,   r = y1 - y0 - h int_0^1 p
//
// With n points the error goes with h^(n+1); r, which is smaller, makes the ends meet. f inside is evaluated at values
// that a simpler interpolation gives, of order n or a little less, when the step is first asked for a value.
#pragma once
#include "trammel/base/archive.h"

namespace trammel {

class SlopeInterpolation {
 public:
  explicit SlopeInterpolation(int points);  // 4 or 7

  void forget() { known_ = false; }  // a new step
  // Slopes inside the step by `slope(theta, f)`, unless they are known; false: one of them cannot be evaluated.
  template <class Slope>
  bool find(const Vec& f0, const Vec& f1, Slope&& slope) {
    if (known_) return true;
    const Eigen::Index last = points_.size() - 1;
    slopes_.resize(f0.size(), points_.size());
    f_.resize(f0.size());
    for (Eigen::Index i = 1; i < last; ++i) {
      if (!slope(points_[i], f_)) return false;
      slopes_.col(i) = f_;
    }
    slopes_.col(0) = f0;
    slopes_.col(last) = f1;
    known_ = true;
    return true;
  }
  void evaluate(double theta, double h, const Vec& y0, const Vec& y1, Vec& y) const;

  void visit(Archive& archive);

 private:
  Vec points_, f_;
  Mat integrals_;  // row i: coefficients of theta, theta^2, ... in the integral of the i-th Lagrange polynomial
  Mat slopes_;
  bool known_ = false;
};

}  // namespace trammel
