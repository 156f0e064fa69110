// Bodies whose weight depends on how they are turned and bent, because their point of reference is not the centre of
// mass at all times: their inertial force has derivatives by gravity as well.
#pragma once
#include "trammel/base/types.h"

namespace trammel {

class TurnedByWeight {
 public:
  virtual ~TurnedByWeight() = default;
  // Adds the derivatives of the weight's part of inertial_force at the places of the body's entries.
  virtual void linearise_weight(const double* q, const Vec3& gravity, const int* slots, double* force_q) const = 0;
};

}  // namespace trammel
