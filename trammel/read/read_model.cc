#include "trammel/read/read_model.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <unordered_map>

#include "trammel/elements/registry.h"
#include "trammel/math/rotation.h"
#include "trammel/read/document.h"
#include "trammel/read/literal.h"
#include "trammel/read/values.h"

namespace trammel {
namespace {

constexpr std::size_t largest_file = std::size_t{128} << 20;  // bytes; about 200,000 bodies
constexpr int missing_body = -2;

using NameIndex = std::unordered_map<std::string_view, int>;

Pose relative(const Pose& from, const Pose& to) {
  const Quat inverse = from.rotation.conjugate();
  return {inverse * (to.position - from.position), inverse * to.rotation};
}

class ModelReader {
 public:
  ModelReader(const Document& document, ProblemList& problems, const ReadOptions& options)
      : document_(document), values_(document, problems), options_(options) {}

  Model read() {
    const Node& root = document_.root();
    if (!root.is_mapping()) {
      values_.error(root, "wrong-type", "a model file must be a mapping of sections", "it starts with `trammel: 1`");
      return {};
    }
    Entries file = values_.mapping(root, {"model file", "", ""});
    const Node* version = file.find("trammel");
    const Node* title = file.find("title");
    const Node* units = file.find("units");
    const Node* parameters = file.find("parameters");
    const Node* gravity = file.find("gravity");
    const Node* bodies = file.find("bodies");
    const Node* frames = file.find("frames");
    const Node* joints = file.find("joints");
    const Node* motions = file.find("motions");
    const Node* forces = file.find("forces");
    const Node* initial = file.find("initial");
    const Node* simulation = file.find("simulation");
    const Node* outputs = file.find("outputs");
    const Node* shapes = file.find("shapes");
    read_version(version, root);
    file.finish();

    if (title != nullptr) model_.title = values_.text(*title, {"title", "", ""}).value_or("");
    values_.read_units(units);
    values_.read_parameters(parameters, options_.parameters);
    if (gravity != nullptr) {
      set(model_.gravity, values_.vector(*gravity, {"gravity", "", ""}, Quantity::acceleration));
    }
    each(bodies, "body", [&](const Node& key, const Node& node) { read_body(key, node); });
    each(frames, "frame", [&](const Node& key, const Node& node) { read_frame(key, node); });
    each(joints, "joint", [&](const Node& key, const Node& node) {
      joint_index_.emplace(key.text, static_cast<int>(model_.joints.size()));
      read_item(Category::joint, key, node, model_.joints);
    });
    each(motions, "motion",
         [&](const Node& key, const Node& node) { read_item(Category::motion, key, node, model_.motions); });
    each(forces, "force",
         [&](const Node& key, const Node& node) { read_item(Category::force, key, node, model_.forces); });
    read_initial(initial);
    read_simulation(simulation);
    each(outputs, "output", [&](const Node& key, const Node& node) { read_output(key, node); });
    each(shapes, "shape", [&](const Node& key, const Node& node) { read_shape(key, node); });
    model_.parameters = values_.parameters();
    return std::move(model_);
  }

 private:
  template <class T>
  static void set(T& target, const std::optional<T>& value) {
    if (value) target = *value;
  }

  void read_version(const Node* node, const Node& root) {
    if (node == nullptr) {
      values_.error(root, "missing-key", "the file does not say that it is a model: 'trammel' is missing",
                    "start it with `trammel: 1`");
    } else if (!node->is_scalar() || node->text != "1") {
      values_.error(*node, "wrong-version", "the format version must be 1", "this program reads `trammel: 1`");
    }
  }

