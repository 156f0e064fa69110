// Cubic Hermite interpolation of a mechanism's motion over a step.
#pragma once
#include "trammel/equations/equations.h"
#include "trammel/math/hermite.h"
#include "trammel/math/rotation.h"

namespace trammel {

// Positions and velocities at the part s of a step of a mechanism from q0, v0 to q1, v1. Rotations are seen from a
// frame that turns with the mean w of both angular velocities, R = R0 exp(s h w~) exp(e~): what remains, e, is small
// over any number of turns. It and the positions are interpolated, from 0 with the slope v0 - w to e1 with T^-1(e1) (v1
// - exp(-e1~) w).
inline void hermite_motion(const Equations& equations, double s, double h, const Vec& q0, const Vec& v0, const Vec& q1,
                           const Vec& v1, State& out) {
  const std::vector<int>& rotations = equations.rotation_columns();
  Vec w = Vec::Zero(v0.size()), end(v0.size()), first = v0, last = v1, turned, q = q0;
  for (const int j : rotations) w.segment<3>(j) = 0.5 * (v0.segment<3>(j) + v1.segment<3>(j));
  turned = h * w;
  equations.retract(q0, turned, q);
  equations.local(q, q1, end);
  for (const int j : rotations) {
    const Vec3 e = end.segment<3>(j), mean = w.segment<3>(j);
    first.segment<3>(j) -= mean;
    last.segment<3>(j) = rotation_tangent_inverse(e) * (v1.segment<3>(j) - rotation_exp(-e) * mean);
  }
  const HermiteWeights at = hermite_weights(s, h), rate = hermite_rate_weights(s, h);
  const Vec inside = at.f0 * first + at.y1 * end + at.f1 * last;
  out.v = rate.f0 * first + rate.y1 * end + rate.f1 * last;
  for (const int j : rotations) {
    const Vec3 e = inside.segment<3>(j), mean = w.segment<3>(j);
    out.v.segment<3>(j) = (rotation_tangent(e) * out.v.segment<3>(j) + rotation_exp(-e) * mean).eval();
  }
  turned = (s * h) * w;
  equations.retract(q0, turned, q);
  out.q.resize(q0.size());
  equations.retract(q, inside, out.q);
}

}  // namespace trammel
