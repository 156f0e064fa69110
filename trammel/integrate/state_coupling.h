// States of first order beside the equations of motion in a linear system, eliminated block by block: the sparse saddle
// matrix K keeps its pattern, the few states cost a solve each when it is factored.
//
//   [ K  B ] [ z  ]   [ r ]        X = K^-1 B,  S = D - C X
//   [ C  D ] [ dx ] = [ s ]        dx = S^-1 (s - C K^-1 r),  z = K^-1 r - X dx
//
// C has columns for the velocities, and for the multipliers only where rates of states see reactions.
// Real, or complex for the stages of Runge-Kutta methods.
#pragma once
#include <Eigen/LU>

#include "trammel/base/archive.h"
#include "trammel/equations/saddle.h"

namespace trammel {

template <class Scalar>
class StateCouplingOf {
 public:
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

  explicit StateCouplingOf(const Equations& equations)
      : nv_(equations.sizes().nv), nx_(equations.sizes().nx), B(nv_, nx_), C(nx_, nv_), D(nx_, nx_) {
    X_.setZero(nv_ + equations.sizes().multipliers(), nx_);
    if (equations.sees_rates()) C.resize(nx_, X_.rows());
    column_.setZero(X_.rows());
    B.setZero();
    C.setZero();
    D.setIdentity();
  }
  int size() const { return nx_; }

  // After B, C and D were written and K was factored; solve(r, z): z = K^-1 r.
  template <class Solve>
  bool prepare_by(const Solve& solve) {
    for (int k = 0; k < nx_; ++k) {
      column_.setZero();
      column_.head(nv_) = B.col(k);
      solve(column_, solution_);
      X_.col(k) = solution_;
    }
    if (nx_ == 0) return true;
    S_ = D - C * X_.topRows(C.cols());
    lu_.compute(S_);
    return std::isfinite(std::abs(S_.sum())) && lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
  }
  bool prepare(SaddleSystem& saddle) {
    return prepare_by([&](const Vec& r, Vec& z) { saddle.solve_refined(r, z); });
  }
  // z = K^-1 r on entry; s becomes dx.
  void solve(Vector& z, Vector& s) const {
    if (nx_ == 0) return;
    s -= C * z.head(C.cols());
    s = lu_.solve(s).eval();
    z -= X_ * s;
  }

  void visit(Archive& archive, SaddleSystem& saddle) {
    if (nx_ > 0) archive(B, C, D);
    if (archive.reading()) prepare(saddle);
  }

 private:
  int nv_, nx_;

 public:
  Matrix B, C, D;

 private:
  Matrix X_, S_;
  Vector column_, solution_;
  Eigen::PartialPivLU<Matrix> lu_;
};
using StateCoupling = StateCouplingOf<double>;

}  // namespace trammel
