#include "trammel/couple/scheme.h"

#include <Eigen/LU>
#include <cmath>

#include "trammel/base/numbers.h"
#include "trammel/linalg/eigenvalues.h"

namespace trammel {
namespace {

// "g + 0.5 H g' = 0 at s = 1"
std::string condition_text(const SchemeCondition& c) {
  std::string text = c.position == 0 ? "g'" : "g";
  if (c.position != 0 && c.rate != 0) text += " + " + digits(c.rate) + " H g'";
  return text + (c.s == 1 ? " at the end" : " at s = " + digits(c.s));
}

std::string scheme_text(const CouplingScheme& scheme) {
  if (!scheme.key.empty()) return "the scheme '" + scheme.key + "'";
  std::string text = std::string(scheme.continuous ? "continuous " : "") + info(scheme.shape).key + " inputs with ";
  for (std::size_t i = 0; i < scheme.conditions.size(); ++i)
    text += (i > 0 ? ", " : "") + condition_text(scheme.conditions[i]);
  return text;
}

}  // namespace

CouplingScheme theta_scheme(double theta) {
  return {"theta", "g + theta H g' = 0, constant inputs", InputShape::constant, {{1, 1, theta}}, 3};
}

CouplingScheme one_pass_scheme(Passes passes, int degree) {
  CouplingScheme scheme = degree == 0   ? theta_scheme(0.5)
                          : degree == 1 ? find_scheme("linear", {})
                                        : find_scheme("quadratic", {});
  scheme.key = passes == Passes::jacobi ? "jacobi" : "gauss-seidel";
  scheme.title = passes == Passes::jacobi ? "each step made once, participants side by side"
                                          : "each step made once, participants one after the other";
  scheme.passes = passes;
  return scheme;
}

const std::vector<CouplingScheme>& scheme_registry() {
  static const std::vector<CouplingScheme> table = [] {
    const std::vector<SchemeCondition> both{{1, 1, 0}, {1, 0, 1}};
    std::vector<CouplingScheme> all{
        {"displacement", "g = 0, constant inputs", InputShape::constant, {{1, 1, 0}}, 3},
        {"displacement-velocity", "g = g' = 0, inputs constant on the halves", InputShape::halves, both, 3},
        theta_scheme(0.5),
        {"linear", "g = g' = 0, linear inputs", InputShape::linear, both, 4},
        {"quadratic",
         "g = g' = 0, g = 0 in the middle, quadratic inputs",
         InputShape::quadratic,
         {{0.5, 1, 0}, {1, 1, 0}, {1, 0, 1}},
         5},
        {"stabilised", "g = g' = 0, constant inputs and shifts of positions (GGL)", InputShape::shifted, both, 3},
        {"velocity", "g' = 0, constant inputs: positions drift apart", InputShape::constant, {{1, 0, 1}}, 2},
    };
    // As one_pass_scheme makes them of degree 0, without asking this table.
    for (const Passes passes : {Passes::jacobi, Passes::gauss_seidel}) all.push_back(one_pass_scheme(passes, 0));
    return all;
  }();
  return table;
}

const CouplingScheme& find_scheme(std::string_view key, const Location& where) {
  std::vector<std::string> keys;
  for (const CouplingScheme& scheme : scheme_registry()) {
    if (scheme.key == key) return scheme;
    keys.push_back(scheme.key);
  }
  std::string list;
  for (const std::string& k : keys) list += (list.empty() ? "" : ", ") + k;
  const std::string near = nearest_name(key, keys);
  throw Failure({Severity::error, "unknown-scheme", "there is no coupling scheme '" + std::string(key) + "'",
                 near.empty() ? "schemes: " + list : "did you mean '" + near + "'?", where});
}

int free_coefficients(const CouplingScheme& scheme) { return info(scheme.shape).count - (scheme.continuous ? 1 : 0); }

// With H = W = 1:  g(s) = g_0 + s g'_0 + sum m2_j(s) c_j,  g'(s) = g'_0 + sum m1_j(s) c_j.  The conditions give the
// free c by (g_0, g'_0) and, if the input is continuous, by c_0 = u_0; the end of the step is the map.
std::vector<std::complex<double>> step_map_eigenvalues(const CouplingScheme& scheme, const Location& where) {
  const int count = info(scheme.shape).count, n = free_coefficients(scheme), held = count - n, size = 2 + held;
  Eigen::MatrixXd A(n, n), B(n, size);
  for (int i = 0; i < n; ++i) {
    const SchemeCondition& c = scheme.conditions[i];
    const auto by = [&](int j) {
      return c.position * second_moment(scheme.shape, j, c.s) + c.rate * first_moment(scheme.shape, j, c.s);
    };
    for (int j = 0; j < n; ++j) A(i, j) = by(j + held);
    B(i, 0) = c.position;
    B(i, 1) = c.position * c.s + c.rate;
    if (held > 0) B(i, 2) = by(0);
  }
  Eigen::FullPivLU<Eigen::MatrixXd> lu(A);
  lu.setThreshold(1e-10);
  if (!lu.isInvertible()) {
    throw Failure({Severity::error, "scheme-singular",
                   scheme_text(scheme) + " do not determine the inputs: "
                                         "the matrix of the conditions by the coefficients is singular",
                   "for quadratic inputs with g, g' at the end and g' in the middle int s (s - 1/2)(s - 1) ds = 0; "
                   "take g in the middle",
                   where});
  }
  const Eigen::MatrixXd c = -lu.solve(B);
  Eigen::MatrixXd map = Eigen::MatrixXd::Zero(size, size);
  map(0, 0) = map(0, 1) = map(1, 1) = 1;
  if (held > 0) {
    map(0, 2) = second_moment(scheme.shape, 0, 1);
    map(1, 2) = first_moment(scheme.shape, 0, 1);
    map.row(2) = c.row(n - 1);
  }
  for (int j = 0; j < n; ++j) {
    map.row(0) += second_moment(scheme.shape, j + held, 1) * c.row(j);
    map.row(1) += first_moment(scheme.shape, j + held, 1) * c.row(j);
  }
  const Eigen::VectorXcd values = general_eigenvalues(map);
  return {values.begin(), values.end()};
}

void require_usable(const CouplingScheme& scheme, const Location& where) {
  const int n = free_coefficients(scheme);
  if (static_cast<int>(scheme.conditions.size()) != n) {
    throw Failure({Severity::error, "scheme-singular",
                   scheme_text(scheme) + ": " + std::to_string(scheme.conditions.size()) + " conditions for " +
                       std::to_string(n) + " free coefficients",
                   "give as many of one as of the other", where});
  }
  double greatest = 0;
  for (const std::complex<double> value : step_map_eigenvalues(scheme, where))
    greatest = std::max(greatest, std::abs(value));
  if (greatest > 1 + 1e-9) {
    throw Failure({Severity::error, "scheme-unstable",
                   scheme_text(scheme) + ": unstable, the step map multiplies disturbances by " + digits(greatest) +
                       " at every step",
                   scheme.continuous ? "let the inputs jump at the ends of steps: continuous: false"
                                     : "for theta the factor is (2 theta - 1)/(2 theta + 1): take theta >= 0",
                   where});
  }
  // Discontinuous inputs forget their past; here an error of the inputs themselves would stay for ever.
  if (scheme.continuous && greatest > 1 - 1e-6) {
    throw Failure({Severity::error, "scheme-unstable",
                   scheme_text(scheme) + ": disturbances never die, the step map has an eigenvalue of size 1",
                   "let the inputs jump at the ends of steps: continuous: false", where});
  }
}

}  // namespace trammel
