#include "app/live_push.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "trammel/elements/body.h"
#include "trammel/elements/build.h"
#include "trammel/linalg/eigenvalues.h"

namespace trammel {
namespace {

constexpr double rate = 2 * std::numbers::pi * 1.5;  // 1/s
constexpr double most_weights = 5, usual_gravity = 9.81;
constexpr std::array<const char*, 6> components{"fx", "fy", "fz", "tx", "ty", "tz"};

double smallest_inertia(const Body& body, const BodyDescription& kind) {
  if (!kind.turns) return 0;
  if (kind.is_planar) return body.inertia(2, 2);
  return std::max(0.0, symmetric_eigenvalues(body.inertia)[0]);
}

// What the inputs are called that make the force on a body: "push__3_fx".
std::string input_of(const std::string& prefix, std::size_t body, const char* component) {
  return prefix.substr(0, prefix.size() - 1) + "__" + std::to_string(body) + "_" + component;
}

bool is_taken(const Model& model, const std::string& prefix) {
  const auto among = [&](const auto& items, const std::string& start) {
    return std::any_of(items.begin(), items.end(), [&](const auto& item) { return item.name.starts_with(start); });
  };
  const std::string inputs = prefix.substr(0, prefix.size() - 1) + "__";
  return among(model.forces, prefix) || among(model.inputs, inputs) || among(model.parameters, inputs) ||
         among(model.variables, inputs) || among(model.states, inputs);
}

// A free name for the forces and their inputs, should the model have used this one.
std::string prefix_for(const Model& model) {
  std::string prefix = "push.";
  while (is_taken(model, prefix)) prefix.insert(prefix.size() - 1, "_");
  return prefix;
}

}  // namespace

Pushes::Pushes(Model& model) : prefix_(prefix_for(model)) {
  const Location where = model.simulation.where;
  const int world = model.add_frame(ground, {});
  double mass = 0;
  for (std::size_t b = 0; b < model.bodies.size(); ++b) {
    const Body& body = model.bodies[b];
    const BodyDescription& kind = kind_of(body);
    if (!kind.is_place || kind.has_ends || !(body.mass > 0)) continue;
    mass += body.mass;
    Pushed pushed{model.add_floating_frame(static_cast<int>(b), {body.center_of_mass, Quat::Identity()}),
                  static_cast<int>(model.inputs.size()),
                  kind.turns ? 6 : 3,
                  body.mass,
                  smallest_inertia(body, kind),
                  body.center_of_mass};
    Fields fields;
    fields.set("axes", std::string("world"));
    for (int i = 0; i < pushed.inputs; ++i) {
      const std::string name = input_of(prefix_, b, components[i]);
      fields.set(components[i], ExpressionText{name, where});
      model.inputs.push_back({name, i < 3 ? "N" : "N m", 0, where});
    }
    add_force(model, kind.turns ? "general_force" : "force", prefix_ + body.name, {world, pushed.frame},
              std::move(fields));
    names_.push_back(body.name);
    pushed_.push_back(pushed);
  }
  const double gravity = model.gravity.norm();
  most_ = most_weights * mass * (gravity > 0 ? gravity : usual_gravity);
}

void Pushes::draw(const PushBody& push, const Equations& equations, const State& state, Workspace& work,
                  Inputs& out) const {
  const Pushed& body = pushed_[push.body];
  equations.update(state, work);
  const FrameState centre = equations.frame(body.frame, work);
  const Vec3 arm = centre.R * (push.point - body.centre), place = centre.p + arm,
             velocity = centre.v + centre.w.cross(arm);
  const double opposed = 1 / (1 / body.mass + (body.inertia > 0 ? arm.squaredNorm() / body.inertia : 0));
  Vec3 force = opposed * rate * (rate * (push.target - place) - 2 * velocity);
  if (const double size = force.norm(); size > most_) force *= most_ / size;
  const Vec3 torque = arm.cross(force);
  for (int i = 0; i < body.inputs; ++i) out.emplace_back(body.first_input + i, i < 3 ? force[i] : torque[i - 3]);
}

void Pushes::release(std::size_t body, Inputs& out) const {
  for (int i = 0; i < pushed_[body].inputs; ++i) out.emplace_back(pushed_[body].first_input + i, 0.0);
}

}  // namespace trammel
