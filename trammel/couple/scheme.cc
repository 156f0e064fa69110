#include "trammel/couple/scheme.h"

#include <Eigen/Dense>
#include <cmath>
#include <cstdio>

namespace trammel {

CouplingScheme theta_scheme(double theta) {
  return {"theta", "g + theta H g' = 0, constant inputs", InputShape::constant, {{1, 1, theta}}, 3};
}

const std::vector<CouplingScheme>& scheme_registry() {
  static const std::vector<CouplingScheme> table{
      {"displacement", "g = 0, constant inputs", InputShape::constant, {{1, 1, 0}}, 3},
      {"displacement-velocity",
       "g = g' = 0, inputs constant on the halves",
       InputShape::halves,
       {{1, 1, 0}, {1, 0, 1}},
       3},
      theta_scheme(0.5),
      {"linear", "g = g' = 0, linear inputs", InputShape::linear, {{1, 1, 0}, {1, 0, 1}}, 4},
      {"quadratic",
       "g = g' = 0, g = 0 in the middle, quadratic inputs",
       InputShape::quadratic,
       {{0.5, 1, 0}, {1, 1, 0}, {1, 0, 1}},
       5},
      {"velocity", "g' = 0, constant inputs: positions drift apart", InputShape::constant, {{1, 0, 1}}, 2},
  };
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

// With H = W = 1:  g(s) = g_0 + s g'_0 + sum m2_j(s) c_j,  g'(s) = g'_0 + sum m1_j(s) c_j.  The conditions give c by
// (g_0, g'_0), the end of the step the map.
std::vector<double> step_map_eigenvalues(const CouplingScheme& scheme) {
  const int n = info(scheme.shape).count;
  Eigen::MatrixXd A(n, n), B(n, 2);
  for (int i = 0; i < n; ++i) {
    const SchemeCondition& c = scheme.conditions[static_cast<std::size_t>(i)];
    for (int j = 0; j < n; ++j)
      A(i, j) = c.position * second_moment(scheme.shape, j, c.s) + c.rate * first_moment(scheme.shape, j, c.s);
    B.row(i) << c.position, c.position * c.s + c.rate;
  }
  Eigen::FullPivLU<Eigen::MatrixXd> lu(A);
  lu.setThreshold(1e-10);
  if (!lu.isInvertible()) {
    throw Failure({Severity::error,
                   "scheme-singular",
                   "the conditions of the scheme '" + scheme.key + "' do not determine its inputs",
                   "a quadratic input with g, g' at the end and g' in the middle is such a case: int s (s - 1/2)(s - "
                   "1) = 0; take g in the middle",
                   {}});
  }
  const Eigen::MatrixXd c = -lu.solve(B);
  Eigen::Matrix2d map;
  map << 1, 1, 0, 1;
  for (int j = 0; j < n; ++j) {
    map.row(0) += second_moment(scheme.shape, j, 1) * c.row(j);
    map.row(1) += first_moment(scheme.shape, j, 1) * c.row(j);
  }
  // Of all schemes here one eigenvalue at least is real, so both are.
  const double half = 0.5 * map.trace(), root = std::sqrt(std::max(0.0, half * half - map.determinant()));
  return {half - root, half + root};
}

void require_usable(const CouplingScheme& scheme, const Location& where) {
  if (static_cast<int>(scheme.conditions.size()) != info(scheme.shape).count) {
    throw Failure({Severity::error, "scheme-singular",
                   "the scheme '" + scheme.key + "' has " + std::to_string(scheme.conditions.size()) +
                       " conditions for " + std::to_string(info(scheme.shape).count) + " coefficients",
                   "give as many of one as of the other", where});
  }
  for (const double eigenvalue : step_map_eigenvalues(scheme)) {
    if (std::abs(eigenvalue) <= 1 + 1e-9) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%.6g", eigenvalue);
    throw Failure({Severity::error, "scheme-unstable",
                   "the scheme '" + scheme.key + "' is unstable: its step map multiplies disturbances by " + text,
                   "for theta the map is (2 theta - 1)/(2 theta + 1): take theta >= 0", where});
  }
}

}  // namespace trammel
