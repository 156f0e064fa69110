#include "trammel/flexible/lowest_modes.h"
#include "trammel/linalg/eigenvalues.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace trammel {
namespace {

constexpr int dense_up_to = 120;  // freedoms; a dense solution is then the quicker one

LowestModes dense_modes(const Mat& K, const Mat& M, int count) {
  const SymmetricEigen<Mat> eigen = symmetric_eigen(K, M);
  return {eigen.values.head(count), eigen.vectors.leftCols(count)};
}

}  // namespace

// Twice as many vectors as wanted: a vector's error falls by lambda_n / lambda_2n each time, about 1/10 of a beam. The
// eigenvalues, whose errors are the squares, stop changing first: two more rounds for the vectors.
LowestModes lowest_modes(const Eigen::SparseMatrix<double>& K, const Eigen::SparseMatrix<double>& M,
                         const SparseFactors& factors, int wanted) {
  const auto size = static_cast<int>(K.rows());
  wanted = std::min(wanted, size);
  const int block = std::max(2 * wanted, wanted + 8);
  if (size <= dense_up_to || 2 * block > size) return dense_modes(Mat(K), Mat(M), std::min(block, size));
  std::mt19937 random(7);  // any seed
  std::uniform_real_distribution<double> uniform(-1, 1);
  Mat X = Mat::NullaryExpr(size, block, [&] { return uniform(random); });
  Vec before = Vec::Zero(wanted);
  LowestModes out;
  constexpr int most_rounds = 200;
  for (int round = 0, settled = 0; round < most_rounds && settled < 3; ++round) {
    X = factors.solve(Mat(M * X)).eval();
    const Mat MX = M * X, KX = K * X;
    Mat k = X.transpose() * KX, m = X.transpose() * MX;
    k = (0.5 * (k + k.transpose())).eval();
    m = (0.5 * (m + m.transpose())).eval();
    // Columns of very different length would spoil the small pencil.
    const Vec scale = m.diagonal().cwiseSqrt().cwiseInverse();
    k = (scale.asDiagonal() * k * scale.asDiagonal()).eval();
    m = (scale.asDiagonal() * m * scale.asDiagonal()).eval();
    LowestModes ritz = dense_modes(k, m, block);
    X = (X * (scale.asDiagonal() * ritz.vectors)).eval();
    out.values = ritz.values;
    const bool same =
        ((out.values.head(wanted) - before).array().abs() <= 1e-12 * out.values.head(wanted).array()).all();
    settled = same ? settled + 1 : 0;
    before = out.values.head(wanted);
  }
  out.vectors = X;
  return out;
}

}  // namespace trammel
