// What names of the model mean in expressions.
#pragma once
#include "trammel/math/expression.h"
#include "trammel/model/model.h"

namespace trammel {

// The model's splines and tables. The scope must not outlive the model.
void add_curves(const Model& model, ExpressionScope& scope);

}  // namespace trammel
