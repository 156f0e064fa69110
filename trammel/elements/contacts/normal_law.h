// The normal force of a contact as a function of depth e and its rate w = e' (approach positive), never tension:
//
//   hunt_crossley   Q = k e^p X(1 + a w)
//                   X(y) = max(0, y)                                        clip z = 0
//                   X(y) = (y + sqrt(y^2 + z^2)) / (1 + sqrt(1 + z^2))      clip z > 0: smooth, X(1) = 1
//   impact          Q = max(0, k e^p + c S(e/d) w)                          S(u) = u^2 (3 - 2 u), 1 above u = 1
//
// p = 3/2 is Hertz's law of two curved surfaces, p = 1 a linear spring. Both are continuously differentiable where
// contact begins if p > 1. Stored: k e^(p+1)/(p+1); the rest, (Q - k e^p) w, is heat and never negative: X rises and
// X(1) = 1, and where the force is clipped to 0 the surfaces part, w < 0.
//
// Hunt, Crossley: Coefficient of restitution interpreted as damping in vibroimpact, J. Appl. Mech. 42 (1975).
#pragma once

namespace trammel {

struct NormalForce {
  double Q = 0, Q_depth = 0, Q_rate = 0;
  double elastic = 0;  // k e^p
};

struct NormalLaw {
  enum class Damping { hunt_crossley, impact };

  double stiffness = 0;   // k, N/m^p
  double exponent = 1.5;  // p
  Damping kind = Damping::hunt_crossley;
  double damping = 0;  // a in s/m, c in N s/m
  double ramp = 0;     // d, m
  double clip = 0;     // z

  NormalForce at(double depth, double rate) const;  // depth below 0: no force
  double stored(double depth) const;
  double depth_at(double load) const;  // at rest
};

// The product a v of Hunt and Crossley's damping and the speed of impact from which a body rebounds with `restitution`
// times v, whatever k and p are. With m w' = -Q, m w dw / X(1 + a w) = -k e^p de on the way in and out again, so that
//
//   I(restitution X) on the way out = I(X) on the way in,   I(X) = integral of u / X(1 +- u) from 0 to X,  X = a v
//
// (clip 0: X - ln(1 + X) = -eX - ln(1 - eX)). Infinite where no damping is enough: with a clip > 0 restitution 0.
double damping_for_restitution(double restitution, double clip);

}  // namespace trammel
