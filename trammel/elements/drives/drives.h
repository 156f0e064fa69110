// Descriptions of the prescribed motions, one file each; the registry lists them.
#pragma once
#include "trammel/elements/registry.h"
#include "trammel/math/expression.h"

namespace trammel {

ElementDescription describe_rotation();
ElementDescription describe_translation();

// The time function of a motion: an expression of time and parameters, no measures.
Expression time_function(const Item& item, const char* field, const MakeContext& context);

}  // namespace trammel
