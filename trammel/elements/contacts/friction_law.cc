#include "trammel/elements/contacts/friction_law.h"

#include <cmath>

namespace trammel {
namespace {

// tanh(r/v)/r and its slope over r, by their series near 0
Friction regularised(double r, double v) {
  const double x = r / v, x2 = x * x;
  double ratio = 0, slope = 0;
  if (x < 1e-2) {
    ratio = 1 - x2 / 3 + 2 * x2 * x2 / 15;
    slope = -2.0 / 3 + 8 * x2 / 15 - 34 * x2 * x2 / 105;
  } else {
    const double t = std::tanh(x);
    ratio = t / x;
    slope = ((1 - t) * (1 + t) - ratio) / x2;
  }
  return {1, ratio / v, slope / (v * v * v)};
}

}  // namespace

Friction FrictionLaw::at(double r) const {
  if (!(at_rest > kinetic)) {
    Friction coulomb = regularised(r, slip_speed);
    coulomb.coefficient = kinetic;
    return coulomb;
  }
  const Friction sliding = regularised(r, slip_speed / 4);
  const double u = r / slip_speed, g = u * u / 4 + 0.75, excess = (at_rest - kinetic) / (slip_speed * g * g);
  return {1, kinetic * sliding.phi + excess, kinetic * sliding.slope - excess / (slip_speed * slip_speed * g)};
}

}  // namespace trammel
