// The helix that leads from frame A to frame B: every relative motion is a screw, and its logarithm in SE(3) are the
// six numbers of a bar whose axis and section turn evenly from one end to the other. With the relative motion y = (d,
// theta) of relative_motion.h and x = |theta|
//
//   (rho, theta),   rho = T(-theta)^-1 d = d - theta x d / 2 + c q,   q = theta x (theta x d) = theta (theta . d) - x^2
//   d c = (1 - (x/2) cot(x/2)) / x^2,   c1 = c'/x,   c2 = c1'/x
//
// rho is the length of the axis along the section's axes, theta the turn of the section. An arc and a twisted bar are
// exact: they have a constant rho, whatever theta. rho is linear in d, so its derivatives are those of q and c:
//
//   dq/dtheta       Q(theta) = (theta . d) I + theta d^T - 2 d theta^T
//   d(rho)/dtheta   Y = d~/2 + c Q + c1 q theta^T
//   d^2q [u, .]     Q(u)
#pragma once
#include "trammel/base/types.h"

namespace trammel {

class Helix {
 public:
  explicit Helix(const Vec6& y);

  const Vec6& strain() const { return strain_; }  // (rho, theta)
  const Mat6& slope() const { return slope_; }    // X = d(rho, theta)/dy
  Mat6 rate_slope(const Vec6& rate) const;        // d(X y')/dy, y' held
  Mat6 stress_slope(const Vec6& s) const;         // d(X^T s)/dy, s held: symmetric

 private:
  Vec3 d_, theta_, q_;
  double c_, c1_, c2_;
  Mat3 Q_;
  Vec6 strain_;
  Mat6 slope_;
};

}  // namespace trammel
