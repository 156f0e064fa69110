// Kinematics of frames on rigid bodies: the linear map B from a body's velocities to a frame's twist, applied without
// forming it, and its derivatives. Full rigid coordinates are (velocity in the world, angular velocity in the body);
// planar and point bodies use some of the six columns, so one set of formulas serves all rigid kinds.
//
//   v_F = v + R (w x p) = v + W x rho,  w_F = W,      W = R w,  rho = R p      B = [ I  -rho~ R ;  0  R ]
#pragma once
#include "trammel/elements/body.h"
#include "trammel/math/rotation.h"

namespace trammel {

// What the rigid kinds have in common: M is that of mass and inertia about the centre of mass, so it is constant.
class RigidBody : public BodyElement {
 public:
  double weight() const final { return weight_; }
  Vec3 moments() const final { return inertia_.diagonal(); }
  double kinetic_energy(const BodyState& s, const double* /*extra*/) const final {
    const Vec3 w = s.R.transpose() * s.w;
    return 0.5 * mass_ * s.v.squaredNorm() + 0.5 * w.dot(inertia_ * w);
  }
  double potential_energy(const BodyState& s, const double* /*extra*/, const Vec3& gravity) const final {
    return -weight_ * gravity.dot(s.r);
  }

 protected:
  RigidBody(double mass, double weight, const Mat3& inertia) : mass_(mass), weight_(weight), inertia_(inertia) {}

  double mass_, weight_;
  Mat3 inertia_;
};

inline FrameState frame_state(const BodyFrame& f, const BodyState& b) {
  const Vec3 rho = b.R * f.arm;
  return {b.r + rho, f.aligned ? b.R : Mat3(b.R * f.R), b.v + b.w.cross(rho), b.w};
}

// B^T (force, torque): what a wrench at the frame does to the body's six velocities.
inline Vec6 to_body(const BodyFrame& f, const BodyState& b, const Vec3& force, const Vec3& torque) {
  Vec6 out;
  out.head<3>() = force;
  out.tail<3>() = f.arm.cross(b.R.transpose() * force) + b.R.transpose() * torque;
  return out;
}

// B of a frame without its constant blocks: B = [ I  -S ;  0  R ].
struct FrameMap {
  Mat3 R, S;  // S = rho~ R
};
inline FrameMap frame_map(const BodyFrame& f, const BodyState& b) {
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
inline Mat3 map_derivative(const BodyFrame& f, const BodyState& b, const Vec3& force, const Vec3& torque) {
  const Vec3 force_b = b.R.transpose() * force;
  return skew(f.arm) * skew(force_b) + skew(b.R.transpose() * torque);
}

// d(B u)/dq for held body velocities u with angular part W (world): columns of rotation, 6 x 3.
inline Eigen::Matrix<double, 6, 3> map_times_derivative(const BodyFrame& f, const BodyState& b, const Vec3& W) {
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
inline Bias frame_bias(const BodyFrame& f, const BodyState& b) {
  const Vec3 rho = b.R * f.arm;
  const Vec3 first = b.w.cross(rho);
  Bias out;
  out.value = b.w.cross(first);
  out.by_rotation = -skew(out.value) * b.R;
  out.by_spin = -(skew(first) + skew(b.w) * skew(rho)) * b.R;
  return out;
}

}  // namespace trammel
