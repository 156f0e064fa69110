#include "trammel/analyse/kinematics.h"

#include <algorithm>
#include <cmath>

#include "trammel/analyse/statics.h"
#include "trammel/base/numbers.h"
#include "trammel/rank/reduction.h"

namespace trammel {
namespace {

constexpr int most_for_pivots = 600;     // velocities up to which every output is checked for lost rank
constexpr double singular_pivot = 1e-6;  // far below what a step away from a singular position has

// The worst of the rows of `values`, by the name of its constraint.
std::string worst_row(const Equations& equations, const Vec& values) {
  if (values.size() == 0) return "";
  Eigen::Index at = 0;
  values.cwiseAbs().maxCoeff(&at);
  return equations.name_of_row(static_cast<int>(at));
}

}  // namespace

std::vector<std::vector<std::string>> free_motions(const Equations& equations, const State& state, Workspace& work) {
  std::vector<std::vector<std::string>> out;
  if (equations.sizes().nv > 1200) return out;
  Partials partials = equations.make_partials(Detail::projection);
  equations.jacobian(state, partials, work);
  const Reduction free = reduce_rows(equations.gv().dense(partials.G), equations.scales());
  for (Eigen::Index k = 0; k < free.basis.cols(); ++k) out.push_back(moving_parts(equations, free.basis.col(k)));
  return out;
}

namespace {

void refuse_what_is_not_kinematic(const Equations& equations, const State& state, const InitialReport& initial,
                                  Workspace& work) {
  if (equations.sizes().nx > 0) {
    throw Failure({Severity::error, "states-in-kinematics",
                   "states have a history: a kinematic analysis, which takes each instant by itself, cannot give it",
                   "simulate the model with `trammel run`", equations.model().states[0].where},
                  ExitCode::bad_model);
  }
  if (equations.sizes().nk > 0) {
    throw Failure({Severity::error,
                   "not-kinematic",
                   "a kinematic analysis needs conditions on positions; " +
                       equations.name_of_row(equations.velocity_rows()[0]) + " binds velocities only",
                   "simulate the model with `trammel run`",
                   {}},
                  ExitCode::bad_model);
  }
  const int left = initial.rank.freedoms_by_rank - initial.permanence.momentary_first;
  if (left <= 0) return;
  std::string parts;
  const auto motions = free_motions(equations, state, work);
  for (std::size_t k = 0; k < motions.size() && k < 4; ++k) {
    parts += k == 0 ? ": " : "; ";
    for (std::size_t i = 0; i < motions[k].size() && i < 2; ++i) parts += (i > 0 ? ", " : "") + motions[k][i];
  }
  throw Failure({Severity::error,
                 "not-driven",
                 "the mechanism keeps " + std::to_string(left) + (left == 1 ? " degree" : " degrees") +
                     " of freedom that no motion drives" + parts,
                 "add a motion for each, or simulate the model with `trammel run`",
                 {}},
                ExitCode::bad_model);
}

// Follows the motions from output to output; `state` and `rates` are where it has come to.
class KinematicRun {
 public:
  KinematicRun(const Equations& equations, State& state, Rates& rates, AccelerationSolver& accelerations, double misfit,
               Workspace& work, const KinematicOptions& options,
               const std::function<void(const State&, const Rates&)>& each)
      : equations_(equations),
        state_(state),
        rates_(rates),
        accelerations_(accelerations),
        misfit_(misfit),
        work_(work),
        options_(options),
        each_(each),
        partials_(equations.make_partials(Detail::projection)),
        scales_(equations.scales()),
        none_(equations.sizes().nv, false),
        h_(options.output_step) {}

  KinematicReport run() {
    output();
    const double first = state_.t;
    for (long k = 1;; ++k) {
      const double target = std::min(options_.end, first + static_cast<double>(k) * options_.output_step);
      if (target <= state_.t) break;
      if (!follow_to(target)) return std::move(report_);
      output();
      if (target >= options_.end) break;
    }
    report_.finished = true;
    return std::move(report_);
  }

