#include "trammel/linalg/eigenvalues.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

namespace trammel {

SymmetricEigen<Mat> symmetric_eigen(const Mat& m) {
  const Eigen::SelfAdjointEigenSolver<Mat> solver(m);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

SymmetricEigen<Mat3> symmetric_eigen(const Mat3& m) {
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(m);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

SymmetricEigen<Mat> symmetric_eigen(const Mat& K, const Mat& M) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<Mat> solver(K, M);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Vec symmetric_eigenvalues(const Mat& m) {
  return Eigen::SelfAdjointEigenSolver<Mat>(m, Eigen::EigenvaluesOnly).eigenvalues();
}

Vec3 symmetric_eigenvalues(const Mat3& m) {
  return Eigen::SelfAdjointEigenSolver<Mat3>(m, Eigen::EigenvaluesOnly).eigenvalues();
}

GeneralEigen general_eigen(const Mat& m) {
  const Eigen::EigenSolver<Mat> solver(m);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXcd general_eigenvalues(const Mat& m) { return Eigen::EigenSolver<Mat>(m, false).eigenvalues(); }

SingularValues singular_values(const Mat& m, unsigned computed) {
  const Eigen::JacobiSVD<Mat> svd(m, computed);
  SingularValues out;
  out.values = svd.singularValues();
  if (svd.computeU()) out.u = svd.matrixU();
  if (svd.computeV()) out.v = svd.matrixV();
  return out;
}

}  // namespace trammel
