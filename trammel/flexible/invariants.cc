// The sums of model/modal_data.h. The rows of all points stand below each other, six a point: P for (phi, psi), D P
// with D = blockdiag(m 1, J), and e_k~ P, so that the sums are products of tall matrices.
#include "trammel/flexible/reduction.h"
#include "trammel/math/rotation.h"

namespace trammel {
namespace {

// Of one point, in its place.
struct PointRows {
  Eigen::Matrix<double, 6, Eigen::Dynamic> shape;
  explicit PointRows(const MassPoint& p, const Mat& shapes)
      : shape(p.shape.leftCols<6>() * shapes.middleRows<6>(6 * p.first)) {
    if (p.second != p.first) shape += p.shape.rightCols<6>() * shapes.middleRows<6>(6 * p.second);
  }
};

void apply(const MassPoint& p, Eigen::Ref<Mat> rows) {
  rows.topRows<3>() *= p.mass;
  rows.bottomRows<3>() = (p.inertia * rows.bottomRows<3>()).eval();
}

}  // namespace

ModalData modal_data(const FiniteElements& elements, const Vec3& reference, const Mat& shapes) {
  const Eigen::Index m = shapes.cols();
  ModalData out;
  out.S0.setZero(3, m);
  out.S1.setZero(3, m);
  out.modal_mass.setZero(m, m);
  for (auto& row : out.inertia_rate) row.setZero(m);
  for (Mat& block : out.inertia_curvature) block.setZero(m, m);
  for (Mat& block : out.gyration) block.setZero(m, m);
  // A block of points at a time stays in the cache.
  constexpr std::size_t together = 64;
  Mat P, DP, turned[3], D_turned[3];
  for (std::size_t from = 0; from < elements.points.size(); from += together) {
    const std::size_t count = std::min(together, elements.points.size() - from);
    const auto rows = static_cast<Eigen::Index>(6 * count);
    P.resize(rows, m);
    DP.resize(rows, m);
    for (Mat* block : {&turned[0], &turned[1], &turned[2]}) block->resize(rows, m);
    for (std::size_t i = 0; i < count; ++i) {
      const MassPoint& p = elements.points[from + i];
      const auto at = static_cast<Eigen::Index>(6 * i);
      const Vec3 x = p.position - reference;
      P.middleRows<6>(at) = PointRows(p, shapes).shape;
      DP.middleRows<6>(at) = P.middleRows<6>(at);
      apply(p, DP.middleRows<6>(at));
      out.mass += p.mass;
      out.first_moment += p.mass * x;
      out.inertia += p.inertia - p.mass * skew(x) * skew(x);
      out.S0 += DP.middleRows<3>(at);
      out.S1 += skew(x) * DP.middleRows<3>(at) + DP.middleRows<3>(at + 3);
      for (int k = 0; k < 3; ++k) {
        const Mat3 e = skew(Vec3::Unit(k));
        turned[k].middleRows<3>(at) = e * P.middleRows<3>(at);
        turned[k].middleRows<3>(at + 3) = e * P.middleRows<3>(at + 3);
      }
    }
    for (int k = 0; k < 3; ++k) {
      D_turned[k] = turned[k];
      for (std::size_t i = 0; i < count; ++i)
        apply(elements.points[from + i], D_turned[k].middleRows<6>(static_cast<Eigen::Index>(6 * i)));
    }
    out.modal_mass.noalias() += P.transpose() * DP;
    for (int k = 0; k < 3; ++k) {
      out.gyration[k].noalias() += P.transpose() * D_turned[k];
      // Row l of A_k, the part of J1 at (k, l), twice where l = k.
      ModeShapes A = ModeShapes::Zero(3, m);
      for (std::size_t i = 0; i < count; ++i) {
        const auto at = static_cast<Eigen::Index>(6 * i);
        A += skew(elements.points[from + i].position - reference) * D_turned[k].middleRows<3>(at) +
             D_turned[k].middleRows<3>(at + 3);
      }
      for (int l = 0; l < 3; ++l) out.inertia_rate[component(k, l)] += (k == l ? 2 : 1) * A.row(l);
      for (int l = k; l < 3; ++l) {
        const Mat theta = turned[k].transpose() * D_turned[l];
        out.inertia_curvature[component(k, l)] += theta + theta.transpose();
      }
    }
  }
  out.stiffness.setZero(m, m);
  out.damping.setZero(m, m);
  out.displacement.setZero(m);
  out.turn.setZero(m);
  for (Eigen::Index at = 0; at < shapes.rows(); at += 6) {
    out.displacement = out.displacement.cwiseMax(shapes.middleRows<3>(at).colwise().norm().transpose());
    out.turn = out.turn.cwiseMax(shapes.middleRows<3>(at + 3).colwise().norm().transpose());
  }
  return out;
}

}  // namespace trammel
