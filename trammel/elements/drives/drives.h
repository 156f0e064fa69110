// Descriptions of the prescribed motions, one file each; the registry lists them.
#pragma once
#include "trammel/elements/registry.h"
#include "trammel/math/expression.h"

namespace trammel {

ElementDescription describe_rotation();
ElementDescription describe_translation();
ElementDescription describe_trajectory();

// A field that is an expression of one variable and parameters, no measures: time for a motion.
Expression function_of(const std::string& argument, const Item& item, const std::string& owner, const char* field,
                       const MakeContext& context);
Expression time_function(const Item& item, const char* field, const MakeContext& context);

}  // namespace trammel
