#include "trammel/equations/row_masses.h"

#include <Eigen/Eigenvalues>
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
Mat inverse_of(const Mat& mass) {
  const Eigen::SelfAdjointEigenSolver<Mat> eigen(mass);
  const Vec& values = eigen.eigenvalues();
  Vec inverted = Vec::Zero(values.size());
  for (Eigen::Index i = 0; i < values.size(); ++i)
    if (values[i] > no_mass * values.tail(1)[0]) inverted[i] = 1 / values[i];
  return eigen.eigenvectors() * inverted.asDiagonal() * eigen.eigenvectors().transpose();
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
  for (const MassBlock& block : mass_blocks(equations, partials)) {
    const auto size = static_cast<Eigen::Index>(block.columns.size());
    const Mat inverse = inverse_of(block.mass);
    // Rows of G on the block; a block touches few of them.
    std::vector<std::pair<int, Vec>> rows;
    for (Eigen::Index k = 0; k < size; ++k) {
      const int j = block.columns[k];
      for (int p = gv.start()[j]; p < gv.start()[j + 1]; ++p) {
        const int row = gv.row()[p];
        auto known = std::find_if(rows.begin(), rows.end(), [row](const auto& r) { return r.first == row; });
        if (known == rows.end()) known = rows.emplace(rows.end(), row, Vec::Zero(size));
        known->second[k] = partials.G[p];
      }
    }
    for (const auto& [row, g] : rows) masses[row] += g.dot(inverse * g);
  }
  for (double& m : masses) m = m > 0 ? 1 / m : equations.greatest_mass();
  return masses;
}

int velocity_without_mass(const Equations& equations) {
  Partials partials = equations.make_partials(Detail::projection);
  equations.mass(equations.initial_state().q, partials);
  for (const MassBlock& block : mass_blocks(equations, partials)) {
    const Eigen::SelfAdjointEigenSolver<Mat> eigen(block.mass);
    const Vec& values = eigen.eigenvalues();
    if (values[0] > no_mass * values.tail(1)[0]) continue;
    Eigen::Index axis = 0;
    eigen.eigenvectors().col(0).cwiseAbs().maxCoeff(&axis);
    return block.columns[axis];
  }
  return -1;
}

}  // namespace trammel
