// What elements see of the mechanism: frames. A frame is a place on a body; its motion is described in world axes by
// a pose (p, R) and a twist (v, w). Elements return derivatives against small motions of the frame (dp, dphi), R <-
// exp(dphi~) R, and against its twist; the assembly turns them into derivatives against the coordinates of the bodies.
#pragma once
#include <string>
#include <vector>

#include "trammel/base/archive.h"

namespace trammel {

struct FrameState {
  Vec3 p;  // origin
  Mat3 R;  // columns: the frame's axes
  Vec3 v;  // velocity of the origin
  Vec3 w;  // angular velocity

  void visit(Archive& archive) { archive(p, R, v, w); }
};

// How much of a frame an element looks at and acts on: its origin, also the direction of its z axis, or all of it.
enum class FrameNeed { point, z_axis, orientation };

// Where an element is evaluated. `memory` holds what the element remembers between accepted steps (total angles),
// `signals` the model's external inputs, states and variables.
struct ElementInput {
  double t = 0;
  const FrameState* frames = nullptr;
  const double* memory = nullptr;
  const double* signals = nullptr;
  // Derivatives "in time" are taken against this signal instead; signals enter through expressions only.
  int by_signal = -1;
  const double* held = nullptr;  // multipliers of the rows that the element holds in some modes; null: not known
};

// A number of an element that changes its sign where its law has a corner or a jump.
struct SwitchInfo {
  std::string name;        // "upper stop"
  bool timed = false;      // depends on time alone
  bool strikes = false;    // where it becomes negative, bodies strike each other: velocities jump
  bool ends_mode = false;  // where it becomes negative, the element changes its mode
  // If it depends on these signals, and `timed` says on time, and on nothing else: a function of time if they are.
  std::vector<int> signals{};
};

constexpr int max_rows = 6;    // of one constraint
constexpr int max_frames = 8;  // of one element

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, max_rows, 6 * max_frames>;
using FrameMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6 * max_frames, 6 * max_frames>;
using RowVector = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, max_rows, 1>;
using FrameVector = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 6 * max_frames, 1>;

}  // namespace trammel
