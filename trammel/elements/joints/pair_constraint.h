// The constraint every joint and motion between two frames is made of: a list of primitive rows.
//
//   point(i)     e_i . d = 0                   coincident origins; multiplier is a force
//   in_plane(i)  a_i . d = f(t)                B's origin in a plane of A, or moved along A's axis i; a force
//   distance     |d| = f(t)                    a force
//   dot(i, j)    a_i . b_j = 0                 perpendicular axes; a torque
//   angle        angle of b_x about a_z = f(t) multi-turn; a torque
//   twist        turns about a_z and b_z alike; a torque
//   cardan(i)    angles about x, y, z = f(t)   a torque
//
// The scalars are those of elements/scalars/pair_scalar.h.
#pragma once
#include <memory>
#include <vector>

#include "trammel/elements/constraint.h"
#include "trammel/elements/scalars/pair_scalar.h"
#include "trammel/elements/time_function.h"

namespace trammel {

struct PairRowSpec {
  Primitive kind;
  int i = 0, j = 0;
  int function = -1;              // index of the time function f; -1: zero
  Level level = Level::position;  // at velocity level the row is the rate of its scalar, minus f(t)

  Scalar scalar() const { return {kind, i, j}; }
};

class PairConstraint final : public Constraint {
 public:
  explicit PairConstraint(std::vector<PairRowSpec> rows, std::vector<TimeFunction> functions = {});

  int rows() const override { return static_cast<int>(rows_.size()); }
  int frames() const override { return 2; }
  int memory() const override { return memory_; }
  int angles() const override { return angles_; }
  RowUnit row_unit(int i) const override { return row(i).scalar().is_length() ? RowUnit::force : RowUnit::torque; }
  Level level(int row) const override { return rows_[row].level; }
  std::string row_name(int row) const override;
  const PairRowSpec& row(int i) const { return rows_[i]; }

  bool evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const override;
  void rate(const ElementInput& in, double* g_dot) const override;
  void curvature(const ElementInput& in, double* c) const override;
  void jacobian(const ElementInput& in, RowMatrix& C) const override;
  void linearise(const ElementInput& in, const double* lambda, RowMatrix& C, FrameMatrix& wrench_pose) const override;
  void linearise_velocity(const ElementInput& in, RowMatrix& k_pose) const override;
  void linearise_all(const ElementInput& in, const double* lambda, const double* rate, const double* bias,
                     ConstraintPartials& out) const override;
  void start(const ElementInput& in, double* memory) const override;
  void accept(const ElementInput& in, double* memory) const override;
  double turned(const ElementInput& in) const override;
  std::vector<SwitchInfo> switches() const override;
  void switch_values(const ElementInput& in, double* values) const override;

 private:
  static bool remembers(const PairRowSpec& row) { return row.level == Level::position && row.scalar().is_multi_turn(); }
  static PairRow point_row(int i);
  static PairScalar scalar(const PairRowSpec& row, const ElementInput& in, int order) {
    return {row.scalar(), in.frames[0], in.frames[1], order};
  }
  double target(const PairRowSpec& row, double t, const double* memory) const;
  std::array<double, 4> targets(const PairRowSpec& row, double t, const double* memory) const;

  // Memory: the total angles, then what the functions remember.
  std::vector<PairRowSpec> rows_;
  std::vector<TimeFunction> functions_;
  std::vector<std::vector<Expression::Corner>> corners_;  // of the functions
  std::vector<int> function_memory_;
  int angles_ = 0, memory_ = 0;
};

}  // namespace trammel
