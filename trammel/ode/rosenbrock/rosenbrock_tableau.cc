#include "trammel/ode/rosenbrock/rosenbrock_tableau.h"

#include <Eigen/Dense>
#include <cmath>

namespace trammel {

// Coefficients: facts recomputed from the order conditions (8a)-(8h), (9), (10), (12)-(14) of Sandu, Negrut, Haug,
// Potra, Sandu: A Rosenbrock-Nystrom state space implicit approach; gamma_21 of its Table 1 lacks the sign.
const RosenbrockTableau& RosenbrockTableau::rn43() {
  static const RosenbrockTableau table = [] {
    RosenbrockTableau t;
    t.key = "rn43";
    t.stages = 4;
    t.order = 4;
    t.embedded_order = 3;
    t.gamma = 0.5728160624821348554080;
    t.A[1] = {1.145632124964269710816};
    t.A[2] = {0.5209207899536038755065, 0.1342941872088631605658};
    t.A[3] = {0.5209207899536038755065, 0.1342941872088631605658, 0.0};
    t.G[0] = {t.gamma};
    t.G[1] = {-2.341993140193055730037, t.gamma};
    t.G[2] = {-0.02733376295952041617304, 0.2138116454795061115781, t.gamma};
    t.G[3] = {-0.2590838420596372039852, -0.1905958069857625228583, -0.2280310396446018914802, t.gamma};
    t.b = {0.3245347085467616968589, 0.04908654336835674160932, 0.0, 0.6263787480848815615317};
    t.b_hat = {0.5209207899536038755065, 0.1445497126133814867226, 0.1245596865184505429154, 0.2099698109145640948555};
    return t;
  }();
  return table;
}

const RosenbrockTableau& RosenbrockTableau::rn43_print() {
  static const RosenbrockTableau table = [] {
    RosenbrockTableau t;
    t.key = "rn43-print";
    t.stages = 4;
    t.order = 4;
    t.embedded_order = 3;
    t.gamma = 0.57281606;
    t.A[1] = {1.14563212};
    t.A[2] = {0.5209207891306290293285, 0.1342941868425048001492};
    t.A[3] = {0.5209207891306290293285, 0.1342941868425048001492, 0.0};
    t.G[0] = {t.gamma};
    t.G[1] = {-2.341993127112013949171, t.gamma};
    t.G[2] = {-0.02733374654348983619649, 0.2138116508366996898675, t.gamma};
    t.G[3] = {-0.2590838377855102221126, -0.1905958077323117516164, -0.2280310359731338294777, t.gamma};
    t.b = {0.3245347078917345134742, 0.04908654478752330868463, 0.0, 0.6263787473207421778412};
    t.b_hat = {0.5209207891306290293285, 0.1445497146653645995847, 0.1245596864147020497749, 0.2099698097893043213119};
    return t;
  }();
  return table;
}

const RosenbrockTableau& RosenbrockTableau::w2() {
  static const RosenbrockTableau table = [] {
    RosenbrockTableau t;
    t.key = "w2";
    t.stages = 2;
    t.order = 2;
    t.embedded_order = 1;
    t.gamma = 1 + 1 / std::sqrt(2.0);
    t.A[1] = {1};
    t.G[0] = {t.gamma};
    t.G[1] = {-2 * t.gamma, t.gamma};
    t.b = {0.5, 0.5};
    t.b_hat = {0, 1};
    return t;
  }();
  return table;
}

// a = A G^-1, c = I/g - G^-1, theta = A (I + a), delta = G (I + a), m = b^T G^-1, mu = b^T (I + a).
NystromTableau::NystromTableau(const RosenbrockTableau& method)
    : stages(method.stages), order(method.order), embedded_order(method.embedded_order), gamma(method.gamma) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;
  const int s = stages;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  Matrix A(s, s), G(s, s), b(1, s), b_hat(1, s);
  for (int i = 0; i < s; ++i) {
    for (int j = 0; j < s; ++j) {
      A(i, j) = method.A[at(i)][at(j)];
      G(i, j) = method.G[at(i)][at(j)];
    }
    b(0, i) = method.b[at(i)];
    b_hat(0, i) = method.b_hat[at(i)];
  }
  const Matrix inverse = G.triangularView<Eigen::Lower>().solve(Matrix::Identity(s, s));
  const Matrix a_all = A * inverse, one_plus_a = Matrix::Identity(s, s) + a_all;
  const Matrix theta_all = A * one_plus_a, delta_all = G * one_plus_a, m_all = b * inverse, m_hat_all = b_hat * inverse,
               mu_all = b * one_plus_a, mu_hat_all = b_hat * one_plus_a;
  for (int i = 0; i < s; ++i) {
    for (int j = 0; j < i; ++j) {
      a[at(i)][at(j)] = a_all(i, j);
      c[at(i)][at(j)] = -inverse(i, j);
      theta[at(i)][at(j)] = theta_all(i, j);
      delta[at(i)][at(j)] = delta_all(i, j);
    }
    alpha[at(i)] = A.row(i).sum();
    gamma_sum[at(i)] = G.row(i).sum();
    m[at(i)] = m_all(0, i);
    m_hat[at(i)] = m_hat_all(0, i);
    mu[at(i)] = mu_all(0, i);
    mu_hat[at(i)] = mu_hat_all(0, i);
    same_point[at(i)] = i > 0 && (A.row(i) - A.row(i - 1)).isZero(0);
  }
}

}  // namespace trammel
