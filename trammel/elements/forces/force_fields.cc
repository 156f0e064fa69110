#include "trammel/elements/forces/force_fields.h"

#include <utility>

namespace trammel {

MeasuredExpression measured_field(const Item& item, const char* field, const MakeContext& context, int first_memory) {
  const Value* value = item.fields.find(field);
  if (value != nullptr && std::holds_alternative<double>(*value)) {
    return MeasuredExpression::constant(std::get<double>(*value));
  }
  const auto& text = item.fields.get<ExpressionText>(field);
  const std::string owner = "force '" + item.name + "'";
  PlaceNames names(context.model);
  std::vector<int> frames = item.frames;
  MeasuredExpression out = MeasuredExpression::parse(text, owner, names, frames, true, first_memory);
  if (frames.size() != item.frames.size()) {
    throw Failure({Severity::error, "measures-not-wired",
                   owner + ": frames that '" + text.text + "' looks at are not wired",
                   "call wire_measures(model) before elements are made", text.where});
  }
  return out;
}

Field expression_field(std::string name, Quantity quantity, std::string text) {
  return {std::move(name), FieldKind::expression, quantity, ExpressionText{"0", {}}, std::move(text)};
}

Vec3 random_vector(double least, double most, std::mt19937& random) {
  Vec3 v;
  for (int i = 0; i < 3; ++i) v[i] = random_between(least, most, random);
  return v;
}

}  // namespace trammel
