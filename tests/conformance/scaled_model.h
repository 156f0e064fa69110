// A spatial slider-crank with a driven arm and a strut, in any units and at any place: lengths times S, times times T,
// masses times M, everything moved by X along all axes. With powers of two as factors the same digits are computed.
#pragma once
#include <cstdio>
#include <string>

#include "trammel/read/read_model.h"

namespace trammel {

struct Units {
  double S = 1, T = 1, M = 1, X = 0;
};

inline Model scaled_model(const Units& u) {
  char parameters[200];
  std::snprintf(parameters, sizeof parameters, "parameters: {S: %.17g, T: %.17g, M: %.17g, X: %.17g}\n", u.S, u.T, u.M,
                u.X);
  return read_model_text(std::string("trammel: 1\n") + parameters + R"yaml(
gravity: [0, 0, -9.81*S/T/T]
bodies:
  crank:
    mass: 0.12*M
    inertia: [1e-4*M*S*S, 1e-4*M*S*S, 1e-5*M*S*S]
    position: [X, X + 0.1*S, X + 0.16*S]
    velocity: [0, -0.24*S/T, 0]
    angular_velocity: [6/T, 0, 0]
  rod:
    mass: 0.5*M
    inertia: [4e-4*M*S*S, 4e-3*M*S*S, 4e-3*M*S*S]
    position: [X + 0.1*S, X + 0.05*S, X + 0.1*S]
    orientation: {quaternion: [0.888450709334306, -0.20973476206080316, 0.3973272361458831, -0.09379623704253996]}
    velocity: [0.12*S/T, -0.24*S/T, 0]
    angular_velocity: [1.92/T, -0.96/T, 0.48/T]
  slider:
    mass: 2*M
    inertia: [1e-4*M*S*S, 1e-4*M*S*S, 1e-4*M*S*S]
    position: [X + 0.2*S, X, X]
    velocity: [0.24*S/T, 0, 0]
  arm: {mass: 0.3*M, inertia: [1e-3*M*S*S, 2e-3*M*S*S, 2e-3*M*S*S], position: [X + 0.2*S, X + 0.1*S, X]}
joints:
  A: {type: revolute, between: [ground, crank], at: [X, X + 0.1*S, X + 0.12*S], axis: [1, 0, 0]}
  B: {type: spherical, between: [crank, rod], at: [X, X + 0.1*S, X + 0.2*S]}
  C:
    type: universal
    between: [slider, rod]
    at: [X + 0.2*S, X, X]
    axis: [1, 0, 0]
    axis_b: [0, 0.8944271909999159, -0.4472135954999579]
  slide: {type: translational, between: [ground, slider], at: [X + 0.2*S, X, X], axis: [1, 0, 0]}
  elbow: {type: revolute, between: [slider, arm], at: [X + 0.2*S, X, X], axis: [1, 0, 0]}
motions:
  lift: {type: rotation, joint: elbow, angle: "0.3*sin(5*time/T)"
}
forces:
  strut:
    type: translational_spring_damper
    between: [ground, arm]
    at: [[X + 0.4*S, X + 0.2*S, X + 0.1*S], [X + 0.2*S, X + 0.2*S, X]]
    stiffness: 200*M/T/T
    damping: 0.5*M/T
    free_length: 0.2*S
simulation: {end: 0.2*T, tolerance: 1e-5, output_step: 0.02*T}
)yaml",
                         "scaled.yaml");
}

}  // namespace trammel
