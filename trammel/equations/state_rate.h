// The rate of one state of (5), an expression of the model.
#pragma once
#include "trammel/elements/measure.h"
#include "trammel/equations/equations.h"

namespace trammel {

struct Equations::StateRate {
  MeasuredExpression rate;
  void accept(const ElementInput& in, double* memory) const { rate.accept(in, memory); }
  double turned(const ElementInput& in) const { return rate.turned(in); }
};

}  // namespace trammel
