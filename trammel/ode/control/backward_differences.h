// Backward differences of a polynomial on an equidistant grid, the memory of BDF methods with quasi-constant steps:
// column j of D is the difference of order j at the newest point.
#pragma once
#include <algorithm>
#include <cmath>

#include "trammel/base/types.h"

namespace trammel {

constexpr int most_differences = 9;

// out = the differences at a step size of `ratio` times the present one: the columns 0 ... k turn by R U with
// R(i, j) = product over m = 1 ... i of (m - 1 - ratio j) / m and U the same with ratio 1.
inline void rescale_differences(const Mat& D, int k, double ratio, Mat& out) {
  out = D;
  if (ratio == 1) return;
  using StepMatrix = Eigen::Matrix<double, most_differences, most_differences>;
  const auto step_matrix = [k](double r) {
    StepMatrix R = StepMatrix::Zero();
    for (int j = 0; j <= k; ++j) {
      double product = 1;
      R(0, j) = 1;
      for (int i = 1; i <= k; ++i) R(i, j) = product *= (i - 1 - r * j) / i;
    }
    return R;
  };
  const StepMatrix RU = step_matrix(ratio) * step_matrix(1);
  for (int j = 0; j <= k; ++j) {
    out.col(j).setZero();
    for (int i = 0; i <= k; ++i) out.col(j) += RU(i, j) * D.col(i);
  }
}

// A new point, which the polynomial of degree k missed by d.
inline void advance_differences(Mat& D, int k, const Vec& d) {
  D.col(k + 2) = d - D.col(k + 1);
  D.col(k + 1) = d;
  for (int i = k; i >= 0; --i) D.col(i) += D.col(i + 1);
}

// The difference of order j <= k + 1 at that point.
inline void difference_after(const Mat& D, int k, const Vec& d, int j, Vec& out) {
  out = d;
  for (int i = k; i >= j; --i) out += D.col(i);
}

// The polynomial of degree k, s steps from the newest point.
inline void evaluate_differences(const Mat& D, int k, double s, Vec& y) {
  y = D.col(0);
  double product = 1;
  for (int j = 1; j <= k; ++j) {
    product *= (s + j - 1) / j;
    y += product * D.col(j);
  }
}

// Values at the newest points, newest first, become differences in place.
inline void difference_points(Mat& points, int count) {
  for (int level = 1; level < count; ++level) {
    for (int i = count - 1; i >= level; --i) points.col(i) = points.col(i - 1) - points.col(i);
  }
}
// And back.
inline void sum_differences(Mat& D, int count) {
  for (int level = count - 1; level >= 1; --level) {
    for (int i = level; i < count; ++i) D.col(i) = D.col(i - 1) - D.col(i);
  }
}

// Which order a step taken with order k should be followed by, and the factor its error would allow: errors by
// tolerance of orders k - 1, k, k + 1; negative: not available.
struct OrderChoice {
  int order;
  double factor;
};
inline OrderChoice choose_order(int k, double down, double same, double up) {
  const auto factor_of = [](double e, int order) { return std::pow(std::max(e, 1e-12), -1.0 / (order + 1)); };
  OrderChoice best{k, factor_of(same, k)};
  if (down >= 0 && factor_of(down, k - 1) > best.factor) best = {k - 1, factor_of(down, k - 1)};
  if (up >= 0 && factor_of(up, k + 1) > best.factor) best = {k + 1, factor_of(up, k + 1)};
  return best;
}

}  // namespace trammel
