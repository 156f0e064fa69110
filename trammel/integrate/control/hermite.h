// Cubic Hermite interpolation over a step of size h at its part s: values and rates at both ends.
#pragma once
#include "trammel/equations/equations.h"
#include "trammel/math/rotation.h"

namespace trammel {

inline Vec hermite(double s, double h, const Vec& y0, const Vec& rate0, const Vec& y1, const Vec& rate1) {
  const double s2 = s * s, s3 = s2 * s;
  return (2 * s3 - 3 * s2 + 1) * y0 + (h * (s3 - 2 * s2 + s)) * rate0 + (3 * s2 - 2 * s3) * y1 +
         (h * (s3 - s2)) * rate1;
}

// Positions and velocities at the part s of a step of a mechanism from q0, v0 to retract(q0, delta), v1: the increment
// from the start is interpolated, with end values delta and T^-1 v1.
inline void hermite_motion(const Equations& equations, double s, double h, const Vec& q0, const Vec& v0,
                           const Vec& delta, const Vec& v1, State& out) {
  Vec end_rate = v1;  // d delta/dt at the end
  const std::vector<int>& rotations = equations.rotation_columns();
  for (const int j : rotations)
    end_rate.segment<3>(j) = rotation_tangent_inverse(delta.segment<3>(j)) * v1.segment<3>(j);
  const double s2 = s * s, s3 = s2 * s;
  const Vec inside = (h * (s3 - 2 * s2 + s)) * v0 + (3 * s2 - 2 * s3) * delta + (h * (s3 - s2)) * end_rate;
  out.v = (3 * s2 - 4 * s + 1) * v0 + ((6 * s - 6 * s2) / h) * delta + (3 * s2 - 2 * s) * end_rate;
  for (const int j : rotations)
    out.v.segment<3>(j) = (rotation_tangent(inside.segment<3>(j)) * out.v.segment<3>(j)).eval();
  out.q.resize(q0.size());
  equations.retract(q0, inside, out.q);
}

}  // namespace trammel
