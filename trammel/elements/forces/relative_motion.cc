#include "trammel/elements/forces/relative_motion.h"

#include "trammel/math/rotation.h"

namespace trammel {

RelativeMotion::RelativeMotion(const FrameState& a, const FrameState& b, const Mat3& turn_a, const Mat3& turn_b) {
  R_ = a.R * turn_a;
  d_ = b.p - a.p;
  w_a_ = a.w;
  w_ = b.w - a.w;
  v_ = b.v - a.v + d_.cross(a.w);
  const Vec3 theta = rotation_log(Quat(Mat3(R_.transpose() * b.R * turn_b)));
  tangent_inverse_ = rotation_tangent_inverse(theta);
  y_ << R_.transpose() * d_, theta;
  rate_ << R_.transpose() * v_, tangent_inverse_.transpose() * (R_.transpose() * w_);
}

RelativeMotion::Wrench RelativeMotion::wrench(const Vec6& s) const {
  const Vec3 force = R_ * s.head<3>(), torque = R_ * (tangent_inverse_ * s.tail<3>());
  Wrench out;
  out << force, d_.cross(force) + torque, -force, -torque;
  return out;
}

Vec6 RelativeMotion::wrench_on_b(const Vec6& s) const {
  Vec6 out;
  out << -s.head<3>(), -tangent_inverse_ * s.tail<3>();
  return out;
}

RelativeMotion::Rows RelativeMotion::jacobian() const {
  const Mat3 Rt = R_.transpose();
  Rows J = Rows::Zero();
  J.block<3, 3>(0, 0) = -Rt;
  J.block<3, 3>(0, 3) = Rt * skew(d_);
  J.block<3, 3>(0, 6) = Rt;
  J.block<3, 3>(3, 9) = tangent_inverse_.transpose() * Rt;
  J.block<3, 3>(3, 3) = -J.block<3, 3>(3, 9);
  return J;
}

// J = [ -R^T  R^T d~  R^T  0 ;  0  -X  0  X ],  X = T^-T R^T
RelativeMotion::Rows RelativeMotion::jacobian_times(const Mat6& K) const {
  const Eigen::Matrix<double, 6, 3> of_r = K.leftCols<3>().lazyProduct(R_.transpose()),
                                    of_theta =
                                        K.rightCols<3>().lazyProduct(tangent_inverse_.transpose() * R_.transpose());
  Rows out;
  out << -of_r, of_r.lazyProduct(skew(d_)) - of_theta, of_r, of_theta;
  return out;
}

PairMatrix RelativeMotion::wrenches(const Rows& s) const {
  const Eigen::Matrix<double, 3, 12> force = R_.lazyProduct(s.topRows<3>()),
                                     torque = (R_ * tangent_inverse_).lazyProduct(s.bottomRows<3>());
  PairMatrix out;
  out << force, skew(d_).lazyProduct(force) + torque, -force, -torque;
  return out;
}

// r' = R_A^T v, v = v_B - v_A + d x w_A; theta' = T(-theta)^-1 R_A^T w
RelativeMotion::Rows RelativeMotion::rate_pose() const {
  const Mat3 Rt = R_.transpose();
  Rows out = Rows::Zero();
  out.block<3, 3>(0, 0) = Rt * skew(w_a_);
  out.block<3, 3>(0, 3) = Rt * skew(v_);
  out.block<3, 3>(0, 6) = -out.block<3, 3>(0, 0);
  const Mat3 by_theta = tangent_inverse_.transpose() * rotation_tangent_derivative(-y_.tail<3>(), rate_.tail<3>());
  const Mat3 turn = by_theta * tangent_inverse_.transpose() * Rt;
  out.block<3, 3>(3, 9) = turn;
  out.block<3, 3>(3, 3) = tangent_inverse_.transpose() * Rt * skew(w_) - turn;
  return out;
}

// d(R_A f) = phi_A x (R_A f), the torque likewise and through T^-1; dd x F = -F~ (dp_B - dp_A)
PairMatrix RelativeMotion::wrench_pose(const Vec6& s) const {
  const Vec3 m = tangent_inverse_ * s.tail<3>();
  const Vec3 force = R_ * s.head<3>(), torque = R_ * m;
  const Mat3 slope = -tangent_inverse_ * rotation_tangent_derivative(y_.tail<3>(), m);  // d(T^-1 s)/dtheta
  const Mat3 turn = R_ * slope * tangent_inverse_.transpose() * R_.transpose();
  PairMatrix out = PairMatrix::Zero();
  out.block<3, 3>(0, 3) = -skew(force);
  out.block<3, 3>(3, 3) = -skew(d_) * skew(force) - turn - skew(torque);
  out.block<3, 3>(3, 9) = turn;
  out.block<3, 3>(3, 0) = skew(force);
  out.block<3, 3>(3, 6) = -skew(force);
  out.block<3, 3>(6, 3) = skew(force);
  out.block<3, 3>(9, 3) = turn + skew(torque);
  out.block<3, 3>(9, 9) = -turn;
  return out;
}

}  // namespace trammel