  // Calls take(key, value) for every entry of a section of named things.
  template <class Take>
  void each(const Node* section, std::string_view kind, Take&& take) {
    if (section == nullptr || section->is_null()) return;
    const std::string what(kind);
    if (!section->is_mapping()) {
      values_.error(*section, "wrong-type", "the section of each " + what + " must be a mapping of names",
                    "write `name: {...}` for each " + what + ", without '- '");
      return;
    }
    for (std::size_t i = 0; i < section->count; ++i) {
      const Node& key = section->key(i);
      if (!key.is_scalar() || (key.text == "<<" && !key.quoted)) continue;  // reported with the document
      if (!is_good_name(key.text)) {
        values_.error(key, "bad-name", what + " " + quote(key.text) + ": this is not a good name",
                      "use letters, digits, _ and -, with a letter first");
      }
      take(key, section->value(i));
    }
  }

  // ---- Bodies and frames -------------------------------------------------------------------------------------------

  static const char* kind_name(BodyKind kind) {
    switch (kind) {
      case BodyKind::point: return "point";
      case BodyKind::planar: return "planar";
      case BodyKind::spatial: return "spatial";
      case BodyKind::scalar: return "scalar";
    }
    return "";
  }

  // Pose and velocities, which stand in `bodies` and in `initial`.
  void read_state(Entries& entries, const Place& place, Body& body) {
    const bool planar = body.kind == BodyKind::planar;
    if (const Node* node = entries.find("position")) {
      set(body.pose.position, values_.vector(*node, place.at("position"), Quantity::length, planar));
    }
    if (const Node* node = entries.find("velocity")) {
      set(body.velocity, values_.vector(*node, place.at("velocity"), Quantity::speed, planar));
    }
    if (planar) {
      if (const Node* node = entries.find("angle")) {
        if (const auto angle = values_.number(*node, place.at("angle"), Quantity::angle)) {
          body.pose.rotation = Quat(Eigen::AngleAxisd(*angle, Vec3::UnitZ()));
        }
      }
      if (const Node* node = entries.find("angular_velocity")) {
        if (const auto rate = values_.number(*node, place.at("angular_velocity"), Quantity::angular_speed)) {
          body.angular_velocity = Vec3(0, 0, *rate);
        }
      }
    } else if (body.kind == BodyKind::spatial) {
      if (const Node* node = entries.find("orientation")) {
        set(body.pose.rotation, values_.orientation(*node, place.at("orientation")));
      }
      if (const Node* node = entries.find("angular_velocity")) {
        set(body.angular_velocity, values_.vector(*node, place.at("angular_velocity"), Quantity::angular_speed));
      }
    }
  }

  void read_body(const Node& key, const Node& node) {
    const Place place{"body", key.text, ""};
    Body body;
    body.name = key.text;
    body.where = values_.where(key);
    if (key.text == "ground") {
      values_.error(key, "reserved-name", "body 'ground': this is the name of the fixed body", "choose another name");
    }
    body_index_.emplace(key.text, static_cast<int>(model_.bodies.size()));
    Entries entries = values_.mapping(node, place);
    if (entries.good()) {
      if (const Node* kind = entries.find("kind")) {
        if (kind->text == "point") {
          body.kind = BodyKind::point;
        } else if (kind->text == "planar") {
          body.kind = BodyKind::planar;
        } else if (kind->text != "spatial") {
          values_.error(*kind, "unknown-kind", place.text() + ": there is no kind " + quote(kind->text) + " of bodies",
                        "kinds: spatial (the default), planar, point");
        }
      }
      if (const Node* mass = entries.need("mass")) {
        set(body.mass, values_.number(*mass, place.at("mass"), Quantity::mass));
      }
      if (body.kind != BodyKind::point) {
        if (const Node* inertia = entries.need("inertia")) read_inertia(*inertia, place.at("inertia"), body);
        if (const Node* center = entries.find("center_of_mass")) {
          set(body.center_of_mass,
              values_.vector(*center, place.at("center_of_mass"), Quantity::length, body.kind == BodyKind::planar));
        }
      }
      read_state(entries, place, body);
      entries.finish();
    }
    model_.bodies.push_back(std::move(body));
  }

