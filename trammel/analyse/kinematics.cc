#include "trammel/analyse/kinematics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "trammel/analyse/statics.h"
#include "trammel/rank/reduction.h"

namespace trammel {
namespace {

constexpr int most_for_pivots = 600;     // velocities up to which every output is checked for lost rank
constexpr double singular_pivot = 1e-6;  // far below what a step away from a singular position has

std::string kinematic_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

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

KinematicReport run_kinematics(const Equations& equations, State& state, Rates& rates,
                               AccelerationSolver& accelerations, const InitialReport& initial, Workspace& work,
                               const KinematicOptions& options,
                               const std::function<void(const State&, const Rates&)>& each) {
  const int nv = equations.sizes().nv, rows = equations.sizes().multipliers();
  const double length = equations.length();
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
  if (left > 0) {
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

  KinematicReport report;
  Partials partials = equations.make_partials(Detail::projection);
  const Vec scales = equations.scales();
  const std::vector<bool> none(static_cast<std::size_t>(nv), false);
  const double first = state.t;
  Vec delta(nv), gdot(rows);
  const auto watch = [&] {
    if (nv > most_for_pivots || rows == 0) return;
    equations.jacobian(state, partials, work);
    double pivot = 1;
    const Mat null = scaled_null_space(equations.gv().dense(partials.G), scales, singular_pivot, &pivot);
    if (null.cols() > 0) pivot = 0;
    if (pivot < report.worst_pivot) {
      report.worst_pivot = pivot;
      report.worst_time = state.t;
    }
    if (null.cols() > 0) {
      SingularPosition here{state.t, pivot, {}};
      here.parts = moving_parts(equations, scales.asDiagonal() * null.col(0));
      report.singular.push_back(here);
    }
  };
  const auto output = [&] {
    watch();
    each(state, rates);
    ++report.outputs;
    report.reached = state.t;
  };
  output();

  double h = options.output_step;
  for (long k = 1;; ++k) {
    const double target = std::min(options.end, first + static_cast<double>(k) * options.output_step);
    if (target <= state.t) break;
    while (state.t < target) {
      double step = std::min(h, target - state.t);
      if (target - state.t - step < 1e-9 * options.output_step) step = target - state.t;
      State next = state;
      next.t = step == target - state.t ? target : state.t + step;
      delta = step * state.v + 0.5 * step * step * rates.a;
      const double move = delta.cwiseQuotient(scales).lpNorm<Eigen::Infinity>();
      bool fine = move < 0.5;  // a quarter turn would lose count of angles
      StageReport positions, velocities;
      double correction = 0;
      if (fine) {
        equations.retract(state.q, delta, next.q);
        const Vec predicted = next.q;
        positions = assemble_positions(equations, next, accelerations.saddle(), work, none);
        Vec change(nv);
        equations.local(predicted, next.q, change);
        correction = change.cwiseQuotient(scales).lpNorm<Eigen::Infinity>();
        // The prediction errs by the third derivative: a correction like the motion itself means another branch.
        fine = positions.after <= std::max(1e-10 * length, 2 * initial.misfit) &&
               correction <= std::max(1e-3, 0.25 * move);
      }
      if (fine) {
        velocities = assemble_velocities(equations, next, accelerations.saddle(), work, none);
        fine = velocities.after <= 1e-8 * std::max(1.0, velocities.before) && std::isfinite(next.v.sum());
      }
      Rates next_rates = rates;
      fine = fine && accelerations.solve(next, next_rates, work);
      if (fine) {
        equations.accept(next, work);
        state = next;
        rates = next_rates;
        h = std::min(options.output_step, 2 * step);
        ++report.steps;
        report.iterations += positions.iterations;
        report.largest_correction = std::max(report.largest_correction, correction);
        continue;
      }
      h = step / 2;
      if (h > options.least_step * options.output_step) continue;
      // Out of reach: what cannot be satisfied, and what moves infinitely fast there.
      Residual residual = equations.make_residual();
      next = state;
      next.t = state.t + options.output_step;
      equations.residual(next, rates, joints, residual, work);
      report.constraint = worst_row(equations, residual.g);
      const std::vector<std::string> fast = moving_parts(equations, state.v, 1);
      report.body = fast.empty() ? "" : fast[0];
      watch();
      report.why = "the motions demand what the joints do not allow beyond t = " + kinematic_number(state.t) +
                   " s: a dead point or the end of the mechanism's reach" +
                   (report.body.empty() ? "" : "; " + report.body + " moves fastest there");
      return report;
    }
    output();
    if (target >= options.end) break;
  }
  report.finished = true;
  return report;
}

}  // namespace trammel
