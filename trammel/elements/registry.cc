// The only list of elements. A new one is its file, a line here and its page under docs/elements.
#include "trammel/elements/registry.h"

#include <algorithm>

#include "trammel/base/printable.h"
#include "trammel/elements/blocks/block.h"
#include "trammel/elements/contacts/contacts.h"
#include "trammel/elements/drives/drives.h"
#include "trammel/elements/forces/forces.h"
#include "trammel/elements/joints/joints.h"
#include "trammel/elements/lines/line.h"

namespace trammel {

const std::vector<ElementDescription>& element_registry() {
  static const std::vector<ElementDescription> table = {
      describe_fixed(),
      describe_revolute(),
      describe_translational(),
      describe_cylindrical(),
      describe_spherical(),
      describe_universal(),
      describe_planar(),
      describe_distance(),
      describe_point_on_line(),
      describe_point_in_plane(),
      describe_constant_velocity(),
      describe_screw(),
      describe_parallel_axes(),
      describe_perpendicular_axes(),
      describe_orientation(),
      describe_gear(),
      describe_coupler(),
      describe_rack_and_pinion(),
      describe_pulley(),
      describe_point_on_curve(),
      describe_rolling_disc(),
      describe_rolling_sphere(),
      describe_knife_edge(),
      describe_velocity_condition(),
      describe_rotation(),
      describe_translation(),
      describe_trajectory(),
      describe_translational_spring_damper(),
      describe_rotational_spring_damper(),
      describe_bushing(),
      describe_force(),
      describe_torque(),
      describe_general_force(),
      describe_rotational_stop(),
      describe_translational_stop(),
      describe_joint_friction(),
      describe_stick_slip_friction(),
      describe_clutch(),
      describe_rotational_actuator(),
      describe_translational_actuator(),
      describe_drag(),
      describe_beam(),
      describe_stiffness_matrix(),
      describe_ball_in_groove(),
      describe_ball_in_pocket(),
      describe_contact(),
      describe_impact(),
  };
  return table;
}

const char* to_text(Category category) {
  switch (category) {
    case Category::joint: return "joint";
    case Category::motion: return "motion";
    case Category::force: return "force";
  }
  return "";
}

std::string elements_as_markdown() {
  std::string text;
  for (const Category category : {Category::joint, Category::motion, Category::force}) {
    text += std::string("| ") + to_text(category) + " | |\n|---|---|\n";
    for (const ElementDescription& d : element_registry())
      if (d.category == category) text += "| [" + d.key + "](" + d.key + ".md) | " + table_cell(d.summary) + " |\n";
    text += "\n";
  }
  text += "| block | |\n|---|---|\n";
  for (const BlockDescription& block : block_registry())
    text += "| [" + block.key + "](" + block.key + ".md) | " + table_cell(block.summary) + " |\n";
  text += "\n| line | |\n|---|---|\n";
  for (const LineDescription& line : line_registry())
    text += "| [" + line.key + "](line.md) | " + table_cell(line.summary) + " |\n";
  return text + "\n";
}

const ElementDescription* find_element(Category category, std::string_view key) {
  for (const ElementDescription& d : element_registry()) {
    if (d.category == category && d.key == key) return &d;
  }
  return nullptr;
}

const ElementDescription& find_element(Category category, std::string_view key, const Location& where) {
  const ElementDescription* found = find_element(category, key);
  if (found != nullptr) return *found;
  std::vector<std::string> keys;
  std::string list;
  for (const ElementDescription& d : element_registry()) {
    if (d.category != category) continue;
    keys.push_back(d.key);
    list += (list.empty() ? "" : ", ") + d.key;
  }
  const std::string near = nearest_name(key, keys);
  throw Failure({Severity::error, "unknown-type",
                 "there is no " + std::string(to_text(category)) + " of type '" + std::string(key) + "'",
                 (near.empty() ? "" : "did you mean '" + near + "'? ") + "types: " + list, where});
}

AxisFreedoms axis_freedoms(std::string_view joint_type) {
  const ElementDescription* description = find_element(Category::joint, joint_type);
  return description == nullptr ? AxisFreedoms{} : description->axis;
}

void add_held_rows(Model& model) {
  std::vector<bool> has(model.forces.size(), false);
  for (const Item& joint : model.joints)
    if (joint.of_force >= 0) has[joint.of_force] = true;
  for (std::size_t i = 0; i < model.forces.size(); ++i) {
    const Item& force = model.forces[i];
    const ElementDescription* description = find_element(Category::force, force.type);
    if (has[i] || description == nullptr || !description->make_held) continue;
    Item rows{force.type, force.name, {force.frames[0], force.frames[1]}, {}, force.where};
    rows.of_force = static_cast<int>(i);
    model.joints.push_back(std::move(rows));
  }
}

void complete_fields(const ElementDescription& description, Item& item) {
  const std::string who = std::string(to_text(description.category)) + " '" + item.name + "'";
  std::vector<std::string> names;
  for (const Field& field : description.fields) {
    names.push_back(field.name);
    if (item.fields.has(field.name)) continue;
    if (field.must_be_given()) {
      throw Failure(
          {Severity::error, "missing-field", who + ": '" + field.name + "' must be given", field.text, item.where});
    }
    if (field.fallback) item.fields.set(field.name, *field.fallback);
  }
  for (const auto& entry : item.fields.all()) {
    if (std::find(names.begin(), names.end(), entry.first) != names.end()) continue;
    const std::string near = nearest_name(entry.first, names);
    throw Failure({Severity::error, "unknown-key", who + ": '" + entry.first + "' is not a field of " + description.key,
                   near.empty() ? "" : "did you mean '" + near + "'?", item.where});
  }
}

}  // namespace trammel
