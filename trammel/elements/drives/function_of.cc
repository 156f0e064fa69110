#include "trammel/elements/drives/drives.h"
#include "trammel/elements/model_scope.h"
#include "trammel/math/expression.h"

namespace trammel {

Expression function_of(const std::string& argument, const Item& item, const std::string& owner, const char* field,
                       const MakeContext& context) {
  const auto& text = item.fields.get<ExpressionText>(field);
  ExpressionScope scope;
  scope.owner = owner;
  scope.argument = argument;
  add_curves(context.model, scope);
  scope.constant = [&context](std::string_view name) -> std::optional<double> {
    for (const Parameter& parameter : context.model.parameters) {
      if (parameter.name == name) return parameter.value;
    }
    return std::nullopt;
  };
  for (const Parameter& parameter : context.model.parameters) scope.known_names.push_back(parameter.name);
  return Expression::parse(text.text, text.where, scope);
}

Expression time_function(const Item& item, const char* field, const MakeContext& context) {
  return function_of("time", item, "motion '" + item.name + "'", field, context);
}

}  // namespace trammel
