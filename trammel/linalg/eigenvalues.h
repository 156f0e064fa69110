// Eigenvalues and singular values of dense matrices. One source compiles them for all: each of Eigen's solvers takes
// the compiler 5 to 10 s wherever it is used (its BDCSVD 25 s, which is why it is used nowhere).
#pragma once
#include <complex>

#include "trammel/base/types.h"

namespace trammel {

template <class Matrix>
struct SymmetricEigen {
  Eigen::Matrix<double, Matrix::RowsAtCompileTime, 1> values;  // ascending
  Matrix vectors;                                              // columns
};
SymmetricEigen<Mat> symmetric_eigen(const Mat& m);
SymmetricEigen<Mat3> symmetric_eigen(const Mat3& m);
SymmetricEigen<Mat> symmetric_eigen(const Mat& K, const Mat& M);  // K x = w M x, M positive; x^T M x = 1
Vec symmetric_eigenvalues(const Mat& m);
Vec3 symmetric_eigenvalues(const Mat3& m);

struct GeneralEigen {
  Eigen::VectorXcd values;  // those with imaginary parts in pairs, the positive one first
  Eigen::MatrixXcd vectors;
};
GeneralEigen general_eigen(const Mat& m);
Eigen::VectorXcd general_eigenvalues(const Mat& m);

struct SingularValues {
  Vec values;  // descending
  Mat u, v;    // whole bases, where asked for
};
// By Jacobi's rotations, accurate in the small values too; `computed`: Eigen::ComputeFullU, Eigen::ComputeFullV.
SingularValues singular_values(const Mat& m, unsigned computed = 0);

}  // namespace trammel
