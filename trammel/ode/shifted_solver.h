// Linear systems of implicit methods: (c I - J) x = b with a real or complex shift c, and (F_y + c F_y') x = b.
//
// Dense problems use LU with partial pivots; sparse ones (a pattern is given and the size pays) KLU, analysed once, its
// pivots kept while they are good. After set-up neither allocates, except when pivots are chosen anew.
#pragma once
#include <complex>
#include <memory>

#include "trammel/base/archive.h"
#include "trammel/ode/jacobian_source.h"

namespace trammel {

using Complex = std::complex<double>;
using CVec = Eigen::VectorXcd;

template <class Scalar>  // double or Complex
class ShiftedSolver {
 public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

  // Matrices of size n on `pattern`, which must outlive the solver; null: dense.
  ShiftedSolver(int n, const Pattern* pattern);
  ~ShiftedSolver();
  ShiftedSolver(ShiftedSolver&&) noexcept;
  ShiftedSolver& operator=(ShiftedSolver&&) noexcept;

  // c I - J. False: singular or not finite.
  bool factor(Scalar c, const Jacobian& J) { return factor_sum(c, -1, J); }
  // The matrix itself, as ImplicitProblem::jacobian gives it.
  bool factor_matrix(const Jacobian& J) { return factor_sum(Scalar(0), 1, J); }
  // Any matrix, by its values on the pattern.
  bool factor_values(const Vector& values);
  // Of KLU, instead of its usual one: how small a diagonal entry of S A S, S = diag(scales), may be beside its column
  // to serve as pivot. Powers of two as scales cost no digit.
  void set_pivoting(const Vec& scales, double tolerance);
  // shift I + sign J
  bool factor_sum(Scalar shift, double sign, const Jacobian& J);
  // x = (c I - J)^-1 b; x and b are different vectors.
  void solve(const Vector& b, Vector& x) const;
  bool factored() const;
  bool sparse() const;
  int factors() const;    // pivots chosen
  int refactors() const;  // pivots kept

  // The factors as they are, pivots included.
  void visit(Archive& archive);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

extern template class ShiftedSolver<double>;
extern template class ShiftedSolver<Complex>;

}  // namespace trammel
