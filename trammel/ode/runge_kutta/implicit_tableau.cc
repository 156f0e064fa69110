#include "trammel/ode/runge_kutta/implicit_tableau.h"

#include <Eigen/LU>
#include <array>
#include <cmath>

namespace trammel {
namespace {

// sum_j c_j^(q-1) x_j = rhs_q, q = 1 .. the number of nodes.
Vec quadrature(const Vec& nodes, const Vec& moments) {
  const auto s = nodes.size();
  Mat V(s, s);
  for (Eigen::Index q = 0; q < s; ++q) {
    for (Eigen::Index j = 0; j < s; ++j) V(q, j) = q == 0 ? 1 : std::pow(nodes[j], static_cast<double>(q));
  }
  return V.fullPivLu().solve(moments);
}
Vec moments_to(double end, Eigen::Index count) {
  Vec m(count);
  for (Eigen::Index q = 0; q < count; ++q)
    m[q] = std::pow(end, static_cast<double>(q + 1)) / static_cast<double>(q + 1);
  return m;
}

// Collocation: row i integrates the polynomials of degree < s from 0 to c_i.
ImplicitTableau collocation(std::string key, const Vec& c, int order) {
  ImplicitTableau t;
  t.key = std::move(key);
  t.c = c;
  t.order = order;
  const auto s = c.size();
  t.A.resize(s, s);
  for (Eigen::Index i = 0; i < s; ++i) t.A.row(i) = quadrature(c, moments_to(c[i], s)).transpose();
  t.b = quadrature(c, moments_to(1, s));
  if (c[s - 1] == 1) t.b = t.A.row(s - 1).transpose();
  return t;
}

Vec node_list(std::initializer_list<double> values) {
  Vec v(static_cast<Eigen::Index>(values.size()));
  Eigen::Index i = 0;
  for (const double x : values) v[i++] = x;
  return v;
}

}  // namespace

ImplicitTableau ImplicitTableau::gauss(int stages) {
  const double r3 = std::sqrt(3.0) / 6, r15 = std::sqrt(15.0) / 10;
  const Vec c = stages == 1   ? node_list({0.5})
                : stages == 2 ? node_list({0.5 - r3, 0.5 + r3})
                              : node_list({0.5 - r15, 0.5, 0.5 + r15});
  return collocation("gauss-" + std::to_string(stages), c, 2 * stages);
}

ImplicitTableau ImplicitTableau::radau_iia(int stages) {
  const double r6 = std::sqrt(6.0);
  const Vec c = stages == 1   ? node_list({1})
                : stages == 2 ? node_list({1.0 / 3, 1})
                              : node_list({(4 - r6) / 10, (4 + r6) / 10, 1});
  return collocation("radau-iia-" + std::to_string(stages), c, 2 * stages - 1);
}

// a_i1 = b_1, the others from C(s - 1).
ImplicitTableau ImplicitTableau::lobatto_iiic(int stages) {
  const double r5 = std::sqrt(5.0) / 10;
  ImplicitTableau t;
  t.key = "lobatto-iiic-" + std::to_string(stages);
  t.c = stages == 2 ? node_list({0, 1}) : stages == 3 ? node_list({0, 0.5, 1}) : node_list({0, 0.5 - r5, 0.5 + r5, 1});
  t.order = 2 * stages - 2;
  const Eigen::Index s = stages;
  t.b = quadrature(t.c, moments_to(1, s));
  t.A.resize(s, s);
  const Vec rest = t.c.tail(s - 1);
  for (Eigen::Index i = 0; i < s; ++i) {
    Vec moments = moments_to(t.c[i], s - 1);
    moments[0] -= t.b[0];  // c_1 = 0 enters the first moment alone
    t.A(i, 0) = t.b[0];
    t.A.row(i).tail(s - 1) = quadrature(rest, moments).transpose();
  }
  t.b = t.A.row(s - 1).transpose();
  return t;
}

ImplicitTableau ImplicitTableau::trapezoidal() {
  ImplicitTableau t;
  t.key = "trapezoidal";
  t.A = Mat::Zero(2, 2);
  t.A.row(1).setConstant(0.5);
  t.b = node_list({0.5, 0.5});
  t.c = node_list({0, 1});
  t.order = 2;
  return t;
}

// a11 = a22 = alpha, a21 = 1 - 2 alpha, b = 1/2, 1/2; order 3 where 6 alpha^2 - 6 alpha + 1 = 0.
ImplicitTableau ImplicitTableau::norsett(double alpha, int order) {
  ImplicitTableau t;
  t.key = "norsett-sdirk";
  t.A = Mat::Zero(2, 2);
  t.A.diagonal().setConstant(alpha);
  t.A(1, 0) = 1 - 2 * alpha;
  t.b = node_list({0.5, 0.5});
  t.c = node_list({alpha, 1 - alpha});
  t.order = order;
  return t;
}

// Hairer and Wanner II, Table IV.6.5: five stages, L-stable, order 4 with an embedded 3.
ImplicitTableau ImplicitTableau::sdirk_4() {
  ImplicitTableau t;
  t.key = "sdirk-4";
  t.A.resize(5, 5);
  t.A << 1.0 / 4, 0, 0, 0, 0,                               //
      1.0 / 2, 1.0 / 4, 0, 0, 0,                            //
      17.0 / 50, -1.0 / 25, 1.0 / 4, 0, 0,                  //
      371.0 / 1360, -137.0 / 2720, 15.0 / 544, 1.0 / 4, 0,  //
      25.0 / 24, -49.0 / 48, 125.0 / 16, -85.0 / 12, 1.0 / 4;
  t.b = t.A.row(4);
  t.c = t.A.rowwise().sum();
  t.b_hat = node_list({59.0 / 48, -17.0 / 96, 225.0 / 32, -85.0 / 12, 0});
  t.order = 4;
  t.embedded_order = 3;
  return t;
}

}  // namespace trammel
