// Contact of two surfaces, one on each of two frames A and B. A shape says where the surfaces face each other (depth,
// normal, place, with derivatives); what they do to each other there is the same for all shapes:
//
//   normal     Q = K depth^(3/2) (1 + c depth'), not below 0          Hertz with the damping of Hunt and Crossley
//   traction   mu Q tanh(|s| / v_s) s / |s|                           against the sliding velocity s, smooth at rest
//
// With n the normal from B's surface into A's, x the place and v the velocity of B's material there against A's:
//
//   depth' = n . v,   s = v - depth' n,   force on B at x:  -Q (n + mu phi(|s|) s),   phi(r) = tanh(r / v_s) / r
//
// Stored: 2/5 K depth^(5/2). All the rest is heat.
#pragma once
#include "trammel/elements/force.h"
#include "trammel/elements/registry.h"

namespace trammel {

struct ContactPoint {
  double depth = 0;  // of penetration; negative: the gap
  Vec3 normal;       // unit, from B's surface into A's
  Vec3 place;        // world
};

// Of a ContactPoint against small motions of A and B, (p, phi) each.
struct ContactPointPartials {
  Eigen::Matrix<double, 1, 12> depth;
  Eigen::Matrix<double, 3, 12> normal, place;
};

struct ContactLaw {
  double stiffness = 0;   // K, N/m^(3/2)
  double damping = 0;     // c, s/m
  double friction = 0;    // mu
  double slip_speed = 1;  // v_s, m/s
};

class Contact : public Force {
 public:
  explicit Contact(const ContactLaw& law) : law_(law) {}

  int frames() const override { return 2; }
  bool evaluate(const ElementInput& in, double* wrench) const override;
  void linearise(const ElementInput& in, ForcePartials& out) const override;
  double potential_energy(const ElementInput& in) const override;
  double dissipated_power(const ElementInput& in) const override;
  bool energy_is_complete() const override { return true; }
  bool approach(const ElementInput& in, Approach& out) const override;
  std::vector<SwitchInfo> switches() const override { return {{"contact"}}; }
  void switch_values(const ElementInput& in, double* values) const override;
  std::vector<Observable> observables() const override;
  void observe(const ElementInput& in, double* values) const override;

 protected:
  static constexpr int most_points = 4;
  // The places where the surfaces face each other, at most `most_points`; returns how many. `partials` may be null.
  virtual int locate(const FrameState& a, const FrameState& b, ContactPoint* points,
                     ContactPointPartials* partials) const = 0;

 private:
  // What happens at one place.
  struct Meeting;
  Meeting meet(const FrameState& a, const FrameState& b, const ContactPoint& point) const;

  ContactLaw law_;
};

// ---- a ball about the origin of B in a hollow (groove, pocket) of round profile
// With w from the nearest point of the hollow's centre line to the ball's centre:
//   n = w / |w|,   depth = |w| + r_ball - r_hollow,   place = p_B + (r_ball - depth/2) n
// False: the ball is on that line and nowhere nearest to the surface.
bool locate_in_hollow(const Vec3& ball_center, const Vec3& w, double ball, double hollow, ContactPoint& out);
void linearise_in_hollow(const ContactPoint& point, double length_of_w, const Eigen::Matrix<double, 3, 12>& dw,
                         double ball, ContactPointPartials& out);

// ---- fields that all contacts have
std::vector<Field> contact_fields();
// With `stiffness` 0 that of Hertz for these curvatures. Throws Failure if neither is possible.
ContactLaw contact_law(const Item& item, double curvature_sum, double curvature_difference);
Fields random_contact_fields(std::mt19937& random);

}  // namespace trammel
