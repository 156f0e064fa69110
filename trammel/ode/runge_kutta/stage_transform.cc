#include "trammel/ode/runge_kutta/stage_transform.h"
#include "trammel/linalg/eigenvalues.h"

#include <Eigen/LU>
#include <cmath>

namespace trammel {

StageTransform::StageTransform(const ImplicitTableau& tableau) : inverse(tableau.A.inverse()), c_(tableau.c) {
  const int s = tableau.stages();
  const GeneralEigen eigen = general_eigen(inverse);
  X.resize(s, s);
  int k = 0;
  for (int i = 0; i < s; ++i) {
    const Complex value = eigen.values[i];
    if (std::abs(value.imag()) < 1e-10) {
      X.col(k) = eigen.vectors.col(i).real();
      real.push_back({k, value.real()});
      ++k;
    } else if (value.imag() > 0) {
      X.col(k) = eigen.vectors.col(i).real();
      X.col(k + 1) = eigen.vectors.col(i).imag();
      pairs.push_back({k, value});
      k += 2;
    }
  }
  X_inverse = X.inverse();
  mu_0 = real.empty() ? std::abs(pairs.front().mu) : real.front().mu;
  // Weights b^ of order s with 1/mu_0 on f_0: sum b^_i c_i^(q-1) = 1/q - [q = 1] / mu_0.
  Mat V(s, s);
  Vec moments(s);
  for (int q = 0; q < s; ++q) {
    moments[q] = 1.0 / (q + 1) - (q == 0 ? 1 / mu_0 : 0);
    for (int i = 0; i < s; ++i) V(q, i) = q == 0 ? 1 : std::pow(c_[i], q);
  }
  const Vec b_hat = V.fullPivLu().solve(moments);
  error_weights = ((b_hat - tableau.b).transpose() * inverse).transpose();
}

void StageTransform::lagrange(double theta, bool with_start, Eigen::Ref<Vec> weights) const {
  const Eigen::Index s = c_.size();
  for (Eigen::Index i = 0; i < s; ++i) {
    double w = with_start ? theta / c_[i] : 1;
    for (Eigen::Index j = 0; j < s; ++j) {
      if (j != i) w *= (theta - c_[j]) / (c_[i] - c_[j]);
    }
    weights[i] = w;
  }
}

}  // namespace trammel
