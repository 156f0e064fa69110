// Cubic Hermite interpolation over a step of size h, from values y and rates f at both ends: at the part s of the step
//
//   y = (2 s^3 - 3 s^2 + 1) y0 + (3 s^2 - 2 s^3) y1 + h (s^3 - 2 s^2 + s) f0 + h (s^3 - s^2) f1
#pragma once
#include "trammel/base/types.h"

namespace trammel {

struct HermiteWeights {
  double y0, f0, y1, f1;
};

inline HermiteWeights hermite_weights(double s, double h) {
  const double s2 = s * s, s3 = s2 * s;
  return {2 * s3 - 3 * s2 + 1, h * (s3 - 2 * s2 + s), 3 * s2 - 2 * s3, h * (s3 - s2)};
}

// Of dy/dt.
inline HermiteWeights hermite_rate_weights(double s, double h) {
  const double s2 = s * s;
  return {(6 * s2 - 6 * s) / h, 3 * s2 - 4 * s + 1, (6 * s - 6 * s2) / h, 3 * s2 - 2 * s};
}

template <class Out>
void hermite(double s, double h, const Vec& y0, const Vec& f0, const Vec& y1, const Vec& f1, Out&& y) {
  const HermiteWeights w = hermite_weights(s, h);
  y = w.y0 * y0 + w.y1 * y1 + w.f0 * f0 + w.f1 * f1;
}

// Quintic, with accelerations a at both ends too:
// y = y0 + h v0 s + h^2 a0 s^2/2 + s^3 (A + B s + C s^2), with the rest of value, slope and curvature at s = 1; v = y'.
inline void hermite_quintic(double s, double h, const Eigen::Ref<const Vec>& y0, const Eigen::Ref<const Vec>& v0,
                            const Eigen::Ref<const Vec>& a0, const Eigen::Ref<const Vec>& y1,
                            const Eigen::Ref<const Vec>& v1, const Eigen::Ref<const Vec>& a1, Eigen::Ref<Vec> y,
                            Eigen::Ref<Vec> v) {
  const double s2 = s * s, s3 = s2 * s;
  for (Eigen::Index i = 0; i < y0.size(); ++i) {
    const double r0 = y1[i] - y0[i] - h * v0[i] - 0.5 * h * h * a0[i], r1 = h * (v1[i] - v0[i]) - h * h * a0[i],
                 r2 = h * h * (a1[i] - a0[i]);
    const double A = 10 * r0 - 4 * r1 + 0.5 * r2, B = -15 * r0 + 7 * r1 - r2, C = 6 * r0 - 3 * r1 + 0.5 * r2;
    y[i] = y0[i] + h * s * v0[i] + 0.5 * h * h * s2 * a0[i] + s3 * (A + s * B + s2 * C);
    v[i] = v0[i] + h * s * a0[i] + (s2 / h) * (3 * A + 4 * s * B + 5 * s2 * C);
  }
}

}  // namespace trammel
