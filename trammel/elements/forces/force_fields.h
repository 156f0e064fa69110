// What the makers of force elements share: reading expressions of an item's fields, random numbers for the conformance
// suite.
#pragma once
#include <string>

#include "trammel/elements/measure.h"
#include "trammel/elements/registry.h"

namespace trammel {

// The expression in a field (a plain number will do) over the item's frames; its remembered angles from `first_memory`
// on.
MeasuredExpression measured_field(const Item& item, const char* field, const MakeContext& context,
                                  int first_memory = 0);

// A field for an expression that is 0 unless given.
Field expression_field(std::string name, Quantity quantity, std::string text);

inline double random_between(double least, double most, std::mt19937& random) {
  return std::uniform_real_distribution<double>(least, most)(random);
}
Vec3 random_vector(double least, double most, std::mt19937& random);

}  // namespace trammel
