// Where the balls of an axially loaded ball bearing run: equilibrium under Hertz's forces of both races, the
// centrifugal force and the tractions that hold the gyroscopic moment, rolling on the outer race without spin about its
// normal. What `trammel make bearing` starts from, and what the study sets its runs against.
#pragma once
#include <numbers>
#include <string>
#include <vector>

namespace trammel {

// Defaults: of the size 6206. SI units.
struct BallBearing {
  int balls = 9;
  double ball_diameter = 9.525e-3, pitch_diameter = 46e-3;
  double conformity = 0.52;                    // radius of the grooves by the ball's diameter
  double clearance = 12e-6;                    // diametral
  double load = 1000;                          // along the axis, on the inner ring
  double speed = 1e4 * std::numbers::pi / 30;  // of the inner ring, rad/s
};

struct BearingEquilibrium {
  double r = 0, z = 0, z_inner = 0;                   // of a ball's centre; of the inner ring
  double alpha_i = 0, alpha_o = 0, Q_i = 0, Q_o = 0;  // contact angles and loads
  double orbit = 0;                                   // of the balls about the axis, rad/s
  double spin = 0, tilt = 0;                          // of a ball against the cage, and its axis against the bearing's
};

// The contact angle without rotation: where the curvatures for Hertz's constants are taken.
double bearing_angle(const BallBearing& bearing);
// Throws Failure if the load has no equilibrium. The gyroscopic moment is held by equal tractions at both races, or, as
// in most formulas, left out.
BearingEquilibrium bearing_equilibrium(const BallBearing& bearing, bool with_gyroscopic = true);

// The parameters of models/ball_bearing.yaml for this bearing, "NAME=VALUE UNIT", started in equilibrium.
std::vector<std::string> bearing_parameters(const BallBearing& bearing);

}  // namespace trammel