  void read_inertia(const Node& node, const Place& place, Body& body) {
    if (body.kind == BodyKind::planar) {
      if (const auto value = values_.number(node, place, Quantity::inertia)) body.inertia(2, 2) = *value;
    } else {
      set(body.inertia, values_.inertia(node, place));
    }
  }

  bool is_planar(int body) const {
    return body >= 0 && model_.bodies[static_cast<std::size_t>(body)].kind == BodyKind::planar;
  }

  int find_body(const Node& node, const Place& place) {
    if (!node.is_scalar() || node.is_null()) {
      values_.error(node, "wrong-type", place.text() + " must be the name of a body", "");
      return missing_body;
    }
    if (node.text == "ground") return ground;
    const auto found = body_index_.find(node.text);
    if (found != body_index_.end()) return found->second;
    std::vector<std::string> names{"ground"};
    for (const Body& body : model_.bodies) names.push_back(body.name);
    std::string hint = did_you_mean(node.text, names);
    if (frame_index_.count(node.text) != 0) hint = "this is a frame; use `frames: [..]` to attach to frames";
    if (hint.empty()) hint = "define it under `bodies`, or use `ground`";
    values_.error(node, "unknown-body", place.text() + ": there is no body " + quote(node.text), hint);
    return missing_body;
  }

  // World to body axes, bodies as drawn.
  Pose to_local(int body, const Pose& world) const {
    return body == ground ? world : relative(model_.bodies[static_cast<std::size_t>(body)].pose, world);
  }

  int add_frame(int body, const Pose& local, const Location& where) {
    model_.frames.push_back({"", body, local, where});
    return static_cast<int>(model_.frames.size()) - 1;
  }

  // z along `axis`, x along `x_axis` as far as perpendicular; the world's axes if neither is given.
  std::optional<Quat> read_axes(const Node* axis_node, const Node* x_node, const Place& place) {
    std::optional<Vec3> axis = Vec3(Vec3::UnitZ()), x_axis = Vec3(Vec3::Zero());
    if (axis_node != nullptr) axis = values_.direction(*axis_node, place.at("axis"));
    if (x_node != nullptr) x_axis = values_.direction(*x_node, place.at("x_axis"));
    if (!axis || !x_axis) return std::nullopt;
    if (axis_node == nullptr && x_node == nullptr) return Quat(Quat::Identity());
    if (x_node != nullptr && axis->cross(*x_axis).norm() < 1e-9) {
      values_.error(*x_node, "parallel-axes", place.text() + ": x_axis is parallel to the axis",
                    "x_axis must have a part perpendicular to the axis");
      return std::nullopt;
    }
    return axes_with_z(*axis, *x_axis);
  }

  void read_frame(const Node& key, const Node& node) {
    const Place place{"frame", key.text, ""};
    if (key.text == "ground" || body_index_.count(key.text) != 0) {
      values_.error(key, "duplicate-name", "frame " + quote(key.text) + ": a body has this name",
                    "bodies and frames share their names, so that both can stand in `frames: [..]`");
    }
    Frame frame;
    frame.name = key.text;
    frame.where = values_.where(key);
    frame_index_.emplace(key.text, static_cast<int>(model_.frames.size()));
    Entries entries = values_.mapping(node, place);
    if (entries.good()) {
      const Node* body = entries.need("body");
      const Node* position = entries.find("position");
      const Node* at = entries.find("at");
      const Node* orientation = entries.find("orientation");
      const Node* axis = entries.find("axis");
      const Node* x_axis = entries.find("x_axis");
      entries.finish();
      const int index = body == nullptr ? missing_body : find_body(*body, place.at("body"));
      if (index != missing_body) frame.body = index;
      if (position != nullptr && at != nullptr) {
        values_.error(*at, "conflict", place.text() + ": both 'position' and 'at' are given",
                      "position is in the body's axes, at is in the world");
      }
      if (orientation != nullptr && (axis != nullptr || x_axis != nullptr)) {
        values_.error(*orientation, "conflict", place.text() + ": both 'orientation' and 'axis' or 'x_axis' are given",
                      "keep one of them");
      }
      Pose pose;
      const Node* point = at != nullptr ? at : position;
      if (point != nullptr) {
        set(pose.position, values_.vector(*point, place.at(at != nullptr ? "at" : "position"), Quantity::length,
                                          is_planar(frame.body)));
      }
      if (orientation != nullptr) {
        set(pose.rotation, values_.orientation(*orientation, place.at("orientation")));
      } else {
        set(pose.rotation, read_axes(axis, x_axis, place));
      }
      frame.local = at != nullptr ? to_local(frame.body, pose) : pose;
    }
    model_.frames.push_back(std::move(frame));
  }

