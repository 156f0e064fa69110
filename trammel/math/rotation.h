// Rotations with their derivatives. Convention: R maps body axes to world axes, increments act from the right,
// R_new = R exp(theta~), so theta and the angular velocity are in body axes.
//
//   exp(theta~) = I + sin x / x theta~ + (1 - cos x) / x^2 theta~^2,  x = |theta|
//   d exp(theta~) = exp(theta~) (T d theta)~,   T = I - (1 - cos x)/x^2 theta~ + (x - sin x)/x^3 theta~^2
#pragma once
#include "trammel/base/types.h"

namespace trammel {

inline Mat3 skew(const Vec3& v) {
  Mat3 m;
  m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return m;
}

Quat rotation_exp(const Vec3& theta);
Vec3 rotation_log(const Quat& q);                  // |theta| <= pi
Mat3 rotation_tangent(const Vec3& theta);          // T
Mat3 rotation_tangent_inverse(const Vec3& theta);  // T^-1
// d/d theta of (T(theta) u) for fixed u.
Mat3 rotation_tangent_derivative(const Vec3& theta, const Vec3& u);

// Of w' = T(theta) theta'' + T'(theta) theta', w = T theta': its derivatives against theta and theta'. Good to |theta|
// = 1.
struct RotationAcceleration {
  Mat3 by_theta, by_rate;
};
RotationAcceleration rotation_acceleration(const Vec3& theta, const Vec3& rate, const Vec3& second);

// The rotation whose z axis is along `axis` and whose x axis is along `x_axis` as far as perpendicular; if x_axis is
// zero or parallel to the axis, the world axis that is farthest from it serves, in a fixed rule.
Quat axes_with_z(const Vec3& axis, const Vec3& x_axis = Vec3::Zero());

// The angle nearest to `near` that equals `angle` up to full turns.
double unwrap_angle(double angle, double near);

}  // namespace trammel
