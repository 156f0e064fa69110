// A total angle as elements remember it: value, rate and time of the last accepted state, three numbers of their
// memory. Until the next one the number of turns is the one that brings the angle nearest to where that rate leads, so
// that a step may be longer than a turn. Zeros are an angle at rest, at zero.
#pragma once
#include <algorithm>
#include <cmath>

#include "trammel/math/rotation.h"

namespace trammel {

struct RememberedAngle {
  static constexpr int size = 3;

  double value, rate, time;

  explicit RememberedAngle(const double* memory) : value(memory[0]), rate(memory[1]), time(memory[2]) {}

  double near(double t) const { return value + (t - time) * rate; }
  // What is known up to full turns, in full.
  double total(double angle, double t) const { return unwrap_angle(angle, near(t)); }
  // How far from where it was expected the angle may be: as far as it is seen there, or, in whole turns, half of what
  // the change of its rate allows. From pi/2 on its turns could be miscounted.
  double doubt(double total_now, double rate_now, double t) const {
    return std::max(std::abs(total_now - near(t)), 0.25 * std::abs((t - time) * (rate_now - rate)));
  }
  static void keep(double total, double rate, double t, double* memory) {
    memory[0] = total;
    memory[1] = rate;
    memory[2] = t;
  }
};

}  // namespace trammel