  // ---- Joints, motions and forces ----------------------------------------------------------------------------------

  static std::string types_hint(Category category, std::string_view near) {
    std::vector<std::string> keys;
    std::string list = "types:";
    for (const ElementDescription& d : element_registry()) {
      if (d.category != category) continue;
      keys.push_back(d.key);
      list += ' ' + d.key;
    }
    const std::string hint = did_you_mean(near, keys);
    return hint.empty() ? list : hint;
  }

  void read_item(Category category, const Node& key, const Node& node, std::vector<Item>& items) {
    const Place place{to_text(category), key.text, ""};
    Item& item = items.emplace_back();
    item.name = key.text;
    item.where = values_.where(key);
    Entries entries = values_.mapping(node, place);
    if (!entries.good()) return;
    const Node* type = entries.find("type");
    if (type == nullptr) {
      values_.error(node, "missing-key", place.text() + ": 'type' is missing", types_hint(category, ""));
      return;
    }
    const std::optional<std::string> type_text = values_.text(*type, place.at("type"));
    if (!type_text) return;
    item.type = *type_text;
    const ElementDescription* description = find_element(category, item.type);
    if (description == nullptr) {
      values_.error(*type, "unknown-type", place.text() + ": there is no type " + quote(item.type),
                    types_hint(category, item.type));
      return;
    }
    for (const Field& field : description->fields) {
      if (const Node* value = entries.find(field.name)) {
        if (auto read = values_.field(*value, place.at(field.name), field))
          item.fields.set(field.name, std::move(*read));
      } else if (field.fallback) {
        item.fields.set(field.name, *field.fallback);
      } else {
        values_.error(key, "missing-key", place.text() + ": " + quote(field.name) + " must be given", field.text);
      }
    }
    item.frames = attach(entries, place, key, *description);
    entries.finish();
  }

  // The two frames an item acts between; none if something is wrong.
  std::vector<int> attach(Entries& entries, const Place& place, const Node& key,
                          const ElementDescription& description) {
    const Node* frames = entries.find("frames");
    const Node* between = entries.find("between");
    const Node* at = entries.find("at");
    const Node* axis = entries.find("axis");
    const Node* axis_b = entries.find("axis_b");
    const Node* x_axis = entries.find("x_axis");
    const Node* joint = description.category == Category::joint ? nullptr : entries.find("joint");
    const int ways = (frames != nullptr) + (between != nullptr) + (joint != nullptr);
    if (ways != 1) {
      values_.error(key, ways == 0 ? "missing-key" : "conflict",
                    place.text() + (ways == 0 ? ": it is not said what it acts between"
                                              : ": it is said twice what it acts between"),
                    description.category == Category::joint
                        ? "give either `between: [body, body]` with `at`, or `frames: [frame, frame]`"
                        : "give one of `joint: name`, `frames: [frame, frame]`, or "
                          "`between: [body, body]` with `at`");
      return {};
    }
    if (between == nullptr) {
      for (const Node* extra : {at, axis, axis_b, x_axis}) {
        if (extra == nullptr) continue;
        values_.error(
            *extra, "conflict", place.text() + ": 'at' and axes go with `between` only",
            joint != nullptr ? "the joint's frames are used as they are" : "the named frames are used as they are");
        return {};
      }
    }
    if (joint != nullptr) return frames_of_joint(*joint, place);
    const Node& pair = frames != nullptr ? *frames : *between;
    if (!pair.is_sequence() || pair.count != 2) {
      values_.error(pair, "wrong-type",
                    place.text() + (frames != nullptr ? ": 'frames'" : ": 'between'") + " must name two",
                    frames != nullptr ? "write frames: [frame, frame]" : "write between: [ground, body]");
      return {};
    }
    if (frames != nullptr) {
      const int a = find_frame(pair.item(0), place), b = find_frame(pair.item(1), place);
      return a < 0 || b < 0 ? std::vector<int>{} : std::vector<int>{a, b};
    }
    return frames_between(pair, at, axis, axis_b, x_axis, place, key, description);
  }

