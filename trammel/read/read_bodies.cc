// Bodies, their mass and inertia in all ways a file can give them, their shapes, and frames.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "trammel/base/literal.h"
#include "trammel/math/rotation.h"
#include "trammel/read/mesh.h"
#include "trammel/read/model_reader.h"
#include "trammel/read/read_flexible.h"

namespace trammel {
namespace {

// Not a cryptographic one: it tells whether a mesh is the same as in another run.
std::uint64_t fingerprint(std::string_view bytes) {
  std::uint64_t h = 1469598103934665603ULL;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

void set_uniform_bar(double length, Body& body) {
  body.center_of_mass = Vec3(0.5 * length, 0, 0);
  const double moment = body.mass / 12 * length * length;
  body.inertia = Vec3(0, moment, moment).asDiagonal();
}

std::string kinds_hint() {
  std::string text = "kinds: " + Body{}.kind + " (the default)";
  for (const BodyDescription& kind : body_registry())
    if (kind.is_place && kind.key != Body{}.kind) text += ", " + kind.key;
  return text;
}

}  // namespace

// Two points, and two velocities, of a body that is given by its ends: its origin is the first, its x axis points to
// the second.
void ModelReader::read_ends(Entries& entries, const Place& place, Body& body) {
  const bool planar = kind_of(body).is_planar;
  const auto read_two = [&](const char* name, Quantity quantity) -> std::optional<std::array<Vec3, 2>> {
    const Node* node = entries.find(name);
    if (node == nullptr) return std::nullopt;
    if (!node->is_sequence() || node->count != 2) {
      values_->error(*node, "wrong-length", place.at(name).text() + " must be a list of two vectors",
                     planar ? "[[x, y], [x, y]]" : "[[x, y, z], [x, y, z]]");
      return std::nullopt;
    }
    const auto first = values_->vector(node->item(0), place.at(name), quantity, planar),
               second = values_->vector(node->item(1), place.at(name), quantity, planar);
    if (!first || !second) return std::nullopt;
    return std::array<Vec3, 2>{*first, *second};
  };
  if (const auto ends = read_two("ends", Quantity::length)) {
    const Vec3 along = (*ends)[1] - (*ends)[0];
    if (!(along.norm() > 0)) {
      const Node* given = entries.find("ends");
      values_->error(*given, "zero-length", place.text() + ": its two ends coincide", "give two different points");
      return;
    }
    const Quat turn = planar ? Quat(Eigen::AngleAxisd(std::atan2(along.y(), along.x()), Vec3::UnitZ()))
                             : Quat(Quat::FromTwoVectors(Vec3::UnitX(), along));
    body.pose.position = current_->pose.position + current_->pose.rotation * (*ends)[0];
    body.pose.rotation = current_->pose.rotation * turn;
    if (body.center_of_mass.isZero()) set_uniform_bar(along.norm(), body);  // later ends only say where it starts
  }
  if (const auto speeds = read_two("end_velocities", Quantity::speed)) {
    const Vec3 u = body.pose.rotation * Vec3::UnitX();
    const Vec3 v1 = current_->pose.rotation * (*speeds)[0], v2 = current_->pose.rotation * (*speeds)[1];
    body.velocity = v1;
    if (body.center_of_mass.x() > 0) body.angular_velocity = u.cross(v2 - v1) / (2 * body.center_of_mass.x());
  }
}

// Pose and velocities, which stand in `bodies` and in `initial`.
void ModelReader::read_state(Entries& entries, const Place& place, Body& body) {
  const BodyDescription& kind = kind_of(body);
  const bool planar = kind.is_planar;
  if (kind.has_ends) {
    read_ends(entries, place, body);
    return;
  }
  if (const Node* node = entries.find("position")) {
    if (const auto point = values_->vector(*node, place.at("position"), Quantity::length, planar)) {
      body.pose.position = current_->pose.position + current_->pose.rotation * *point;
    }
  }
  if (const Node* node = entries.find("velocity")) {
    if (const auto velocity = values_->vector(*node, place.at("velocity"), Quantity::speed, planar)) {
      body.velocity = current_->pose.rotation * *velocity;
    }
  }
  if (planar) {
    if (const Node* node = entries.find("angle")) {
      if (const auto angle = values_->number(*node, place.at("angle"), Quantity::angle)) {
        body.pose.rotation = current_->pose.rotation * Quat(Eigen::AngleAxisd(*angle, Vec3::UnitZ()));
      }
    }
    if (const Node* node = entries.find("angular_velocity")) {
      if (const auto rate = values_->number(*node, place.at("angular_velocity"), Quantity::angular_speed)) {
        body.angular_velocity = Vec3(0, 0, *rate);
      }
    }
  } else if (kind.turns) {
    if (const Node* node = entries.find("orientation")) {
      if (const auto turn = values_->orientation(*node, place.at("orientation"))) {
        body.pose.rotation = current_->pose.rotation * *turn;
      }
    }
    if (const Node* node = entries.find("angular_velocity")) {
      if (const auto rate = values_->vector(*node, place.at("angular_velocity"), Quantity::angular_speed)) {
        body.angular_velocity = current_->pose.rotation * *rate;
      }
    }
  }
}

void ModelReader::read_body(const Entry& entry) {
  const Place place{"body", entry.name, ""};
  Body body;
  body.name = entry.name;
  body.where = values_->where(entry.key);
  body.pose = current_->pose;
  if (entry.key.text == "ground") {
    values_->error(entry.key, "reserved-name", "body 'ground': this is the name of the fixed body",
                   "choose another name");
  }
  body_index_.emplace(entry.name, static_cast<int>(model_.bodies.size()));
  Entries entries = values_->mapping(entry.node, place, Rule::body);
  if (entries.good()) {
    if (const Node* kind = entries.find("kind")) {
      const BodyDescription* known = find_body_kind(kind->text);
      if (known != nullptr && known->is_place) {
        body.kind = kind->text;
      } else {
        values_->error(*kind, "unknown-kind", place.text() + ": there is no kind " + quote(kind->text) + " of bodies",
                       kinds_hint());
      }
    }
    const BodyDescription& of_kind = kind_of(body);
    if (of_kind.is_flexible) {
      read_bending(entries, place, body);
      model_.bodies.push_back(std::move(body));
      return;
    }
    const bool extended = of_kind.is_solid();
    const Node* shape = entries.find("shape");
    const Node* parts = extended ? entries.find("parts") : nullptr;
    const bool solid = shape != nullptr || parts != nullptr;
    const Node* mass = solid && extended ? entries.find("mass") : entries.need("mass");
    if (mass != nullptr) set(body.mass, values_->number(*mass, place.at("mass"), Quantity::mass));
    const Node* density = extended ? entries.find("density") : nullptr;
    const Node* inertia = !extended ? nullptr : solid ? entries.find("inertia") : entries.need("inertia");
    const Node* center = extended ? entries.find("center_of_mass") : nullptr;
    if (center != nullptr) {
      set(body.center_of_mass,
          values_->vector(*center, place.at("center_of_mass"), Quantity::length, of_kind.is_planar));
    }
    const std::string given = "`mass` and `inertia` are given";
    if (inertia != nullptr && solid && mass == nullptr) {
      values_->error(*inertia, "missing-key", place.text() + ": 'inertia' is given, but not 'mass'",
                     "give both and the shape is only drawn, or leave the inertia to the shape");
    }
    if (inertia != nullptr && density != nullptr) {
      values_->error(*density, "conflict", place.text() + ": the density does nothing where the inertia is given",
                     "leave one of them out");
    }
    if (density != nullptr && !solid) {
      values_->error(*density, "conflict", place.text() + ": a density needs a shape", "give `shape` or `parts`");
    }
    const bool weighed = solid && extended && inertia == nullptr;  // mass and inertia follow from the shape
    if (weighed && center != nullptr) {
      values_->error(*center, "conflict", place.text() + ": the centre of mass follows from the shape",
                     "give `position` in the shape, or `inertia` with `mass`");
    }
    if (inertia != nullptr) read_plain_inertia(*inertia, place.at("inertia"), body, mass != nullptr);
    read_state(entries, place, body);
    if (of_kind.has_ends) entries.need("ends");
    entries.finish();
    if (solid) read_solids(shape, parts, weighed ? density : nullptr, place, weighed, mass != nullptr, body);
  }
  model_.bodies.push_back(std::move(body));
}

// Mass, inertia and look follow from its parts.
void ModelReader::read_bending(Entries& entries, const Place& place, Body& body) {
  const Node* flexible = entries.need("flexible");
  read_state(entries, place, body);
  entries.finish();
  if (flexible == nullptr) return;
  std::vector<Shape> shapes;
  read_flexible(*values_, *flexible, place, body, shapes);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    shapes[i].name = "body." + body.name + "." + std::to_string(i + 1);
    shapes[i].body = static_cast<int>(model_.bodies.size());
    shapes[i].where = values_->where(*flexible);
    model_.shapes.push_back(std::move(shapes[i]));
  }
}

// ---- Inertia
// -----------------------------------------------------------------------------------------------------------

void ModelReader::read_plain_inertia(const Node& node, const Place& place, Body& body, bool has_mass) {
  const bool about_a_point = node.is_mapping() && node.find("value") == nullptr;
  if (kind_of(body).inertia == InertiaForm::about_z) {
    if (const auto value = values_->number(node, place, Quantity::inertia)) body.inertia(2, 2) = *value;
  } else if (!about_a_point) {
    set(body.inertia, values_->inertia(node, place));
  } else if (has_mass) {
    set(body.inertia, read_inertia_mapping(node, place, body.mass, body.center_of_mass));
  }
}

// {tensor | principal | gyration, about, axes}: about the centre of mass and in the axes of the body afterwards.
std::optional<Mat3> ModelReader::read_inertia_mapping(const Node& node, const Place& place, double mass,
                                                      const Vec3& center) {
  Entries entries = values_->mapping(node, place, Rule::inertia);
  const Node* tensor = entries.find("tensor");
  const Node* principal = entries.find("principal");
  const Node* gyration = entries.find("gyration");
  const Node* about = entries.find("about");
  const Node* axes = entries.find("axes");
  const std::size_t before = problems_.all().size();
  entries.finish();
  if ((tensor != nullptr) + (principal != nullptr) + (gyration != nullptr) != 1) {
    if (problems_.all().size() == before) {
      values_->error(node, "missing-key", place.text() + ": give one of 'tensor', 'principal' and 'gyration'",
                     "for example {principal: [1, 2, 3], axes: {axis: [0, 0, 1], angle: 30 deg}}");
    }
    return std::nullopt;
  }
  std::optional<Mat3> matrix;
  if (tensor != nullptr) {
    matrix = values_->inertia(*tensor, place.at("tensor"));
  } else if (principal != nullptr) {
    if (const auto p = values_->vector(*principal, place.at("principal"), Quantity::inertia)) {
      matrix = Mat3(p->asDiagonal());
    }
  } else if (const auto radii = values_->vector(*gyration, place.at("gyration"), Quantity::length)) {
    matrix = Mat3((mass * radii->cwiseAbs2()).asDiagonal());
  }
  if (!matrix) return std::nullopt;
  if (axes != nullptr) {
    const auto turn = values_->orientation(*axes, place.at("axes"));
    if (!turn) return std::nullopt;
    const Mat3 R = turn->toRotationMatrix();
    *matrix = R * *matrix * R.transpose();
  }
  if (about != nullptr) {
    const auto point = values_->vector(*about, place.at("about"), Quantity::length);
    if (!point) return std::nullopt;
    *matrix -= steiner(mass, center - *point);
  }
  return matrix;
}

// ---- Shapes
// ------------------------------------------------------------------------------------------------------------

// Type, size and place of a shape. With `unit`, what it weighs at density 1 in the axes of the body.
bool ModelReader::read_form(Entries& entries, const Node& node, const Place& place, bool planar, bool weighed,
                            Shape& shape, MassProperties* unit) {
  const std::size_t before = problems_.all().size();
  const Node* type = entries.find("type");
  const Node* size = entries.find("size");
  const Node* file = entries.find("file");
  const Node* scale = entries.find("scale");
  const Node* position = entries.find("position");
  const Node* orientation = entries.find("orientation");
  const Node* color = entries.find("color");
  if (position != nullptr) {
    set(shape.local.position, values_->vector(*position, place.at("position"), Quantity::length, planar));
  }
  if (orientation != nullptr) set(shape.local.rotation, values_->orientation(*orientation, place.at("orientation")));
  if (color != nullptr) set(shape.color, values_->text(*color, place.at("color")));
  if (type == nullptr) return false;
  if (size != nullptr) set(shape.size, values_->numbers(*size, place.at("size"), Quantity::length));
  set(shape.type, values_->text(*type, place.at("type")));
  if (problems_.all().size() > before) return false;
  const ShapeForm* form = find_shape_form(shape.type);
  if (form == nullptr) {
    std::vector<std::string> names;
    std::string list = "types:";
    for (const ShapeForm& each : shape_forms()) {
      names.emplace_back(each.type);
      list += " " + names.back();
    }
    const std::string hint = did_you_mean(shape.type, names);
    values_->error(*type, "unknown-type", place.text() + ": there is no shape " + quote(shape.type),
                   hint.empty() ? list : hint);
    return false;
  }
  if (weighed && !form->solid) {
    values_->error(*type, "no-volume", place.text() + ": a " + shape.type + " has no volume, so it weighs nothing",
                   "draw it in the section `shapes`");
    return false;
  }
  if (form->sizes == 0) {
    if (size != nullptr) {
      values_->error(*size, "conflict", place.text() + ": a mesh has no size", "use `scale`");
      return false;
    }
    if (!read_mesh_form(file, scale, node, place, shape, weighed ? unit : nullptr)) return false;
  } else {
    const std::string wanted = "the size of a " + shape.type + " is " + std::string(form->text);
    for (const Node* extra : {file, scale}) {
      if (extra == nullptr) continue;
      values_->error(*extra, "conflict", place.text() + ": 'file' and 'scale' go with a mesh only", wanted);
      return false;
    }
    if (size == nullptr) {
      values_->error(node, "missing-key", place.text() + ": 'size' is missing", wanted);
      return false;
    }
    if (shape.size.size() != form->sizes) {
      values_->error(
          *size, "wrong-length", place.text() + ": " + wanted,
          std::to_string(form->sizes) + " numbers are needed, " + std::to_string(shape.size.size()) + " are given");
      return false;
    }
    const bool positive = std::all_of(shape.size.begin(), shape.size.end(), [](double x) { return x > 0; });
    if (form->solid && !positive) {
      values_->error(*size, "not-positive", place.text() + ": a size is not positive", wanted);
      return false;
    }
    if (shape.type == "tube" && shape.size[1] >= shape.size[0]) {
      values_->error(*size, "conflict", place.text() + ": the inner radius of the tube is not below the outer one",
                     wanted);
      return false;
    }
    if (unit != nullptr) *unit = trammel::solid(shape.type, shape.size);
  }
  if (unit != nullptr) *unit = moved(*unit, shape.local);
  return true;
}

bool ModelReader::read_mesh_form(const Node* file, const Node* scale, const Node& node, const Place& place,
                                 Shape& shape, MassProperties* unit) {
  if (file == nullptr) {
    values_->error(node, "missing-key", place.text() + ": 'file' is missing", "name the STL or OBJ file of the mesh");
    return false;
  }
  const auto name = values_->text(*file, place.at("file"));
  double factor = 1;
  if (scale != nullptr) {
    const auto value = values_->number(*scale, place.at("scale"), Quantity::none);
    if (!value) return false;
    factor = *value;
    if (!(factor > 0)) {
      values_->error(*scale, "not-positive", place.text() + ": scale is not positive", "");
      return false;
    }
  }
  if (!name) return false;
  shape.file = resolve(*name, *file);
  const double metres = factor * values_->unit_of(Quantity::length);
  shape.size = {metres};
  auto found = meshes_.find(shape.file);
  if (found == meshes_.end()) {
    bool good = false;
    const std::string bytes = load_text(shape.file, *file, place.at("file"), good);
    if (!good) return false;
    other_texts_ += "\n# ---- mesh " + shape.file + ": " + std::to_string(bytes.size()) + " bytes, fingerprint " +
                    std::to_string(fingerprint(bytes)) + "\n";
    // A mesh that is only drawn may be open; what is wrong with it is kept for the one that is weighed.
    MassProperties at_scale_1;
    try {
      at_scale_1 = trammel::solid(read_mesh(bytes, shape.file), 1);
    } catch (const Failure& failure) {
      if (unit != nullptr) {
        const Problem& problem = failure.problems().front();
        values_->error(*file, problem.id.c_str(),
                       place.text() + ": " + quote(shape.file) +
                           (problem.where.line > 0 ? ", line " + std::to_string(problem.where.line) : "") + ": " +
                           problem.message,
                       problem.hint);
        return false;
      }
      return true;
    }
    found = meshes_.emplace(shape.file, at_scale_1).first;
  }
  if (unit == nullptr) return true;
  const MassProperties& own = found->second;
  *unit = {std::pow(metres, 3) * own.mass, metres * own.center, std::pow(metres, 5) * own.inertia};
  return true;
}

bool ModelReader::read_solid(const Node& node, const Place& place, Rule rule, bool weighed, const Body& body,
                             Solid& solid) {
  Entries entries = values_->mapping(node, place, rule);
  if (!entries.good()) return false;
  solid.node = &node;
  const bool part = rule == Rule::part;
  const std::size_t before = problems_.all().size();
  const Node* density = entries.find("density");
  const Node* mass = entries.find("mass");
  const Node* inertia = part ? entries.find("inertia") : nullptr;
  const Node* type = part ? entries.find("type") : entries.need("type");
  solid.has_form = type != nullptr;
  const bool planar = kind_of(body).is_planar;
  const bool good = read_form(entries, node, place, planar, weighed, solid.shape, weighed ? &solid.unit : nullptr);
  if (!solid.has_form && node.find("size") != nullptr) {
    values_->error(node, "missing-key", place.text() + ": 'type' is missing",
                   "a size needs a type: box, cylinder, ...");
  }
  entries.finish();
  if (density != nullptr) solid.density = values_->number(*density, place.at("density"), Quantity::density);
  if (mass != nullptr) solid.mass = values_->number(*mass, place.at("mass"), Quantity::mass);
  if (density != nullptr && mass != nullptr) {
    values_->error(*mass, "conflict", place.text() + ": 'density' and 'mass' are both given", "keep one of them");
  }
  if (!weighed && (density != nullptr || mass != nullptr || inertia != nullptr)) {
    values_->error(node, "conflict", place.text() + ": the body's mass and inertia are given, so this one only draws",
                   "leave density, mass and inertia out here");
  }
  if (solid.has_form && inertia != nullptr) {
    values_->error(*inertia, "conflict", place.text() + ": the inertia follows from the shape", "leave it out");
  }
  if (!solid.has_form && problems_.all().size() == before) {
    if (mass == nullptr) {
      values_->error(node, "missing-key", place.text() + ": give a shape with 'type', or a 'mass'",
                     "for example {type: box, size: [1, 2, 3]} or {mass: 2, position: [1, 0, 0]}");
      return false;
    }
    MassProperties own{solid.mass.value_or(0), Vec3::Zero(), Mat3::Zero()};
    if (inertia != nullptr) {
      const bool special = inertia->is_mapping() && inertia->find("value") == nullptr;
      set(own.inertia, special ? read_inertia_mapping(*inertia, place.at("inertia"), own.mass, own.center)
                               : values_->inertia(*inertia, place.at("inertia")));
    }
    solid.given = moved(own, solid.shape.local);
  }
  return problems_.all().size() == before && (good || !solid.has_form);
}

bool ModelReader::read_parts(const Node& parts, const Place& place, bool weighed, const Body& body,
                             std::vector<Solid>& solids) {
  if (!parts.is_sequence() || parts.count == 0) {
    values_->error(parts, "wrong-type", place.text() + ": parts must be a list",
                   "write `- {type: box, size: [1, 2, 3]}` for each");
    return false;
  }
  bool good = true;
  for (std::size_t i = 0; i < parts.count; ++i) {
    const std::string field = "part " + std::to_string(i + 1);
    good = read_solid(parts.item(i), place.at(field), Rule::part, weighed, body, solids.emplace_back()) && good;
  }
  return good;
}

void ModelReader::draw_solids(std::vector<Solid>& solids, const Body& body, bool numbered) {
  for (std::size_t i = 0; i < solids.size(); ++i) {
    Solid& solid = solids[i];
    if (!solid.has_form || solid.density.value_or(1) < 0 || solid.mass.value_or(1) < 0)
      continue;  // holes are not drawn
    solid.shape.name = "body." + body.name + (numbered ? "." + std::to_string(i + 1) : "");
    solid.shape.body = static_cast<int>(model_.bodies.size());
    solid.shape.where = values_->where(*solid.node);
    model_.shapes.push_back(solid.shape);
  }
}

// Gives solids that do not say what they weigh a density: that of the body, else what its mass leaves for their volume.
bool ModelReader::complete_densities(std::vector<Solid>& solids, const std::optional<double>& common, bool has_mass,
                                     const Place& place, const Body& body) {
  double rest = body.mass, volume = 0;  // mass of the body that its parts leave open, and their volume
  const Node* open = nullptr;
  for (const Solid& solid : solids) {
    if (solid.given) {
      rest -= solid.given->mass;
    } else if (solid.mass) {
      rest -= *solid.mass;
    } else if (solid.density) {
      rest -= *solid.density * solid.unit.mass;
    } else {
      volume += solid.unit.mass;
      open = solid.node;
    }
  }
  if (open != nullptr && !common && !has_mass) {
    values_->error(*open, "missing-key", place.text() + ": its weight is not said",
                   "give `density` or `mass` of the body or of the shape");
    return false;
  }
  if (open == nullptr && (common || has_mass)) {
    values_->error(*solids.front().node, "conflict",
                   place.text() + ": all its parts say what they weigh, and the body does too",
                   "leave the mass or density of the body out");
    return false;
  }
  if (has_mass && !(rest > 0)) {
    values_->error(*open, "negative-mass",
                   place.text() + ": nothing of its mass is left for the parts that say no weight",
                   "the others weigh " + shortest(body.mass - rest) + " kg of " + shortest(body.mass) + " kg");
    return false;
  }
  for (Solid& solid : solids) {
    if (!solid.given && !solid.mass && !solid.density) solid.density = common ? *common : rest / volume;
  }
  return true;
}

// Mass, centre of mass and inertia of the body from those of its solids.
void ModelReader::weigh_solids(const std::vector<Solid>& solids, const Place& place, Body& body) {
  std::vector<MassProperties> all;
  for (const Solid& solid : solids) {
    if (solid.given) {
      all.push_back(*solid.given);
      continue;
    }
    const double own = solid.mass ? *solid.mass / solid.unit.mass : *solid.density;
    all.push_back({own * solid.unit.mass, solid.unit.center, own * solid.unit.inertia});
  }
  const MassProperties whole = sum(all);
  if (!(whole.mass > 0)) {
    values_->error(*solids.front().node, "negative-mass",
                   place.text() + ": its parts weigh " + shortest(whole.mass) + " kg together",
                   "holes have a negative density; they cannot outweigh the rest");
    return;
  }
  body.mass = whole.mass;
  body.center_of_mass = whole.center;
  body.inertia = 0.5 * (whole.inertia + whole.inertia.transpose());
  if (kind_of(body).inertia == InertiaForm::about_z) {
    body.center_of_mass.z() = 0;
    const double about_z = body.inertia(2, 2);
    body.inertia.setZero();
    body.inertia(2, 2) = about_z;
  }
}

// The solids of a body: what it looks like, and, if `weighed`, its mass, centre of mass and inertia.
void ModelReader::read_solids(const Node* shape, const Node* parts, const Node* density, const Place& place,
                              bool weighed, bool has_mass, Body& body) {
  if (shape != nullptr && parts != nullptr) {
    values_->error(*parts, "conflict", place.text() + ": 'shape' and 'parts' are both given",
                   "put the shape into the parts");
    return;
  }
  std::vector<Solid> solids;
  if (shape != nullptr) {
    if (!read_solid(*shape, place.at("shape"), Rule::shape, weighed, body, solids.emplace_back())) return;
  } else {
    if (!read_parts(*parts, place, weighed, body, solids)) return;
  }
  draw_solids(solids, body, parts != nullptr);
  if (!weighed) return;

  std::optional<double> common;
  if (density != nullptr) {
    common = values_->number(*density, place.at("density"), Quantity::density);
    if (!common) return;
    if (has_mass) {
      values_->error(*density, "conflict", place.text() + ": 'density' and 'mass' are both given", "keep one of them");
      return;
    }
  }
  if (complete_densities(solids, common, has_mass, place, body)) weigh_solids(solids, place, body);
}

void ModelReader::read_shape(const Entry& entry) {
  const Place place{"shape", entry.name, ""};
  Shape shape;
  shape.name = entry.name;
  shape.where = values_->where(entry.key);
  Entries entries = values_->mapping(entry.node, place, Rule::drawn_shape);
  if (!entries.good()) return;
  const Node* body = entries.need("body");
  entries.need("type");
  if (body != nullptr) shape.body = find_body(*body, place.at("body"));
  // A shape on the ground of a subsystem stands in the subsystem's own world.
  const bool good = read_form(entries, entry.node, place, is_planar(shape.body), false, shape, nullptr);
  if (shape.body == ground) shape.local = to_local(ground, shape.local);
  entries.finish();
  if (good) model_.shapes.push_back(std::move(shape));
}

// ---- Places
// ------------------------------------------------------------------------------------------------------------

int ModelReader::find_body(const Node& node, const Place& place) {
  if (!node.is_scalar() || node.is_null()) {
    values_->error(node, "wrong-type", place.text() + " must be the name of a body", "");
    return missing_body;
  }
  const std::string name = full_name(node.text);
  if (name == "ground") return ground;
  const auto found = body_index_.find(name);
  if (found != body_index_.end()) {
    check_visible(node, place);
    return found->second;
  }
  std::vector<std::string> names{"ground"};
  for (const Body& body : model_.bodies) names.push_back(body.name);
  std::string hint = did_you_mean(node.text, names);
  if (frame_index_.count(name) != 0) hint = "this is a frame; use `frames: [..]` to attach to frames";
  if (hint.empty()) hint = "define it under `bodies`, or use `ground`";
  values_->error(node, "unknown-body", place.text() + ": there is no body " + quote(node.text), hint);
  return missing_body;
}

Pose ModelReader::to_local(int body, const Pose& here) const {
  const Pose& scope = current_->pose;
  const Pose world{scope.position + scope.rotation * here.position, scope.rotation * here.rotation};
  if (body == ground) return world;
  const Pose& from = model_.bodies[body].pose;
  const Quat inverse = from.rotation.conjugate();
  return {inverse * (world.position - from.position), inverse * world.rotation};
}

int ModelReader::add_frame(int body, const Pose& local, const Location& where) {
  model_.frames.push_back({"", body, local, where});
  return static_cast<int>(model_.frames.size()) - 1;
}

// z along `axis`, x along `x_axis` as far as perpendicular; the world's axes if neither is given.
std::optional<Quat> ModelReader::read_axes(const Node* axis_node, const Node* x_node, const Place& place) {
  std::optional<Vec3> axis = Vec3(Vec3::UnitZ()), x_axis = Vec3(Vec3::Zero());
  if (axis_node != nullptr) axis = values_->direction(*axis_node, place.at("axis"));
  if (x_node != nullptr) x_axis = values_->direction(*x_node, place.at("x_axis"));
  if (!axis || !x_axis) return std::nullopt;
  if (axis_node == nullptr && x_node == nullptr) return Quat(Quat::Identity());
  if (x_node != nullptr && axis->cross(*x_axis).norm() < 1e-9) {
    values_->error(*x_node, "parallel-axes", place.text() + ": x_axis is parallel to the axis",
                   "x_axis must have a part perpendicular to the axis");
    return std::nullopt;
  }
  return axes_with_z(*axis, *x_axis);
}

void ModelReader::place_at_node(const Node& node, const Place& place, int body, Pose& pose) {
  if (body == ground || !kind_of(model_.bodies[body]).is_flexible) {
    values_->error(node, "wrong-type", place.text() + ": its body has no nodes", "only bodies of kind modal have");
    return;
  }
  const Body& of = model_.bodies[body];
  if (of.modal == nullptr) return;  // reported
  std::vector<std::string> names;
  for (const ModalNode& each : of.modal->nodes) {
    names.push_back(each.name);
    if (each.name != node.text) continue;
    pose.position = of.center_of_mass + each.position;
    return;
  }
  const std::string hint = did_you_mean(node.text, names);
  values_->error(node, "unknown-value",
                 place.text() + ": body " + quote(of.name) + " has no interface node " + quote(node.text),
                 hint.empty() ? "name it under `interfaces` of the body" : hint);
}

void ModelReader::read_frame(const Entry& entry) {
  const Node& key = entry.key;
  const Node& node = entry.node;
  const Place place{"frame", entry.name, ""};
  if (entry.name == "ground" || body_index_.count(entry.name) != 0) {
    values_->error(key, "duplicate-name", "frame " + quote(entry.name) + ": a body has this name",
                   "bodies and frames share their names, so that both can stand in `frames: [..]`");
  }
  Frame frame;
  frame.name = entry.name;
  frame.where = values_->where(key);
  frame_index_.emplace(entry.name, static_cast<int>(model_.frames.size()));
  Entries entries = values_->mapping(node, place, Rule::frame);
  if (entries.good()) {
    const Node* body = entries.need("body");
    const Node* position = entries.find("position");
    const Node* at = entries.find("at");
    const Node* at_node = entries.find("node");
    const Node* orientation = entries.find("orientation");
    const Node* axis = entries.find("axis");
    const Node* x_axis = entries.find("x_axis");
    entries.finish();
    const int index = body == nullptr ? missing_body : find_body(*body, place.at("body"));
    if (index != missing_body) frame.body = index;
    if (position != nullptr && at != nullptr) {
      values_->error(*at, "conflict", place.text() + ": both 'position' and 'at' are given",
                     "position is in the body's axes, at is in the world");
    }
    if (orientation != nullptr && (axis != nullptr || x_axis != nullptr)) {
      values_->error(*orientation, "conflict", place.text() + ": both 'orientation' and 'axis' or 'x_axis' are given",
                     "keep one of them");
    }
    Pose pose;
    const Node* point = at != nullptr ? at : position;
    if (point != nullptr) {
      set(pose.position, values_->vector(*point, place.at(at != nullptr ? "at" : "position"), Quantity::length,
                                         is_planar(frame.body)));
    }
    if (orientation != nullptr) {
      set(pose.rotation, values_->orientation(*orientation, place.at("orientation")));
    } else {
      set(pose.rotation, read_axes(axis, x_axis, place));
    }
    if (at_node != nullptr && point != nullptr) {
      values_->error(*at_node, "conflict", place.text() + ": both 'node' and a position are given", "keep one of them");
    } else if (at_node != nullptr && index != missing_body) {
      place_at_node(*at_node, place, index, pose);
    }
    const bool in_world = at != nullptr || frame.body == ground;  // the ground's axes are those of the world
    frame.local = in_world ? to_local(frame.body, pose) : pose;
  }
  model_.frames.push_back(std::move(frame));
}

}  // namespace trammel
