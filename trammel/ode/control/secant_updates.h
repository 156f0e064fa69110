// Broyden's secant method in place of kept derivatives: the correction d = -B^-1 F of a matrix B that was factored
// somewhere else becomes that of B with a term of rank one for each correction before, such that B (x_k+1 - x_k) =
// F(x_k+1) - F(x_k). No matrix is formed: with s_j the corrections made (C. T. Kelley, Solving Nonlinear Equations with
// Newton's Method, 2003, section 4.1),
//
//   z = -B_0^-1 F(x_n+1),   z <- z + s_j+1 (s_j . z)/|s_j|^2 for j < n,   s_n+1 = z / (1 - s_n . z/|s_n|^2)
#pragma once
#include <Eigen/Core>
#include <array>
#include <cmath>

namespace trammel {

class SecantUpdates {
 public:
  using Vector = Eigen::VectorXd;

  void begin() { count_ = 0; }
  // From -B_0^-1 F to what the iteration adds next. What stands in the way of a division, or of more vectors than are
  // kept, is forgotten.
  void improve(Eigen::Ref<Vector> z) {
    for (std::size_t j = 0; j + 1 < count_; ++j) z += s_[j + 1] * (s_[j].dot(z) / s_[j].squaredNorm());
    if (count_ > 0) {
      const Vector& last = s_[count_ - 1];
      const double rest = 1 - last.dot(z) / last.squaredNorm();
      if (std::abs(rest) > 0.1 && std::isfinite(rest))
        z /= rest;
      else
        count_ = 0;
    }
    if (count_ == s_.size()) count_ = 0;
    s_[count_] = z;
    if (s_[count_].squaredNorm() > 0) ++count_;
  }

 private:
  std::array<Vector, 12> s_;
  std::size_t count_ = 0;
};

}  // namespace trammel