  std::vector<int> frames_of_joint(const Node& node, const Place& place) {
    const int index = find_joint(node, place.at("joint"));
    return index < 0 ? std::vector<int>{} : model_.joints[static_cast<std::size_t>(index)].frames;
  }

  int find_joint(const Node& node, const Place& place) {
    const auto found = node.is_scalar() ? joint_index_.find(node.text) : joint_index_.end();
    if (found != joint_index_.end()) return found->second;
    std::vector<std::string> names;
    for (const Item& item : model_.joints) names.push_back(item.name);
    const std::string hint = did_you_mean(node.text, names);
    values_.error(node, "unknown-joint", place.text() + ": there is no joint " + quote(node.text),
                  hint.empty() ? "define it under `joints`" : hint);
    return -1;
  }

  // A named frame, or a new one at the origin of a body or of the ground.
  int find_frame(const Node& node, const Place& place) {
    if (node.is_scalar()) {
      const auto frame = frame_index_.find(node.text);
      if (frame != frame_index_.end()) return frame->second;
      if (node.text == "ground") return add_frame(ground, {}, values_.where(node));
      const auto body = body_index_.find(node.text);
      if (body != body_index_.end()) return add_frame(body->second, {}, values_.where(node));
    }
    std::vector<std::string> names{"ground"};
    for (const Frame& frame : model_.frames) {
      if (!frame.name.empty()) names.push_back(frame.name);
    }
    for (const Body& body : model_.bodies) names.push_back(body.name);
    const std::string hint = did_you_mean(node.text, names);
    values_.error(node, "unknown-frame", place.text() + ": there is no frame or body " + quote(node.text),
                  hint.empty() ? "define it under `frames`" : hint);
    return -1;
  }

  std::vector<int> frames_between(const Node& pair, const Node* at, const Node* axis, const Node* axis_b,
                                  const Node* x_axis, const Place& place, const Node& key,
                                  const ElementDescription& description) {
    const int a = find_body(pair.item(0), place.at("between")), b = find_body(pair.item(1), place.at("between"));
    if (at == nullptr) {
      values_.error(key, "missing-key", place.text() + ": 'at' is missing",
                    description.attachment == Attachment::two_points
                        ? "give two points in the world, one on each body: at: [[x, y, z], [x, y, z]]"
                        : "give the point in the world where the bodies meet: at: [x, y, z]");
      return {};
    }
    const bool planar = is_planar(a) || is_planar(b);
    std::optional<Vec3> point_a, point_b;
    if (at->is_sequence() && at->count == 2 && !at->item(0).is_scalar()) {
      point_a = values_.vector(at->item(0), place.at("at"), Quantity::length, planar);
      point_b = values_.vector(at->item(1), place.at("at"), Quantity::length, planar);
    } else {
      point_a = point_b = values_.vector(*at, place.at("at"), Quantity::length, planar);
    }
    const std::optional<Quat> axes_a = read_axes(axis, x_axis, place);
    std::optional<Quat> axes_b = axes_a;
    if (axis_b != nullptr) axes_b = read_second_axes(*axis_b, x_axis, place);
    if (description.key == "universal" && axes_a && axes_b) check_cross(*axes_a, *axes_b, axis_b, place, key);
    if (a == missing_body || b == missing_body || !point_a || !point_b || !axes_a || !axes_b) return {};
    const int frame_a = add_frame(a, to_local(a, {*point_a, *axes_a}), values_.where(key));
    const int frame_b = add_frame(b, to_local(b, {*point_b, *axes_b}), values_.where(key));
    return {frame_a, frame_b};
  }

