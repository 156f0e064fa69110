// Sensors: what expressions see of accelerations, of reactions of joints and motions, and of the rates of states.
// Unlike measures they are not functions of places and speeds: implicit methods solve for them together with the forces
// that use them. Each is found where it is read (wire_measures) and stands behind the variables among the signals.
//
//   accx accy accz          rates of vx, vy, vz            acceleration            rate of the speed l'
//   wdtx wdty wdtz          rates of wx, wy, wz            angular_acceleration    rate of the rate of the angle
//   force_x .. torque_z     reaction of a joint or motion on its second body, at the joint's second frame, in its axes
//   der                     x' of a state
//
// With s a scalar of two frames, tau their twists and alpha the rates of these:
//
//   s'' = s_pose alpha + c(tau)     c: its curvature (PairScalar)
//   (a_i . w)' = a_i . (w_B' - w_A') + (w_A x a_i) . (w_B - w_A)
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "trammel/elements/measure.h"

namespace trammel {

struct SensorDescription {
  enum class Kind { acceleration, reaction, state_rate } kind;
  std::string name;
  Quantity quantity;
  MeasureOf of;   // of an acceleration: of which rate, or spin, it is the rate
  Scalar scalar;  // of an acceleration
  bool torque;    // of a reaction
  int component;  // of a reaction: x, y or z
  std::string text;
};

// All sensors, in the order of the help and the docs; Sensor::what is a place in it.
const std::vector<SensorDescription>& sensor_registry();
const SensorDescription* find_sensor(std::string_view name);

// Of an acceleration with its derivatives against pose, twist and rate of the twist of both frames.
struct SensorPartials {
  double value = 0;
  PairSlope pose, twist, rate;
};
// `rates`: of the twists of A and B, (v', w') each. False where it has no derivative.
bool evaluate_acceleration(const SensorDescription& sensor, const FrameState& a, const FrameState& b,
                           const double* rates, double& value);
bool linearise_acceleration(const SensorDescription& sensor, const FrameState& a, const FrameState& b,
                            const double* rates, SensorPartials& out);

}  // namespace trammel
