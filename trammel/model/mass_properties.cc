#include "trammel/model/mass_properties.h"

#include <numbers>

namespace trammel {

Mat3 steiner(double mass, const Vec3& d) { return mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose()); }

MassProperties moved(const MassProperties& part, const Pose& pose) {
  const Mat3 R = pose.rotation.toRotationMatrix();
  return {part.mass, pose.position + R * part.center, R * part.inertia * R.transpose()};
}

MassProperties sum(const std::vector<MassProperties>& parts) {
  MassProperties whole;
  Vec3 moment = Vec3::Zero();
  for (const MassProperties& part : parts) {
    whole.mass += part.mass;
    moment += part.mass * part.center;
  }
  if (whole.mass != 0) whole.center = moment / whole.mass;
  // About the common centre directly: no difference of large numbers.
  for (const MassProperties& part : parts) {
    whole.inertia += part.inertia + steiner(part.mass, part.center - whole.center);
  }
  return whole;
}

const std::vector<ShapeForm>& shape_forms() {
  static const std::vector<ShapeForm> forms = {
      {"box", 3, "the edges [x, y, z], the position in the middle", true},
      {"cylinder", 2, "[radius, length], along z, the position in the middle", true},
      {"tube", 3, "[outer radius, inner radius, length], along z, the position in the middle", true},
      {"sphere", 1, "[radius]", true},
      {"capsule", 2, "[radius, length], along z with half balls added at both ends, the position in the middle", true},
      {"cone", 2, "[radius, length], along z with the tip at +z, the position in the middle of the length", true},
      {"mesh", 0, "a closed surface of triangles from a `file`, STL or OBJ", true},
      {"line", 3, "the end point [x, y, z] from the shape's position, in its axes", false},
  };
  return forms;
}

const ShapeForm* find_shape_form(std::string_view type) {
  for (const ShapeForm& form : shape_forms()) {
    if (form.type == type) return &form;
  }
  return nullptr;
}

MassProperties solid(std::string_view type, const std::vector<double>& size) {
  constexpr double pi = std::numbers::pi;
  MassProperties out;
  const auto set = [&out](double volume, double across, double along) {  // gyration radii squared about x or y, and z
    out.mass = volume;
    out.inertia = volume * Vec3(across, across, along).asDiagonal();
  };
  const double a = !size.empty() ? size[0] : 0, b = size.size() > 1 ? size[1] : 0, c = size.size() > 2 ? size[2] : 0;
  if (type == "box") {
    out.mass = a * b * c;
    out.inertia = out.mass / 12 * Vec3(b * b + c * c, c * c + a * a, a * a + b * b).asDiagonal();
  } else if (type == "cylinder") {
    set(pi * a * a * b, a * a / 4 + b * b / 12, a * a / 2);
  } else if (type == "tube") {
    const double q = a * a + b * b;
    set(pi * (a - b) * (a + b) * c, q / 4 + c * c / 12, q / 2);
  } else if (type == "sphere") {
    set(4 * pi / 3 * a * a * a, 0.4 * a * a, 0.4 * a * a);
  } else if (type == "capsule") {
    // The centre of a half ball is 3/8 of its radius above its plane, and its inertia there 2/5 - (3/8)^2.
    const double middle = pi * a * a * b, ends = 4 * pi / 3 * a * a * a;
    out.mass = middle + ends;
    const double across = middle * (a * a / 4 + b * b / 12) + ends * (0.4 * a * a + b * b / 4 + 3 * a * b / 8);
    out.inertia = Vec3(across, across, middle * a * a / 2 + ends * 0.4 * a * a).asDiagonal();
  } else if (type == "cone") {
    set(pi * a * a * b / 3, 3 * a * a / 20 + 3 * b * b / 80, 0.3 * a * a);
    out.center = Vec3(0, 0, -b / 4);
  }
  return out;
}

}  // namespace trammel
