// A constraint between several pairs of frames: rows
//
//   g = sum of  phi_i(m_i)  - offset = 0
//
// of scalars m_i of pair_scalar.h, each of a pair of frames of its own, and functions phi_i of one variable with
// three derivatives: a gear couples two angles linearly, a screw an angle and a displacement, a cam a coordinate and a
// function of another. No term knows of the others, so every derivative is a sum over the terms, each scattered into
// the columns of its two frames. A multi-turn angle is one number of memory, shared by the terms that use it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "trammel/elements/constraint.h"
#include "trammel/elements/scalars/pair_scalar.h"

namespace trammel {

// f, f', f'', f''' at x.
using ScalarFunction = std::function<std::array<double, 4>(double x)>;
// Numbers that change their sign where it has a corner.
struct ScalarCorners {
  int count = 0;
  std::function<void(double x, double* values)> values = {};
};

struct RelationTerm {
  int a = 0, b = 1;  // places of its frames in the element
  Primitive kind = Primitive::in_plane;
  int i = 0, j = 0;
  double weight = 1;
  ScalarFunction function = {};  // phi = weight * function(m); empty: weight * m
  ScalarCorners corners = {};    // of the function
  int memory = -1;               // of a multi-turn angle; set by the constraint

  Scalar scalar() const { return {kind, i, j}; }
};

struct RelationRow {
  std::vector<RelationTerm> terms = {};
  std::string name = {};
  RowUnit unit = RowUnit::force;
  double offset = 0;
};

class RelationConstraint final : public Constraint {
 public:
  RelationConstraint(int frames, std::vector<RelationRow> rows);

  int rows() const override { return static_cast<int>(rows_.size()); }
  int frames() const override { return frames_; }
  int memory() const override { return memory_; }
  int angles() const override { return memory_ / RememberedAngle::size; }
  RowUnit row_unit(int row) const override { return rows_[row].unit; }
  std::string row_name(int row) const override { return rows_[row].name; }

  bool evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const override;
  void rate(const ElementInput& in, double* g_dot) const override;
  void curvature(const ElementInput& in, double* c) const override;
  void jacobian(const ElementInput& in, RowMatrix& C) const override;
  void linearise(const ElementInput& in, const double* lambda, RowMatrix& C, FrameMatrix& wrench_pose) const override;
  void linearise_all(const ElementInput& in, const double* lambda, const double* rate, const double* bias,
                     ConstraintPartials& out) const override;
  std::unique_ptr<Constraint> generic() const override;
  std::vector<SwitchInfo> switches() const override;
  void switch_values(const ElementInput& in, double* values) const override;
  // Angles start within half a turn of zero, but for the last linear one of each row: it takes the turn that satisfies
  // the row best.
  void start(const ElementInput& in, double* memory) const override;
  void accept(const ElementInput& in, double* memory) const override;
  double turned(const ElementInput& in) const override;

 private:
  PairScalar argument(const RelationTerm& term, const ElementInput& in, int order) const;     // m
  PairScalar term_scalar(const RelationTerm& term, const ElementInput& in, int order) const;  // phi(m)
  double value(const RelationRow& row, const ElementInput& in) const;

  std::vector<RelationRow> rows_;
  int frames_ = 2, memory_ = 0;
};

}  // namespace trammel
