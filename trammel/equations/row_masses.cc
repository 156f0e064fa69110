#include "trammel/equations/row_masses.h"

#include <Eigen/Eigenvalues>

namespace trammel {
namespace {

Mat3 rotational_mass(const Partials& partials, const Pattern& vv, int column) {
  Mat3 J;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) J(i, k) = partials.M[vv.slot(column + i, column + k)];
  return J;
}

}  // namespace

Vec row_masses(const Equations& equations, const State& state, Workspace& work) {
  const int nv = equations.sizes().nv, rows_count = equations.sizes().multipliers();
  Vec masses = Vec::Zero(rows_count);
  if (rows_count == 0) return masses;
  Partials partials = equations.make_partials(Detail::projection);
  equations.jacobian(state, partials, work);
  equations.mass(partials);
  const Pattern &vv = equations.vv(), &gv = equations.gv();
  // Blocks of M are single numbers, or three by three on rotations.
  const std::vector<int>& rotations = equations.rotation_columns();
  std::vector<Mat3> inverse;
  std::vector<int> block(static_cast<std::size_t>(nv), -1);
  for (const int j : rotations) {
    const Eigen::SelfAdjointEigenSolver<Mat3> eigen(rotational_mass(partials, vv, j));
    const Vec3& values = eigen.eigenvalues();
    Vec3 inverted = Vec3::Zero();
    for (int i = 0; i < 3; ++i)
      if (values[i] > 1e-12 * values[2]) inverted[i] = 1 / values[i];
    for (int i = 0; i < 3; ++i) block[j + i] = static_cast<int>(inverse.size());
    inverse.push_back(eigen.eigenvectors() * inverted.asDiagonal() * eigen.eigenvectors().transpose());
  }
  Mat rows = Mat::Zero(rows_count, 3);  // of G, on the rotation columns of a body
  for (int j = 0; j < nv; ++j) {
    const auto u = static_cast<std::size_t>(j);
    const int own = block[u];
    const double mass = own < 0 ? partials.M[vv.slot(j, j)] : 0;
    for (int p = gv.start()[u]; p < gv.start()[u + 1]; ++p) {
      const int row = gv.row()[p];
      if (own < 0 && mass > 0) masses[row] += partials.G[p] * partials.G[p] / mass;
      if (own >= 0) rows(row, j - rotations[own]) = partials.G[p];
    }
    if (own < 0 || j != rotations[own] + 2) continue;
    masses += (rows * inverse[own]).cwiseProduct(rows).rowwise().sum();
    rows.setZero();
  }
  for (double& m : masses) m = m > 0 ? 1 / m : equations.greatest_mass();
  return masses;
}

int velocity_without_mass(const Equations& equations) {
  Partials partials = equations.make_partials(Detail::projection);
  equations.mass(partials);
  const Pattern& vv = equations.vv();
  std::vector<bool> in_block(static_cast<std::size_t>(equations.sizes().nv), false);
  for (const int j : equations.rotation_columns()) {
    const Eigen::SelfAdjointEigenSolver<Mat3> eigen(rotational_mass(partials, vv, j));
    Eigen::Index axis = 0;
    eigen.eigenvectors().col(0).cwiseAbs().maxCoeff(&axis);
    if (!(eigen.eigenvalues()[0] > 1e-12 * eigen.eigenvalues()[2])) return j + static_cast<int>(axis);
    for (int i = 0; i < 3; ++i) in_block[j + i] = true;
  }
  for (int i = 0; i < equations.sizes().nv; ++i)
    if (!in_block[i] && !(partials.M[vv.slot(i, i)] > 0)) return i;
  return -1;
}

}  // namespace trammel
