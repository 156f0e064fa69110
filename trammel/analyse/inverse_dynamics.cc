#include "trammel/analyse/inverse_dynamics.h"
#include "trammel/elements/build.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "trammel/base/numbers.h"
#include "trammel/elements/registry.h"

namespace trammel {

namespace {

constexpr std::array<const char*, 6> components{"fx", "fy", "fz", "tx", "ty", "tz"};

// The element that gives the components from `first` to `last` of a list of drives, all of one motion.
const char* element_for(const std::vector<Drive>& drives, std::size_t first, std::size_t last) {
  bool force = false, torque = false;
  for (std::size_t i = first; i < last; ++i) (drives[i].turns() ? torque : force) = true;
  return force && torque ? "general_force" : torque ? "torque" : "force";
}

// One past the last drive of the same motion.
std::size_t end_of_motion(const std::vector<Drive>& drives, std::size_t first) {
  std::size_t last = first;
  while (last < drives.size() && drives[last].motion == drives[first].motion) ++last;
  return last;
}

std::string numbers_text(std::initializer_list<double> values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + shortest(value);
  return "[" + text + "]";
}

}  // namespace

const char* component_name(const Drive& drive) { return components[drive.component]; }

std::vector<Drive> drives_of(const Equations& equations) {
  static constexpr std::array<const char*, 6> coordinates{"x", "y", "z", "about_x", "about_y", "about_z"};
  std::vector<Drive> drives;
  for (int c = 0; c < equations.constraint_count(); ++c) {
    const Equations::ConstraintInfo info = equations.constraint_info(c);
    if (!info.is_motion || info.rows == 0) continue;
    const ElementDescription* description = find_element(Category::motion, info.item->type);
    if (description == nullptr || !description->moves_frame) {  // about or along z of the first frame
      drives.push_back(
          {info.item->name, info.item->name, equations.row_unit(info.first_row) == RowUnit::torque ? 5 : 2, c});
      continue;
    }
    const auto given = [&](int i) {
      const Value* value = info.item->fields.find(coordinates[i]);
      const auto* text = value == nullptr ? nullptr : std::get_if<ExpressionText>(value);
      return value != nullptr && (text == nullptr || !text->text.empty());
    };
    // The axes of the Cardan angles are not those of the frame, so that one angle takes a torque about all of them.
    const bool turns = given(3) || given(4) || given(5);
    for (int i = 0; i < 6; ++i) {
      if (i < 3 ? !given(i) : !turns) continue;
      drives.push_back({info.item->name, info.item->name + "." + components[i], i, c});
    }
  }
  return drives;
}

double drive_component(const Drive& drive, const Mat3& R, const Vec3& force, const Vec3& torque) {
  return R.col(drive.component % 3).dot(drive.turns() ? torque : force);
}

void drive_forces(const Equations& equations, const std::vector<Drive>& drives, const State& state, const Rates& rates,
                  Workspace& work, std::vector<double>& out) {
  equations.update(state, work);
  out.resize(drives.size());
  for (std::size_t i = 0; i < drives.size(); ++i) {
    Vec3 force, torque;
    equations.reaction(drives[i].constraint, state, rates, work, force, torque);
    const int first = equations.constraint_frames(drives[i].constraint)[0];
    out[i] = drive_component(drives[i], equations.frame(first, work).R, force, torque);
  }
}

void DriveHistory::add(double t, const std::vector<double>& forces) {
  time.push_back(t);
  values.resize(drives.size());
  for (std::size_t i = 0; i < drives.size(); ++i) values[i].push_back(forces[i]);
}

std::string to_csv(const DriveHistory& history) {
  std::string out = "time";
  for (const Drive& drive : history.drives) out += "," + drive.column;
  out += "\n";
  for (std::size_t k = 0; k < history.time.size(); ++k) {
    out += shortest(history.time[k]);
    for (const auto& series : history.values) out += "," + shortest(series[k]);
    out += "\n";
  }
  return out;
}

std::string forward_yaml(const Equations& equations, const DriveHistory& history, const std::string& csv_file) {
  const Model& model = equations.model();
  std::string splines = "splines:\n", frames, forces = "forces:\n";
  const auto plain = [](std::string name) {  // parts of subsystems have a point in their names
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
  };
  // A frame as it can be written under `frames:` of an element.
  const auto place = [&](int index, const std::string& own_name) {
    const Frame& frame = model.frames[index];
    if (!frame.name.empty()) return frame.name;
    const std::string body = frame.body == ground ? "ground" : model.bodies[frame.body].name;
    const Vec3& p = frame.local.position;
    const Quat& q = frame.local.rotation;
    if (p.norm() == 0 && q.vec().norm() == 0) return body;
    frames += "  " + own_name + ": {body: " + body + ", position: {value: " + numbers_text({p.x(), p.y(), p.z()}) +
              ", unit: m}, orientation: {quaternion: " + numbers_text({q.w(), q.x(), q.y(), q.z()}) + "}}\n";
    return own_name;
  };
  for (std::size_t first = 0; first < history.drives.size(); first = end_of_motion(history.drives, first)) {
    const std::size_t last = end_of_motion(history.drives, first);
    const Item& motion = *equations.constraint_info(history.drives[first].constraint).item;
    const std::string name = plain(motion.name);
    std::string where;
    for (const Item& joint : model.joints) {
      if (joint.frames == motion.frames) where = "joint: " + joint.name;
    }
    if (where.empty()) {
      const std::string a = place(motion.frames[0], name + "_from"), b = place(motion.frames[1], name + "_to");
      where = "frames: [" + a + ", " + b + "]";
    }
    forces += "  " + name + ": {type: " + element_for(history.drives, first, last) + ", " + where;
    for (std::size_t i = first; i < last; ++i) {
      const Drive& drive = history.drives[i];
      const std::string spline = plain(drive.column) + "_drive";
      splines += "  " + spline + ": {type: cubic, file: " + csv_file + ", columns: [time, " + drive.column +
                 "], units: [s, " + drive.unit() + "]}\n";
      forces += std::string(", ") + component_name(drive) + ": {value: \"spline(" + spline +
                ", time)\", unit: " + drive.unit() + "}";
    }
    forces += "}\n";
  }
  return splines + (frames.empty() ? "" : "frames:\n" + frames) + forces;
}

Model with_drive_forces(const Model& model, const std::vector<Drive>& drives,
                        const std::vector<std::string>& expressions) {
  Model out = model;
  for (std::size_t first = 0; first < drives.size(); first = end_of_motion(drives, first)) {
    const auto at = std::find_if(out.motions.begin(), out.motions.end(),
                                 [&](const Item& motion) { return motion.name == drives[first].motion; });
    if (at == out.motions.end()) continue;
    const Item motion = *at;
    out.motions.erase(at);
    Fields fields;
    const std::size_t last = end_of_motion(drives, first);
    for (std::size_t i = first; i < last; ++i)
      fields.set(component_name(drives[i]), ExpressionText{expressions[i], motion.where});
    add_force(out, element_for(drives, first, last), motion.name, motion.frames, fields);
  }
  return out;
}

}  // namespace trammel
