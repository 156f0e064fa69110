// The joints between participants. They are ordinary joints of a model whose bodies are the interface frames: residuals
// g and g', rows and wrenches come from the same elements as inside a model.
//
//   wrenches on frames  w = -C^T lambda        d(g'')/d(lambda) = -W,  W = C A C^T,  A: compliance of the frames
#pragma once
#include "trammel/equations/equations.h"

namespace trammel {

// A frame of a participant, by their places.
struct InterfaceFrame {
  int participant = 0, frame = 0;
  std::string name;  // "pendulum.tip"
};

class Gluing {
 public:
  // `joints` name frames by their index in `frames`. Throws Failure: a joint that needs more than two frames.
  Gluing(const std::vector<InterfaceFrame>& frames, const std::vector<FrameState>& at, const std::vector<Item>& joints);

  int rows() const { return static_cast<int>(active_.size()); }
  const std::vector<Item>& joints() const { return equations_.model().joints; }
  // Rows, of those in use.
  struct Rows {
    int first = 0, count = 0;
  };
  Rows rows_of(int joint) const { return rows_of_[joint]; }
  std::string row_name(int row) const { return equations_.name_of_row(active_[row]); }

  // Leaves out the rows that no participant can influence (W has no diagonal there): of planar bodies those out of
  // their plane. Returns their names.
  std::vector<std::string> drop_rows(const std::vector<FrameState>& frames, const Mat& compliance);

  // g, and g' if asked for.
  void residual(double t, const std::vector<FrameState>& frames, Vec& g, Vec* g_dot);
  // Wrenches on the frames, 6 a frame; lambda by active rows.
  void wrenches(double t, const std::vector<FrameState>& frames, const double* lambda, Vec& out);
  // Its matrix: w = B lambda.
  Mat wrench_matrix(double t, const std::vector<FrameState>& frames);
  // By small motions (p, phi) and (v, w) of the frames in world axes: dg = g_pose dpose, dg' = rate_pose dpose +
  // g_pose dtwist.
  void linearise(double t, const std::vector<FrameState>& frames, Mat& g_pose, Mat& rate_pose);
  // The turns of remembered angles.
  void accept(double t, const std::vector<FrameState>& frames);
  const std::vector<double>& memory() const { return state_.memory; }
  void set_memory(const std::vector<double>& memory) { state_.memory = memory; }

 private:
  void set_state(double t, const std::vector<FrameState>& frames);

  Equations equations_;
  Workspace work_;
  State state_;
  Rates rates_;
  Residual residual_;
  Partials partials_;
  Vec rate_;
  std::vector<int> active_;
  std::vector<Rows> rows_of_;
};

}  // namespace trammel
