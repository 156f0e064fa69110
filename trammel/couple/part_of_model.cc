#include "trammel/couple/part_of_model.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "trammel/run/simulation.h"

namespace trammel {
namespace {

bool contains(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

std::vector<std::vector<int>> connected_parts(const Model& model, const std::vector<int>& cut_joints) {
  std::vector<int> leader(model.bodies.size());
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&](int body) {
    while (leader[body] != body) body = leader[body];
    return body;
  };
  const auto connect = [&](const Item& item) {
    int first = ground;
    for (const int frame : item.frames) {
      const int body = model.frames[frame].body;
      if (body == ground) continue;
      if (first == ground) {
        first = find(body);
      } else {
        const int other = find(body);
        leader[std::max(first, other)] = std::min(first, other);
        first = std::min(first, other);
      }
    }
  };
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    if (!contains(cut_joints, static_cast<int>(j))) connect(model.joints[j]);
  }
  for (const Item& item : model.motions) connect(item);
  for (const Item& item : model.forces) connect(item);
  std::vector<std::vector<int>> parts;
  std::vector<int> part_of(model.bodies.size(), -1);
  for (int b = 0; b < static_cast<int>(model.bodies.size()); ++b) {
    int& part = part_of[find(b)];
    if (part < 0) {
      part = static_cast<int>(parts.size());
      parts.emplace_back();
    }
    parts[part].push_back(b);
  }
  return parts;
}

Model part_of_model(const Model& model, const std::vector<int>& bodies, const std::vector<int>& cut_joints) {
  Model part = model;
  part.bodies.clear();
  part.frames.clear();
  std::vector<int> new_body(model.bodies.size(), ground - 1), new_frame(model.frames.size(), -1);
  std::set<std::string, std::less<>> gone;  // names of what belongs to other parts
  for (const int b : bodies) new_body[b] = part.add_body(model.bodies[b]);
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    if (new_body[b] < ground) gone.insert(model.bodies[b].name);
  }
  for (std::size_t f = 0; f < model.frames.size(); ++f) {
    const Frame& frame = model.frames[f];
    const int body = frame.body == ground ? ground : new_body[frame.body];
    if (body < ground) {
      if (!frame.name.empty()) gone.insert(frame.name);
      continue;
    }
    new_frame[f] = static_cast<int>(part.frames.size());
    part.frames.push_back(frame);
    part.frames.back().body = body;
  }
  const auto uses_gone = [&](const ExpressionText& expression) {
    const std::vector<std::string_view> names = names_in(expression);
    return std::any_of(names.begin(), names.end(), [&](std::string_view n) { return gone.count(n) != 0; });
  };
  const auto take = [&](const std::vector<Item>& from, std::vector<Item>& to, const char* kind, bool joints) {
    to.clear();
    for (std::size_t i = 0; i < from.size(); ++i) {
      Item item = from[i];
      int inside = 0, outside = 0;
      for (int& frame : item.frames) {
        const int body = model.frames[frame].body;
        if (body != ground) ++(new_body[body] >= 0 ? inside : outside);
        frame = new_frame[frame];
      }
      const bool cut = joints && contains(cut_joints, static_cast<int>(i));
      if (cut || inside == 0) {
        gone.insert(item.name);
        continue;
      }
      if (outside > 0) {
        throw Failure({Severity::error, "part-not-separate",
                       std::string(kind) + " '" + item.name + "' connects body '" + part.bodies[0].name +
                           "' and its part with another part of the model",
                       "keep the bodies it connects in one participant, or cut there if it is a joint", item.where});
      }
      for (const auto& field : item.fields.all()) {
        const auto* expression = std::get_if<ExpressionText>(&field.second);
        if (expression == nullptr || !uses_gone(*expression)) continue;
        throw Failure({Severity::error, "part-not-separate",
                       std::string(kind) + " '" + item.name + "': its " + field.first +
                           " measures something in another part of the model",
                       "keep what it measures in the same participant", item.where});
      }
      to.push_back(std::move(item));
    }
  };
  take(model.joints, part.joints, "joint", true);
  take(model.motions, part.motions, "motion", false);
  take(model.forces, part.forces, "force", false);
  part.initial_joints.clear();  // bodies stand where they start
  part.start_in_equilibrium = false;
  std::erase_if(part.outputs, [&](const Output& o) { return uses_gone(o.expression); });
  std::erase_if(part.shapes, [&](const Shape& s) { return s.body != ground && new_body[s.body] < 0; });
  for (Shape& s : part.shapes) {
    if (s.body != ground) s.body = new_body[s.body];
  }
  std::erase_if(part.simulation.independent, [&](const std::string& name) {
    return gone.count(name.substr(0, name.rfind('.'))) != 0 || gone.count(name) != 0;
  });
  return part;
}

Model at_consistent_start(Model model) {
  Model with_origins = model;
  std::vector<int> origins;
  for (int b = 0; b < static_cast<int>(model.bodies.size()); ++b)
    origins.push_back(with_origins.add_floating_frame(b, {}));
  Simulation simulation(std::move(with_origins));
  simulation.start();
  const Equations& equations = simulation.equations();
  const State& state = simulation.integrator().state();
  Workspace work = equations.make_workspace();
  equations.update(state, work);
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    Body& body = model.bodies[b];
    if (!body.drawn) body.drawn = body.pose;
    if (!kind_of(body).is_place) {
      body.pose.position.x() = state.q[equations.first_coordinate(static_cast<int>(b))];
      body.velocity.x() = state.v[equations.first_velocity(static_cast<int>(b))];
      continue;
    }
    const FrameState f = equations.frame(origins[b], work);
    body.pose = {f.p, Quat(f.R)};
    body.velocity = f.v;
    body.angular_velocity = f.w;
  }
  return model;
}

}  // namespace trammel
