// Reduction of a finite element model to a few modes: constraint modes of the interface nodes and the lowest modes with
// these held (R. R. Craig, M. C. C. Bampton, Coupling of Substructures for Dynamic Analyses, 1968), made orthogonal,
// and orthogonal to the six rigid motions, which are the body's own:
//
//   V = [ 1, 0 ; -K_ii^-1 K_ib, X_i ],   K_ii X_i = M_ii X_i diag(w_i^2)
//   Phi = V Q,   Q^T (V^T M V) Q = 1,   Q^T (V^T K V) Q = diag(w^2),   Z^T M Phi = 0
//
// Modes of a free body, in which S0 = 0 and S1 = 0: the point of reference stays the centre of mass. None of them is
// left out afterwards: together they hold the exact statics of the interface nodes.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "trammel/flexible/beam_frame.h"
#include "trammel/model/modal_data.h"

namespace trammel {

// Damping ratio of the modes below a frequency; beyond the last one the last ratio holds.
struct DampingBand {
  double ratio = 0, below = 0;  // 1, Hz
};

struct ReductionOptions {
  std::vector<int> interfaces;  // nodes of the frame
  int normal_modes = 0;         // with the interface nodes held; more if the last is one of equal ones
  std::vector<DampingBand> bands;
  std::vector<double> ratios;  // of the first modes, before bands; others have the last of them
};

struct Reduction {
  ModalData data;  // about the centre of mass
  Vec3 center = Vec3::Zero();
  Vec frequencies;       // of the free body, Hz
  int normal_modes = 0;  // as taken
  Mat shapes;            // of the modes, a column each, in all freedoms
};

// What is wrong with the numbers of a frame; its message names the cause.
struct ReductionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Reduction reduce(const BeamFrame& frame, const FiniteElements& elements, const ReductionOptions& options);

// The sums of modal_data.h over mass points; `shapes` are the modes, a column each, in all freedoms.
ModalData modal_data(const FiniteElements& elements, const Vec3& reference, const Mat& shapes);

}  // namespace trammel
