// Contact of two surfaces, one on each of two frames A and B. A pair of shapes says where they face each other
// (shape_pair.h); what they do to each other there is the same for all:
//
//   normal     Q(depth, depth')                  normal_law.h
//   traction   -mu(|s|) Q s / |s|                friction_law.h
//
// With n the normal from B's surface into A's, x the place and v the velocity of B's material there against A's:
//
//   depth' = n . v,   s = v - depth' n,   force on B at x:  -Q (n + c phi(|s|) s)
//
// Stored is the elastic part of the normal law. All the rest is heat.
#pragma once
#include "trammel/elements/contacts/friction_law.h"
#include "trammel/elements/contacts/normal_law.h"
#include "trammel/elements/contacts/shape_pair.h"
#include "trammel/elements/force.h"
#include "trammel/elements/registry.h"

namespace trammel {

struct ContactLaw {
  NormalLaw normal;
  FrictionLaw friction;
};

class Contact : public Force {
 public:
  // The shapes face each other at up to `points` places; `size` is that of the smaller.
  Contact(std::unique_ptr<const ShapePair> shapes, const ContactLaw& law, double size, int points = 1)
      : shapes_(std::move(shapes)), law_(law), size_(size), points_(points) {}

  int frames() const override { return 2; }
  bool evaluate(const ElementInput& in, double* wrench) const override;
  void linearise(const ElementInput& in, ForcePartials& out) const override;
  double potential_energy(const ElementInput& in) const override;
  double dissipated_power(const ElementInput& in) const override;
  EnergyTerms energy_terms(const ElementInput& in) const override;
  bool energy_is_complete() const override { return true; }
  bool approach(const ElementInput& in, const FrameState* rising, Approach& out) const override;
  Overlap overlap(const ElementInput& in) const override;
  // For lists of what is near. Gap between the shapes; negative: they overlap. No force acts across it.
  double gap(const ElementInput& in) const;
  virtual ShapeExtent extent(int /*frame*/) const { return {}; }
  std::vector<SwitchInfo> switches() const override;
  void switch_values(const ElementInput& in, double* values) const override;
  // What it observes, in this order; the place takes three.
  enum Observed {
    penetration,
    approach_speed,
    normal_force,
    sliding_speed,
    traction,
    dissipation,
    place,
    observed = place + 3
  };
  std::vector<Observable> observables() const override;
  void observe(const ElementInput& in, double* values) const override;

 private:
  // What happens at one place.
  struct Meeting;
  Meeting meet(const FrameState& a, const FrameState& b, const ContactPoint& point) const;
  int locate(const ElementInput& in, ContactPoint* points) const {
    return shapes_->locate(in.frames[0], in.frames[1], points, nullptr);
  }

  std::unique_ptr<const ShapePair> shapes_;
  ContactLaw law_;
  double size_;
  int points_;
};

// ---- what the contacts of balls in bearings share
std::vector<Field> bearing_fields();
// With `stiffness` 0 that of Hertz for these curvatures. Throws Failure if neither is possible.
ContactLaw bearing_law(const Item& item, double curvature_sum, double curvature_difference);
Fields random_bearing_fields(std::mt19937& random);

// Hertz's stiffness of surfaces with the moduli in `modulus_a`, `poisson_a` and so on. Throws Failure if the surfaces
// conform.
double hertz_stiffness(const Item& item, double curvature_sum, double curvature_difference);

}  // namespace trammel
