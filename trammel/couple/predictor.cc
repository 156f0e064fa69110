#include "trammel/couple/predictor.h"

#include <algorithm>

#include "trammel/base/archive.h"

namespace trammel {

InputPredictor::InputPredictor(InputShape shape, int rows, int degree, Prediction prediction)
    : shape_(shape), rows_(rows), degree_(degree), prediction_(prediction) {}

// Constants follow each other in time, so their consecutive points are neighbours; coefficients at the nodes of a
// polynomial continue those of the same node.
int InputPredictor::points_apart(bool envelope) const {
  const bool constants = shape_ == InputShape::constant || shape_ == InputShape::halves;
  return (constants ? 1 : info(shape_).count) * (envelope ? 2 : 1);
}

void InputPredictor::extrapolate(double t, double H, int stride, Vec& out) const {
  const InputShapeInfo& shape = info(shape_);
  const int count = shape.count, known = static_cast<int>(points_.size());
  out.setZero(rows_ * count);
  for (int j = 0; j < count; ++j) {
    // The newest known point a multiple of the stride before.
    int at = known + j - stride;
    while (at >= known) at -= stride;
    std::vector<int> from;
    for (; at >= 0 && static_cast<int>(from.size()) <= degree_; at -= stride) from.push_back(at);
    const double target = t + shape.nodes[j] * H;
    for (const int i : from) {
      double weight = 1;
      for (const int k : from) {
        if (k != i) weight *= (target - times_[k]) / (times_[i] - times_[k]);
      }
      out.segment(rows_ * j, rows_) += weight * points_[i];
    }
  }
}

void InputPredictor::guess(double t, double H, Vec& out) {
  extrapolate(t, H, points_apart(false), straight_);
  extrapolate(t, H, points_apart(true), split_);
  alternating_ = prediction_ == Prediction::envelope ||
                 (prediction_ == Prediction::automatic && split_miss_ < 0.5 * straight_miss_);
  out = alternating_ ? split_ : straight_;
}

void InputPredictor::accept(double t, double H, const Vec& inputs) {
  if (straight_.size() == inputs.size()) {
    straight_miss_ = 0.7 * straight_miss_ + (straight_ - inputs).norm();
    split_miss_ = 0.7 * split_miss_ + (split_ - inputs).norm();
  }
  const InputShapeInfo& shape = info(shape_);
  const auto most = static_cast<std::size_t>(points_apart(true) * (degree_ + 1) + shape.count);
  for (int j = 0; j < shape.count; ++j) {
    times_.push_back(t + shape.nodes[j] * H);
    points_.emplace_back(inputs.segment(rows_ * j, rows_));
  }
  // Even and odd stay what they are: pairs of steps leave together.
  const auto pair = static_cast<std::size_t>(2 * shape.count);
  if (points_.size() > most + pair) {
    times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(pair));
    points_.erase(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(pair));
  }
}

void InputPredictor::visit(Archive& archive) {
  archive(times_, points_, straight_miss_, split_miss_);
  archive.expect(points_.size() == times_.size());
}

}  // namespace trammel
