// Problems from one function of a user, written once for any kind of number: derivatives come from dual numbers,
// exact, several columns a pass.
//
//   auto problem = first_order(2, [](auto t, auto y, auto dydt) {
//     dydt[0] = y[1];
//     dydt[1] = -sin(y[0]) + 0.1 * cos(2.0 * t);
//   });
//
// y and dydt are spans; `sin` and its kin are found by themselves for dual numbers, and as std::sin for plain ones
// with `using std::sin;`. Second order: f(t, y, v, a). Implicit: F(t, y, dydt, residual).
#pragma once
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "trammel/math/jet.h"
#include "trammel/ode/jacobian_source.h"

namespace trammel {

namespace functor {

constexpr int width = 8;  // directions a pass
using Dual = Jet<double, width>;

inline std::span<const double> view(const Vec& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
inline std::span<double> view(Vec& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
inline void set_values(const Vec& from, std::vector<Dual>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = Dual(from[static_cast<Eigen::Index>(i)]);
  }
}
inline Eval finite(const Vec& v) { return std::isfinite(v.sum()) ? Eval::ok : Eval::rejected; }

}  // namespace functor

template <class F>
class FirstOrderFunctor final : public FirstOrderProblem {
 public:
  // Columns of a given pattern are coloured; without one every column is a direction of its own.
  FirstOrderFunctor(int n, F f, std::optional<Pattern> pattern = {})
      : f_(std::move(f)), pattern_(std::move(pattern)), n_(n), groups_(n) {
    y_.resize(n);
    dydt_ = y_;
    if (pattern_) {
      group_ = colour_columns(*pattern_, groups_);
    } else {
      for (int j = 0; j < n; ++j) group_.push_back(j);
    }
  }

  int size() const override { return n_; }
  Eval f(double t, const Vec& y, Vec& dydt) override {
    dydt.resize(n_);
    f_(t, functor::view(y), functor::view(dydt));
    return functor::finite(dydt);
  }
  bool has_jacobian() const override { return true; }
  const Pattern* sparsity() const override { return pattern_ ? &*pattern_ : nullptr; }

  // Direction 0 is time, direction 1 + c the columns of colour c.
  Eval jacobian(double t, const Vec& y, Jacobian& J, Vec& f_t) override {
    using functor::Dual;
    f_t.resize(n_);
    if (pattern_) {
      J.values.resize(pattern_->size());
    } else {
      J.dense.resize(n_, n_);
    }
    double sum = 0;
    for (int first = 0; first < groups_ + 1; first += functor::width) {
      functor::set_values(y, y_);
      Dual time(t);
      if (first == 0) time.d[0] = 1;
      for (int j = 0; j < n_; ++j) {
        const int direction = 1 + group_[at(j)] - first;
        if (direction >= 0 && direction < functor::width) y_[at(j)].d[at(direction)] = 1;
      }
      f_(time, std::span<const Dual>(y_), std::span<Dual>(dydt_));
      if (first == 0) {
        for (int i = 0; i < n_; ++i) sum += f_t[i] = dydt_[at(i)].d[0];
      }
      for (int j = 0; j < n_; ++j) {
        const int direction = 1 + group_[at(j)] - first;
        if (direction < 0 || direction >= functor::width) continue;
        if (pattern_) {
          for (int p = pattern_->start()[at(j)]; p < pattern_->start()[at(j) + 1]; ++p)
            sum += J.values[p] = dydt_[at(pattern_->row()[at(p)])].d[at(direction)];
        } else {
          for (int i = 0; i < n_; ++i) sum += J.dense(i, j) = dydt_[at(i)].d[at(direction)];
        }
      }
    }
    return std::isfinite(sum) ? Eval::ok : Eval::rejected;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  F f_;
  std::optional<Pattern> pattern_;
  int n_, groups_;
  std::vector<int> group_;
  std::vector<functor::Dual> y_, dydt_;
};

template <class F>
class SecondOrderFunctor final : public SecondOrderProblem {
 public:
  SecondOrderFunctor(int freedoms, F f) : f_(std::move(f)), n_(freedoms) {
    y_.resize(n_);
    v_ = a_ = y_;
  }

