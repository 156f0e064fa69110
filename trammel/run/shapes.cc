#include "trammel/run/shapes.h"

#include <nlohmann/json.hpp>

namespace trammel {

std::vector<std::string> shapes_as_json(const Model& model, std::size_t most_bytes) {
  std::vector<std::string> pieces;
  for (const Shape& shape : model.shapes) {
    const Vec3& p = shape.local.position;
    const Quat& q = shape.local.rotation;
    nlohmann::ordered_json j = {{"name", shape.name},
                                {"type", shape.type},
                                {"body", shape.body == ground ? "ground" : model.bodies[shape.body].name},
                                {"size", shape.size},
                                {"position", {p.x(), p.y(), p.z()}},
                                {"quaternion", {q.w(), q.x(), q.y(), q.z()}}};
    if (!shape.color.empty()) j["color"] = shape.color;
    if (!shape.file.empty()) j["file"] = shape.file;
    const std::string text = j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    if (pieces.empty() || pieces.back().size() + text.size() > most_bytes) {
      pieces.push_back("[" + text + "]");
    } else {
      pieces.back().pop_back();
      pieces.back() += "," + text + "]";
    }
  }
  return pieces;
}

}  // namespace trammel
