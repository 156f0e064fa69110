// Kinematics of frames on rigid bodies: the linear map B from a body's velocities to a frame's twist, applied without
// forming it, and its derivatives. Full rigid coordinates are (velocity in the world, angular velocity in the body);
// planar and point bodies use some of the six columns, so one set of formulas serves all rigid kinds.
//
//   v_F = v + R (w x p) = v + W x rho,  w_F = W,      W = R w,  rho = R p      B = [ I  -rho~ R ;  0  R ]
#pragma once
#include <array>

#include "trammel/elements/frame.h"
#include "trammel/math/rotation.h"
#include "trammel/model/model.h"

namespace trammel {

struct BodyState {
  Mat3 R;        // body to world
  Vec3 r, v, w;  // centre of mass, its velocity, angular velocity; world axes
};

// A frame as the equations keep it: place relative to the centre of mass, body axes (world for ground).
struct RigidFrame {
  int body = ground;
  Vec3 arm = Vec3::Zero();
  Mat3 R = Mat3::Identity();
  bool aligned = true;  // R is the identity, as of most: no product then
};

// Velocities of a body kind among the six of a spatial body.
struct KindColumns {
  int count;
  std::array<int, 6> column;
};
inline const KindColumns& columns_of(BodyKind kind) {
  static constexpr std::array<KindColumns, 4> table{
      {{3, {0, 1, 2, -1, -1, -1}}, {3, {0, 1, 5, -1, -1, -1}}, {6, {0, 1, 2, 3, 4, 5}}, {1, {0, -1, -1, -1, -1, -1}}}};
  return table[static_cast<std::size_t>(kind)];
}
// How many of a kind's velocities are translations; they come first.
inline int translations_of(BodyKind kind) { return kind == BodyKind::scalar ? 1 : kind == BodyKind::planar ? 2 : 3; }

inline FrameState frame_state(const RigidFrame& f, const BodyState& b) {
  const Vec3 rho = b.R * f.arm;
  return {b.r + rho, f.aligned ? b.R : Mat3(b.R * f.R), b.v + b.w.cross(rho), b.w};
}

// B^T (force, torque): what a wrench at the frame does to the body's six velocities.
inline Vec6 to_body(const RigidFrame& f, const BodyState& b, const Vec3& force, const Vec3& torque) {
  Vec6 out;
  out.head<3>() = force;
  out.tail<3>() = f.arm.cross(b.R.transpose() * force) + b.R.transpose() * torque;
  return out;
}

// B of a frame without its constant blocks: B = [ I  -S ;  0  R ].
struct FrameMap {
  Mat3 R, S;  // S = rho~ R
};
inline FrameMap frame_map(const RigidFrame& f, const BodyState& b) {
  const Vec3 rho = b.R * f.arm;
  FrameMap map{b.R, {}};
  for (int k = 0; k < 3; ++k) map.S.col(k) = rho.cross(b.R.col(k));
  return map;
}

// rows (.. x 6, frame twist) -> rows B (.. x 6, body velocities), in place: the innermost loop of every linearisation,
// six rows at once where there are six.
template <class Block>
void multiply_map(const FrameMap& map, Block&& rows) {
  Eigen::Index i = 0;
  for (; i + 6 <= rows.rows(); i += 6) {
    auto linear = rows.template block<6, 3>(i, 0), angular = rows.template block<6, 3>(i, 3);
    const Eigen::Matrix<double, 6, 3> V = linear, W = angular;
    angular = W.lazyProduct(map.R) - V.lazyProduct(map.S);
  }
  for (; i < rows.rows(); ++i) {
    const Eigen::RowVector3d v = rows.template block<1, 3>(i, 0), w = rows.template block<1, 3>(i, 3);
    rows.template block<1, 3>(i, 3) = w.lazyProduct(map.R) - v.lazyProduct(map.S);
  }
}

// columns (6 x ..) -> B^T columns, in place.
template <class Block>
void multiply_map_transposed(const FrameMap& map, Block&& columns) {
  Eigen::Index j = 0;
  for (; j + 6 <= columns.cols(); j += 6) {
    Mat6 block = columns.template block<6, 6>(0, j).transpose();
    multiply_map(map, block);
    columns.template block<6, 6>(0, j) = block.transpose();
  }
  for (; j < columns.cols(); ++j) {
    Eigen::Matrix<double, 1, 6> column = columns.col(j).transpose();
    multiply_map(map, column);
    columns.col(j) = column.transpose();
  }
}

// d(B^T wrench)/dq, wrench held in the world: only rotation by rotation.
inline Mat3 map_derivative(const RigidFrame& f, const BodyState& b, const Vec3& force, const Vec3& torque) {
  const Vec3 force_b = b.R.transpose() * force;
  return skew(f.arm) * skew(force_b) + skew(b.R.transpose() * torque);
}

// d(B u)/dq for held body velocities u with angular part W (world): columns of rotation, 6 x 3.
inline Eigen::Matrix<double, 6, 3> map_times_derivative(const RigidFrame& f, const BodyState& b, const Vec3& W) {
  Eigen::Matrix<double, 6, 3> out;
  out.topRows<3>() = -skew(W.cross(b.R * f.arm)) * b.R;
  out.bottomRows<3>() = -skew(W) * b.R;
  return out;
}

// Bias b = B' v = W x (W x rho) (linear part), with db/dq and db/dw, 3 x 3 each against body rotation and body angular
// velocity.
struct Bias {
  Vec3 value;
  Mat3 by_rotation, by_spin;
};
inline Bias frame_bias(const RigidFrame& f, const BodyState& b) {
  const Vec3 rho = b.R * f.arm;
  const Vec3 first = b.w.cross(rho);
  Bias out;
  out.value = b.w.cross(first);
  out.by_rotation = -skew(out.value) * b.R;
  out.by_spin = -(skew(first) + skew(b.w) * skew(rho)) * b.R;
  return out;
}

}  // namespace trammel
