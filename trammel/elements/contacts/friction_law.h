// Dry friction of a contact, regularised: the traction -mu(r) Q s/r against the sliding velocity s, r = |s|, falls to
// zero with r instead of jumping, so that a contact at rest under a load creeps.
//
//   Coulomb     mu(r) = mu tanh(r/v_s)
//   Stribeck    mu(r) = mu tanh(4 u) + (mu_s - mu) u / (u^2/4 + 3/4)^2,   u = r/v_s      mu_s at r = v_s, then falling
//
// Both are smooth, in two dimensions too. Written as traction = -c Q phi(r) s; d phi = slope s . ds.
//
// Brown, McPhee: A continuous velocity-based friction model for dynamics and control with physically meaningful
// parameters, J. Comput. Nonlinear Dynam. 11 (2016).
#pragma once

namespace trammel {

struct Friction {
  double coefficient = 0;  // c
  double phi = 0, slope = 0;
};

struct FrictionLaw {
  double kinetic = 0;     // mu
  double at_rest = 0;     // mu_s; not above mu: Coulomb
  double slip_speed = 1;  // v_s, m/s

  bool any() const { return kinetic > 0 || at_rest > 0; }
  Friction at(double sliding_speed) const;
};

}  // namespace trammel
