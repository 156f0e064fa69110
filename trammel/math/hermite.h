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

}  // namespace trammel