 private:
  // How near a singular position is.
  void watch() {
    if (equations_.sizes().nv > most_for_pivots || equations_.sizes().multipliers() == 0) return;
    equations_.jacobian(state_, partials_, work_);
    double pivot = 1;
    const Mat null = scaled_null_space(equations_.gv().dense(partials_.G), scales_, singular_pivot, &pivot);
    if (null.cols() > 0) pivot = 0;
    if (pivot < report_.worst_pivot) {
      report_.worst_pivot = pivot;
      report_.worst_time = state_.t;
    }
    if (null.cols() > 0) {
      SingularPosition here{state_.t, pivot, {}};
      here.parts = moving_parts(equations_, scales_.asDiagonal() * null.col(0));
      report_.singular.push_back(here);
    }
  }

  void output() {
    watch();
    each_(state_, rates_);
    ++report_.outputs;
    report_.reached = state_.t;
  }

  // Steps are halved where the next position is not found; false: nowhere beyond here.
  bool follow_to(double target) {
    while (state_.t < target) {
      double step = std::min(h_, target - state_.t);
      if (target - state_.t - step < 1e-9 * options_.output_step) step = target - state_.t;
      if (advance(step, target)) {
        h_ = std::min(options_.output_step, 2 * step);
        continue;
      }
      h_ = step / 2;
      if (h_ > options_.least_step * options_.output_step) continue;
      explain_end();
      return false;
    }
    return true;
  }

  bool advance(double step, double target) {
    State next = state_;
    next.t = step == target - state_.t ? target : state_.t + step;
    const Vec delta = step * state_.v + 0.5 * step * step * rates_.a;
    const double move = delta.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>();
    if (!(move < 0.5)) return false;  // a quarter turn would lose count of angles
    equations_.retract(state_.q, delta, next.q);
    const Vec predicted = next.q;
    const StageReport positions = assemble_positions(equations_, next, accelerations_.saddle(), work_, none_);
    Vec change(delta.size());
    equations_.local(predicted, next.q, change);
    const double correction = change.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>();
    // The prediction errs by the third derivative: a correction like the motion itself means another branch.
    if (!(positions.after <= std::max(1e-10 * equations_.length(), 2 * misfit_)) ||
        !(correction <= std::max(1e-3, 0.25 * move)))
      return false;
    const StageReport velocities = assemble_velocities(equations_, next, accelerations_.saddle(), work_, none_);
    if (!(velocities.after <= 1e-8 * std::max(1.0, velocities.before)) || !std::isfinite(next.v.sum())) return false;
    Rates next_rates = rates_;
    if (!accelerations_.solve(next, next_rates, work_)) return false;
    equations_.accept(next, work_);
    state_ = next;
    rates_ = next_rates;
    ++report_.steps;
    report_.iterations += positions.iterations;
    report_.largest_correction = std::max(report_.largest_correction, correction);
    return true;
  }

  // Out of reach: what cannot be satisfied, and what moves infinitely fast there.
  void explain_end() {
    Residual residual = equations_.make_residual();
    State next = state_;
    next.t = state_.t + options_.output_step;
    equations_.residual(next, rates_, joints, residual, work_);
    report_.constraint = worst_row(equations_, residual.g);
    const std::vector<std::string> fast = moving_parts(equations_, state_.v, 1);
    report_.body = fast.empty() ? "" : fast[0];
    watch();
    report_.why = "the motions demand what the joints do not allow beyond t = " + digits(state_.t) +
                  " s: a dead point or the end of the mechanism's reach" +
                  (report_.body.empty() ? "" : "; " + report_.body + " moves fastest there");
  }

  const Equations& equations_;
  State& state_;
  Rates& rates_;
  AccelerationSolver& accelerations_;
  double misfit_;  // of loops that do not close, m
  Workspace& work_;
  const KinematicOptions& options_;
  const std::function<void(const State&, const Rates&)>& each_;
  Partials partials_;
  Vec scales_;
  std::vector<bool> none_;
  double h_;
  KinematicReport report_;
};

}  // namespace

KinematicReport run_kinematics(const Equations& equations, State& state, Rates& rates,
                               AccelerationSolver& accelerations, const InitialReport& initial, Workspace& work,
                               const KinematicOptions& options,
                               const std::function<void(const State&, const Rates&)>& each) {
  refuse_what_is_not_kinematic(equations, state, initial, work);
  return KinematicRun(equations, state, rates, accelerations, initial.misfit, work, options, each).run();
}

}  // namespace trammel
