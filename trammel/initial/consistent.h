// The start of a run in stages: positions on (3), velocities on G v + g_t = 0, accelerations and multipliers from (2).
// Each stage says what moved and by how much; what cannot be satisfied is named by joint.
#pragma once
#include <string>
#include <vector>

#include "trammel/base/diagnosis.h"
#include "trammel/initial/accelerations.h"
#include "trammel/rank/loops.h"

namespace trammel {

struct StageReport {
  std::string name;              // "positions"
  double before = 0, after = 0;  // largest residual
  std::string worst_before;      // "joint 'pin': points coincide along world x"
  double moved = 0;              // largest change, m or rad (m/s or rad/s)
  std::string moved_most;        // "body 'rod': rotation about y"
  int iterations = 0;
  std::string text() const;  // one line for the user
};

struct InitialReport {
  std::vector<StageReport> stages;
  double misfit = 0;  // |g| left in loops that do not close, m or rad
  LoopAnalysis rank;
  PoseComparison permanence;  // only if there is redundancy
  std::vector<Problem> warnings;
};

struct InitialOptions {
  bool analyse_rank = true;
  bool accelerations = true;  // false: for statics, which needs no masses
};

// Brings `state` onto the constraints and fills `rates`. Throws Failure with the joints' names if that cannot be done.
InitialReport make_consistent(const Equations& equations, State& state, Rates& rates, AccelerationSolver& accelerations,
                              Workspace& work, const InitialOptions& options = {});

// One stage alone: positions by weighted least change, `held` velocity columns untouched. Returns the largest |g| left.
StageReport assemble_positions(const Equations& equations, State& state, SaddleSystem& saddle, Workspace& work,
                               const std::vector<bool>& held);
StageReport assemble_velocities(const Equations& equations, State& state, SaddleSystem& saddle, Workspace& work,
                                const std::vector<bool>& held);
// The same with all that the model keeps of velocities, and with the speeds it wants of joints.
StageReport assemble_kept_velocities(const Equations& equations, State& state, SaddleSystem& saddle, Workspace& work);

// Brings a state that was set from outside onto the constraints, by the least change. Throws Failure with the joints'
// names if they cannot be reached from there.
InitialReport bring_onto_constraints(const Equations& equations, State& state, SaddleSystem& saddle, Workspace& work);

// Why accelerations cannot be solved for: a motion that the constraints leave and that moves no mass, with the body
// named, if there is one.
Problem no_accelerations(const Equations& equations, const State& state, Workspace& work, const std::string& when);

// Positions and orientations that the model keeps, as motions that hold them where they are in `state`: they come last.
bool keeps_positions(const Model& model);
Model with_kept_positions(const Equations& equations, const State& state, Workspace& work);

}  // namespace trammel
