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
    if (bodies[b].name == name && !kind_of(bodies[b]).is_place) return equations.first_velocity(static_cast<int>(b));
    names.push_back(bodies[b].name);
  }
  const std::size_t dot = name.rfind('.');
  const std::string body_name = name.substr(0, dot), part = dot == std::string::npos ? "" : name.substr(dot + 1);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (bodies[b].name != body_name) continue;
    const int first = equations.first_velocity(static_cast<int>(b));
    if (!kind_of(bodies[b]).is_place) return first;
    std::string keys;
    const std::vector<BodyVelocity>& velocities = equations.body(static_cast<int>(b)).velocities();
    for (int k = 0; k < std::ssize(velocities); ++k) {
      if (velocities[k].key.empty()) continue;
      if (velocities[k].key == part) return first + k;
      keys += (keys.empty() ? "write " + body_name : std::string(",")) + " ." + velocities[k].key;
    }
    if (part == "angle" && kind_of(bodies[b]).turns)
      return refuse("a " + bodies[b].kind + " body has no single angle",
                    "define the angle of a joint as a coordinate (section `coordinates`) and name that");
    return refuse("body '" + body_name + "' has no coordinate '" + part + "'", keys);
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
