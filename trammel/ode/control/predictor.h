// Start values for Newton by extrapolation: Newton's divided differences of the last accepted values, degree 0 to 3,
// evaluated by Horner's scheme (HHT section 3.5). The degree is the one that would have predicted the last step best:
// with D_k the divided differences after a new value, the degree-k polynomial had missed it by |D_{k+1}| prod (t -
// t_i).
#pragma once
#include <array>

#include "trammel/base/archive.h"

namespace trammel {

class Predictor {
 public:
  static constexpr int most = 3;

  // Values of `size` numbers, of which the first `judged` decide the degree, weighed by 1/scales.
  void resize(int size, int judged);
  void set_limit(int degree) { limit_ = degree; }
  void clear() { points_ = 0; }
  int degree() const { return degree_; }
  bool empty() const { return points_ == 0; }

  void add(double t, const Vec& value, const Vec& scales);
  // Value at t; `degree()` was chosen by the last `add`.
  void predict(double t, Vec& out) const;

  void visit(Archive& archive);

 private:
  int limit_ = most, degree_ = 0, points_ = 0, judged_ = 0;
  std::array<double, most + 1> time_{};  // newest first
  std::array<Vec, most + 1> D_;          // divided differences of order 0..3 at the newest point
};

}  // namespace trammel
