#include "trammel/ode/jacobian_source.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace trammel {
namespace {

constexpr double machine_epsilon = std::numeric_limits<double>::epsilon();

// Halves the digits between truncation and round-off; away from zero, so that a positive quantity stays positive.
double difference_step(double value, double scale) { return std::copysign(std::sqrt(machine_epsilon) * scale, value); }

// Central in time: 6e-5 h loses 4e-12 h f to round-off in a Rosenbrock step and 1e-9 h^4 f_ttt to truncation.
double time_step(double t, double h) { return std::max(6e-5 * std::abs(h), 64 * machine_epsilon * std::abs(t)); }

}  // namespace

std::vector<int> colour_columns(const Pattern& pattern, int& colours) {
  const int n = pattern.columns();
  const std::vector<int>&start = pattern.start(), &row = pattern.row();
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  std::vector<int> order(at(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return start[at(a) + 1] - start[at(a)] > start[at(b) + 1] - start[at(b)]; });
  // Columns of each row.
  std::vector<std::vector<int>> in_row(at(pattern.rows()));
  for (int j = 0; j < n; ++j) {
    for (int p = start[at(j)]; p < start[at(j) + 1]; ++p) in_row[at(row[at(p)])].push_back(j);
  }
  std::vector<int> colour(at(n), -1), taken(at(n) + 1, -1);  // taken[c] = j: colour c is used next to column j
  colours = 0;
  for (const int j : order) {
    for (int p = start[at(j)]; p < start[at(j) + 1]; ++p) {
      for (const int neighbour : in_row[at(row[at(p)])]) {
        if (colour[at(neighbour)] >= 0) taken[at(colour[at(neighbour)])] = j;
      }
    }
    int c = 0;
    while (taken[at(c)] == j) ++c;
    colour[at(j)] = c;
    colours = std::max(colours, c + 1);
  }
  return colour;
}

JacobianSource::JacobianSource(FirstOrderProblem& problem)
    : problem_(problem), pattern_(problem.sparsity()), n_(problem.size()) {
  if (pattern_ != nullptr) {
    J_.values.setZero(pattern_->size());
  } else {
    J_.dense.setZero(n_, n_);
  }
  f_t_.setZero(n_);
  for (Vec* v : {&point_, &value_, &other_, &steps_, &scales_}) v->setZero(n_);
  if (!problem.has_jacobian() && pattern_ != nullptr) colour_ = colour_columns(*pattern_, colours_);
}

Eval JacobianSource::evaluate(double t, const Vec& y, const Vec& f, double h, bool with_time) {
  const bool own = problem_.has_jacobian();
  if ((own ? problem_.jacobian(t, y, J_, f_t_) : differences(t, y, f)) != Eval::ok) return Eval::rejected;
  return with_time && !(own && problem_.has_time_derivative()) ? time_difference(t, y, f, h) : Eval::ok;
}

Eval JacobianSource::differences(double t, const Vec& y, const Vec& f) {
  problem_.error_scales(y, y, scales_);
  for (int j = 0; j < n_; ++j) steps_[j] = difference_step(y[j], scales_[j]);
  const int groups = pattern_ != nullptr ? colours_ : n_;
  point_ = y;
  for (int group = 0; group < groups; ++group) {
    const auto moves = [&](int j) { return pattern_ != nullptr ? colour_[j] == group : j == group; };
    Eval result = Eval::rejected;
    double sign = 1;
    for (; sign >= -1 && result != Eval::ok; sign -= 2) {  // the other way if this one cannot be evaluated
      for (int j = 0; j < n_; ++j) {
        if (moves(j)) point_[j] = y[j] + sign * steps_[j];
      }
      result = problem_.f(t, point_, value_);
      ++evaluations_;
    }
    if (result != Eval::ok || !std::isfinite(value_.sum())) return Eval::rejected;
    value_ -= f;
    for (int j = 0; j < n_; ++j) {
      if (!moves(j)) continue;
      const double step = point_[j] - y[j];  // as it was rounded
      if (pattern_ != nullptr) {
        for (int p = pattern_->start()[j]; p < pattern_->start()[j + 1]; ++p)
          J_.values[p] = value_[pattern_->row()[p]] / step;
      } else {
        J_.dense.col(j) = value_ / step;
      }
      point_[j] = y[j];
    }
  }
  return Eval::ok;
}

