// A wrench given by expressions, acting on frame B and reacting on frame A; what force, torque and general_force are.
//
//   F = E f,  M = E m     E: axes of A, of B, or of the world; f, m expressions of time, parameters and measures
//   on B: (F, M) at its origin,   on A: (-F, -M - d x F),  d = p_B - p_A
//
// The reaction has the line of action of F, so that the two together have no resultant.
#pragma once
#include <array>
#include <memory>

#include "trammel/elements/measure.h"
#include "trammel/elements/registry.h"

namespace trammel {

class AppliedWrench final : public Force {
 public:
  enum class Axes { a, b, world };
  // fx, fy, fz, tx, ty, tz
  AppliedWrench(std::array<MeasuredExpression, 6> components, bool with_force, bool with_torque, Axes axes, int frames,
                bool from_ground);

  int frames() const override { return frames_; }
  int memory() const override { return memory_; }
  bool uses_velocity() const override { return uses_velocity_; }
  FrameNeed needs(int frame) const override;
  bool objective() const override { return axes_ != Axes::world; }
  // Components that do not depend on the mechanism: a given load, dead or following.
  bool is_load() const { return is_load_; }

  std::optional<double> potential_at_rest(const ElementInput& in) const override;

  bool evaluate(const ElementInput& in, double* wrench) const override;
  void linearise(const ElementInput& in, ForcePartials& out) const override;

  std::vector<Observable> observables() const override;
  void observe(const ElementInput& in, double* values) const override;
  void accept(const ElementInput& in, double* memory) const override;
  double turned(const ElementInput& in) const override;
  bool sets_in_unseen() const override;
  std::vector<SwitchInfo> switches() const override;
  void switch_values(const ElementInput& in, double* values) const override;

 private:
  Mat3 axes(const ElementInput& in) const;
  bool components(const ElementInput& in, Vec6& out) const;

  std::array<MeasuredExpression, 6> components_;
  bool with_force_, with_torque_;
  Axes axes_;
  int frames_, memory_ = 0;
  bool uses_velocity_ = false;
  bool is_load_ = false;
  bool is_dead_load_ = false;  // a force that keeps its components as the bodies move, in axes that give it a potential
};

// The descriptions of the three elements differ in which components they have.
ElementDescription describe_applied_wrench(std::string key, std::string summary, bool with_force, bool with_torque);

}  // namespace trammel
