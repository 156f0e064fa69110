// What every joint, motion and force must satisfy, whatever it computes. Each check returns its complaints; none means
// that the element passed. Derivatives are compared with extrapolated central differences.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "trammel/elements/registry.h"

namespace trammel::conformance {

using Complaints = std::vector<std::string>;

// Relative agreement asked for. The differences reach about 1e-11; the design asks for 1e-6.
constexpr double tolerance = 1e-8;

// Where an element is evaluated: frames anywhere, turned anyhow, moving.
struct Situation {
  double t = 0;
  std::vector<FrameState> frames;
  std::vector<double> memory;
  ElementInput input() const { return {t, frames.data(), memory.data()}; }
};

// An element made as a model would make it, between two frames of two bodies, with random fields.
struct Instance {
  std::unique_ptr<Constraint> constraint;
  std::unique_ptr<Force> force;
};
Instance make_random(const ElementDescription& description, std::mt19937& random);
Instance make(const ElementDescription& description, const Item& item, const Model& model);

// Remembered angles are those of the frames, some turns on, and less than a quarter turn old.
Situation random_situation(const Constraint& constraint, std::mt19937& random);
Situation random_situation(const Force& force, std::mt19937& random);

// Of a contact or stop: it touches, and neither begins nor ends to within reach of the differences. Other forces act.
bool acts(const Force& force, const Situation& s);

// All partial derivatives, and that the cheap functions agree with the complete one. `usable` becomes false, and
// nothing is checked, where the element cannot be evaluated nearby.
Complaints check_derivatives(const Constraint& constraint, const Situation& s, std::mt19937& random, bool& usable);
Complaints check_derivatives(const Force& force, const Situation& s, bool& usable);

// Turning and shifting everything turns the wrenches and changes nothing else. Rows in world axes may mix among
// themselves as components of a vector do; their names say so.
Complaints check_objectivity(const Constraint& constraint, const Situation& s, std::mt19937& random);
Complaints check_objectivity(const Force& force, const Situation& s, std::mt19937& random);

// The wrenches on all frames together have no resultant: for rows in world axes where the constraint is satisfied, for
// everything else anywhere. `usable` becomes false if no satisfied position was found nearby.
Complaints check_reaction(const Constraint& constraint, const Situation& s, std::mt19937& random, bool& usable);
Complaints check_reaction(const Force& force, const Situation& s);

// Power of the wrenches = -(stored energy)' - dissipated power, where the element claims it; dissipation is never
// negative.
Complaints check_power(const Force& force, const Situation& s);

// Remembered angles follow the second frame around the z axis of the first, three turns forward and back.
Complaints check_memory(const Constraint& constraint, Situation s);
Complaints check_memory(const Force& force, Situation s);

std::string join(const Complaints& complaints);

// f'(0) by central differences with steps h, h/2, ..., extrapolated; nothing if f has no value nearby.
std::optional<Vec> derivative(const std::function<std::optional<Vec>(double)>& f);
// All frames moved on with their twists, which stay.
Situation moved_on(Situation s, double dt);

}  // namespace trammel::conformance
