// Steps that are made once, for participants that cannot repeat them: Jacobi, all side by side, and Gauss-Seidel, one
// after the other in the order of the file.
//
// Of the two participants of a joint the earlier one gets the reaction as it is extrapolated from the steps before, and
// the later one is given what it needs to follow the earlier one's motion, by its compliance W_late and its own motion
// so far. Gauss-Seidel knows the earlier one's motion; Jacobi extrapolates it. With reactions held over a step
//
//   W_late lambda_{k+1} = b - W_early lambda_k,      gain = spectral radius of W_late^-1 W_early
//
// so that errors of reactions grow without bound, at any step size, where the gain is above 1: a light participant that
// follows a heavy one is stable, a heavy one that follows a light one is not. Errors that alternate are extrapolated to
// 3 times and 7 times their size by polynomials of degree 1 and 2.
#pragma once
#include <span>

#include "trammel/couple/gluing.h"
#include "trammel/couple/scheme.h"

namespace trammel {

// The gain above which errors grow: 1, 1/3, 1/7 for Gauss-Seidel; for Jacobi, whose participants see each other's
// motion a step late, 0.204, 0.071 and 0.0145, found by bisection on two masses.
double one_pass_limit(Passes passes, int degree);

class OnePass {
 public:
  OnePass() = default;
  // `degree` of the extrapolation of motions.
  OnePass(const std::vector<InterfaceFrame>& frames, const Gluing& gluing, int participants, int degree);

  // The rows that a participant has to meet; the others it has a part in come extrapolated.
  const std::vector<int>& rows_of(int participant) const { return own_rows_[participant]; }
  int later(int row) const { return later_[row]; }
  int earlier(int row) const { return earlier_[row]; }
  // W = B^T A B of the frames of one participant.
  Mat own_compliance(int participant, const Mat& A, const Mat& B) const;
  double gain(const Mat& A, const Mat& B) const;

  // Where a frame will be after the part s of the step of size H from t if its accelerations go on as they did, those
  // by wrenches not counted; `wrenches`: 6 numbers for each coefficient of the shape, times A, to be added.
  FrameState with_wrenches(int frame, const FrameState& now, double t, double H, double s, InputShape shape,
                           const std::vector<Vec6>& accelerations) const;
  // The same with all that acted on it.
  FrameState as_it_moves(int frame, const FrameState& now, double t, double H, double s) const;
  // A step was made. `by_wrenches`: mean accelerations by the wrenches on the frames, 6 a frame.
  void accept(double t, double H, const std::vector<FrameState>& before, const std::vector<FrameState>& after,
              const Vec& by_wrenches);
  void visit(Archive& archive);

 private:
  Vec6 extrapolate(const std::vector<Vec>& history, int frame, double t) const;
  FrameState move(const std::vector<Vec>& history, int frame, const FrameState& now, double t, double H, double s,
                  InputShape shape, const std::vector<Vec6>* accelerations) const;

  std::vector<int> frame_owner_, later_, earlier_;
  std::vector<std::vector<int>> own_rows_;
  std::size_t degree_ = 0;
  // Mean accelerations of the frames over the last steps, the newest last, and the middles of these steps.
  std::vector<double> times_;
  std::vector<Vec> total_, free_;
};

}  // namespace trammel
