// Modes of elements along a run (docs/decisions/0033-modes.md): chosen at the start, changed at events. Rows that come
// into force take what is left of their speed by an impulse,
//
//   M dv + G^T p = 0,   G (v + dv) + g_t = 0
//
// with all joints and motions; then those modes are left that do not last under the accelerations they lead to.
#pragma once
#include "trammel/initial/accelerations.h"

namespace trammel {

class ElementModes {
 public:
  explicit ElementModes(const Equations& equations);
  bool any() const { return equations_.has_modes(); }
  std::string names() const;  // "force 'pad': 1 sticks, 2 slides forward, ..."

  // The modes of a consistent state that nothing led to. Throws Failure if there are no accelerations in them.
  void begin(State& state, Rates& rates, AccelerationSolver& accelerations);
  // Chooses the mode of one force by the state alone: velocities have jumped.
  void begin(int force, State& state);
  // Switch `which` has ended the mode of its force; `rates` hold the multipliers of `state`.
  void end(int which, State& state, const Rates& rates);
  // Impulses, accelerations, and modes that do not last; false: there are no accelerations.
  bool settle(State& state, Rates& rates, AccelerationSolver& accelerations);
  // The switches whose modes did not last, in the last settle().
  const std::vector<int>& ended() const { return ended_; }
  // Of the rows that a force holds, in the last settle(); N s, N m s.
  double impulse(int force) const;

  // Accelerations and multipliers of a state in which something is held; null if nothing is, or they cannot be found.
  const Rates* multipliers(const State& state);

  void visit(Archive& archive) {
    if (solver_) archive(solver_->saddle());
  }

 private:
  bool holds_any(const State& state) const;
  // Held rows that others contradict, as motions do, cannot be held by any force: their multipliers become infinite,
  // with the sign of the motion that they should prevent. `velocities`: those of the state belong to the rows in force.
  void give_up_contradictions(const State& state, const AccelerationSolver& solver, bool velocities, Rates& rates);

  const Equations& equations_;
  Workspace work_;
  std::vector<int> limits_, ended_;  // the switches that end modes
  Force::Rest rest_;
  double rate_ = 1;                             // scale of the model
  std::unique_ptr<AccelerationSolver> solver_;  // of multipliers(); null without modes
  Rates rates_;
  Vec values_, impulse_, left_, sizes_, gdot_, v_;
};

}  // namespace trammel
