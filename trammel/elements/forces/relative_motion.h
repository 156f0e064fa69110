// Motion of a frame B against a frame A, in the axes of A, for large motions of both:
//
//   y = (r, theta),   r = R_A^T (p_B - p_A),   theta = log(R_A^T R_B)
//   r'     = R_A^T (v_B - v_A + d x w_A),      theta' = T(theta)^-T R_A^T (w_B - w_A)      written y' = J tau
//
// A stress s against y puts the wrenches -J^T s on the frames, that is with (f, m) the halves of s
//
//   force on B  F = -R_A f,   torque on B  M = -R_A T^-1 m,   on A: -F at B's origin and -M,
//
// so that a potential V(y) with s = dV/dy is exact wherever the frames are, and y'^T D y' is exactly what s = D y'
// dissipates. log has its jump at half a turn; elements refuse to be evaluated near it.
#pragma once
#include <numbers>

#include "trammel/elements/frame.h"
#include "trammel/elements/scalars/invariant.h"

namespace trammel {

class RelativeMotion {
 public:
  static constexpr double greatest_angle = 0.97 * std::numbers::pi;
  using Rows = Eigen::Matrix<double, 6, 12>;
  using Wrench = Eigen::Matrix<double, 12, 1>;

  // `turn_a` and `turn_b`: axes used instead of the frames' own, given in these.
  RelativeMotion(const FrameState& a, const FrameState& b, const Mat3& turn_a = Mat3::Identity(),
                 const Mat3& turn_b = Mat3::Identity());

  const Vec6& y() const { return y_; }
  const Vec6& rate() const { return rate_; }
  bool usable() const { return y_.tail<3>().norm() < greatest_angle; }

  Wrench wrench(const Vec6& s) const;           // -J^T s
  Vec6 wrench_on_b(const Vec6& s) const;        // in the axes of A
  Rows jacobian() const;                        // J
  Rows jacobian_times(const Mat6& K) const;     // K J
  PairMatrix wrenches(const Rows& s) const;     // -J^T s of each column of s
  Rows rate_pose() const;                       // d(J tau)/dpose
  PairMatrix wrench_pose(const Vec6& s) const;  // d(-J^T s)/dpose, s held

 private:
  Mat3 R_, tangent_inverse_;  // R_A, T(theta)^-1
  Vec3 d_, v_, w_, w_a_;      // v = v_B - v_A + d x w_A, w = w_B - w_A
  Vec6 y_, rate_;
};

}  // namespace trammel
