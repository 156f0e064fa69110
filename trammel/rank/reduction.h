// The motions that constraints leave free, densely: independent coordinates chosen among those of the bodies, and the
// rest by them. World axes throughout: a small motion of a body is (displacement of its centre of mass, rotation
// vector), both in world axes, so that a rotor's whirl is described in the frame its bearings stand in.
//
//   dq = Z p,   G Z = 0,  Z on the chosen coordinates = 1            dv likewise with Y and [G; K]
#pragma once
#include <vector>

#include "trammel/equations/equations.h"

namespace trammel {

struct Reduction {
  std::vector<int> chosen;  // numbers of the independent velocities
  Mat basis;                // nv x n
  double worst_pivot = 1;   // of the rows of constraints, relative to the largest: small near a singular position
};

// Orthonormal basis of the null space of dense rows, columns divided by `scales`: G S null = 0.
Mat scaled_null_space(const Mat& rows, const Vec& scales, double tolerance = 1e-9, double* worst_pivot = nullptr);

// Null space of dense rows, `scales` the sizes of the columns' units (L and 1 rad).
Reduction reduce_rows(const Mat& rows, const Vec& scales, double tolerance = 1e-9);

// T with dq_engine = T dq_world: transposed rotations of spatial bodies on their rotation columns, else 1. In place on
// columns (m := m T) and on vectors.
void columns_to_world(const Equations& equations, const Workspace& work, Mat& m);
Vec to_world(const Equations& equations, const Workspace& work, const Vec& engine);
Vec from_world(const Equations& equations, const Workspace& work, const Vec& world);

}  // namespace trammel
