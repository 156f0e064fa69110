// Static equilibrium: positions at which nothing accelerates, with the multipliers that hold them,
//
//   f(q) + G(q)^T lambda = 0,   f = -Q(t, q, v = 0),      g(t, q) = 0,                                       (7.1)
//
// at a fixed time, so that motions stand at their values of that time. Three ways, tried in this order: Newton's method
// kept on the constraints and made to descend (energy if all forces have one, else the unbalanced force); Newton's
// plain steps with given loads growing in parts, and what else is unbalanced at the start released; and relaxation, a
// damped motion with artificial masses. Redundant constraints need no care: all systems are regularised saddle
// matrices. What is free to move and unbalanced is named.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "trammel/analyse/tangent_solver.h"
#include "trammel/equations/saddle.h"

namespace trammel {

enum class StaticWay { automatic, newton, load_steps, relaxation };
const char* to_text(StaticWay way);

struct StaticOptions {
  StaticWay way = StaticWay::automatic;
  double tolerance = 1e-10;   // unbalanced force allowed, as a part of the forces that act
  int most_iterations = 400;  // of each way
  bool judge_stability = true;
};

// A direction in which the mechanism can move, by the bodies that move most in it.
struct FreeDirection {
  double stiffness = 0;                  // against the part that moves most; less than 0 is unstable
  double unbalanced = 0;                 // force along it
  Quantity quantity = Quantity::length;  // what the part that moves most does
  const char* force_unit() const;        // N or N m; empty for a coordinate that is neither length nor angle
  const char* stiffness_unit() const;    // N/m or N m/rad
  std::vector<std::string> parts;        // "body 'bar': rotation about y", largest first
};

enum class Stability { unknown, stable, neutral, unstable };
const char* to_text(Stability stability);

struct StaticReport {
  bool found = false;
  StaticWay way = StaticWay::newton;  // that found it, or was tried last
  int iterations = 0, load_steps = 0;
  double residual = 0;  // largest unbalanced force left, N (or N m / L)
  double scale = 0;     // of the forces that act, N
  double position_residual = 0;
  double moved = 0;  // largest change from the start
  std::string moved_most, moved_unit;
  Stability stability = Stability::unknown;
  int freedoms = -1;
  int unstable_directions = 0, neutral_directions = 0;
  bool symmetric = true;              // tangent stiffness: false for follower forces and the like
  std::vector<FreeDirection> weak;    // unstable and neutral directions; if nothing was found, the one that runs away
  double least_stiffness = 0;         // smallest eigenvalue of the projected stiffness, N m
  std::vector<std::string> kept;      // what is kept, with the force that holds it: "body 'car': 12 N, 0 N m"
  std::string why;                    // nothing found: what happened, in a sentence
  std::string advice;                 // and what to do
  std::vector<std::string> attempts;  // one line for each way tried
};
std::string to_text(const StaticReport&);

class StaticSolver {
 public:
  explicit StaticSolver(const Equations& equations);
  // From `state` (positions on the constraints, any velocities) to the equilibrium near it; velocities and
  // accelerations become zero. If none is found, `state` is the last position tried.
  StaticReport solve(State& state, Rates& rates, Workspace& work, const StaticOptions& options = {});
  // Number of negative and near-zero eigenvalues of the stiffness on the free motions, at a state with its multipliers.
  void judge(const State& state, const Rates& rates, Workspace& work, StaticReport& report);

 private:
  struct Point;   // a position with what is known there
  struct Search;  // a call of solve: where it began, where it is, the best position so far
  bool begin(Search& search);
  void return_to_start(Search& search);
  bool note(Search& search, StaticWay way, bool found);
  bool try_ways(Search& search);
  void finish(Search& search);
  void give_up(Search& search);
  void settle_elsewhere(Search& search);
  bool evaluate(const State& state, Workspace& work, Point& out);
  bool return_to_constraints(State& state, Workspace& work);
  bool factor_tangent(const State& state, const Point& at, double mu, Workspace& work);
  bool newton_step(const State& state, const Point& at, double mu, Workspace& work, Vec& step);
  bool descend(State& state, Point& at, Workspace& work, const StaticOptions& options, bool by_energy,
               StaticReport& report);
  bool converge(State& state, Point& at, Workspace& work, const StaticOptions& options, StaticReport& report);
  bool step_loads(State& state, Point& at, Workspace& work, const StaticOptions& options, StaticReport& report);
  bool release(State& state, Point& at, Workspace& work, int load, const StaticOptions& options, StaticReport& report);
  bool relax(State& state, Point& at, Workspace& work, const StaticOptions& options, StaticReport& report);
  bool balanced(const Point& at, const StaticOptions& options) const;
  void take_back_drift(const State& start, State& state, Point& at, Workspace& work, const StaticOptions& options);
  double force_scale(const State& state, Workspace& work);
  FreeDirection describe_direction(const Vec& direction, const Vec& unbalanced) const;
  std::string text_of_keep(int velocity) const;
  void name_runaway(const State& state, const Point& at, Workspace& work, StaticReport& report);
  void judge_large(StaticReport& report);

  const Equations& equations_;
  SaddleSystem saddle_;        // of projections
  TangentSolver tangent_;      // of Newton's steps
  std::vector<int> diagonal_;  // of vv
  Partials partials_;
  Residual residual_;
  Rates rates_;
  Vec weights_, scales_, hold_;  // hold_: part of the unbalanced force of the start that is still carried
  Vec b_, z_, q_, A_;
  double mu_unit_ = 0;                             // of mu in Newton's matrix, by weights_
  double scale_ = 1, stiffness_ = 0, misfit_ = 0;  // forces that act, N; largest stiffness, N/m; |g| of the start
  bool conservative_ = false;
};

// The same with what the model keeps of positions and orientations held: `state` moves around it, and the report names
// the forces that the hold takes.
StaticReport find_equilibrium(const Equations& equations, State& state, Rates& rates, Workspace& work,
                              const StaticOptions& options = {});

// In words: the bodies that move most in a tangent vector, largest first; entries below a fifth of it are left out.
std::vector<std::string> moving_parts(const Equations& equations, const Vec& direction, int most = 4);

}  // namespace trammel
