// Linear multistep formulas as data, in the convention of TEXT (7.21), and what follows from them:
//
//   sum_{i=0..k} alpha_i y_{n+1-i} + h sum_{i=0..k} beta_i f_{n+1-i} = 0
#pragma once
#include <complex>
#include <string>
#include <vector>

namespace trammel {

struct MultistepFormula {
  std::string name;
  std::vector<double> alpha, beta;  // of the same length

  int steps() const { return static_cast<int>(alpha.size()) - 1; }
  bool is_explicit() const { return beta[0] == 0; }
  int order() const;
  // y(t_{n+1}) - y_{n+1} = C h^(p+1) y^(p+1) + ... for exact values before.
  double error_constant() const;
  // No root of sum alpha_i z^(k-i) outside of the unit circle, none double on it.
  bool zero_stable() const;
  // The largest root of sum (alpha_i + z beta_i) x^(k-i), z = h lambda, in absolute value.
  double growth(std::complex<double> z) const;
  double real_interval() const;  // from 0 to the left; 1e6: all of it
  // TEXT (7.24): fixed point iteration converges for h |lambda| below this.
  double iteration_limit() const;

  static MultistepFormula adams_bashforth(int k);  // 1 to 5, TEXT Table 7.1 with its signs restored
  static MultistepFormula adams_moulton(int k);    // 1 to 5, Table 7.2; order k
  static MultistepFormula bdf(int k);              // 1 to 6, Table 7.3
  static MultistepFormula extrapolation(int k);    // the polynomial of degree k through the k + 1 last values
};

// TEXT (7.27), Milne's device: y(t) - y_c = C_c / (C_p - C_c) (y_c - y_p) for a pair of the same order.
double milne_factor(const MultistepFormula& predictor, const MultistepFormula& corrector);

}  // namespace trammel
