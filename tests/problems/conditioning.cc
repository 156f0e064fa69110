#include "tests/problems/conditioning.h"

#include <Eigen/SVD>

namespace trammel::problems {
namespace {

using Wide = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

double condition(const Wide& K) {
  const auto values = Eigen::JacobiSVD<Wide>(K).singularValues();
  return static_cast<double>(values(0) / values(values.size() - 1));
}

}  // namespace

Conditions newton_conditions(const Equations& equations, const State& state, const Rates& rates,
                             const AlphaParameters& p, double h) {
  const int nv = equations.sizes().nv, ng = equations.sizes().multipliers();
  Workspace work = equations.make_workspace();
  Partials partials = equations.make_partials(Detail::newton);
  equations.linearise(state, rates, Detail::newton, partials, work);
  const double b = p.beta * h * h;
  SaddleSystem saddle(equations);
  saddle.combine(partials, {(1 - p.alpha_m) / (1 - p.alpha_f), b, b, p.gamma * h}, nullptr);
  Wide K = saddle.pattern().dense(saddle.values()).cast<long double>();
  K.bottomRightCorner(ng, ng).setZero();
  Conditions out;
  out.c = condition(K);
  K.bottomLeftCorner(ng, nv) *= b;
  out.b = condition(K);
  K.leftCols(nv) /= b;
  out.a = condition(K);
  return out;
}

}  // namespace trammel::problems
