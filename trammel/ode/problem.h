// The problems a method can integrate, with no mechanics in them: a user's own equations, or what a formulation makes
// of a mechanism.
//
//   FirstOrderProblem    y' = f(t, y)
//   SecondOrderProblem   y'' = f(t, y, y'); seen as first order it has the state (y, y')
//   ImplicitProblem      F(t, y, y') = 0
#pragma once
#include "trammel/base/archive.h"
#include "trammel/linalg/pattern.h"

namespace trammel {

// Derivatives of a right side: dense, or values on the problem's own sparse pattern.
struct Jacobian {
  Mat dense;
  Vec values;  // on FirstOrderProblem::sparsity(), in its order

  void visit(Archive& archive) { archive(dense, values); }
};

class FirstOrderProblem {
 public:
  virtual ~FirstOrderProblem() = default;
  virtual int size() const = 0;
  // `rejected`: cannot be evaluated here, a smaller step may help.
  virtual Eval f(double t, const Vec& y, Vec& dydt) = 0;
  // f_y and f_t, exact. A problem that offers none leaves has_jacobian() false: implicit methods then difference f.
  virtual bool has_jacobian() const { return false; }
  virtual Eval jacobian(double /*t*/, const Vec& /*y*/, Jacobian& /*J*/, Vec& /*f_t*/) { return Eval::rejected; }
  // Whether these fill f_t. If not, it is differenced for methods that ask for it, and for no others.
  virtual bool has_time_derivative() const { return true; }
  // Where f_y may differ from zero; null: everywhere.
  virtual const Pattern* sparsity() const { return nullptr; }
  // What counts as an error of one tolerance in each component, between the states before and after a step.
  virtual void error_scales(const Vec& before, const Vec& after, Vec& scales) const {
    scales = before.cwiseAbs().cwiseMax(after.cwiseAbs()).cwiseMax(1.0);
  }
};

// State (y, v) as first order: y' = v, v' = f(t, y, v).
class SecondOrderProblem : public FirstOrderProblem {
 public:
  virtual int freedoms() const = 0;
  virtual Eval acceleration(double t, const Vec& y, const Vec& v, Vec& a) = 0;
  // J1 = f_y, J2 = f_v and f_t.
  virtual Eval acceleration_jacobian(double /*t*/, const Vec& /*y*/, const Vec& /*v*/, Mat& /*J1*/, Mat& /*J2*/,
                                     Vec& /*f_t*/) {
    return Eval::rejected;
  }

  int size() const final { return 2 * freedoms(); }
  Eval f(double t, const Vec& state, Vec& dydt) final {
    const int n = freedoms();
    y_ = state.head(n);
    v_ = state.tail(n);
    const Eval result = acceleration(t, y_, v_, a_);
    dydt.resize(2 * n);
    dydt << v_, a_;
    return result;
  }
  Eval jacobian(double t, const Vec& state, Jacobian& J, Vec& f_t) final {
    const int n = freedoms();
    y_ = state.head(n);
    v_ = state.tail(n);
    const Eval result = acceleration_jacobian(t, y_, v_, J1_, J2_, a_);
    if (result != Eval::ok) return result;
    J.dense.setZero(2 * n, 2 * n);
    J.dense.topRightCorner(n, n).setIdentity();
    J.dense.bottomLeftCorner(n, n) = J1_;
    J.dense.bottomRightCorner(n, n) = J2_;
    f_t.setZero(2 * n);
    if (has_time_derivative()) f_t.tail(n) = a_;
    return result;
  }

 private:
  Vec y_, v_, a_;
  Mat J1_, J2_;
};

class ImplicitProblem {
 public:
  virtual ~ImplicitProblem() = default;
  virtual int size() const = 0;
  virtual Eval residual(double t, const Vec& y, const Vec& dydt, Vec& F) = 0;
  // F_y + c F_y'.
  virtual Eval jacobian(double t, const Vec& y, const Vec& dydt, double c, Jacobian& J) = 0;
  virtual const Pattern* sparsity() const { return nullptr; }
  // Components that enter the error test; multipliers and other algebraic ones may stay out.
  virtual bool in_error_test(int /*component*/) const { return true; }
  virtual void error_scales(const Vec& before, const Vec& after, Vec& scales) const {
    scales = before.cwiseAbs().cwiseMax(after.cwiseAbs()).cwiseMax(1.0);
  }
};

}  // namespace trammel
