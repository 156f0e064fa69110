// An implicit Runge-Kutta method made ready for Newton's corrections (Hairer, Wanner II, section IV.8): A^-1 = X
// diag(mu) X^-1, with real and imaginary part of an eigenvector as two real columns of X for each pair,
//
//   [A^-1 u  A^-1 w] = [u w] [a b; -b a],   mu = a + i b
//
// and the embedded formula of order s that also uses f at the step's start, with the weight 1/mu_0 there.
#pragma once
#include <vector>

#include "trammel/base/types.h"
#include "trammel/ode/runge_kutta/implicit_tableau.h"
#include "trammel/ode/shifted_solver.h"

namespace trammel {

struct StageTransform {
  explicit StageTransform(const ImplicitTableau& tableau);

  struct RealValue {
    int k;  // column of X
    double mu;
  };
  struct Pair {
    int k;  // and k + 1
    Complex mu;
  };
  Mat inverse, X, X_inverse;
  std::vector<RealValue> real;
  std::vector<Pair> pairs;
  double mu_0 = 0;    // the first real one, or the size of the first pair
  Vec error_weights;  // of the stages' increments in the difference to the embedded formula

  using Weights = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 8, 1>;  // of stages, without allocation
  // Values at theta of the polynomials through the stages; with_start: and through 0 at the start.
  void lagrange(double theta, bool with_start, Eigen::Ref<Vec> weights) const;

 private:
  Vec c_;
};

}  // namespace trammel
