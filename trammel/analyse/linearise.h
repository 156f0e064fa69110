// The linear system near a state, in minimal coordinates:
//
//   x' = A x + B u,   y = C x + D u,       x = (p, s), deviations from the state (or from the motion through it)
//
// p are independent displacements, s independent velocities, chosen among those of the bodies so that the constraints
// determine the others well; rotations and angular velocities in world axes, so that a rotor is described in the frame
// its bearings stand in. All derivatives are exact. Nonholonomic conditions bind velocities only: then there are fewer
// s than p.
//
//   M da + (Ma_q + f_q) dq + f_v dv + G^T dl = -f_u du                          (7.8)
//   G dq = 0 (rows of (3)),   G dv + (G v)_q dq = 0,   G da + ((G a)_q - gamma_q) dq - gamma_v dv = 0
#pragma once
#include <string>
#include <vector>

#include "trammel/equations/equations.h"

namespace trammel {

struct LinearName {
  std::string name, unit;  // "body 'cart': position x", m
};

enum class LinearOutputs {
  automatic,
  model,
  bodies,
  all
};  // automatic: the model's own, or the bodies' if it has none

struct LinearSystem {
  Mat A, B, C, D;
  Vec x_dot;  // of the state itself: not zero away from an equilibrium
  Vec y;      // outputs at the state
  std::vector<LinearName> states, inputs, outputs;
  int positions = 0;                                  // how many of the states are displacements
  std::vector<int> position_states, velocity_states;  // numbers of the velocities v they belong to
  Mat displacement;                                   // nv x states: motion of all bodies for each state, world axes
  Mat velocity;                                       // nv x states
  Mat mass;                                           // reduced to s: Y^T M Y
  double worst_pivot = 1;                             // of the constraints: small near a singular position
  double acceleration = 0;  // largest |a|, scaled by L: 0 at an equilibrium or in steady motion
  double speed = 0;         // largest |v|, scaled
};

// `rates` must satisfy the equations of motion at `state` (AccelerationSolver::solve). Throws Failure if there are no
// degrees of freedom, or too many for dense matrices.
LinearSystem linearise_system(const Equations& equations, const State& state, const Rates& rates,
                              LinearOutputs outputs = LinearOutputs::automatic);

}  // namespace trammel
