// Dense matrices of one element on bodies that are not all rigid, against the velocities of its bodies: as many columns
// as each has. Kept in the workspace, so that a step allocates nothing.
#pragma once
#include "trammel/elements/body.h"

namespace trammel {

struct WideMatrices {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  std::array<FramePartials, max_frames> frames;
  Rows G, Gv_q, Ga_q, gamma_q, gamma_v;  // of a constraint
  RowVector g_t, gamma, gamma_t, Ga_t;
  Mat force_q, force_v;  // of C^T lambda, or of a force's wrenches
  Vec force_t;
  FramePartials::Matrix product;  // scratch
};

}  // namespace trammel
