// What keeps positions on g = 0 in the stabilised form of index 2 (Gear, Gupta, Leimkuhler): the velocity u of the
// positions differs from v by a slack s = u - v,
//
//   M s + G^T eta = 0,   [ M    G^T ] [ ds   ]   [ -(M s + G^T eta)                      ]
//                        [ G T  -E  ] [ deta ] = [ right - ratio G T dv + E eta          ]
//
// with the rows of (3) at position level. G is that of the last linearisation: eta vanishes for the exact solution, any
// G near by serves.
#pragma once
#include "trammel/base/archive.h"
#include "trammel/equations/saddle.h"
#include "trammel/integrate/count_factors.h"

namespace trammel {

class PositionSlack {
 public:
  explicit PositionSlack(const Equations& equations)
      : equations_(equations),
        saddle_(equations),
        nv_(saddle_.velocities()),
        ng_(saddle_.multipliers()),
        eta_(Vec::Zero(ng_)),
        sum_(Vec::Zero(nv_ + ng_)),
        right_(sum_),
        zero_(sum_),
        out_(sum_) {}

  bool factor(const Partials& partials, const std::vector<Mat3>* T, Counts& counts) {
    saddle_.combine(partials, {1, 0, 0, 0, 0, Blend::Rows::position, false}, T);
    return count_factors(saddle_, counts);
  }
  void begin_step() { eta_.setZero(); }
  Vec& eta() { return eta_; }
  // ds, from the present s, the change of v that was just made, and what is left of g.
  Eigen::Ref<const Vec> solve(const Vec& slack, const Eigen::Ref<const Vec>& dv, double ratio, const Vec& g,
                              double scale, bool misfits) {
    sum_ << slack, eta_;
    saddle_.residual(zero_, sum_, out_);
    right_.head(nv_).setZero();
    right_.tail(ng_) = scale * g;
    for (const int row : equations_.velocity_rows()) right_[nv_ + row] = 0;
    sum_.head(nv_) = ratio * dv;
    sum_.tail(ng_).setZero();
    const auto head = out_.head(nv_);
    right_.head(nv_) = head;
    saddle_.residual(right_, sum_, out_);
    out_.head(nv_) = right_.head(nv_);
    if (misfits) saddle_.project_right_side(out_.tail(ng_));
    out_.tail(ng_) += saddle_.E().cwiseProduct(eta_);
    saddle_.solve(out_);
    eta_ += out_.tail(ng_);
    return out_.head(nv_);
  }
  long memory_bytes() const { return saddle_.memory_bytes() + 8L * (4 * (nv_ + ng_) + ng_); }
  void visit(Archive& archive) { archive(saddle_); }

 private:
  const Equations& equations_;
  SaddleSystem saddle_;
  int nv_, ng_;
  Vec eta_, sum_, right_, zero_, out_;
};

}  // namespace trammel
