// Coulomb's friction with true sticking in the angle about, or the displacement along, the z axis of a frame: s with
// the rate s'. N is the load, not below zero, r the radius of a rotation (1 of a displacement).
//
//   sticks            s = s_0, held by a row; lasts while |lambda| <= r (F_0 + mu_s N)
//   slides forward    f = -r (F_0 + mu_k N); lasts while s' >= 0
//   slides backward   f = +r (F_0 + mu_k N); lasts while s' <= 0
//   open              f = 0; lasts while N <= 0                          only of elements that open: a clutch
//
// The row puts the force -lambda into s: it gives way in the direction of lambda. What remembers: the coordinate's
// angle, those of the load's expression, the mode, and s_0.
#pragma once
#include "trammel/elements/forces/axial_force.h"

namespace trammel {

struct DryFrictionLaw {
  double constant = 0, mu_static = 0, mu_kinetic = 0, radius = 1;
  bool opens = false;
};

class DryFriction final : public AxialForce {
 public:
  enum Mode { undecided, sticks, forward, backward, open };  // undecided: slides against its speed, holds nothing

  DryFriction(AxialKind kind, const DryFrictionLaw& law, MeasuredExpression load, int frames,
              std::vector<std::string> mode_names);
  DryFriction(const DryFriction&) = delete;  // the base class points at load_
  DryFriction& operator=(const DryFriction&) = delete;

  int memory() const override { return AxialForce::memory() + 2; }
  double dissipated_power(const ElementInput& in) const override;
  bool energy_is_complete() const override { return true; }

  std::vector<std::string> modes() const override { return names_; }
  int mode(const double* memory) const override { return static_cast<int>(memory[AxialForce::memory()]); }
  void begin_mode(const ElementInput& in, const Rest& rest, double* memory) const override;
  void end_mode(const ElementInput& in, int which, double* memory) const override;
  std::vector<SwitchInfo> switches() const override;
  void switch_values(const ElementInput& in, double* values) const override;
  std::vector<Observable> observables() const override;
  void observe(const ElementInput& in, double* values) const override;

  // The row of the mode `sticks`, for ElementDescription::make_held.
  std::unique_ptr<Constraint> make_row() const;

 protected:
  bool force(const ElementInput& in, double value, double rate, double& f) const override;
  void force_partials(const ElementInput& in, double value, double rate, Law& law) const override;

 private:
  double direction(const ElementInput& in, double rate) const;
  bool load_varies() const { return !load_.expression().is_constant(); }
  double load(const ElementInput& in) const;  // not below zero; 0 where it has no value
  void set(Mode mode, const ElementInput& in, double* memory) const;

  DryFrictionLaw law_;
  MeasuredExpression load_;
  std::vector<std::string> names_;
};

}  // namespace trammel