Eval JacobianSource::time_difference(double t, const Vec& y, const Vec& f, double h) {
  const double step = time_step(t, h);
  const double after = t + step, before = t - step;
  evaluations_ += 2;
  if (problem_.f(after, y, value_) != Eval::ok || !std::isfinite(value_.sum())) return Eval::rejected;
  if (problem_.f(before, y, other_) == Eval::ok && std::isfinite(other_.sum())) {
    f_t_ = (value_ - other_) / (after - before);
  } else {
    f_t_ = (value_ - f) / (after - t);
  }
  return Eval::ok;
}

void JacobianSource::multiply(const Vec& x, Vec& out) const {
  if (pattern_ != nullptr) {
    out.setZero(n_);
    pattern_->multiply_add(J_.values, 1, x.data(), out.data());
  } else {
    out.noalias() = J_.dense * x;
  }
}

SecondOrderDerivatives::SecondOrderDerivatives(SecondOrderProblem& problem) : problem_(problem) {
  const int n = problem.freedoms();
  J1.setZero(n, n);
  J2.setZero(n, n);
  f_t.setZero(n);
  for (Vec* v : {&y_, &v_, &value_, &other_}) v->setZero(n);
  state_.setZero(2 * n);
  scales_.setZero(2 * n);
}

Eval SecondOrderDerivatives::evaluate(double t, const Vec& y, const Vec& v, const Vec& a, double h) {
  if (problem_.has_jacobian()) {
    const Eval result = problem_.acceleration_jacobian(t, y, v, J1, J2, f_t);
    if (result != Eval::ok || problem_.has_time_derivative()) return result;
    return time_difference(t, y, v, a, h);
  }
  const auto n = y.size();
  state_ << y, v;
  problem_.error_scales(state_, state_, scales_);
  y_ = y;
  v_ = v;
  for (int i = 0; i < n; ++i) {
    if (column(t, y_, v_, a, y_, i, scales_[i], J1) != Eval::ok) return Eval::rejected;
    if (column(t, y_, v_, a, v_, i, scales_[n + i], J2) != Eval::ok) return Eval::rejected;
  }
  return time_difference(t, y, v, a, h);
}

Eval SecondOrderDerivatives::time_difference(double t, const Vec& y, const Vec& v, const Vec& a, double h) {
  const double step = time_step(t, h), after = t + step, before = t - step;
  evaluations_ += 2;
  if (problem_.acceleration(after, y, v, value_) != Eval::ok || !std::isfinite(value_.sum())) return Eval::rejected;
  if (problem_.acceleration(before, y, v, other_) == Eval::ok && std::isfinite(other_.sum())) {
    f_t = (value_ - other_) / (after - before);
  } else {
    f_t = (value_ - a) / (after - t);
  }
  return Eval::ok;
}

Eval SecondOrderDerivatives::column(double t, const Vec& y, const Vec& v, const Vec& a, Vec& moved, int i, double scale,
                                    Mat& J) {
  const double here = moved[i];
  Eval result = Eval::rejected;
  for (double sign = 1; sign >= -1 && result != Eval::ok; sign -= 2) {
    moved[i] = here + sign * difference_step(here, scale);
    result = problem_.acceleration(t, y, v, value_);
    ++evaluations_;
  }
  const double step = moved[i] - here;
  moved[i] = here;
  if (result != Eval::ok || !std::isfinite(value_.sum())) return Eval::rejected;
  J.col(i) = (value_ - a) / step;
  return Eval::ok;
}

}  // namespace trammel
