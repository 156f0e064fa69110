#include "trammel/run/output_table.h"

#include <algorithm>

#include "trammel/elements/registry.h"
#include "trammel/model/modal_data.h"
#include "trammel/model/signal_names.h"

namespace trammel {
namespace {

constexpr auto scalar = OutputShape::scalar;
constexpr auto vector = OutputShape::vector;

OutputGroup body_group(const Body& body) {
  if (!kind_of(body).is_place) {
    const std::string unit = si_unit(body.quantity), per = unit.empty() ? "1" : unit;
    const CoordinateSignals names(body.name);
    return {OutputOwner::coordinate,
            body.name,
            {{"value", scalar, names.value(), unit, "value of the coordinate"},
             {"rate", scalar, names.rate(), per + "/s", "its rate"},
             {"acceleration", scalar, names.acceleration(), per + "/s^2", "its acceleration"}}};
  }
  const BodySignals names(body.name);
  OutputGroup group{
      OutputOwner::body,
      body.name,
      {{"position", vector, names.position(), "m", "of the body's origin"},
       {"orientation", OutputShape::quaternion, names.orientation(), "", "quaternion, body to world"},
       {"velocity", vector, names.velocity(), "m/s", "of the body's origin"},
       {"angular_velocity", vector, names.angular_velocity(), "rad/s", "angular velocity"},
       {"acceleration", vector, names.acceleration(), "m/s^2", "of the body's origin"},
       {"angular_acceleration", vector, names.angular_acceleration(), "rad/s^2", "angular acceleration"}}};
  for (int j = 1; body.modal != nullptr && j <= body.modal->modes(); ++j)
    group.columns.push_back({"mode", scalar, names.mode(j), "", "modal coordinate", "", std::to_string(j)});
  return group;
}

OutputGroup constraint_group(const Model& model, const Equations::ConstraintInfo& info) {
  const Item& item = *info.item;
  const ConstraintSignals names(info.is_motion, item.name);
  OutputGroup group{info.is_motion ? OutputOwner::motion : OutputOwner::joint,
                    item.name,
                    {{"force", vector, names.force(), "N", "on the second body at the joint's frame"},
                     {"torque", vector, names.torque(), "N m", "on the second body at the joint's frame"}}};
  if (info.is_motion) return group;
  for (const auto& [body, frame] : coupled_bodies(model, item)) {
    const std::string on = model.bodies[body].name;
    group.columns.push_back(
        {"force", vector, names.force_on(on), "N", "on this body, at the first of its frames that is coupled", on});
    group.columns.push_back({"torque", vector, names.torque_on(on), "N m",
                             "on this body, about the first of its frames that is coupled", on});
  }
  const AxisFreedoms axis = axis_freedoms(item.type);
  if (axis.turns)
    group.columns.push_back(
        {"angle", scalar, names.angle(), "rad", "of the second frame about z of the first, multi-turn"});
  if (axis.slides)
    group.columns.push_back(
        {"displacement", scalar, names.displacement(), "m", "of the second frame along z of the first"});
  return group;
}

// Three numbers in a row called NAME.x, NAME.y and NAME.z are a vector: NAME, else nothing.
std::string vector_at(const std::vector<Observable>& all, std::size_t i) {
  const std::string& first = all[i].name;
  if (!first.ends_with(".x") || i + 2 >= all.size()) return "";
  const std::string name = first.substr(0, first.size() - 2);
  for (std::size_t k = 0; k < 3; ++k)
    if (all[i + k].name != component(name, all_axes[k])) return "";
  return name;
}

OutputGroup force_group(const std::string& name, const Force& force) {
  const ForceSignals names(name);
  OutputGroup group{OutputOwner::force, name, {}};
  const std::vector<Observable> all = force.observables();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const std::string whole = vector_at(all, i); !whole.empty()) {
      group.columns.push_back({whole, vector, names.observable(whole), all[i].unit, whole});
      i += 2;
      continue;
    }
    group.columns.push_back({all[i].name, scalar, names.observable(all[i].name), all[i].unit, all[i].name});
  }
  group.columns.push_back({"force_on_second", vector, names.force(), "N", "on the second frame"});
  group.columns.push_back({"torque_on_second", vector, names.torque(), "N m", "on the second frame, about its origin"});
  return group;
}

