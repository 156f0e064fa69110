#include "trammel/rank/reduction.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace trammel {

// Columns scaled by their units, so that metres and radians compare. QR of the rows' transpose with pivoting: its last
// columns span the null space.
Mat scaled_null_space(const Mat& rows, const Vec& scales, double tolerance, double* worst_pivot) {
  const Eigen::Index nv = scales.size();
  if (rows.rows() == 0) return Mat::Identity(nv, nv);
  Mat scaled = (rows * scales.asDiagonal()).transpose();
  for (Eigen::Index j = 0; j < scaled.cols(); ++j) {
    const double size = scaled.col(j).norm();
    if (size > 0) scaled.col(j) /= size;
  }
  Eigen::ColPivHouseholderQR<Mat> qr(scaled);
  qr.setThreshold(tolerance);
  const Eigen::Index rank = qr.rank();
  if (worst_pivot != nullptr && rank > 0)
    *worst_pivot = std::abs(qr.matrixR()(rank - 1, rank - 1)) / std::max(qr.maxPivot(), 1e-300);
  const Mat q = qr.householderQ() * Mat::Identity(nv, nv);
  return q.rightCols(nv - rank);
}

// QR of the null space's transpose picks the coordinates that determine it best.
Reduction reduce_rows(const Mat& rows, const Vec& scales, double tolerance) {
  const Eigen::Index nv = scales.size();
  Reduction out;
  const Mat null = scaled_null_space(rows, scales, tolerance, &out.worst_pivot);
  const Eigen::Index n = null.cols();
  if (n == 0) {
    out.basis.setZero(nv, 0);
    return out;
  }
  const Eigen::ColPivHouseholderQR<Mat> choice(null.transpose());
  for (Eigen::Index k = 0; k < n; ++k) out.chosen.push_back(static_cast<int>(choice.colsPermutation().indices()[k]));
  std::sort(out.chosen.begin(), out.chosen.end());
  Mat top(n, n);
  for (Eigen::Index k = 0; k < n; ++k) top.row(k) = null.row(out.chosen[k]);
  // basis = S null top^-1 S_chosen^-1
  out.basis = scales.asDiagonal() * top.transpose().partialPivLu().solve(null.transpose()).transpose();
  for (Eigen::Index k = 0; k < n; ++k) {
    const int at = out.chosen[k];
    out.basis.col(k) /= scales[at];
    for (Eigen::Index l = 0; l < n; ++l) out.basis(out.chosen[l], k) = k == l ? 1 : 0;
  }
  // Round-off of the solve is no coupling.
  for (Eigen::Index i = 0; i < nv; ++i) {
    for (Eigen::Index k = 0; k < n; ++k) {
      const int at = out.chosen[k];
      if (std::abs(out.basis(i, k)) < 1e-14 * scales[i] / scales[at]) out.basis(i, k) = 0;
    }
  }
  return out;
}

void columns_to_world(const Equations& equations, const Workspace& work, Mat& m) {
  for (const int column : equations.rotation_columns()) {
    const auto body = static_cast<std::size_t>(equations.body_of_velocity(column));
    m.middleCols(column, 3) = (m.middleCols(column, 3) * work.bodies[body].R.transpose()).eval();
  }
}

Vec to_world(const Equations& equations, const Workspace& work, const Vec& engine) {
  Vec out = engine;
  for (const int column : equations.rotation_columns()) {
    const auto body = static_cast<std::size_t>(equations.body_of_velocity(column));
    out.segment<3>(column) = work.bodies[body].R * engine.segment<3>(column);
  }
  return out;
}

Vec from_world(const Equations& equations, const Workspace& work, const Vec& world) {
  Vec out = world;
  for (const int column : equations.rotation_columns()) {
    const auto body = static_cast<std::size_t>(equations.body_of_velocity(column));
    out.segment<3>(column) = work.bodies[body].R.transpose() * world.segment<3>(column);
  }
  return out;
}

}  // namespace trammel
