#include "trammel/flexible/lowest_modes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "trammel/flexible/reduction.h"
#include "trammel/linalg/eigenvalues.h"

namespace trammel {
namespace {

constexpr int dense_up_to = 120;     // freedoms; a dense solution is then the quicker one
constexpr int dense_at_most = 5000;  // freedoms; 200 MB for each matrix

LowestModes dense_modes(const Mat& K, const Mat& M, int count) {
  const SymmetricEigen<Mat> eigen = symmetric_eigen(K, M);
  return {eigen.values.head(count), eigen.vectors.leftCols(count), 0};
}

// Of each eigenvalue, relatively, as the factors of K and the small pencil leave it: 1e-9 for the lowest one of a beam
// of 50 elements, more for longer ones.
Vec round_off_of(const Vec& diagonal_of_K, const Mat& X, const Vec& values, double greatest) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon(), least = 1e-12;
  const Vec stiffest = X.cwiseAbs2().transpose() * diagonal_of_K;
  return (epsilon * (stiffest.array() + 8 * greatest) / values.array()).max(least);
}

// With Y = M X of the round before, K X = Y and X^T K X = X^T Y: the product with K itself would cancel, by as many
// digits as the stiffest and the softest motion differ. Of a tube of 50 elements eigenvalues then change by 2e-15 from
// round to round in the end, and by 1e-11 with X^T K X.
std::optional<LowestModes> iterate(const Eigen::SparseMatrix<double>& K, const Eigen::SparseMatrix<double>& M,
                                   const SparseFactors& factors, int wanted, int block) {
  std::mt19937 random(7);  // any seed
  std::uniform_real_distribution<double> uniform(-1, 1);
  Mat X = Mat::NullaryExpr(M.rows(), block, [&] { return uniform(random); });
  Vec before = Vec::Zero(wanted);
  const Vec diagonal = K.diagonal();
  constexpr int most_rounds = 60;
  for (int round = 1, settled = 0; round <= most_rounds; ++round) {
    const Mat Y = M * X;
    X = factors.solve(Y).eval();
    Mat k = X.transpose() * Y, m = X.transpose() * (M * X);
    k = (0.5 * (k + k.transpose())).eval();
    m = (0.5 * (m + m.transpose())).eval();
    // Columns of very different length would spoil the small pencil.
    const Vec scale = m.diagonal().cwiseSqrt().cwiseInverse();
    k = (scale.asDiagonal() * k * scale.asDiagonal()).eval();
    m = (scale.asDiagonal() * m * scale.asDiagonal()).eval();
    const LowestModes ritz = dense_modes(k, m, block);
    X = (X * (scale.asDiagonal() * ritz.vectors)).eval();
    const Vec now = ritz.values.head(wanted), change = (now - before).cwiseAbs().cwiseQuotient(now);
    before = now;
    const Vec known_to = round_off_of(diagonal, X.leftCols(wanted), now, ritz.values[block - 1]);
    settled = (change.array() <= known_to.array()).all() ? settled + 1 : 0;
    // The eigenvalues, whose errors are the squares, stop changing first: two more rounds for the vectors.
    if (settled == 3) return LowestModes{ritz.values, X, round};
  }
  return std::nullopt;
}

}  // namespace

// Twice as many vectors as wanted: a vector's error falls by lambda_n / lambda_2n each time, about 1/10 of a beam.
// Where more frequencies lie close together, as those of many spokes, it hardly falls: more vectors then.
LowestModes lowest_modes(const Eigen::SparseMatrix<double>& K, const Eigen::SparseMatrix<double>& M,
                         const SparseFactors& factors, int wanted) {
  const auto size = static_cast<int>(K.rows());
  wanted = std::min(wanted, size);
  int block = std::max(2 * wanted, wanted + 8);
  for (; size > dense_up_to && 2 * block <= size; block *= 2)
    if (std::optional<LowestModes> found = iterate(K, M, factors, wanted, block)) return std::move(*found);
  if (size > dense_at_most)
    throw ReductionError("its lowest frequencies cannot be found: too many of them lie close together");
  return dense_modes(Mat(K), Mat(M), std::min(block, size));
}

}  // namespace trammel
