// Runge-Kutta methods as data, and what follows from the data: order, stability function, error constants.
//
//   k_i = f(t + c_i h, y + h sum_j a_ij k_j),   y_new = y + h sum b_i k_i,   y(t + theta h) = y + h sum b_i(theta) k_i
#pragma once
#include <complex>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/base/types.h"

namespace trammel {

struct ButcherTableau {
  std::string key, title, source;
  Mat A;
  Vec b, c;
  Vec b_hat;            // embedded solution; empty: none
  Vec b_other;          // a second one of lower order, to damp the first as in DOP853; empty: none
  Mat dense;            // b_i(theta) = sum_j dense(i, j) theta^(j+1); empty: none
  int step_stages = 0;  // the first ones make a step; those behind only serve the dense output
  // Derived by complete(): orders by all rooted trees; 0 where there is nothing.
  int order = 0, embedded_order = 0, other_order = 0, dense_order = 0;

  int stages() const { return static_cast<int>(b.size()); }
  bool is_explicit() const;
  // The stage, within a step, that is f at its end; -1: none.
  int last_stage() const;

  static constexpr int most_order = 10;  // that is looked for
  int order_of(const Vec& weights) const;
  // Error coefficients of the trees of one order: (sum b_i Phi_i - 1/gamma) / sigma.
  Vec error_coefficients(const Vec& weights, int of_order) const;

  // y_new = R(h lambda) y for y' = lambda y.
  std::complex<double> stability(std::complex<double> z) const;
  Vec stability_polynomial() const;  // explicit methods: coefficients of 1, z, z^2, ...
  // How far |R| <= 1 holds from the origin to the left, and up the imaginary axis; 1e6 stands for all of it.
  double real_interval() const;
  double imaginary_interval() const;

  // Derives c, step_stages and the orders, checks sizes; throws a Failure that names what is wrong.
  void complete(const std::string& where);

  static const ButcherTableau& euler();
  static const ButcherTableau& heun();
  static const ButcherTableau& rk4();
  static const ButcherTableau& fehlberg_45();
  static const ButcherTableau& dormand_prince_54();
  static const ButcherTableau& dormand_prince_853();

 private:
  int order_of_dense() const;
};

// Rooted trees of all orders up to `most`, ordered by it; children are indices of earlier trees.
struct RootedTree {
  int order = 1;
  double gamma = 1, sigma = 1;  // density, symmetry
  std::vector<int> children;
};
std::vector<RootedTree> rooted_trees(int most);

// A tableau from YAML or JSON: {A: [[...], ...], b: [...], c: [...], b_hat: [...], dense: [[...], ...]}, with numbers
// or quotients such as 1/6. A may leave out zeros on and above its diagonal. A Failure says line and column.
ButcherTableau read_tableau(const std::string& path);
ButcherTableau read_tableau_text(std::string_view text, std::string_view file_name);

}  // namespace trammel