  std::optional<Quat> read_second_axes(const Node& axis_b, const Node* x_axis, const Place& place) {
    const std::optional<Vec3> z = values_.direction(axis_b, place.at("axis_b"));
    if (!z) return std::nullopt;
    Vec3 x = Vec3::Zero();
    if (x_axis != nullptr) set(x, values_.direction(*x_axis, place.at("x_axis")));
    return axes_with_z(*z, x);
  }

  // The arms of a universal joint's cross stand at right angles.
  void check_cross(const Quat& axes_a, const Quat& axes_b, const Node* axis_b, const Place& place, const Node& key) {
    if (axis_b == nullptr) {
      values_.error(key, "missing-key", place.text() + ": a universal joint needs two axes, but 'axis_b' is missing",
                    "axis is the arm of the cross on the first body, axis_b that on the second");
    } else if (std::abs((axes_a * Vec3::UnitZ()).dot(axes_b * Vec3::UnitZ())) > 1e-3) {
      values_.error(*axis_b, "not-perpendicular", place.text() + ": 'axis' and 'axis_b' are not perpendicular",
                    "the arms of the cross stand at right angles");
    }
  }

  // ---- Start, run and results --------------------------------------------------------------------------------------

  void read_initial(const Node* node) {
    if (node == nullptr || node->is_null()) return;
    Entries entries = values_.mapping(*node, {"initial", "", ""});
    const Node* joints = entries.find("joints");
    const Node* bodies = entries.find("bodies");
    entries.finish();
    each(joints, "joint", [&](const Node& key, const Node& value) { read_initial_joint(key, value); });
    each(bodies, "body", [&](const Node& key, const Node& value) { read_initial_body(key, value); });
  }

  void read_initial_joint(const Node& key, const Node& node) {
    const Place place{"initial joint", key.text, ""};
    InitialJoint initial;
    initial.joint = find_joint(key, {"initial", "", ""});
    initial.where = values_.where(key);
    Entries entries = values_.mapping(node, place);
    if (!entries.good()) return;
    const auto take = [&](const char* name, Quantity quantity, std::optional<double>& target) {
      if (const Node* value = entries.find(name)) target = values_.number(*value, place.at(name), quantity);
    };
    take("angle", Quantity::angle, initial.angle);
    take("displacement", Quantity::length, initial.displacement);
    take("angular_speed", Quantity::angular_speed, initial.angular_speed);
    take("speed", Quantity::speed, initial.speed);
    entries.finish();
    model_.initial_joints.push_back(initial);
  }

  // Joints are placed by now: a pose given here moves the body away from where it was drawn.
  void read_initial_body(const Node& key, const Node& node) {
    const Place place{"initial body", key.text, ""};
    const int index = find_body(key, {"initial", "", ""});
    if (index < 0) {
      if (index == ground) values_.error(key, "reserved-name", "initial: the ground does not move", "");
      return;
    }
    Body& body = model_.bodies[static_cast<std::size_t>(index)];
    Entries entries = values_.mapping(node, place);
    if (!entries.good()) return;
    const Pose before = body.pose;
    read_state(entries, place, body);
    if (!(before.position == body.pose.position && before.rotation.coeffs() == body.pose.rotation.coeffs()))
      body.drawn = before;
    if (const Node* keep = entries.find("keep")) read_keep(*keep, place.at("keep"), body);
    entries.finish();
  }

