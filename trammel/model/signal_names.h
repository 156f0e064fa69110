// The names of the signals in results, made here and nowhere else: a path with dots, ending in .x, .y or .z where it is
// one component of a vector. `MemoryTrajectory::at` refuses a name that a result does not have.
#pragma once
#include <array>
#include <string>

namespace trammel {

enum class Axis { x, y, z };
constexpr std::array<Axis, 3> all_axes{Axis::x, Axis::y, Axis::z};
inline std::string component(const std::string& vector, Axis axis) {
  return vector + (axis == Axis::x ? ".x" : axis == Axis::y ? ".y" : ".z");
}

// "body.crank.position" and its kin
struct BodySignals {
  explicit BodySignals(const std::string& body) : path("body." + body) {}
  std::string position() const { return path + ".position"; }
  std::string orientation() const { return path + ".orientation"; }  // with .w, .x, .y, .z
  std::string rotation() const { return path + ".rotation"; }        // small, of a linear system
  std::string velocity() const { return path + ".velocity"; }
  std::string angular_velocity() const { return path + ".angular_velocity"; }
  std::string acceleration() const { return path + ".acceleration"; }
  std::string angular_acceleration() const { return path + ".angular_acceleration"; }
  std::string mode(int number) const { return path + ".mode." + std::to_string(number); }  // from 1, of one that bends
  std::string path;
};

// "coordinate.s", its rate and its acceleration
struct CoordinateSignals {
  explicit CoordinateSignals(const std::string& coordinate) : path("coordinate." + coordinate) {}
  std::string value() const { return path; }
  std::string rate() const { return path + ".rate"; }
  std::string acceleration() const { return path + ".acceleration"; }
  std::string path;
};

// "joint.pin.force": the reaction on the second body
struct ConstraintSignals {
  ConstraintSignals(bool is_motion, const std::string& name) : path((is_motion ? "motion." : "joint.") + name) {}
  std::string force() const { return path + ".force"; }
  std::string torque() const { return path + ".torque"; }
  std::string force_on(const std::string& body) const { return path + ".on." + body + ".force"; }
  std::string torque_on(const std::string& body) const { return path + ".on." + body + ".torque"; }
  std::string angle() const { return path + ".angle"; }
  std::string displacement() const { return path + ".displacement"; }
  std::string path;
};

// "force.spring.on_second.force"
struct ForceSignals {
  explicit ForceSignals(const std::string& force) : path("force." + force) {}
  std::string force() const { return path + ".on_second.force"; }
  std::string torque() const { return path + ".on_second.torque"; }
  std::string observable(const std::string& name) const { return path + "." + name; }
  std::string path;
};

inline std::string state_signal(const std::string& state) { return "state." + state; }
inline std::string variable_signal(const std::string& variable) { return "variable." + variable; }
inline std::string energy_signal(const std::string& form) { return "energy." + form; }

}  // namespace trammel
