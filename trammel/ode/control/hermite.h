// Cubic Hermite interpolation over a step of size h at its part s: values and rates at both ends.
#pragma once
#include "trammel/base/types.h"

namespace trammel {

inline Vec hermite(double s, double h, const Vec& y0, const Vec& rate0, const Vec& y1, const Vec& rate1) {
  const double s2 = s * s, s3 = s2 * s;
  return (2 * s3 - 3 * s2 + 1) * y0 + (h * (s3 - 2 * s2 + s)) * rate0 + (3 * s2 - 2 * s3) * y1 +
         (h * (s3 - s2)) * rate1;
}

}  // namespace trammel
