// Implicit Runge-Kutta methods as data:
//
//   Y_i = y + h sum_j a_ij f(t + c_j h, Y_j),   y_new = y + h sum b_i f(t + c_i h, Y_i)
#pragma once
#include <string>

#include "trammel/base/types.h"

namespace trammel {

struct ImplicitTableau {
  std::string key;
  Mat A;
  Vec b, c;
  int order = 0;
  Vec b_hat{};  // embedded solution, for diagonally implicit ones; empty: none
  int embedded_order = 0;

  int stages() const { return static_cast<int>(b.size()); }
  // The last stage is the new value.
  bool stiffly_accurate() const { return A.bottomRows(1).transpose().isApprox(b, 1e-14); }

  static ImplicitTableau gauss(int stages);         // 1 to 3: order 2 s
  static ImplicitTableau radau_iia(int stages);     // 1 to 3: order 2 s - 1
  static ImplicitTableau lobatto_iiic(int stages);  // 2 to 4: order 2 s - 2
  static ImplicitTableau trapezoidal();
  static ImplicitTableau norsett(double alpha, int order);
  static ImplicitTableau sdirk_4();
};

}  // namespace trammel
