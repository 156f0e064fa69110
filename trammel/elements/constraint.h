// A constraint between frames, up to max_rows rows, each at one of two levels: holonomic, equation (3), g(t, pose) = 0,
// or nonholonomic, equation (4), k(t, pose, twist) = C tau + k_0(t, pose) = 0. In frame terms
//
//   position   g' = C tau + g_t,   g'' = C alpha + c,   c = C' tau + 2 C_t tau + g_tt
//   velocity   k  = C tau + k_0,   k'  = C alpha + c,   c = C' tau + k_0'
//
// with tau the stacked twists (v, w) of its frames, alpha their rates. Multipliers are true forces and torques: every
// row is built from unit vectors, so lambda acts on the frames as the wrench -C^T lambda.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "trammel/elements/frame.h"

namespace trammel {

// Everything a formulation may need, all derivatives against frame poses and twists. Columns: 6 per frame, (p, phi).
struct ConstraintPartials {
  RowMatrix C;               // dg/dpose
  FrameMatrix wrench_pose;   // d(C^T lambda)/dpose
  RowMatrix Ctwist_pose;     // d(C tau)/dpose, tau held; of a row at velocity level dk/dpose
  RowMatrix Crate_pose;      // d(C u)/dpose for u = `rate` of linearise, held: accelerations
  RowMatrix Cbias_pose;      // the same for u = `bias`
  RowVector g_t, curvature;  // g_t and c
  RowMatrix curvature_pose, curvature_twist;
  RowVector curvature_t;  // dc/dt, with g_ttt of a prescribed motion
  FrameVector wrench_t;   // C_t^T lambda
  RowVector Crate_t;      // C_t u

  void set_zero(int rows, int frames);
};

enum class RowUnit { force, torque };  // of the row's multiplier
enum class Level { position, velocity };

class Constraint {
 public:
  virtual ~Constraint() = default;
  virtual int rows() const = 0;
  virtual int frames() const = 0;
  virtual int memory() const { return 0; }         // numbers remembered between accepted steps
  virtual int angles() const { return memory(); }  // how many of these, the first ones, are total angles
  virtual RowUnit row_unit(int row) const = 0;
  virtual Level level(int /*row*/) const { return Level::position; }
  // It depends on time, so its reactions do work; that of motions is always booked.
  virtual bool does_work() const { return false; }
  virtual std::string row_name(int row) const = 0;  // "x", "axis y perpendicular": completes "joint 'pin': "

  // g (k of rows at velocity level) and, if `wrench` is given, C^T lambda stacked by frame. False: cannot be evaluated
  // here.
  virtual bool evaluate(const ElementInput& in, const double* lambda, double* g, double* wrench) const = 0;
  // g' = C tau + g_t, or k, for the given twists.
  virtual void rate(const ElementInput& in, double* g_dot) const = 0;
  // c of g'' or k' = C alpha + c, for the given twists.
  virtual void curvature(const ElementInput& in, double* c) const = 0;
  // Only C: the cheap part, for projections.
  virtual void jacobian(const ElementInput& in, RowMatrix& C) const = 0;
  // d(C^T lambda)/dpose with C: what a Newton matrix at index 3 needs.
  virtual void linearise(const ElementInput& in, const double* lambda, RowMatrix& C,
                         FrameMatrix& wrench_pose) const = 0;
  // dk/dpose of the rows at velocity level, twists held; other rows zero. Only asked of elements that have such rows.
  virtual void linearise_velocity(const ElementInput& /*in*/, RowMatrix& k_pose) const {
    k_pose.setZero(rows(), 6 * frames());
  }
  // Everything; `rate` and `bias` are stacked frame rates to contract with.
  virtual void linearise_all(const ElementInput& in, const double* lambda, const double* rate, const double* bias,
                             ConstraintPartials& out) const = 0;

  // The same with every function of the user's replaced by one whose derivatives vanish nowhere, or nothing if there is
  // none: patterns are found by probing, and a function may be flat where it is probed.
  virtual std::unique_ptr<Constraint> generic() const { return nullptr; }

  // False: its rows are not in force in the mode that `memory` tells; all that it computes is then zero.
  virtual bool holds(const double* /*memory*/) const { return true; }

  // As of a force.
  virtual std::vector<SwitchInfo> switches() const { return {}; }
  virtual void switch_values(const ElementInput& /*in*/, double* /*values*/) const {}

  // Sets `memory` at the start of a run: a driven angle is taken as the turn nearest to what it is driven to.
  virtual void start(const ElementInput& in, double* memory) const { accept(in, memory); }
  // Brings `memory` up to date with an accepted state.
  virtual void accept(const ElementInput& /*in*/, double* /*memory*/) const {}
  // Largest difference, rad, of a remembered angle from where its rate at the last accepted state leads.
  virtual double turned(const ElementInput& /*in*/) const { return 0; }
};

}  // namespace trammel
