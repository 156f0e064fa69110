// Eigenvalues and singular values: by the equations that define them.
#include "trammel/linalg/eigenvalues.h"

#include <gtest/gtest.h>

namespace trammel::eigenvalues_test {
namespace {

Mat random_matrix(int rows, int columns, unsigned seed) {
  std::srand(seed);
  return Mat::Random(rows, columns);
}

TEST(Eigenvalues, OfSymmetricMatricesAscendWithOrthonormalVectors) {
  const Mat a = random_matrix(9, 9, 1), m = a + a.transpose();
  const SymmetricEigen<Mat> eigen = symmetric_eigen(m);
  EXPECT_LE((m * eigen.vectors - eigen.vectors * eigen.values.asDiagonal()).norm(), 1e-13 * m.norm());
  EXPECT_LE((eigen.vectors.transpose() * eigen.vectors - Mat::Identity(9, 9)).norm(), 1e-13);
  for (int i = 1; i < 9; ++i) EXPECT_LE(eigen.values[i - 1], eigen.values[i]);
  EXPECT_LE((symmetric_eigenvalues(m) - eigen.values).norm(), 1e-13 * m.norm());
  const Mat3 small = m.topLeftCorner<3, 3>();
  EXPECT_LE((symmetric_eigenvalues(small) - symmetric_eigenvalues(Mat(small))).norm(), 1e-13);
  const SymmetricEigen<Mat3> fixed = symmetric_eigen(small);
  EXPECT_LE((small * fixed.vectors - fixed.vectors * fixed.values.asDiagonal()).norm(), 1e-13);
}

TEST(Eigenvalues, OfAPencilHaveVectorsOfUnitMass) {
  const Mat a = random_matrix(8, 8, 2), b = random_matrix(8, 8, 3);
  const Mat K = a + a.transpose(), M = b * b.transpose() + Mat::Identity(8, 8);
  const SymmetricEigen<Mat> eigen = symmetric_eigen(K, M);
  EXPECT_LE((K * eigen.vectors - M * eigen.vectors * eigen.values.asDiagonal()).norm(), 1e-12);
  EXPECT_LE((eigen.vectors.transpose() * M * eigen.vectors - Mat::Identity(8, 8)).norm(), 1e-12);
}

TEST(Eigenvalues, OfAnyMatrixComeInPairs) {
  const Mat m = random_matrix(7, 7, 4);
  const GeneralEigen eigen = general_eigen(m);
  EXPECT_LE((m * eigen.vectors - eigen.vectors * eigen.values.asDiagonal()).norm(), 1e-12);
  EXPECT_LE((general_eigenvalues(m) - eigen.values).norm(), 1e-12);
  for (int i = 0; i < 7; ++i) {
    if (!(eigen.values[i].imag() > 0)) continue;
    EXPECT_EQ(eigen.values[i + 1], std::conj(eigen.values[i]));
  }
}

TEST(Eigenvalues, SingularValuesDescendAndTheirVectorsGiveTheMatrix) {
  const Mat m = random_matrix(5, 8, 5);
  const SingularValues all = singular_values(m, Eigen::ComputeFullU | Eigen::ComputeFullV);
  EXPECT_LE((all.u * all.values.asDiagonal() * all.v.leftCols(5).transpose() - m).norm(), 1e-13);
  EXPECT_EQ(all.v.cols(), 8);
  for (int i = 1; i < 5; ++i) EXPECT_GE(all.values[i - 1], all.values[i]);
  EXPECT_LE((singular_values(m).values - all.values).norm(), 1e-13);
  EXPECT_EQ(singular_values(m).u.size(), 0);
}

}  // namespace
}  // namespace trammel::eigenvalues_test
