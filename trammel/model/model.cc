#include "trammel/model/model.h"

#include "trammel/math/rotation.h"

namespace trammel {

namespace {
Pose drawn_pose(const Body& body) { return body.drawn.value_or(body.pose); }
}  // namespace

int Model::add_body(Body body) {
  bodies.push_back(std::move(body));
  return static_cast<int>(bodies.size()) - 1;
}

int Model::add_frame(int body, const Pose& local, std::string name) {
  frames.push_back({std::move(name), body, local, {}});
  return static_cast<int>(frames.size()) - 1;
}

int Model::add_floating_frame(int body, const Pose& local) {
  const int frame = add_frame(body, local);
  frames[frame].floating = true;
  return frame;
}

int Model::add_frame_at(int body, const Vec3& point, const Vec3& axis, const Vec3& x_axis) {
  Pose local{point, axes_with_z(axis, x_axis)};
  if (body != ground) {
    const Pose pose = drawn_pose(bodies[body]);
    local.position = pose.rotation.conjugate() * (point - pose.position);
    local.rotation = pose.rotation.conjugate() * local.rotation;
  }
  return add_frame(body, local);
}

int Model::find_body(std::string_view name) const {
  if (name == "ground") return ground;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].name == name) return static_cast<int>(i);
  }
  return -2;
}

int Model::find_frame(std::string_view name) const {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!name.empty() && frames[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int Model::find_input(std::string_view name) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int Model::find_state(std::string_view name) const {
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int Model::find_variable(std::string_view name) const {
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int Model::find_signal(std::string_view name) const {
  if (const int input = find_input(name); input >= 0) return input;
  const int first_state = static_cast<int>(inputs.size());
  if (const int state = find_state(name); state >= 0) return first_state + state;
  const int variable = find_variable(name);
  return variable < 0 ? -1 : first_state + static_cast<int>(states.size()) + variable;
}

const std::string& Model::name_of_signal(int signal) const {
  const int first_state = static_cast<int>(inputs.size()),
            first_variable = first_state + static_cast<int>(states.size());
  if (signal < first_state) return inputs[signal].name;
  if (signal < first_variable) return states[signal - first_state].name;
  const int first_sensor = first_variable + static_cast<int>(variables.size());
  return signal < first_sensor ? variables[signal - first_variable].name : sensors[signal - first_sensor].name;
}

int Model::find_joint(std::string_view name) const {
  for (std::size_t i = 0; i < joints.size(); ++i) {
    if (joints[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

Pose Model::frame_pose(int frame) const {
  const Frame& f = frames[frame];
  if (f.body == ground) return f.local;
  const Pose pose = drawn_pose(bodies[f.body]);
  return {pose.position + pose.rotation * f.local.position, pose.rotation * f.local.rotation};
}

}  // namespace trammel
