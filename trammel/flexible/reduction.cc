#include "trammel/flexible/reduction.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "trammel/flexible/lowest_modes.h"
#include "trammel/linalg/eigenvalues.h"

namespace trammel {
namespace {

using Sparse = FiniteElements::Sparse;
constexpr double equal = 1e-3;      // eigenvalues nearer than this, relatively, are not told apart
constexpr double round_off = 1e-8;  // S0, S1 and Mqq - 1 come out below; larger ones would be a mistake

// The freedoms in an order of their own: interfaces first.
struct Partition {
  std::vector<int> place;  // of each freedom among its kind
  std::vector<bool> held;
  int interfaces = 0, interior = 0;

  Partition(const FiniteElements& elements, const std::vector<int>& nodes)
      : place(elements.freedoms(), -1), held(elements.freedoms(), false) {
    for (const int node : nodes) {
      for (int k = 0; k < 6; ++k) {
        held[6 * node + k] = true;
        place[6 * node + k] = interfaces++;
      }
    }
    for (int i = 0; i < elements.freedoms(); ++i)
      if (!held[i]) place[i] = interior++;
  }
  Sparse block(const Sparse& matrix, bool rows_held, bool columns_held) const {
    std::vector<Eigen::Triplet<double>> entries;
    for (int j = 0; j < matrix.outerSize(); ++j) {
      if (held[j] != columns_held) continue;
      for (Sparse::InnerIterator it(matrix, j); it; ++it)
        if (held[it.row()] == rows_held) entries.emplace_back(place[it.row()], place[j], it.value());
    }
    Sparse out(rows_held ? interfaces : interior, columns_held ? interfaces : interior);
    out.setFromTriplets(entries.begin(), entries.end());
    return out;
  }
};

// `wanted` of them, and as many more as are equal to the last one.
LowestModes normal_modes(const Sparse& K, const Sparse& M, const SparseFactors& factors, int wanted) {
  const auto size = static_cast<int>(K.rows());
  if (wanted == 0) return {Vec(0), Mat(size, 0), 0};
  for (int more = 4;; more *= 2) {
    LowestModes modes = lowest_modes(K, M, factors, wanted + more);
    int taken = wanted;
    const int known = std::min(wanted + more, size);
    while (taken < known && modes.values[taken] - modes.values[taken - 1] < equal * modes.values[taken - 1]) ++taken;
    if (taken == known && known < size) continue;
    modes.values.conservativeResize(taken);
    modes.vectors.conservativeResize(Eigen::NoChange, taken);
    return modes;
  }
}

// Columns of V: constraint modes, then normal modes.
Mat craig_bampton(const FiniteElements& elements, const ReductionOptions& options, Vec& held_frequencies) {
  const Partition part(elements, options.interfaces);
  if (options.normal_modes > part.interior)
    throw ReductionError("with its interface nodes held it has " + std::to_string(part.interior) +
                         " modes, and more are asked for");
  const Sparse Kii = part.block(elements.stiffness, false, false), Kib = part.block(elements.stiffness, false, true),
               Mii = part.block(elements.mass, false, false);
  Mat V = Mat::Zero(elements.freedoms(), part.interfaces);
  if (part.interior > 0) {
    const SparseFactors factors(Kii);
    if (factors.info() != Eigen::Success || !(factors.vectorD().minCoeff() > 0))
      throw ReductionError("its stiffness cannot be factored: sections or lengths differ by too many orders of size");
    const LowestModes normal = normal_modes(Kii, Mii, factors, options.normal_modes);
    const Mat constraint = factors.solve(Mat(Kib));
    held_frequencies = normal.values.cwiseMax(0).cwiseSqrt() / (2 * std::numbers::pi);
    V.conservativeResize(Eigen::NoChange, part.interfaces + held_frequencies.size());
    for (int i = 0; i < elements.freedoms(); ++i) {
      if (part.held[i]) continue;
      V.row(i).head(part.interfaces) = -constraint.row(part.place[i]);
      if (held_frequencies.size() > 0) V.row(i).tail(held_frequencies.size()) = normal.vectors.row(part.place[i]);
    }
  }
  for (int i = 0; i < elements.freedoms(); ++i)
    if (part.held[i]) V.row(i) = Vec::Unit(V.cols(), part.place[i]).transpose();
  return V;
}

// The modes that are orthogonal to the rigid motions, with their eigenvalues. V^T M V = L L^T; in y = L^T x the rigid
// motions span the first six columns of an orthogonal matrix, and the rest is free of them to round-off.
Mat free_modes(const FiniteElements& elements, const Mat& V, const Mat& rigid, const std::vector<int>& interfaces,
               Vec& values) {
  const Vec unit = V.cwiseProduct(elements.mass * V).colwise().sum().transpose().cwiseSqrt().cwiseInverse();
  if (!unit.allFinite()) throw ReductionError("one of its interface nodes has no mass");
  const Mat scaled = V * unit.asDiagonal();
  const Mat M = scaled.transpose() * (elements.mass * scaled), K = scaled.transpose() * (elements.stiffness * scaled);
  const Eigen::LLT<Mat> factors(0.5 * (M + M.transpose()));
  if (factors.info() != Eigen::Success)
    throw ReductionError("its mass matrix is not positive: an interface node may stand twice");
  // Constraint modes follow a rigid motion of the interface nodes as one.
  Mat of_rigid = Mat::Zero(V.cols(), 6);
  for (std::size_t i = 0; i < interfaces.size(); ++i)
    of_rigid.middleRows<6>(static_cast<Eigen::Index>(6 * i)) = rigid.middleRows<6>(6 * interfaces[i]);
  of_rigid = (unit.cwiseInverse().asDiagonal() * of_rigid).eval();
  const Mat Y = factors.matrixU() * of_rigid;
  const Eigen::HouseholderQR<Mat> qr(Y);
  const Eigen::Index m = V.cols() - 6;
  const Mat rest = (qr.householderQ() * Mat::Identity(V.cols(), V.cols())).rightCols(m);
  const Mat basis = factors.matrixU().solve(rest);
  Mat k = basis.transpose() * K * basis;
  k = (0.5 * (k + k.transpose())).eval();
  if (m == 0) {
    values.resize(0);
    return Mat(V.rows(), 0);
  }
  const SymmetricEigen<Mat> eigen = symmetric_eigen(k);
  values = eigen.values;
  Mat modes = scaled * (basis * eigen.vectors);
  // The sign of a mode is free: its largest entry is positive, so that results do not depend on the solver.
  for (Eigen::Index j = 0; j < m; ++j) {
    Eigen::Index at = 0;
    modes.col(j).cwiseAbs().maxCoeff(&at);
    if (modes(at, j) < 0) modes.col(j) *= -1;
  }
  return modes;
}

double ratio_of(const ReductionOptions& options, int mode, double frequency) {
  if (!options.ratios.empty())
    return options.ratios[std::min(static_cast<std::size_t>(mode), options.ratios.size() - 1)];
  for (const DampingBand& band : options.bands)
    if (frequency < band.below) return band.ratio;
  return options.bands.empty() ? 0 : options.bands.back().ratio;
}

ModalDrawing drawing_of(const BeamFrame& frame, const FiniteElements& elements, const Vec3& reference,
                        const Mat& shapes) {
  ModalDrawing out;
  out.shapes.resize(static_cast<Eigen::Index>(3 * elements.nodes.size()), shapes.cols());
  for (std::size_t i = 0; i < elements.nodes.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    out.points.push_back(elements.nodes[i] - reference);
    out.shapes.middleRows<3>(3 * at) = shapes.middleRows<3>(6 * at);
  }
  for (const BeamElement& element : elements.beams) {
    const double area = frame.sections[frame.beams[element.beam].section].area;
    out.segments.push_back({element.first, element.second, std::sqrt(area / std::numbers::pi)});
  }
  return out;
}

// What vanishes by the choice of modes is zero, so that the equations are those of a centre of mass.
void clear_round_off(ModalData& data) {
  const double mass = std::sqrt(data.mass), turn = std::sqrt(data.inertia.trace());
  const Eigen::Index m = data.modes();
  if (data.S0.cwiseAbs().sum() > round_off * mass * static_cast<double>(m) ||
      data.S1.cwiseAbs().sum() > round_off * turn * static_cast<double>(m) ||
      (data.modal_mass - Mat::Identity(m, m)).cwiseAbs().sum() > round_off * static_cast<double>(m * m))
    throw ReductionError(
        "its modes could not be made orthogonal: sections or lengths differ by too many orders of size");
  data.S0.setZero();
  data.S1.setZero();
  data.modal_mass.setIdentity();
  data.first_moment.setZero();
}

}  // namespace

Reduction reduce(const BeamFrame& frame, const FiniteElements& elements, const ReductionOptions& options) {
  Reduction out;
  double mass = 0;
  for (const MassPoint& p : elements.points) {
    mass += p.mass;
    out.center += p.mass * p.position;
  }
  out.center /= mass;
  Vec held_frequencies;
  const Mat V = craig_bampton(elements, options, held_frequencies), rigid = elements.rigid_motions(out.center);
  Vec values;
  const Mat& shapes = out.shapes = free_modes(elements, V, rigid, options.interfaces, values);
  if (values.size() > 0 && !(values.minCoeff() > 0))
    throw ReductionError("it has a motion without stiffness beside the six of a rigid body");
  out.data = modal_data(elements, out.center, shapes);
  clear_round_off(out.data);
  out.normal_modes = static_cast<int>(held_frequencies.size());
  out.data.held_frequencies = held_frequencies;
  out.data.normal_modes_asked = options.normal_modes;
  const Vec rates = values.cwiseSqrt();
  out.frequencies = rates / (2 * std::numbers::pi);
  out.data.stiffness = values.asDiagonal();
  Vec damping(values.size());
  for (int j = 0; j < values.size(); ++j) damping[j] = 2 * ratio_of(options, j, out.frequencies[j]) * rates[j];
  out.data.damping = damping.asDiagonal();
  out.data.drawing = drawing_of(frame, elements, out.center, shapes);
  for (const int node : options.interfaces) {
    ModalNode of{frame.nodes[node].name, frame.nodes[node].position - out.center, {}, {}};
    of.translation = shapes.middleRows<3>(6 * node);
    of.rotation = shapes.middleRows<3>(6 * node + 3);
    out.data.nodes.push_back(std::move(of));
  }
  return out;
}

}  // namespace trammel