  int freedoms() const override { return n_; }
  Eval acceleration(double t, const Vec& y, const Vec& v, Vec& a) override {
    a.resize(n_);
    f_(t, functor::view(y), functor::view(v), functor::view(a));
    return functor::finite(a);
  }
  bool has_jacobian() const override { return true; }
  // Direction 0 is time, then positions, then velocities.
  Eval acceleration_jacobian(double t, const Vec& y, const Vec& v, Mat& J1, Mat& J2, Vec& f_t) override {
    using functor::Dual;
    J1.resize(n_, n_);
    J2.resize(n_, n_);
    f_t.resize(n_);
    double sum = 0;
    for (int first = 0; first < 2 * n_ + 1; first += functor::width) {
      const int last = std::min(first + functor::width, 2 * n_ + 1);
      functor::set_values(y, y_);
      functor::set_values(v, v_);
      Dual time(t);
      for (int d = first; d < last; ++d) {
        Dual& variable = d == 0 ? time : d <= n_ ? y_[at(d - 1)] : v_[at(d - 1 - n_)];
        variable.d[at(d - first)] = 1;
      }
      f_(time, std::span<const Dual>(y_), std::span<const Dual>(v_), std::span<Dual>(a_));
      for (int d = first; d < last; ++d) {
        for (int i = 0; i < n_; ++i) {
          const double slope = a_[at(i)].d[at(d - first)];
          (d == 0 ? f_t[i] : d <= n_ ? J1(i, d - 1) : J2(i, d - 1 - n_)) = slope;
          sum += slope;
        }
      }
    }
    return std::isfinite(sum) ? Eval::ok : Eval::rejected;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  F f_;
  int n_;
  std::vector<functor::Dual> y_, v_, a_;
};

template <class F>
class ImplicitFunctor final : public ImplicitProblem {
 public:
  ImplicitFunctor(int n, F f) : f_(std::move(f)), n_(n) {
    y_.resize(n);
    dydt_ = residual_ = y_;
  }

  int size() const override { return n_; }
  Eval residual(double t, const Vec& y, const Vec& dydt, Vec& F_value) override {
    F_value.resize(n_);
    f_(t, functor::view(y), functor::view(dydt), functor::view(F_value));
    return functor::finite(F_value);
  }
  // A direction moves y_j by 1 and y'_j by c.
  Eval jacobian(double t, const Vec& y, const Vec& dydt, double c, Jacobian& J) override {
    using functor::Dual;
    J.dense.resize(n_, n_);
    double sum = 0;
    for (int first = 0; first < n_; first += functor::width) {
      functor::set_values(y, y_);
      functor::set_values(dydt, dydt_);
      const int last = std::min(first + functor::width, n_);
      for (int j = first; j < last; ++j) {
        y_[at(j)].d[at(j - first)] = 1;
        dydt_[at(j)].d[at(j - first)] = c;
      }
      f_(Dual(t), std::span<const Dual>(y_), std::span<const Dual>(dydt_), std::span<Dual>(residual_));
      for (int j = first; j < last; ++j) {
        for (int i = 0; i < n_; ++i) sum += J.dense(i, j) = residual_[at(i)].d[at(j - first)];
      }
    }
    return std::isfinite(sum) ? Eval::ok : Eval::rejected;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  F f_;
  int n_;
  std::vector<functor::Dual> y_, dydt_, residual_;
};

template <class F>
FirstOrderFunctor<F> first_order(int n, F f, std::optional<Pattern> pattern = {}) {
  return {n, std::move(f), std::move(pattern)};
}
template <class F>
SecondOrderFunctor<F> second_order(int freedoms, F f) {
  return {freedoms, std::move(f)};
}
template <class F>
ImplicitFunctor<F> implicit(int n, F f) {
  return {n, std::move(f)};
}

}  // namespace trammel
