#include "trammel/elements/contacts/normal_law.h"

#include <cmath>
#include <limits>

namespace trammel {

NormalForce NormalLaw::at(double depth, double rate) const {
  NormalForce out;
  if (!(depth > 0)) return out;
  double slope = 0;
  if (exponent == 1.5) {
    const double root = std::sqrt(depth);
    out.elastic = stiffness * depth * root;
    slope = 1.5 * stiffness * root;
  } else {
    const double power = std::pow(depth, exponent - 1);
    out.elastic = stiffness * power * depth;
    slope = exponent * stiffness * power;
  }
  if (kind == Damping::impact) {
    const double u = depth < ramp ? depth / ramp : 1, c = damping * (u * u * (3 - 2 * u));
    const double Q = out.elastic + c * rate;
    if (!(Q > 0)) return out;
    out.Q = Q;
    out.Q_depth = slope + (u < 1 ? damping * 6 * u * (1 - u) / ramp * rate : 0.0);
    out.Q_rate = c;
    return out;
  }
  const double y = 1 + damping * rate;
  if (clip > 0) {
    const double root = std::sqrt(y * y + clip * clip), whole = 1 + std::sqrt(1 + clip * clip);
    // y + root without cancellation where y < 0
    const double X = (y > 0 ? y + root : clip * clip / (root - y)) / whole;
    out.Q = out.elastic * X;
    out.Q_depth = slope * X;
    out.Q_rate = out.elastic * damping * X / root;  // X' = X / root
  } else if (y > 0) {
    out.Q = out.elastic * y;
    out.Q_depth = slope * y;
    out.Q_rate = out.elastic * damping;
  }
  return out;
}

double NormalLaw::stored(double depth) const {
  if (!(depth > 0)) return 0;
  if (exponent == 1.5) return 0.4 * stiffness * depth * depth * std::sqrt(depth);
  return stiffness * std::pow(depth, exponent + 1) / (exponent + 1);
}

double NormalLaw::depth_at(double load) const { return std::pow(load / stiffness, 1 / exponent); }

namespace {

// The integral of u / X(1 + u) from 0 to u. With y = 1 + u and r = sqrt(y^2 + z^2), 1/X = n (r - y)/z^2 and n = 1 +
// sqrt(1 + z^2), its antiderivative is
//
//   n/z^2 (r^3/3 - y^3/3 - (y r + z^2 asinh(y/z))/2 + y^2/2),   r^3 - y^3 = z^2 (r^2 + r y + y^2)/(r + y),
//                                                               y^2 - y r = -z^2 y/(r + y)
double passed(double u, double z) {
  if (!(z > 0)) return u > -1 ? u - std::log1p(u) : std::numeric_limits<double>::infinity();
  const auto antiderivative = [z](double y) {
    const double r = std::sqrt(y * y + z * z), sum = y > 0 ? r + y : z * z / (r - y);
    return (1 + std::sqrt(1 + z * z)) * ((r * r + r * y + y * y) / (3 * sum) - (y / sum + std::asinh(y / z)) / 2);
  };
  return antiderivative(1 + u) - antiderivative(1);
}

}  // namespace

double damping_for_restitution(double restitution, double clip) {
  if (restitution >= 1) return 0;
  // Positive while the damping is too weak: more is left on the way out than was put in.
  const auto weak = [&](double X) { return passed(X, clip) > passed(-restitution * X, clip); };
  double low = 0, high = 1;
  while (weak(high)) {
    low = high;
    high *= 2;
    if (high > 1e9) return std::numeric_limits<double>::infinity();
  }
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (weak(middle) ? low : high) = middle;
  }
  return high;
}

}  // namespace trammel
