#include "trammel/ode/multistep/multistep_formula.h"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "trammel/base/diagnosis.h"

namespace trammel {
namespace {

// sum alpha_i s^q + q sum beta_i s^(q-1) with s = -i, by the largest term.
double condition(const MultistepFormula& m, int q, double* scale = nullptr) {
  double sum = 0, greatest = 0;
  for (std::size_t i = 0; i < m.alpha.size(); ++i) {
    const double s = -static_cast<double>(i);
    const double a = m.alpha[i] * std::pow(s, q), b = q > 0 ? q * m.beta[i] * std::pow(s, q - 1) : 0;
    sum += a + b;
    greatest = std::max({greatest, std::abs(a), std::abs(b)});
  }
  if (scale != nullptr) *scale = greatest;
  return sum;
}

void check_steps(int k, int most, const char* family) {
  if (k >= 1 && k <= most) return;
  throw Failure(
      {Severity::error,
       "bad-tableau",
       std::string(family) + " formulas have 1 to " + std::to_string(most) + " steps, not " + std::to_string(k),
       "",
       {}});
}

// Roots of p_0 x^k + ... + p_k by the companion matrix.
Eigen::VectorXcd roots_of(const std::vector<std::complex<double>>& p) {
  const auto k = static_cast<Eigen::Index>(p.size()) - 1;
  Eigen::MatrixXcd companion = Eigen::MatrixXcd::Zero(k, k);
  for (Eigen::Index i = 0; i < k; ++i) companion(0, i) = -p[i + 1] / p[0];
  for (Eigen::Index i = 1; i < k; ++i) companion(i, i - 1) = 1;
  return Eigen::ComplexEigenSolver<Eigen::MatrixXcd>(companion, false).eigenvalues();
}

}  // namespace

int MultistepFormula::order() const {
  for (int q = 0;; ++q) {
    double scale = 0;
    const double value = condition(*this, q, &scale);
    if (std::abs(value) > 1e-12 * scale || q > 2 * steps() + 1) return q - 1;
  }
}

double MultistepFormula::error_constant() const {
  const int p = order();
  return condition(*this, p + 1) / (std::tgamma(p + 2.0) * alpha[0]);
}

bool MultistepFormula::zero_stable() const {
  const Eigen::VectorXcd roots = roots_of({alpha.begin(), alpha.end()});
  for (Eigen::Index i = 0; i < roots.size(); ++i) {
    if (std::abs(roots[i]) > 1 + 1e-9) return false;
    for (Eigen::Index j = 0; j < i; ++j) {
      if (std::abs(roots[i]) > 1 - 1e-6 && std::abs(roots[i] - roots[j]) < 1e-6) return false;
    }
  }
  return true;
}

double MultistepFormula::growth(std::complex<double> z) const {
  std::vector<std::complex<double>> p;
  for (std::size_t i = 0; i < alpha.size(); ++i) p.push_back(alpha[i] + z * beta[i]);
  return roots_of(p).cwiseAbs().maxCoeff();
}

double MultistepFormula::real_interval() const {
  const auto stable = [&](double x) { return growth(-x) <= 1 + 1e-9; };
  double x = 0, step = 1e-2;
  while (stable(x + step)) {
    x += step;
    step = std::max(1e-2, 0.02 * x);
    if (x > 1e6) return 1e6;
  }
  for (int i = 0; i < 50; ++i) {
    step /= 2;
    if (stable(x + step)) x += step;
  }
  return x;
}

double MultistepFormula::iteration_limit() const { return is_explicit() ? 1e300 : std::abs(alpha[0] / beta[0]); }

MultistepFormula MultistepFormula::adams_bashforth(int k) {
  check_steps(k, 5, "Adams-Bashforth");
  switch (k) {
    case 1: return {"AB1", {1, -1}, {0, -1}};
    case 2: return {"AB2", {2, -2, 0}, {0, -3, 1}};
    case 3: return {"AB3", {12, -12, 0, 0}, {0, -23, 16, -5}};
    case 4: return {"AB4", {24, -24, 0, 0, 0}, {0, -55, 59, -37, 9}};
    default: return {"AB5", {720, -720, 0, 0, 0, 0}, {0, -1901, 2774, -2616, 1274, -251}};
  }
}

MultistepFormula MultistepFormula::adams_moulton(int k) {
  check_steps(k, 5, "Adams-Moulton");
  switch (k) {
    case 1: return {"AM1", {1, -1}, {-1, 0}};
    case 2: return {"AM2", {2, -2}, {-1, -1}};
    case 3: return {"AM3", {12, -12, 0}, {-5, -8, 1}};
    case 4: return {"AM4", {24, -24, 0, 0}, {-9, -19, 5, -1}};
    default: return {"AM5", {720, -720, 0, 0, 0}, {-251, -646, 264, -106, 19}};
  }
}

MultistepFormula MultistepFormula::bdf(int k) {
  check_steps(k, 6, "BDF");
  switch (k) {
    case 1: return {"BDF1", {1, -1}, {-1, 0}};
    case 2: return {"BDF2", {3, -4, 1}, {-2, 0, 0}};
    case 3: return {"BDF3", {11, -18, 9, -2}, {-6, 0, 0, 0}};
    case 4: return {"BDF4", {25, -48, 36, -16, 3}, {-12, 0, 0, 0, 0}};
    case 5: return {"BDF5", {137, -300, 300, -200, 75, -12}, {-60, 0, 0, 0, 0, 0}};
    default: return {"BDF6", {147, -360, 450, -400, 225, -72, 10}, {-60, 0, 0, 0, 0, 0, 0}};
  }
}

MultistepFormula MultistepFormula::extrapolation(int k) {
  MultistepFormula m;
  m.name = "extrapolation";
  double binomial = 1;
  for (int i = 0; i <= k + 1; ++i) {
    m.alpha.push_back(i % 2 == 0 ? binomial : -binomial);
    binomial *= static_cast<double>(k + 1 - i) / (i + 1);
  }
  m.beta.assign(m.alpha.size(), 0.0);
  return m;
}

double milne_factor(const MultistepFormula& predictor, const MultistepFormula& corrector) {
  const double p = predictor.error_constant(), c = corrector.error_constant();
  return c / (p - c);
}

}  // namespace trammel