  void read_keep(const Node& node, const Place& place, Body& body) {
    const char* const hint = "write keep: [position, orientation, velocity, angular_velocity], or some of them";
    if (!node.is_sequence()) {
      values_.error(node, "wrong-type", place.text() + " must be a list", hint);
      return;
    }
    const bool turns = body.kind != BodyKind::point;
    for (std::size_t i = 0; i < node.count; ++i) {
      const std::string_view what = node.item(i).text;
      if (what == "position") {
        body.keep_position = true;
      } else if (what == "velocity") {
        body.keep_velocity = true;
      } else if (turns && (what == "orientation" || (what == "angle" && body.kind == BodyKind::planar))) {
        body.keep_orientation = true;
      } else if (turns && what == "angular_velocity") {
        body.keep_angular_velocity = true;
      } else {
        values_.error(
            node.item(i), "unknown-key",
            place.text() + ": " + quote(what) + " is nothing that a " + kind_name(body.kind) + " body can keep", hint);
      }
    }
  }

  void read_simulation(const Node* node) {
    if (node == nullptr || node->is_null()) return;
    const Place place{"simulation", "", ""};
    SimulationSettings& simulation = model_.simulation;
    simulation.where = values_.where(*node);
    Entries entries = values_.mapping(*node, place);
    if (!entries.good()) return;
    const auto take = [&](const char* name, Quantity quantity, auto& target) {
      if (const Node* value = entries.find(name)) {
        if (const auto read = values_.number(*value, place.at(name), quantity)) target = *read;
      }
    };
    take("end", Quantity::time, simulation.end);
    if (const Node* method = entries.find("method")) {
      if (auto text = values_.text(*method, place.at("method"))) simulation.method = std::move(*text);
    }
    take("tolerance", Quantity::none, simulation.tolerance);
    take("step", Quantity::time, simulation.step);
    take("first_step", Quantity::time, simulation.first_step);
    take("least_step", Quantity::time, simulation.least_step);
    take("greatest_step", Quantity::time, simulation.greatest_step);
    take("output_step", Quantity::time, simulation.output_step);
    take("length", Quantity::length, simulation.length);
    const Node* options = entries.find("options");
    entries.finish();
    if (options == nullptr || options->is_null()) return;
    const Place options_place{"simulation options", "", ""};
    Entries all = values_.mapping(*options, options_place);
    if (!all.good()) return;
    for (std::size_t i = 0; i < options->count; ++i) {
      const Node& key = options->key(i);
      if (!key.is_scalar()) continue;  // reported with the document
      if (auto value = values_.scalar_of_any_kind(options->value(i), options_place.at(key.text))) {
        simulation.options.set(std::string(key.text), std::move(*value));
      }
    }
  }

  void read_output(const Node& key, const Node& node) {
    const Place place{"output", key.text, ""};
    Output output;
    output.name = key.text;
    const Node* expression = &node;
    if (node.is_mapping()) {
      Entries entries = values_.mapping(node, place);
      expression = entries.need("expression");
      if (const Node* unit = entries.find("unit")) set(output.unit, values_.text(*unit, place.at("unit")));
      entries.finish();
    }
    if (expression == nullptr) return;
    if (auto text = values_.expression(*expression, place, Quantity::none)) output.expression = std::move(*text);
    model_.outputs.push_back(std::move(output));
  }

