#include "trammel/formulate/named_coordinates.h"

namespace trammel {
namespace {

int column_of(const Equations& equations, const std::string& name, const Location& where) {
  const std::vector<Body>& bodies = equations.model().bodies;
  const auto refuse = [&](const std::string& why, const std::string& hint) -> int {
    throw Failure(
        {Severity::error, "unknown-coordinate", "independent coordinate '" + name + "': " + why, hint, where});
  };
  std::vector<std::string> names;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (bodies[b].name == name && bodies[b].kind == BodyKind::scalar)
      return equations.first_velocity(static_cast<int>(b));
    names.push_back(bodies[b].name);
  }
  const std::size_t dot = name.rfind('.');
  const std::string body_name = name.substr(0, dot), part = dot == std::string::npos ? "" : name.substr(dot + 1);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (bodies[b].name != body_name) continue;
    const int first = equations.first_velocity(static_cast<int>(b));
    if (bodies[b].kind == BodyKind::scalar) return first;
    if (part == "x") return first;
    if (part == "y") return first + 1;
    if (part == "z" && bodies[b].kind != BodyKind::planar) return first + 2;
    if (part == "angle" && bodies[b].kind == BodyKind::planar) return first + 2;
    if (part == "angle" && bodies[b].kind == BodyKind::spatial)
      return refuse("a spatial body has no single angle",
                    "define the angle of a joint as a coordinate (section `coordinates`) and name that");
    return refuse("body '" + body_name + "' has no coordinate '" + part + "'", "write BODY.x, .y, .z or .angle");
  }
  const std::string near = nearest_name(body_name, names);
  return refuse("there is no body or coordinate '" + body_name + "'",
                near.empty() ? "write BODY.x, .y, .z or .angle" : "did you mean '" + near + "'?");
}

}  // namespace

std::vector<int> named_coordinates(const Equations& equations, const std::vector<std::string>& names,
                                   const Location& where) {
  std::vector<int> columns;
  for (const std::string& name : names) columns.push_back(column_of(equations, name, where));
  return columns;
}

}  // namespace trammel
