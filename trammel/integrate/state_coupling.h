// States of first order beside the equations of motion in a linear system, eliminated block by block: the sparse saddle
// matrix K keeps its pattern, the few states cost a solve each when it is factored.
//
//   [ K  B ] [ z  ]   [ r ]        X = K^-1 B,  S = D - C X
//   [ C  D ] [ dx ] = [ s ]        dx = S^-1 (s - C K^-1 r),  z = K^-1 r - X dx
#pragma once
#include <Eigen/LU>

#include "trammel/equations/saddle.h"
#include "trammel/integrate/archive.h"

namespace trammel {

class StateCoupling {
 public:
  explicit StateCoupling(const Equations& equations)
      : nv_(equations.sizes().nv), nx_(equations.sizes().nx), B(nv_, nx_), C(nx_, nv_), D(nx_, nx_) {
    X_.setZero(nv_ + equations.sizes().multipliers(), nx_);
    column_.setZero(X_.rows());
    B.setZero();
    C.setZero();
    D.setIdentity();
  }
  int size() const { return nx_; }

  // After B, C and D were written and the saddle matrix was factored.
  bool prepare(SaddleSystem& saddle) {
    for (int k = 0; k < nx_; ++k) {
      column_.setZero();
      column_.head(nv_) = B.col(k);
      saddle.solve_refined(column_, solution_);
      X_.col(k) = solution_;
    }
    if (nx_ == 0) return true;
    S_ = D - C * X_.topRows(nv_);
    lu_.compute(S_);
    return std::isfinite(S_.sum()) && lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0;
  }
  // z = K^-1 r on entry; s becomes dx.
  void solve(Vec& z, Vec& s) const {
    if (nx_ == 0) return;
    s -= C * z.head(nv_);
    s = lu_.solve(s).eval();
    z -= X_ * s;
  }

  void save(Bytes& out) const {
    for (const Mat* m : {&B, &C, &D}) put(out, m->data(), static_cast<std::size_t>(m->size()));
  }
  void restore(std::span<const std::byte>& in, SaddleSystem& saddle) {
    std::vector<double> values;
    for (Mat* m : {&B, &C, &D}) {
      take(in, values);
      if (static_cast<Eigen::Index>(values.size()) == m->size()) std::copy(values.begin(), values.end(), m->data());
    }
    prepare(saddle);
  }

 private:
  int nv_, nx_;

 public:
  Mat B, C, D;

 private:
  Mat X_, S_;
  Vec column_, solution_;
  Eigen::PartialPivLU<Mat> lu_;
};

}  // namespace trammel
