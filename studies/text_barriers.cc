// TEXT section 7.1.3: Dahlquist's barriers, shown on formulas. The first: a zero-stable linear k-step method has at
// most order k + 2 for even k, k + 1 for odd k, and k if it is explicit. The second: an A-stable one has at most order
// 2, and the trapezoidal rule has the smallest error constant among those.
#include <Eigen/LU>
#include <cmath>
#include <numbers>
#include <vector>

#include "studies/text_parts.h"
#include "trammel/ode/multistep/multistep_formula.h"
#include "trammel/ode/stability.h"

namespace trammel::text_study {
namespace {

// The residual of sum alpha_i y_{-i} + beta_i y'_{-i} for y = t^q: factors of alpha_i and beta_i.
double of_alpha(int i, int q) { return q == 0 ? 1 : std::pow(-i, q); }
double of_beta(int i, int q) { return q == 0 ? 0 : q == 1 ? 1 : q * std::pow(-i, q - 1); }

// The k-step method of the highest order, 2k, or 2k - 1 if it is explicit: alpha_0 = 1, all other coefficients from the
// order conditions.
MultistepFormula of_highest_order(int k, bool is_explicit) {
  const int first = is_explicit ? 1 : 0, n = 2 * k + 1 - first;
  Eigen::MatrixXd conditions(n, n);
  Eigen::VectorXd right(n);
  for (int q = 0; q < n; ++q) {
    for (int i = 1; i <= k; ++i) conditions(q, i - 1) = of_alpha(i, q);
    for (int i = first; i <= k; ++i) conditions(q, k + i - first) = of_beta(i, q);
    right[q] = -of_alpha(0, q);
  }
  const Eigen::VectorXd x = conditions.fullPivLu().solve(right);
  MultistepFormula out;
  out.alpha.push_back(1);
  for (int i = 1; i <= k; ++i) out.alpha.push_back(x[i - 1]);
  if (is_explicit) out.beta.push_back(0);
  for (int i = first; i <= k; ++i) out.beta.push_back(x[k + i - first]);
  return out;
}

void first_barrier(std::vector<Row>& rows) {
  for (const bool is_explicit : {false, true}) {
    const std::string table = std::string("Dahlquist's first barrier: the ") + (is_explicit ? "explicit " : "") +
                              "k-step method of the highest order";
    for (int k = 1; k <= 5; ++k) {
      const std::string row = "k = " + std::to_string(k);
      guard(rows, table, row, [&] {
        const MultistepFormula formula = of_highest_order(k, is_explicit);
        const int order = 2 * k - (is_explicit ? 1 : 0), most = is_explicit ? k : k + (k % 2 == 0 ? 2 : 1);
        rows.push_back(Row::near(table, row, "order", order, formula.order(), 0).because("as many free coefficients"));
        rows.push_back(
            Row::near(table, row, "zero-stable: 1, or not: 0", order <= most ? 1 : 0, formula.zero_stable() ? 1 : 0, 0)
                .because("the barrier is " + std::to_string(most)));
        if (order > most)
          rows.push_back(Row::at_least(table, row, "growth of a step of size 0", 1.001, formula.growth(0))
                             .because("a root outside of the unit circle: no smaller step helps"));
      });
    }
  }
}

// C_{p+1} by the sum of the betas: what does not depend on how a formula is written.
double scaled_constant(const MultistepFormula& f) {
  const int q = f.order() + 1;
  double residual = 0, sum = 0;
  for (int i = 0; i <= f.steps(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    residual += f.alpha[at] * of_alpha(i, q) + f.beta[at] * of_beta(i, q);
    sum += f.beta[at];
  }
  return std::abs(residual / (std::tgamma(q + 1.0) * sum));
}

void second_barrier(std::vector<Row>& rows) {
  const std::string table = "Dahlquist's second barrier";
  std::vector<MultistepFormula> all;
  for (int k = 1; k <= 5; ++k) all.push_back(MultistepFormula::adams_bashforth(k));
  for (int k = 1; k <= 5; ++k) all.push_back(MultistepFormula::adams_moulton(k));
  for (int k = 1; k <= 6; ++k) all.push_back(MultistepFormula::bdf(k));
  for (const MultistepFormula& f : all) {
    guard(rows, table, f.name, [&] {
      const StabilitySummary s = summarise_stability([&](Complex z) { return f.growth(z); });
      if (!s.a_stable) {
        rows.push_back(
            Row::at_most(table, f.name + ", order " + std::to_string(f.order()), "A(alpha), degrees", 89.99, s.angle)
                .because("not A-stable, whatever its order"));
        return;
      }
      rows.push_back(Row::at_most(table, f.name + ", A-stable", "order", 2, f.order()).because("the barrier"));
      if (f.order() == 2)
        rows.push_back(Row::at_least(table, f.name + ", A-stable", "error constant by the sum of beta",
                                     1.0 / 12 - 1e-14, scaled_constant(f))
                           .because("the trapezoidal rule's, 1/12, is the smallest there can be"));
    });
  }
  guard(rows, table, "search", [&] {
    // y_{n+1} - (1 + a) y_n + a y_{n-1} with betas of order 3: zero-stable for -1 <= a < 1.
    double stable = 0;
    for (int i = 0; i < 400; ++i) {
      const double a = -1 + 2 * i / 400.0;
      MultistepFormula f{"", {1, -1 - a, a}, {0, 0, 0}};
      Eigen::Matrix3d conditions;
      Eigen::Vector3d right;
      for (int q = 1; q <= 3; ++q) {
        right[q - 1] = 0;
        for (int j = 0; j <= 2; ++j) {
          conditions(q - 1, j) = of_beta(j, q);
          right[q - 1] -= f.alpha[static_cast<std::size_t>(j)] * of_alpha(j, q);
        }
      }
      const Eigen::Vector3d beta = conditions.inverse() * right;
      f.beta = {beta[0], beta[1], beta[2]};
      stable += summarise_stability([&](Complex z) { return f.growth(z); }).a_stable;
    }
    rows.push_back(Row::at_most(table, "all two-step methods of order 3", "A-stable ones among 400", 0, stable)
                       .because("the barrier: order 3 and A-stability exclude each other"));
  });
}

}  // namespace

void barriers(const StudyContext& context, std::vector<Row>& rows) {
  context.note("Dahlquist's barriers");
  first_barrier(rows);
  second_barrier(rows);
}

}  // namespace trammel::text_study
