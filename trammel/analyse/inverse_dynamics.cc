#include "trammel/analyse/inverse_dynamics.h"

#include <algorithm>
#include <cstdio>

namespace trammel {

std::vector<Drive> drives_of(const Equations& equations) {
  std::vector<Drive> drives;
  for (int c = 0; c < equations.constraint_count(); ++c) {
    const Equations::ConstraintInfo info = equations.constraint_info(c);
    if (!info.is_motion || info.rows != 1 || info.item->frames.size() != 2) continue;
    drives.push_back({info.item->name, equations.row_unit(info.first_row) == RowUnit::torque, c});
  }
  return drives;
}

void drive_forces(const Equations& equations, const std::vector<Drive>& drives, const State& state, const Rates& rates,
                  Workspace& work, std::vector<double>& out) {
  equations.update(state, work);
  out.resize(drives.size());
  for (std::size_t i = 0; i < drives.size(); ++i) {
    Vec3 force, torque;
    equations.reaction(drives[i].constraint, state, rates, work, force, torque);
    const Vec3 axis = equations.frame(equations.constraint_frames(drives[i].constraint)[0], work).R.col(2);
    out[i] = axis.dot(drives[i].turns ? torque : force);
  }
}

void DriveHistory::add(double t, const std::vector<double>& forces) {
  time.push_back(t);
  values.resize(drives.size());
  for (std::size_t i = 0; i < drives.size(); ++i) values[i].push_back(forces[i]);
}

std::string to_csv(const DriveHistory& history) {
  std::string out = "time";
  for (const Drive& drive : history.drives) out += "," + drive.motion;
  out += "\n";
  char text[40];
  for (std::size_t k = 0; k < history.time.size(); ++k) {
    std::snprintf(text, sizeof text, "%.17g", history.time[k]);
    out += text;
    for (const auto& series : history.values) {
      std::snprintf(text, sizeof text, ",%.17g", series[k]);
      out += text;
    }
    out += "\n";
  }
  return out;
}

std::string forward_yaml(const Equations& equations, const DriveHistory& history, const std::string& csv_file) {
  std::string splines = "splines:\n", forces = "forces:\n";
  for (const Drive& drive : history.drives) {
    const Equations::ConstraintInfo info = equations.constraint_info(drive.constraint);
    const Model& model = equations.model();
    std::string where;
    for (const Item& joint : model.joints) {
      if (joint.frames == info.item->frames) where = "joint: " + joint.name;
    }
    if (where.empty()) {
      const auto name = [&](int f) { return model.frames[static_cast<std::size_t>(f)].name; };
      where = "between: [" + name(info.item->frames[0]) + ", " + name(info.item->frames[1]) + "]";
    }
    splines +=
        "  " + drive.motion + "_drive: {type: cubic, file: " + csv_file + ", columns: [time, " + drive.motion + "]}\n";
    forces += "  " + drive.motion + ": {type: " + (drive.turns ? "torque" : "force") + ", " + where + ", " +
              (drive.turns ? "tz" : "fz") + ": \"spline(" + drive.motion + "_drive, time)\"}\n";
  }
  return splines + forces;
}

Model with_drive_forces(const Model& model, const std::vector<Drive>& drives,
                        const std::vector<std::string>& expressions) {
  Model out = model;
  for (std::size_t i = 0; i < drives.size(); ++i) {
    const auto at = std::find_if(out.motions.begin(), out.motions.end(),
                                 [&](const Item& motion) { return motion.name == drives[i].motion; });
    if (at == out.motions.end()) continue;
    const Item motion = *at;
    out.motions.erase(at);
    Fields fields;
    fields.set(drives[i].turns ? "tz" : "fz", ExpressionText{expressions[i], motion.where});
    out.add_force(drives[i].turns ? "torque" : "force", motion.name, motion.frames, fields);
  }
  return out;
}

}  // namespace trammel
