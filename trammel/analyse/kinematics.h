// Kinematic analysis of a driven mechanism: motions take all degrees of freedom, so that constraints alone determine
// positions, velocities and accelerations at every time,
//
//   g(t, q) = 0,    G v = -g_t,    G a = gamma,                                                            (7.6)
//
// and (2) then gives the reactions and the forces of the motions. No integration and no drift: each time is solved for
// itself, starting from the prediction of the last. Positions in which the constraints lose rank are named.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "trammel/initial/consistent.h"

namespace trammel {

struct KinematicOptions {
  double end = 1;
  double output_step = 0.01;
  double least_step = 1e-9;  // part of the output step at which a position counts as out of reach
};

struct SingularPosition {
  double t = 0;
  double pivot = 0;                // smallest pivot of the constraints, 1 in a good position
  std::vector<std::string> parts;  // that can move there although the motions stand still
};

struct KinematicReport {
  bool finished = false;
  double reached = 0;
  long outputs = 0, steps = 0, iterations = 0;
  double largest_correction = 0;  // of a prediction, in L and rad
  double worst_pivot = 1, worst_time = 0;
  std::vector<SingularPosition> singular;
  std::string why, constraint, body;  // where it stopped
};

// Degrees of freedom that motions do not take, each by the parts that move most in it; empty if there are none. Small
// models only: beyond 1200 velocities the list stays empty, and `count` comes from the rank analysis.
std::vector<std::vector<std::string>> free_motions(const Equations& equations, const State& state, Workspace& work);

// `state` and `rates` are consistent at its time; `each` sees every output. Throws Failure if the mechanism has degrees
// of freedom left (`initial` holds the rank analysis).
KinematicReport run_kinematics(const Equations& equations, State& state, Rates& rates,
                               AccelerationSolver& accelerations, const InitialReport& initial, Workspace& work,
                               const KinematicOptions& options,
                               const std::function<void(const State&, const Rates&)>& each);

}  // namespace trammel
