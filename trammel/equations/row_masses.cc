#include "trammel/equations/row_masses.h"
#include "trammel/linalg/eigenvalues.h"

#include <algorithm>

namespace trammel {
namespace {

// Velocities that M couples with each other: single ones, the rotations of a body, the ends of a rod.
struct MassBlock {
  std::vector<int> columns;
  Mat mass;
};

std::vector<MassBlock> mass_blocks(const Equations& equations, const Partials& partials) {
  std::vector<MassBlock> blocks;
  for (int b = 0; b < static_cast<int>(equations.model().bodies.size()); ++b) {
    const BodyElement& body = equations.body(b);
    const int v0 = body.at().v, n = static_cast<int>(body.velocities().size());
    // The first velocity of each one's block; entries are few.
    std::vector<int> first(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) first[i] = i;
    const auto entries = body.entries();
    for (const auto& [i, j] : entries) {
      const int from = std::max(first[i], first[j]), to = std::min(first[i], first[j]);
      for (int& f : first)
        if (f == from) f = to;
    }
    for (int start = 0; start < n; ++start) {
      if (first[start] != start) continue;
      MassBlock block;
      for (int i = start; i < n; ++i)
        if (first[i] == start) block.columns.push_back(v0 + i);
      const auto size = static_cast<Eigen::Index>(block.columns.size());
      block.mass.setZero(size, size);
      for (Eigen::Index j = 0; j < size; ++j) {
        for (Eigen::Index i = 0; i < size; ++i) {
          const int slot = equations.vv().slot(block.columns[i], block.columns[j]);
          if (slot >= 0) block.mass(i, j) = partials.M[slot];
        }
      }
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

constexpr double no_mass = 1e-12;  // of the largest of a block

// With directions without mass left out.
template <class Matrix>
Matrix inverse_of(const Matrix& mass) {
  const SymmetricEigen<Matrix> eigen = symmetric_eigen(mass);
  auto inverted = eigen.values;
  const double most = inverted[inverted.size() - 1];
  for (double& value : inverted) value = value > no_mass * most ? 1 / value : 0;
  return eigen.vectors * inverted.asDiagonal() * eigen.vectors.transpose();
}

}  // namespace

Vec row_masses(const Equations& equations, const State& state, Workspace& work) {
  const int rows_count = equations.sizes().multipliers();
  Vec masses = Vec::Zero(rows_count);
  if (rows_count == 0) return masses;
  Partials partials = equations.make_partials(Detail::projection);
  equations.jacobian(state, partials, work);
  equations.mass(state.q, partials);
  const Pattern& gv = equations.gv();
  Mat rows = Mat::Zero(rows_count, 3);  // of G, on the columns of a block
  for (const MassBlock& block : mass_blocks(equations, partials)) {
    const auto size = static_cast<Eigen::Index>(block.columns.size());
    const auto for_entries = [&](Eigen::Index k, auto&& use) {
      const int j = block.columns[k];
      for (int p = gv.start()[j]; p < gv.start()[j + 1]; ++p) use(gv.row()[p], partials.G[p]);
    };
    if (size == 1) {
      const double mass = block.mass(0, 0);
      if (mass > 0) for_entries(0, [&](int row, double g) { masses[row] += g * g / mass; });
      continue;
    }
    rows.setZero(rows_count, size);
    for (Eigen::Index k = 0; k < size; ++k) for_entries(k, [&](int row, double g) { rows(row, k) = g; });
    if (size == 3)
      masses += (rows * inverse_of<Mat3>(block.mass)).cwiseProduct(rows).rowwise().sum();
    else
      masses += (rows * inverse_of<Mat>(block.mass)).cwiseProduct(rows).rowwise().sum();
  }
  for (double& m : masses) m = m > 0 ? 1 / m : equations.greatest_mass();
  return masses;
}

int velocity_without_mass(const Equations& equations) {
  Partials partials = equations.make_partials(Detail::projection);
  equations.mass(equations.initial_state().q, partials);
  for (const MassBlock& block : mass_blocks(equations, partials)) {
    const SymmetricEigen<Mat> eigen = symmetric_eigen(block.mass);
    const Vec& values = eigen.values;
    if (values[0] > no_mass * values.tail(1)[0]) continue;
    Eigen::Index axis = 0;
    eigen.vectors.col(0).cwiseAbs().maxCoeff(&axis);
    return block.columns[axis];
  }
  return -1;
}

}  // namespace trammel