OutputGroup contact_set_group(const std::string& name) {
  const ForceSignals names(name);
  OutputGroup group{OutputOwner::force, name, {}};
  const auto add = [&](const char* quantity, const char* unit, const char* text) {
    group.columns.push_back({quantity, scalar, names.observable(quantity), unit, text});
  };
  add("touching", "", "pairs of the set that touch");
  add("penetration", "m", "of its deepest pair; negative: the smallest gap");
  add("deepest_pair", "", "number of that pair in the set, from 0");
  add("normal_force", "N", "sum of all pairs");
  add("traction", "N", "sum of all pairs");
  add("dissipation", "W", "sum of all pairs");
  return group;
}

}  // namespace

std::vector<RecordedForces> recorded_forces(const Model& model) {
  std::vector<RecordedForces> records;
  for (int f = 0; f < std::ssize(model.forces); ++f) {
    const std::string& set = model.forces[f].set;
    if (!set.empty() && f > 0 && model.forces[f - 1].set == set)
      ++records.back().count;
    else
      records.push_back({f, 1, !set.empty()});
  }
  return records;
}

const char* to_text(OutputOwner of) {
  switch (of) {
    case OutputOwner::time: return "time";
    case OutputOwner::output: return "output";
    case OutputOwner::body: return "body";
    case OutputOwner::coordinate: return "coordinate";
    case OutputOwner::joint: return "joint";
    case OutputOwner::motion: return "motion";
    case OutputOwner::force: return "force";
    case OutputOwner::state: return "state";
    case OutputOwner::variable: return "variable";
    case OutputOwner::energy: return "energy";
    case OutputOwner::residual: return "residual";
  }
  return "";
}

std::vector<std::pair<int, std::size_t>> coupled_bodies(const Model& model, const Item& item) {
  std::vector<std::pair<int, std::size_t>> bodies;
  const ElementDescription* description = find_element(Category::joint, item.type);
  if (description == nullptr || description->attachment != Attachment::joints) return bodies;
  for (std::size_t i = 0; i < item.frames.size(); ++i) {
    const int body = model.frames[item.frames[i]].body;
    const bool known = std::any_of(bodies.begin(), bodies.end(), [&](const auto& b) { return b.first == body; });
    if (body != ground && !known) bodies.emplace_back(body, i);
  }
  return bodies;
}

std::vector<OutputGroup> output_groups(const Equations& equations) {
  const Model& model = equations.model();
  std::vector<OutputGroup> groups{{OutputOwner::time, "", {{"time", scalar, "time", "s", "time"}}}};
  for (const Output& o : model.outputs)
    groups.push_back({OutputOwner::output, o.name, {{"value", scalar, o.name, o.unit, o.expression.text}}});
  for (const Body& body : model.bodies) groups.push_back(body_group(body));
  for (int c = 0; c < equations.constraint_count(); ++c) {
    const Equations::ConstraintInfo info = equations.constraint_info(c);
    if (info.item->of_force >= 0) continue;  // recorded with the force
    groups.push_back(constraint_group(model, info));
    groups.back().constraint = c;
  }
  for (const RecordedForces& record : recorded_forces(model)) {
    const Item& first = model.forces[record.first];
    groups.push_back(record.is_set ? contact_set_group(first.set)
                                   : force_group(first.name, equations.force(record.first)));
  }
  for (const StateVariable& x : model.states)
    groups.push_back(
        {OutputOwner::state, x.name, {{"value", scalar, state_signal(x.name), x.unit, "a state of the model"}}});
  for (const Variable& v : model.variables)
    groups.push_back(
        {OutputOwner::variable, v.name, {{"value", scalar, variable_signal(v.name), v.unit, v.expression.text}}});
  OutputGroup energy{OutputOwner::energy, "", {}};
  for (const char* form : {"kinetic", "potential", "total", "dissipated", "external"})
    energy.columns.push_back({form, scalar, energy_signal(form), "J", form});
  energy.columns.push_back(
      {"imbalance", scalar, energy_signal("imbalance"), "J", "total + dissipated - external - first total"});
  groups.push_back(std::move(energy));
  groups.push_back({OutputOwner::residual,
                    "",
                    {{"position", scalar, "residual.position", "", "largest |g|, m or rad"},
                     {"velocity", scalar, "residual.velocity", "", "largest |G v + g_t|, m/s or rad/s"}}});
  return groups;
}

void add_signals(const OutputColumn& column, const std::string& flag, std::vector<Signal>& out) {
  const auto add = [&](const std::string& name, const char* frame) {
    out.push_back({name, column.unit, frame, column.text, !flag.empty(), flag});
  };
  if (column.shape == OutputShape::scalar) add(column.path, "");
  if (column.shape == OutputShape::quaternion) add(column.path + ".w", "world");
  if (column.shape == OutputShape::scalar) return;
  for (const Axis axis : all_axes) add(component(column.path, axis), "world");
}

}  // namespace trammel
