// The row that holds the coordinate of an axial force where it came to rest, in one mode of the force; in all others
// everything is zero.
//
//   g = s - s_0        s the angle about, or the displacement along, the z axis of the first frame
//
// It reads the force's memory: the remembered angle first, mode and s_0 at `place`.
#pragma once
#include "trammel/elements/forces/axial_force.h"
#include "trammel/elements/joints/pair_constraint.h"

namespace trammel {

class HeldCoordinate final : public Constraint {
 public:
  struct Place {
    int at = 0;    // of the mode in the force's memory; s_0 behind it
    int mode = 0;  // in which the row is in force
    bool always = false;
  };
  HeldCoordinate(AxialKind kind, const Place& place);

  int rows() const override { return 1; }
  int frames() const override { return 2; }
  RowUnit row_unit(int /*row*/) const override { return row_.row_unit(0); }
  std::string row_name(int /*row*/) const override { return turns_ ? "held angle" : "held displacement"; }
  bool holds(const double* memory) const override { return place_.always || memory[place_.at] == place_.mode; }

  bool evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const override;
  void rate(const ElementInput& in, double* g_dot) const override;
  void curvature(const ElementInput& in, double* c) const override;
  void jacobian(const ElementInput& in, RowMatrix& C) const override;
  void linearise(const ElementInput& in, const double* lambda, RowMatrix& C, FrameMatrix& wrench_pose) const override;
  void linearise_all(const ElementInput& in, const double* lambda, const double* rate, const double* bias,
                     ConstraintPartials& out) const override;
  std::unique_ptr<Constraint> generic() const override;

 private:
  bool turns_;
  Place place_;
  PairConstraint row_;  // s = 0; remembers as the force does
};

}  // namespace trammel
