#include "trammel/integrate/corrector.h"

#include <cmath>

#include "trammel/integrate/count_factors.h"

namespace trammel {

Corrector::Corrector(const Equations& equations, const Options& options, Counts& counts)
    : equations_(equations),
      options_(options),
      counts_(counts),
      nv_(equations.sizes().nv),
      ng_(equations.sizes().multipliers()),
      nx_(equations.sizes().nx),
      saddle_(equations),
      slack_(options.stabilised ? std::make_unique<PositionSlack>(equations) : nullptr),
      partials_(equations.make_partials(options.stabilised ? Detail::all : Detail::newton)),
      coupling_(equations),
      residual_(equations.make_residual()),
      gdot_(Vec::Zero(ng_)),
      z_(Vec::Zero(nv_ + ng_)),
      unregularised_(z_),
      softness_(gdot_) {}

Verdict Corrector::linearise(const State& state, const Rates& rates, Workspace& work) {
  const Detail detail = slack_ ? Detail::all : Detail::newton;
  if (equations_.linearise(state, rates, detail, partials_, work) != Eval::ok) return Verdict::evaluation_rejected;
  if (nx_ > 0) equations_.linearise_states(state, state_partials_, work, &rates);
  ++counts_.linearisations;
  return Verdict::ok;
}

Verdict Corrector::factor(const StageWeights& w, const std::vector<Mat3>* T) {
  const Blend::Rows rows = slack_ ? Blend::Rows::velocity : Blend::Rows::own;
  saddle_.combine(partials_, {w.acceleration, w.position, w.position, w.velocity, w.position_by_velocity, rows}, T);
  ++counts_.combinations;
  bool good = count_factors(saddle_, counts_);
  if (good && slack_) good = slack_->factor(partials_, T, counts_);
  if (good && nx_ > 0) {
    couple_states(w, T);
    good = coupling_.prepare(saddle_);
  }
  if (good) return Verdict::ok;
  return std::isfinite(saddle_.values().sum()) ? Verdict::singular_matrix : Verdict::not_finite;
}

void Corrector::couple_states(const StageWeights& w, const std::vector<Mat3>* T) {
  coupling_.B = state_partials_.force_x;
  auto C = coupling_.C.leftCols(nv_);
  C = (-w.state * w.position) * state_partials_.rate_q;
  const std::vector<int>& rotations = equations_.rotation_columns();
  for (std::size_t i = 0; i < rotations.size() && T != nullptr; ++i)
    C.middleCols<3>(rotations[i]) = (C.middleCols<3>(rotations[i]) * (*T)[i]).eval();
  C -= (w.state * w.velocity) * state_partials_.rate_v;
  if (equations_.sees_rates()) {
    C -= (w.state * w.acceleration) * state_partials_.rate_a;
    coupling_.C.rightCols(ng_) = -w.state * state_partials_.rate_lambda;
  }
  coupling_.D.setIdentity();
  coupling_.D -= w.state * state_partials_.rate_x;
}

bool Corrector::evaluate(const State& state, Rates& rates, Workspace& work) {
  ++counts_.evaluations;
  if (equations_.residual(state, rates, everything, residual_, work) != Eval::ok) return false;
  if (slack_) equations_.velocity_residual(state, gdot_, work);
  return nx_ == 0 || equations_.state_rates(state, rates.xdot, work, &rates) == Eval::ok;
}

void Corrector::solve(const StageWeights& weights, const Vec& lambda, Vec& states) {
  z_.head(nv_) = -(residual_.inertia + residual_.force);
  if (slack_) {
    z_.tail(ng_) = gdot_ * -weights.velocity_rows;
  } else {
    z_.tail(ng_) = residual_.g * -weights.position_rows;
    for (const int row : equations_.velocity_rows()) z_[nv_ + row] = residual_.g[row] * -weights.velocity_rows;
  }
  if (misfits()) saddle_.project_right_side(z_.tail(ng_));
  unregularised_ = z_;
  // solves for the multipliers themselves: no memory of their null part
  softness_ = saddle_.E().cwiseProduct(lambda);
  z_.tail(ng_) += softness_;
  saddle_.solve(z_);
  // -E would leave E lambda w_v of g', or E lambda w_q of g, which the next step, if it is a small one, would take for
  // an acceleration
  if (slack_ || weights.position * equations_.size_of_rows(softness_) > 1e-3 * options_.tolerance * equations_.length())
    saddle_.refine(unregularised_, z_);
  ++counts_.solves;
  ++counts_.newton_iterations;
  if (nx_ > 0) coupling_.solve(z_, states);
}

void Corrector::solve(Vec& z, Vec& states) {
  saddle_.solve(z);
  ++counts_.solves;
  if (nx_ > 0) coupling_.solve(z, states);
}

void Corrector::blame(Attempt& result) const {
  if (!z_.allFinite() || !residual_.force.allFinite()) result.verdict = Verdict::not_finite;
  if (nv_ > 0) z_.head(nv_).cwiseAbs().maxCoeff(&result.worst_velocity);
  if (ng_ > 0) residual_.g.cwiseAbs().maxCoeff(&result.worst_row);
}

void Corrector::visit(Archive& archive) {
  equations_.visit_pattern(archive, partials_.vv);
  archive(partials_.M, partials_.Ma_q, partials_.force_q, partials_.force_v, partials_.force_a, partials_.force_lambda,
          partials_.G, partials_.K_q, partials_.Gv_q, state_partials_, saddle_);
  coupling_.visit(archive, saddle_);
  if (slack_) archive(*slack_);
}

long Corrector::memory_bytes() const {
  long doubles = 4L * (nv_ + ng_) + 2L * nv_ + 3L * ng_;
  for (const Vec* v : {&partials_.M, &partials_.Ma_q, &partials_.force_q, &partials_.force_v, &partials_.G,
                       &partials_.Gv_q, &partials_.Ga_q, &partials_.gamma_q, &partials_.gamma_v})
    doubles += v->size();
  return 8 * doubles + saddle_.memory_bytes() + (slack_ ? slack_->memory_bytes() : 0);
}

}  // namespace trammel
