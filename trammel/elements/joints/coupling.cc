#include "trammel/elements/joints/coupling.h"

#include <cmath>

#include "trammel/elements/registry.h"

namespace trammel {
namespace {

const std::vector<std::string>* coupled_names(const Item& item) {
  const Value* value = item.fields.find("joints");
  return value == nullptr ? nullptr : std::get_if<std::vector<std::string>>(value);
}

[[noreturn]] void refuse_coupling(const Item& item, const char* id, const std::string& what, const std::string& hint) {
  throw Failure({Severity::error, id, "joint '" + item.name + "': " + what, hint, item.where});
}

}  // namespace

Field coupled_joints_field(const char* text) {
  return {"joints", FieldKind::names, Quantity::none, std::vector<std::string>{}, text};
}

void attach_coupled_joints(Model& model, Item& item) {
  const std::vector<std::string>* names = coupled_names(item);
  if (names == nullptr || names->empty()) return;
  if (!item.frames.empty()) {
    refuse_coupling(item, "conflict", "both 'joints' and 'frames' are given", "keep one of them");
  }
  for (const std::string& name : *names) {
    const int index = model.find_joint(name);
    if (index < 0) {
      std::vector<std::string> known;
      for (const Item& joint : model.joints) known.push_back(joint.name);
      const std::string near = nearest_name(name, known);
      refuse_coupling(item, "unknown-joint", "there is no joint '" + name + "'",
                      near.empty() ? "define it under `joints`" : "did you mean '" + near + "'?");
    }
    const Item& joint = model.joints[index];
    const ElementDescription* description = find_element(Category::joint, joint.type);
    if (description != nullptr && description->attachment == Attachment::joints) {
      refuse_coupling(item, "wrong-type", "'" + name + "' couples joints itself", "name joints between two bodies");
    }
    if (joint.frames.size() < 2) return;  // has been reported with that joint
    item.frames.insert(item.frames.end(), joint.frames.begin(), joint.frames.begin() + 2);
  }
}

int coupled_pairs(const Item& item, int wanted) {
  const int pairs = static_cast<int>(item.frames.size() / 2);
  if (item.frames.size() % 2 != 0 || (wanted > 0 ? pairs != wanted : pairs < 2 || pairs > max_frames / 2)) {
    refuse_coupling(item, "wrong-length",
                    "it couples " + (wanted > 0 ? std::to_string(wanted) : "two to four") + " joints, " +
                        std::to_string(pairs) + " are given",
                    "write joints: [joint, joint]");
  }
  return pairs;
}

Coupled coupled_by_type(const Item& item, int i, const MakeContext& context) {
  const std::vector<std::string>* names = coupled_names(item);
  if (names == nullptr || names->empty()) return Coupled::angle;
  const std::string& name = (*names)[i];
  const std::string& type = context.model.joints[context.model.find_joint(name)].type;
  const AxisFreedoms axis = axis_freedoms(type);
  if (axis.turns) return Coupled::angle;
  if (axis.slides) return Coupled::displacement;
  refuse_coupling(item, "wrong-type", "joint '" + name + "' is " + type + ", which has no angle about one axis",
                  "couple joints that turn about or slide along one axis");
}

std::unique_ptr<Constraint> make_coupling(const Item& item, const std::vector<CoupledTerm>& terms, double offset,
                                          RowUnit unit, std::string row_name) {
  RelationRow row;
  row.name = std::move(row_name);
  row.unit = unit;
  row.offset = offset;
  int at = 0;
  for (const CoupledTerm& term : terms) {
    if (!(std::abs(term.weight) > 0) || !std::isfinite(term.weight)) {
      refuse_coupling(item, "out-of-range", "a factor of the coupling is zero",
                      "leave the joint out, or give a number");
    }
    if (term.what == Coupled::angle) {
      row.terms.push_back({at, at + 1, Primitive::angle, 0, 0, term.weight});
    } else {
      row.terms.push_back({at, at + 1, Primitive::in_plane, 2, 0, term.weight});
    }
    at += 2;
  }
  return std::make_unique<RelationConstraint>(at, std::vector<RelationRow>{std::move(row)});
}

}  // namespace trammel
