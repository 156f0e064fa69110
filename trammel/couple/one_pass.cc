#include "trammel/couple/one_pass.h"

#include <Eigen/QR>
#include <algorithm>

#include "trammel/base/archive.h"
#include "trammel/linalg/eigenvalues.h"

namespace trammel {

double one_pass_limit(Passes passes, int degree) {
  static constexpr double gauss_seidel[] = {1, 1.0 / 3, 1.0 / 7}, jacobi[] = {0.204, 0.071, 0.0145};
  return passes == Passes::jacobi ? jacobi[degree] : gauss_seidel[degree];
}

OnePass::OnePass(const std::vector<InterfaceFrame>& frames, const Gluing& gluing, int participants, int degree)
    : later_(static_cast<std::size_t>(gluing.rows())),
      earlier_(later_),
      own_rows_(static_cast<std::size_t>(participants)),
      degree_(static_cast<std::size_t>(degree)) {
  for (const InterfaceFrame& frame : frames) frame_owner_.push_back(frame.participant);
  for (std::size_t j = 0; j < gluing.joints().size(); ++j) {
    const std::vector<int>& on = gluing.joints()[j].frames;
    const int a = frame_owner_[on[0]], b = frame_owner_[on[1]];
    const Gluing::Rows rows = gluing.rows_of(static_cast<int>(j));
    for (int r = rows.first; r < rows.first + rows.count; ++r) {
      later_[r] = std::max(a, b);
      earlier_[r] = std::min(a, b);
      own_rows_[std::max(a, b)].push_back(r);
    }
  }
}

Mat OnePass::own_compliance(int participant, const Mat& A, const Mat& B) const {
  Mat own = B;
  for (std::size_t f = 0; f < frame_owner_.size(); ++f) {
    if (frame_owner_[f] != participant) own.middleRows<6>(6 * static_cast<Eigen::Index>(f)).setZero();
  }
  return own.transpose() * A * own;
}

// Every participant feels the reaction found in this step on the rows that it has to meet, that of the last step on the
// others:  now lambda_{k+1} + before lambda_k = b.
double OnePass::gain(const Mat& A, const Mat& B) const {
  const auto m = static_cast<Eigen::Index>(later_.size());
  Mat now = Mat::Zero(m, m), before = now;
  for (int p = 0; p < static_cast<int>(own_rows_.size()); ++p) {
    const Mat W = own_compliance(p, A, B);
    for (Eigen::Index r = 0; r < m; ++r) {
      for (Eigen::Index s = 0; s < m; ++s) (later(static_cast<int>(s)) == p ? now : before)(r, s) += W(r, s);
    }
  }
  return general_eigenvalues(now.completeOrthogonalDecomposition().solve(before)).cwiseAbs().maxCoeff();
}

Vec6 OnePass::extrapolate(const std::vector<Vec>& history, int frame, double t) const {
  Vec6 out = Vec6::Zero();
  for (std::size_t i = 0; i < history.size(); ++i) {
    double weight = 1;
    for (std::size_t k = 0; k < history.size(); ++k) {
      if (k != i) weight *= (t - times_[k]) / (times_[i] - times_[k]);
    }
    out += weight * history[i].segment<6>(6 * frame);
  }
  return out;
}

FrameState OnePass::move(const std::vector<Vec>& history, int frame, const FrameState& now, double t, double H,
                         double s, InputShape shape, const std::vector<Vec6>* accelerations) const {
  Vec6 velocity = Vec6::Zero(), path;
  path << s * H * now.v, s * H * now.w;
  // A polynomial up to the second degree, by its values at 0, 1/2 and 1.
  const InputShapeInfo& nodes = info(InputShape::quadratic);
  for (int j = 0; j < nodes.count; ++j) {
    const Vec6 a = extrapolate(history, frame, t + nodes.nodes[j] * H);
    velocity += H * first_moment(nodes.shape, j, s) * a;
    path += H * H * second_moment(nodes.shape, j, s) * a;
  }
  for (std::size_t j = 0; accelerations != nullptr && j < accelerations->size(); ++j) {
    velocity += H * first_moment(shape, static_cast<int>(j), s) * (*accelerations)[j];
    path += H * H * second_moment(shape, static_cast<int>(j), s) * (*accelerations)[j];
  }
  FrameState out = now;
  out.p += path.head<3>();
  out.v += velocity.head<3>();
  out.w += velocity.tail<3>();
  const double angle = path.tail<3>().norm();
  if (angle > 0) out.R = Eigen::AngleAxisd(angle, path.tail<3>() / angle) * now.R;
  return out;
}

FrameState OnePass::with_wrenches(int frame, const FrameState& now, double t, double H, double s, InputShape shape,
                                  const std::vector<Vec6>& accelerations) const {
  return move(free_, frame, now, t, H, s, shape, &accelerations);
}

FrameState OnePass::as_it_moves(int frame, const FrameState& now, double t, double H, double s) const {
  return move(total_, frame, now, t, H, s, InputShape::constant, nullptr);
}

void OnePass::accept(double t, double H, const std::vector<FrameState>& before, const std::vector<FrameState>& after,
                     const Vec& by_wrenches) {
  Vec mean(6 * static_cast<Eigen::Index>(after.size()));
  for (std::size_t f = 0; f < after.size(); ++f)
    mean.segment<6>(6 * static_cast<Eigen::Index>(f)) << (after[f].v - before[f].v) / H, (after[f].w - before[f].w) / H;
  times_.push_back(t + 0.5 * H);
  total_.push_back(mean);
  free_.emplace_back(mean - by_wrenches);
  if (times_.size() > degree_ + 1) {
    times_.erase(times_.begin());
    total_.erase(total_.begin());
    free_.erase(free_.begin());
  }
}

void OnePass::visit(Archive& archive) {
  archive(times_, total_, free_);
  archive.expect(total_.size() == times_.size() && free_.size() == times_.size());
}

}  // namespace trammel