  void read_shape(const Node& key, const Node& node) {
    struct Form {
      const char* type;
      std::size_t sizes;
      const char* text;
    };
    static constexpr Form forms[] = {
        {"box", 3, "the edges [x, y, z]"},
        {"cylinder", 2, "[radius, length], along z"},
        {"sphere", 1, "[radius]"},
        {"line", 3, "the end point [x, y, z] from the shape's position, in its axes"},
    };
    const Place place{"shape", key.text, ""};
    Shape shape;
    shape.name = key.text;
    shape.where = values_.where(key);
    Entries entries = values_.mapping(node, place);
    if (!entries.good()) return;
    const Node* body = entries.need("body");
    const Node* type = entries.need("type");
    const Node* size = entries.need("size");
    const Node* position = entries.find("position");
    const Node* orientation = entries.find("orientation");
    const Node* color = entries.find("color");
    entries.finish();
    if (body != nullptr) shape.body = find_body(*body, place.at("body"));
    if (position != nullptr) {
      set(shape.local.position,
          values_.vector(*position, place.at("position"), Quantity::length, is_planar(shape.body)));
    }
    if (orientation != nullptr) set(shape.local.rotation, values_.orientation(*orientation, place.at("orientation")));
    if (color != nullptr) set(shape.color, values_.text(*color, place.at("color")));
    if (size != nullptr) set(shape.size, values_.numbers(*size, place.at("size"), Quantity::length));
    if (type != nullptr) set(shape.type, values_.text(*type, place.at("type")));
    if (shape.type.empty()) return;
    const Form* known = nullptr;
    for (const Form& form : forms) {
      if (shape.type == form.type) known = &form;
    }
    if (known == nullptr) {
      std::string hint = did_you_mean(shape.type, {"box", "cylinder", "sphere", "line"});
      values_.error(*type, "unknown-type", place.text() + ": there is no shape " + quote(shape.type),
                    hint.empty() ? "types: box, cylinder, sphere, line" : hint);
    } else if (!shape.size.empty() && shape.size.size() != known->sizes) {
      values_.error(
          *size, "wrong-length", place.text() + ": the size of a " + shape.type + " is " + known->text,
          std::to_string(known->sizes) + " numbers are needed, " + std::to_string(shape.size.size()) + " are given");
    }
    model_.shapes.push_back(std::move(shape));
  }

  const Document& document_;
  Values values_;
  const ReadOptions& options_;
  Model model_;
  NameIndex body_index_, frame_index_, joint_index_;  // keys live in the document
};

[[noreturn]] void fail_file(const std::string& path, const char* id, std::string message, std::string hint) {
  throw Failure({Severity::error, id, std::move(message), std::move(hint), {intern(path), 0, 0}});
}

std::string load(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    fail_file(path, "not-a-file", "this is a directory, not a model file", "name a file inside it");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) {
    const int why = errno;
    fail_file(path, "cannot-read", std::string("the file cannot be read: ") + std::strerror(why),
              why == ENOENT ? "check the name and the current directory" : "check its permissions");
  }
  std::string text;
  std::vector<char> block(std::size_t{1} << 18);
  for (;;) {
    const std::size_t count = std::fread(block.data(), 1, block.size(), file.get());
    text.append(block.data(), count);
    if (text.size() > largest_file) {
      fail_file(path, "too-large", "the file is larger than " + std::to_string(largest_file >> 20) + " MB",
                "is this a model file? Models of this size can be built in C++");
    }
    if (count < block.size()) break;
  }
  if (std::ferror(file.get()) != 0)
    fail_file(path, "cannot-read", "the file cannot be read to its end", "is the disk in order?");
  return text;
}

}  // namespace

void ReadOptions::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == assignment.size()) {
    throw Failure({Severity::error,
                   "bad-setting",
                   "--set " + std::string(assignment) + ": this is not NAME=VALUE",
                   "write for example --set L=0.5",
                   {}},
                  ExitCode::bad_usage);
  }
  parameters.emplace_back(assignment.substr(0, equals), assignment.substr(equals + 1));
}

Model read_model_text(std::string_view text, const std::string& name, const ReadOptions& options) {
  if (text.size() > largest_file) fail_file(name, "too-large", "the text is larger than a model file may be", "");
  ProblemList problems;
  const Document document(text, name, problems);
  Model model = ModelReader(document, problems, options).read();
  problems.fail_if_any();
  model.file = name;
  model.text = text;
  return model;
}

Model read_model(const std::string& path, const ReadOptions& options) {
  return read_model_text(load(path), path, options);
}

}  // namespace trammel
