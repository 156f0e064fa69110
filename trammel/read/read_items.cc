// Joints, motions and forces: their type, their fields, and the frames they act between.
#include <algorithm>

#include "trammel/base/literal.h"
#include "trammel/elements/blocks/block.h"
#include "trammel/elements/registry.h"
#include "trammel/math/rotation.h"
#include "trammel/read/read_types.h"

namespace trammel {
namespace {

std::string types_hint(Category category, std::string_view near) {
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

}  // namespace

void ModelReader::read_item(Category category, const Entry& entry, std::vector<Item>& items) {
  const Node& key = entry.key;
  const Node& node = entry.node;
  const Place place{to_text(category), entry.name, ""};
  Item& item = items.emplace_back();
  item.name = entry.name;
  item.where = values_->where(key);
  Entries entries = values_->mapping(node, place);
  if (!entries.good()) return;
  const Node* type = entries.find("type");
  if (type == nullptr) {
    values_->error(node, "missing-key", place.text() + ": 'type' is missing", types_hint(category, ""));
    return;
  }
  const std::optional<std::string> type_text = values_->text(*type, place.at("type"));
  if (!type_text) return;
  item.type = *type_text;
  const ElementDescription* description = find_element(category, item.type);
  if (description == nullptr) {
    values_->error(*type, "unknown-type", place.text() + ": there is no type " + quote(item.type),
                   types_hint(category, item.type));
    return;
  }
  read_fields(entries, place, key, description->fields, false, item);
  if (category == Category::force) read_part(entries, place, item);
  if (description->attachment != Attachment::joints) {
    item.frames = attach(entries, place, key, *description);
  } else if (const Node* frames = entries.find("frames")) {
    item.frames = frame_pairs(*frames, place);
  } else if (item.fields.has("joints") && item.fields.get<std::vector<std::string>>("joints").empty()) {
    values_->error(key, "missing-key", place.text() + ": it is not said what it acts between",
                   "give `joints: [joint, joint]`, or as many pairs of `frames`");
  }
  entries.finish();
}

void ModelReader::read_part(Entries& entries, const Place& place, Item& item) {
  const Node* part = entries.find("part");
  if (part == nullptr) return;
  const std::optional<std::string> text = values_->text(*part, place.at("part"));
  item.implicit = text == "implicit";
  if (text && *text != "explicit" && *text != "implicit")
    values_->error(*part, "unknown-value", place.text() + ": part is " + quote(*text),
                   "part is explicit (A) or implicit (B)");
}

void ModelReader::read_fields(Entries& entries, const Place& place, const Node& key, const std::vector<Field>& fields,
                              bool names_signals, Item& item) {
  for (const Field& field : fields) {
    if (const Node* value = entries.find(field.name)) {
      if (auto read = values_->field(*value, place.at(field.name), field))
        item.fields.set(field.name, in_scope(std::move(*read), field.kind, names_signals));
    } else if (field.fallback) {
      item.fields.set(field.name, *field.fallback);
    } else if (field.must_be_given()) {
      values_->error(key, "missing-key", place.text() + ": " + quote(field.name) + " must be given", field.text);
    }
  }
}

void ModelReader::read_block(const Entry& entry) {
  if (model_.find_variable(entry.name) < 0) return;  // reported before
  const Place place{"block", entry.name, ""};
  Item item;
  Entries entries = values_->mapping(entry.node, place);
  const BlockDescription* block = find_type(entries, entry, place, block_registry(), item);
  if (block == nullptr) return;
  const std::size_t before = problems_.all().size();
  read_fields(entries, place, entry.key, block->fields, true, item);
  if (const Node* unit = entries.find("unit"); unit != nullptr && item.fields.has("unit"))
    refuse_other_unit(*unit, place, item.fields.get<std::string>("unit"));
  entries.finish();
  if (problems_.all().size() > before) return;
  try {
    write_block(model_, item);
  } catch (const Failure& failure) {
    for (const Problem& problem : failure.problems()) values_->add(problem);
  }
}

// Names of parts of the model as the whole model knows them.
Value ModelReader::in_scope(Value value, FieldKind kind, bool names_signals) const {
  if (kind == FieldKind::names && names_signals) {
    if (current_->parent == nullptr) return value;
    for (std::string& name : std::get<std::vector<std::string>>(value)) name = qualify(*current_, name, false);
    return value;
  }
  if (kind == FieldKind::name) {
    auto& name = std::get<std::string>(value);
    if (!name.empty()) name = full_name(name);
  }
  if (kind == FieldKind::names) {
    for (std::string& name : std::get<std::vector<std::string>>(value)) name = full_name(name);
  }
  return value;
}

// Joints that name other joints or coordinates get their frames once all joints are known.
void ModelReader::attach_by_fields() {
  for (Item& item : model_.joints) {
    const ElementDescription* description = find_element(Category::joint, item.type);
    if (description == nullptr || !description->attach) continue;
    try {
      description->attach(model_, item);
    } catch (const Failure& failure) {
      for (const Problem& problem : failure.problems()) values_->add(problem);
    }
  }
}

// Frames of a coupling, two for each of its pairs.
std::vector<int> ModelReader::frame_pairs(const Node& node, const Place& place) {
  std::vector<int> found;
  if (!node.is_sequence() || node.count < 4 || node.count % 2 != 0) {
    values_->error(node, "wrong-type", place.text() + ": 'frames' must name two frames for each pair it couples",
                   "write frames: [a, b, c, d] for b against a and d against c");
    return found;
  }
  for (std::size_t i = 0; i < node.count; ++i) {
    const int frame = find_frame(node.item(i), place);
    if (frame < 0) return {};
    found.push_back(frame);
  }
  return found;
}

// The two frames an item acts between; none if something is wrong.
std::vector<int> ModelReader::attach(Entries& entries, const Place& place, const Node& key,
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
    values_->error(key, ways == 0 ? "missing-key" : "conflict",
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
      values_->error(
          *extra, "conflict", place.text() + ": 'at' and axes go with `between` only",
          joint != nullptr ? "the joint's frames are used as they are" : "the named frames are used as they are");
      return {};
    }
  }
  if (joint != nullptr) return frames_of_joint(*joint, place);
  if (description.attachment == Attachment::several) {
    if (frames == nullptr || !frames->is_sequence() || frames->count < 2 || frames->count > max_frames) {
      values_->error(frames != nullptr ? *frames : key, "wrong-type",
                     place.text() + ": 'frames' must name from 2 to " + std::to_string(max_frames) + " frames",
                     "write frames: [frame, frame, ...]");
      return {};
    }
    std::vector<int> found;
    for (std::size_t i = 0; i < frames->count; ++i) found.push_back(find_frame(frames->item(i), place));
    return std::find(found.begin(), found.end(), -1) == found.end() ? found : std::vector<int>{};
  }
  const Node& pair = frames != nullptr ? *frames : *between;
  if (!pair.is_sequence() || pair.count != 2) {
    values_->error(pair, "wrong-type",
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

std::vector<int> ModelReader::frames_of_joint(const Node& node, const Place& place) {
  const int index = find_joint(node, place.at("joint"));
  if (index < 0) return {};
  const Item& named = model_.joints[index];
  const ElementDescription* description = find_element(Category::joint, named.type);
  if (description != nullptr && description->attachment == Attachment::joints) {
    values_->error(node, "wrong-type", place.text() + ": " + quote(named.name) + " couples other joints",
                   "name one of the joints that it couples");
    return {};
  }
  return named.frames.size() < 2 ? std::vector<int>{} : std::vector<int>{named.frames[0], named.frames[1]};
}

int ModelReader::find_joint(const Node& node, const Place& place) {
  if (node.is_scalar()) {
    const auto found = joint_index_.find(full_name(node.text));
    if (found != joint_index_.end()) {
      check_visible(node, place);
      return found->second;
    }
  }
  std::vector<std::string> names;
  for (const Item& item : model_.joints) names.push_back(item.name);
  const std::string hint = did_you_mean(node.text, names);
  values_->error(node, "unknown-joint", place.text() + ": there is no joint " + quote(node.text),
                 hint.empty() ? "define it under `joints`" : hint);
  return -1;
}

// A named frame, or a new one at the origin of a body or of the ground.
int ModelReader::find_frame(const Node& node, const Place& place) {
  if (node.is_scalar()) {
    const std::string name = full_name(node.text);
    const auto frame = frame_index_.find(name);
    const auto body = body_index_.find(name);
    if (frame != frame_index_.end() || body != body_index_.end()) check_visible(node, place);
    if (frame != frame_index_.end()) return frame->second;
    // The ground of a subsystem has its origin where the subsystem has its own.
    if (name == "ground")
      return add_frame(ground, node.text == "ground" ? current_->pose : Pose{}, values_->where(node));
    if (body != body_index_.end()) return add_frame(body->second, {}, values_->where(node));
  }
  std::vector<std::string> names{"ground"};
  for (const Frame& frame : model_.frames) {
    if (!frame.name.empty()) names.push_back(frame.name);
  }
  for (const Body& body : model_.bodies) names.push_back(body.name);
  const std::string hint = did_you_mean(node.text, names);
  values_->error(node, "unknown-frame", place.text() + ": there is no frame or body " + quote(node.text),
                 hint.empty() ? "define it under `frames`" : hint);
  return -1;
}

std::vector<int> ModelReader::frames_between(const Node& pair, const Node* at, const Node* axis, const Node* axis_b,
                                             const Node* x_axis, const Place& place, const Node& key,
                                             const ElementDescription& description) {
  const int a = find_body(pair.item(0), place.at("between")), b = find_body(pair.item(1), place.at("between"));
  if (at == nullptr) {
    values_->error(key, "missing-key", place.text() + ": 'at' is missing",
                   description.attachment == Attachment::two_points
                       ? "give two points in the world, one on each body: at: [[x, y, z], [x, y, z]]"
                       : "give the point in the world where the bodies meet: at: [x, y, z]");
    return {};
  }
  const bool planar = is_planar(a) || is_planar(b);
  std::optional<Vec3> point_a, point_b;
  if (at->is_sequence() && at->count == 2 && !at->item(0).is_scalar()) {
    point_a = values_->vector(at->item(0), place.at("at"), Quantity::length, planar);
    point_b = values_->vector(at->item(1), place.at("at"), Quantity::length, planar);
  } else {
    point_a = point_b = values_->vector(*at, place.at("at"), Quantity::length, planar);
  }
  const std::optional<Quat> axes_a = read_axes(axis, x_axis, place);
  std::optional<Quat> axes_b = axes_a;
  if (axis_b != nullptr) axes_b = read_second_axes(*axis_b, x_axis, place);
  if (description.axes_cross && axes_a && axes_b) check_cross(*axes_a, *axes_b, axis_b, place, key, description.key);
  if (a == missing_body || b == missing_body || !point_a || !point_b || !axes_a || !axes_b) return {};
  const int frame_a = add_frame(a, to_local(a, {*point_a, *axes_a}), values_->where(key));
  const int frame_b = add_frame(b, to_local(b, {*point_b, *axes_b}), values_->where(key));
  return {frame_a, frame_b};
}

std::optional<Quat> ModelReader::read_second_axes(const Node& axis_b, const Node* x_axis, const Place& place) {
  const std::optional<Vec3> z = values_->direction(axis_b, place.at("axis_b"));
  if (!z) return std::nullopt;
  Vec3 x = Vec3::Zero();
  if (x_axis != nullptr) set(x, values_->direction(*x_axis, place.at("x_axis")));
  return axes_with_z(*z, x);
}

// The arms of a universal joint's cross stand at right angles.
void ModelReader::check_cross(const Quat& axes_a, const Quat& axes_b, const Node* axis_b, const Place& place,
                              const Node& key, const std::string& type) {
  if (axis_b == nullptr) {
    values_->error(key, "missing-key", place.text() + ": a " + type + " joint needs two axes, but 'axis_b' is missing",
                   "axis is that on the first body (an arm of the cross), axis_b that on the second");
  } else if (std::abs((axes_a * Vec3::UnitZ()).dot(axes_b * Vec3::UnitZ())) > 1e-3) {
    values_->error(*axis_b, "not-perpendicular", place.text() + ": 'axis' and 'axis_b' are not perpendicular",
                   "they stand at right angles, as the arms of a cross do");
  }
}

}  // namespace trammel
