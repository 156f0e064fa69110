// First guesses for the inputs of a macro step from those of the steps before: polynomials through consecutive points,
// or, where inputs alternate from step to step, separately through the even and the odd ones (the envelopes of the
// oscillation).
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "trammel/base/archive.h"
#include "trammel/couple/input_shape.h"

namespace trammel {

enum class Prediction { consecutive, envelope, automatic };

class InputPredictor {
 public:
  InputPredictor() = default;
  // `rows` numbers for each coefficient of the shape.
  InputPredictor(InputShape shape, int rows, int degree, Prediction prediction);

  // Coefficients one after the other, `rows` numbers each.
  void guess(double t, double H, Vec& out);
  void accept(double t, double H, const Vec& inputs);
  bool alternating() const { return alternating_; }
  void visit(Archive& archive);

 private:
  void extrapolate(double t, double H, int stride, Vec& out) const;
  int points_apart(bool envelope) const;

  InputShape shape_ = InputShape::constant;
  int rows_ = 0, degree_ = 3;
  Prediction prediction_ = Prediction::automatic;
  // All coefficients of all steps in order of time, the newest last; as many as an extrapolation may need.
  std::vector<double> times_;
  std::vector<Vec> points_;
  Vec straight_, split_;                       // the two guesses for the present step
  double straight_miss_ = 0, split_miss_ = 0;  // running means of how far they were off
  bool alternating_ = false;
};

}  // namespace trammel
