// Pushing bodies: a model that is watched has a force `push.BODY` on each rigid body, zero until somebody draws at it.
// Its components are inputs, so that it is recorded and its work is booked like that of any force.
//
//   F = m w^2 (target - p) - 2 m w p',   w = 2 pi 1.5 Hz,   1/m = 1/m_B + r^2 / I_B
//
// p is the point that was grabbed, r its distance from the centre of mass, I_B the smallest moment of inertia: a spring
// with critical damping on the least that the body, if it is free, can oppose at that point. |F| is at most five times
// the weight of all.
#pragma once
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "app/live_commands.h"
#include "trammel/equations/equations.h"

namespace trammel {

class Pushes {
 public:
  static constexpr double interval = 4e-3;      // s between two changes of a force, or a step: 1/170 of its period
  static constexpr double longest_step = 0.01;  // s, while a body is pushed
  using Inputs = std::vector<std::pair<int, double>>;

  // Adds the forces and their inputs to a model.
  explicit Pushes(Model& model);

  const std::vector<std::string>& bodies() const { return names_; }
  const std::string& prefix() const { return prefix_; }  // of the names of the forces, before that of the body
  // Appends the inputs that make the force on a body, or that end it.
  void draw(const PushBody& push, const Equations& equations, const State& state, Workspace& work, Inputs& out) const;
  void release(std::size_t body, Inputs& out) const;

 private:
  struct Pushed {
    int frame = 0, first_input = 0, inputs = 6;
    double mass = 0, inertia = 0;  // the smallest; 0: it does not turn
    Vec3 centre = Vec3::Zero();
  };
  std::string prefix_;
  std::vector<std::string> names_;
  std::vector<Pushed> pushed_;
  double most_ = 0;  // N
};

}  // namespace trammel
