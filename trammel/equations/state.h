// State, rates, residual and partial derivatives of the equations of motion:
//
//   (1)  q' = N(q) v
//   (2)  M(q) v' + G(t,q)^T lambda + K(t,q,v)^T mu = Q(t,q,v,x,F)
//   (3)  g(t,q) = 0,  G = g_q N          (4)  k(t,q,v) = 0
//   (5)  d(x',x,q,v,v',lambda,V,F,t) = 0 (6)  V = v(...)   (7)  F = f(...)
#pragma once
#include <memory>

#include "trammel/base/archive.h"
#include "trammel/linalg/pattern.h"

namespace trammel {

struct Sizes {
  int nq = 0, nv = 0;  // coordinates, velocities
  int ng = 0, nk = 0;  // holonomic and nonholonomic rows
  int multipliers() const { return ng + nk; }
  int nx = 0, nV = 0, nF = 0, nu = 0;  // states, variables, force states, external inputs
};

struct State {
  double t = 0;
  Vec q, v;
  Vec u;  // external inputs, held by whoever drives the system; after them the states x of (5)
  std::vector<double>
      memory;  // discrete: total angles of joints at the last accepted step; changed only by Equations::accept

  void visit(Archive& archive) { archive(t, q, v, u, memory); }
};

// What a state determines, or an implicit method iterates on.
struct Rates {
  Vec a;
  Vec lambda;  // multipliers of (3) and (4), in the order of the constraints
  Vec xdot, V, F;

  void visit(Archive& archive) { archive(a, lambda, xdot, V, F); }
};

// Which contributions to evaluate. The split of forces into an explicit (A) and an implicit (B) part belongs to the
// elements.
enum Part : unsigned {
  inertia = 1,
  joints = 2,
  forces_explicit = 4,
  forces_implicit = 8,
  forces = 12,
  everything = 15
};

// Parts apart: a method weighs inertia on its own.
struct Residual {
  Vec inertia;  // M a
  Vec force;    // G^T lambda + K^T mu - Q
  Vec g;        // (3) and, in the rows at velocity level, (4)
};

// How much of the derivatives: M and G only, what index 3 needs, or everything.
enum class Detail { projection, newton, all };

// Values on the patterns Equations::vv(), as it was when they were evaluated, and Equations::gv(). G has a row for each
// multiplier: of g_q N, or of k_v.
struct Partials {
  std::shared_ptr<const Pattern> vv;
  Vec M, Ma_q, force_q, force_v;  // nv x nv; force = G^T lambda + K^T mu - Q
  Vec G;                          // rows x nv
  // Of -Q against accelerations, on vv(), and against multipliers, on Equations::vl(); empty unless forces see them.
  Vec force_a, force_lambda;
  Vec K_q;                                 // k_q N of the rows at velocity level, rows x nv; empty if there are none
  Vec Gv_q, Ga_q, gamma_q, gamma_v;        // rows x nv; g'' or k' = G a - gamma
  Vec force_t, g_t, gamma, gamma_t, Ga_t;  // force_t holds G_t^T lambda - Q_t
};

// Of the states x of (5), x' = f(t, q, v, x), and a and lambda where they are seen; few beside the coordinates, so
// dense.
struct StatePartials {
  Mat rate_q, rate_v, rate_x;  // of f; nx x nv, nx x nv, nx x nx; q against increments of retract, v fixed
  Mat rate_u;                  // nx x nu
  Mat rate_a, rate_lambda;     // nx x nv, nx x rows; empty unless accelerations or reactions are seen
  Vec rate_t;
  Mat force_x;  // nv x nx; of -Q

  void visit(Archive& archive) { archive(rate_q, rate_v, rate_x, rate_u, rate_a, rate_lambda, rate_t, force_x); }
};

}  // namespace trammel
