// Factorisations for the rank analysis: see rank_algebra.h.
#include "trammel/rank/algebra.h"
#include "trammel/linalg/eigenvalues.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace trammel::rank {

void Spectrum::add(double relative, const LoopOptions& options) {
  if (relative > options.tolerance) {
    ++rank;
    smallest_nonzero = std::min(smallest_nonzero, relative);
  } else {
    largest_zero = std::max(largest_zero, relative);
  }
  nearly = nearly || (relative > options.nearly_from && relative < options.nearly_to);
}

Mat orthonormal(const Mat& columns) {
  if (columns.cols() == 0) return columns;
  const Eigen::HouseholderQR<Mat> qr(columns);
  return qr.householderQ() * Mat::Identity(columns.rows(), columns.cols());
}

Mat complement(const Mat& columns) {
  const Index n = columns.rows(), k = columns.cols();
  if (k == 0) return Mat::Identity(n, n);
  const Eigen::HouseholderQR<Mat> qr(columns);
  Mat tail = Mat::Zero(n, n - k);
  tail.bottomRows(n - k).setIdentity();
  return qr.householderQ() * tail;
}

Mat lower_factor(const Mat& m) {
  const Eigen::HouseholderQR<Mat> qr(m.transpose());
  Mat r = qr.matrixQR().topRows(m.rows()).triangularView<Eigen::Upper>();
  r.transposeInPlace();
  return r;
}

RowSplit split_rows(const Mat& rows, const LoopOptions& options) {
  const Index k = rows.rows(), n = rows.cols();
  RowSplit split;
  if (k == 0 || n == 0) {
    split.freedoms = Mat::Identity(n, n);
    split.forces = Mat::Zero(k, n);
    split.null = Mat::Identity(k, k);
    return split;
  }
  if (k <= n) {
    // Well-conditioned rows, the rule, need no singular values.
    const Eigen::ColPivHouseholderQR<Mat> qr(rows.transpose());
    if (std::abs(qr.matrixR()(k - 1, k - 1)) > 1e-3) {
      const Mat q = qr.householderQ() * Mat::Identity(n, n);
      const Mat head = q.leftCols(k).transpose();
      split.freedoms = q.rightCols(n - k);
      split.forces = qr.colsPermutation() * Mat(qr.matrixR().topRows(k).triangularView<Eigen::Upper>().solve(head));
      split.null = Mat::Zero(k, 0);
      split.spectrum.rank = static_cast<int>(k);
      return split;
    }
  }
  const SingularValues svd = singular_values(rows, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const Vec& sigma = svd.values;
  // Unit rows have singular values of order one, and all of them zero if the bodies cannot move against a row.
  for (const double s : sigma) split.spectrum.add(s / std::max(sigma(0), 1.0), options);
  const Index r = split.spectrum.rank;
  split.freedoms = svd.v.rightCols(n - r);
  Mat scaled = svd.u.leftCols(r);
  for (Index i = 0; i < r; ++i) scaled.col(i) /= sigma(i);
  split.forces = scaled * svd.v.leftCols(r).transpose();
  split.null = svd.u.rightCols(k - r);
  return split;
}

namespace {

// Left singular vectors and values of a square matrix from eigenvectors of m m^T. Squaring hides small values, so each
// stage takes only those within a factor of 10 of its largest and hands on the part of m that the others see: the error
// is that of about 10 round-offs of the largest value (a value s is disturbed by eps s_max^2 / s_taken).
// As fast as BDCSVD (n = 121: 2.3 ms against 6.2, 301: 28 against 38, 601: 216 against 187), which is far slower
// to compile.
void left_singular_in_stages(const Mat& square, Mat& u, Vec& sigma) {
  const Index n = square.rows();
  u.resize(n, n);
  sigma.resize(n);
  Mat rest = square, basis = Mat::Identity(n, n);
  double first = 0;
  for (Index done = 0; done < n;) {
    const Index k = rest.rows();
    const SymmetricEigen<Mat> eigen = symmetric_eigen(Mat(rest * rest.transpose()));
    const Vec& values = eigen.values;  // ascending
    const double largest = std::sqrt(std::max(values(k - 1), 0.0));
    if (done == 0) first = largest;
    Index small = 0;
    if (largest > 1e-16 * first) {  // else only round-off is left
      while (small < k - 1 && values(small) < 0.01 * values(k - 1)) ++small;
    }
    const Mat seen = eigen.vectors.transpose() * rest;
    const Mat vectors = basis * eigen.vectors;
    for (Index i = k - 1; i >= small; --i, ++done) {
      sigma(done) = seen.row(i).norm();
      u.col(done) = vectors.col(i);
    }
    if (small == 0) return;
    basis = vectors.leftCols(small);
    rest = lower_factor(seen.topRows(small));
  }
}

}  // namespace

LeftNull left_null_space(const Mat& matrix, const LoopOptions& options) {
  const Index m = matrix.rows(), n = matrix.cols();
  LeftNull result;
  if (m == 0 || n == 0) {
    result.basis = Mat::Identity(m, m);
    return result;
  }
  // A QR step first leaves a square matrix of the smaller size.
  const bool tall = m > n;
  const Eigen::HouseholderQR<Mat> qr(tall ? matrix : Mat(matrix.transpose()));
  const Index size = std::min(m, n);
  Mat square = qr.matrixQR().topRows(size).triangularView<Eigen::Upper>();
  if (!tall) square.transposeInPlace();
  Mat u;
  Vec sigma;
  if (size < 24) {
    SingularValues svd = singular_values(square, Eigen::ComputeFullU);
    u = std::move(svd.u);
    sigma = std::move(svd.values);
  } else {
    left_singular_in_stages(square, u, sigma);
  }
  for (const double s : sigma) result.spectrum.add(s / sigma(0), options);
  const Index r = result.spectrum.rank;
  if (!tall) {
    result.basis = u.rightCols(m - r);
  } else {
    result.basis = Mat::Zero(m, m - r);
    result.basis.topLeftCorner(size, size - r) = u.rightCols(size - r);
    result.basis.bottomRightCorner(m - size, m - size).setIdentity();
    result.basis.applyOnTheLeft(qr.householderQ());
  }
  return result;
}

Mat column_space(const Mat& vectors, double tolerance) {
  const SingularValues svd = singular_values(vectors, Eigen::ComputeFullU);
  Index rank = 0;
  while (rank < svd.values.size() && svd.values(rank) > tolerance) ++rank;
  return svd.u.leftCols(rank);
}

std::vector<Index> pivot_rows(const Mat& basis) {
  Mat weighted = basis.transpose();
  const Index n = weighted.cols();
  for (Index j = 0; j < n; ++j) weighted.col(j) *= 1 + 1e-6 * static_cast<double>(j) / static_cast<double>(n);
  const Eigen::ColPivHouseholderQR<Mat> qr(weighted);
  std::vector<Index> chosen(static_cast<std::size_t>(weighted.rows()));
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = qr.colsPermutation().indices()(static_cast<Index>(i));
  return chosen;
}

Mat without_rows(const Mat& vectors, const Mat& null, const std::vector<Index>& rows) {
  if (vectors.cols() == 0) return vectors;
  Mat null_at(null.cols(), null.cols()), vectors_at(null.cols(), vectors.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    null_at.row(static_cast<Index>(i)) = null.row(rows[i]);
    vectors_at.row(static_cast<Index>(i)) = vectors.row(rows[i]);
  }
  Mat result = vectors - null * Mat(null_at.partialPivLu().solve(vectors_at));
  for (const Index i : rows) result.row(i).setZero();
  return result;
}

}  // namespace trammel::rank
