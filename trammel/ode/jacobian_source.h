// The derivatives of a problem's right side as an implicit method needs them: the problem's own exact ones, or
// differences of f, several columns at once where the sparsity pattern allows it (columns of one colour share no row).
#pragma once
#include "trammel/ode/problem.h"

namespace trammel {

// Columns of `pattern` in groups that share no row (Curtis, Powell, Reid); greedy, widest columns first. Returns the
// colour of each column, 0 .. colours-1.
std::vector<int> colour_columns(const Pattern& pattern, int& colours);

class JacobianSource {
 public:
  explicit JacobianSource(FirstOrderProblem& problem);

  // f_y, and f_t if asked for, at (t, y) where `f` is the right side; h is the size of steps around there.
  // Without derivatives of the problem's own: forward differences, in time central ones.
  Eval evaluate(double t, const Vec& y, const Vec& f, double h, bool with_time);
  const Jacobian& J() const { return J_; }
  Jacobian& J() { return J_; }  // for restoring
  const Vec& f_t() const { return f_t_; }
  Vec& f_t() { return f_t_; }
  // out = J x
  void multiply(const Vec& x, Vec& out) const;
  const Pattern* pattern() const { return pattern_; }
  int size() const { return n_; }
  int colours() const { return colours_; }
  long evaluations() const { return evaluations_; }  // of f, spent on differences

 private:
  Eval differences(double t, const Vec& y, const Vec& f);
  Eval time_difference(double t, const Vec& y, const Vec& f, double h);

  FirstOrderProblem& problem_;
  const Pattern* pattern_;
  int n_, colours_ = 0;
  std::vector<int> colour_;
  Jacobian J_;
  Vec f_t_, point_, value_, other_, steps_, scales_;
  long evaluations_ = 0;
};

// J1 = f_y, J2 = f_v and f_t of y'' = f(t, y, v), dense.
class SecondOrderDerivatives {
 public:
  explicit SecondOrderDerivatives(SecondOrderProblem& problem);
  // `a` is the acceleration at (t, y, v).
  Eval evaluate(double t, const Vec& y, const Vec& v, const Vec& a, double h);

  Mat J1, J2;
  Vec f_t;
  long evaluations() const { return evaluations_; }

 private:
  Eval column(double t, const Vec& y, const Vec& v, const Vec& a, Vec& moved, int i, double scale, Mat& J);
  Eval time_difference(double t, const Vec& y, const Vec& v, const Vec& a, double h);

  SecondOrderProblem& problem_;
  Vec y_, v_, value_, other_, state_, scales_;
  long evaluations_ = 0;
};

}  // namespace trammel
