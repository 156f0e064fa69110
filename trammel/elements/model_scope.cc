#include "trammel/elements/model_scope.h"

namespace trammel {

void add_curves(const Model& model, ExpressionScope& scope) {
  scope.spline = [&model](std::string_view name) -> std::shared_ptr<const Spline> {
    for (const NamedSpline& each : model.splines) {
      if (each.name == name) return each.spline;
    }
    return nullptr;
  };
  scope.table = [&model](std::string_view name) -> std::shared_ptr<const SurfaceTable> {
    for (const NamedTable& each : model.tables) {
      if (each.name == name) return each.table;
    }
    return nullptr;
  };
  for (const NamedSpline& each : model.splines) scope.spline_names.push_back(each.name);
  for (const NamedTable& each : model.tables) scope.table_names.push_back(each.name);
}

}  // namespace trammel
