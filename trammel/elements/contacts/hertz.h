// Hertz's elastic contact of two curved surfaces: the load Q = K depth^(3/2), K by complete elliptic integrals.
//
//   S = sum of the four principal curvatures (convex positive),  F = difference over S,
//   F = ((k^2 + 1) E - 2 K) / ((k^2 - 1) E)         gives the axis ratio k of the ellipse, K and E of m = 1 - 1/k^2
//   delta* = (2 K / pi) (pi / (2 k^2 E))^(1/3),     Q = (delta* S / 2)^(-3/2) S / (3/2 c) depth^(3/2)
//   c = (1 - nu_A^2)/E_A + (1 - nu_B^2)/E_B
//
// (Harris, Kotzalas: Rolling Bearing Analysis.) With F = 0, two spheres, K = 4/(3 c) sqrt(2 / S).
#pragma once

namespace trammel {

struct HertzContact {
  double axis_ratio = 1;  // of the ellipse, at least 1
  double deflection = 1;  // delta*
  double stiffness = 0;   // of Q = stiffness depth^(3/2), N/m^(3/2)
};

// `difference` is |(rho_A1 - rho_A2) + (rho_B1 - rho_B2)| of the principal curvatures in the two common directions,
// less than `sum`; `compliance` is c.
HertzContact hertz_contact(double sum, double difference, double compliance);

}  // namespace trammel
