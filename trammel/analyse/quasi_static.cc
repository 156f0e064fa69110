#include "trammel/analyse/quasi_static.h"

#include <algorithm>
#include <cmath>

#include "trammel/base/numbers.h"
#include "trammel/initial/consistent.h"

namespace trammel {

QuasiStaticReport run_quasi_static(const Equations& equations, State& state, Rates& rates, Workspace& work,
                                   const QuasiStaticOptions& options,
                                   const std::function<void(const State&, const Rates&)>& each) {
  QuasiStaticReport report;
  StaticSolver solver(equations);
  SaddleSystem saddle(equations, 1e-8, SaddleSystem::Keep::factors_only);
  const int nv = equations.sizes().nv;
  const Vec scales = equations.scales();
  const std::vector<bool> none(static_cast<std::size_t>(nv), false);
  const double first = state.t, grid = (options.end - first) / std::max(1, options.outputs);
  const auto output = [&](const StaticReport& at) {
    each(state, rates);
    ++report.outputs;
    report.reached = state.t;
    report.largest_residual = std::max(report.largest_residual, at.residual);
  };
  report.first = report.last = solver.solve(state, rates, work, options.statics);
  report.iterations += report.first.iterations;
  if (!report.first.found) {
    report.why = "there is no equilibrium at the start: " + report.first.why;
    return report;
  }
  output(report.first);

  StaticOptions along = options.statics;  // neighbours: stability is judged at the ends only
  along.judge_stability = false;
  along.way = StaticWay::newton;
  Vec secant = Vec::Zero(nv), delta(nv);  // of the last step, by time
  double h = grid;
  for (int k = 1; k <= options.outputs; ++k) {
    const double target = k == options.outputs ? options.end : first + k * grid;
    while (state.t < target) {
      double step = std::min(h, target - state.t);
      if (target - state.t - step < 1e-9 * grid) step = target - state.t;
      State next = state;
      next.t = step == target - state.t ? target : state.t + step;
      Rates next_rates = rates;
      delta = step * secant;
      const bool small = step < 1e-6 * grid;
      StaticReport found;
      bool fine = delta.cwiseQuotient(scales).lpNorm<Eigen::Infinity>() < options.greatest_move;
      if (fine) {
        equations.retract(state.q, delta, next.q);
        const StageReport positions = assemble_positions(equations, next, saddle, work, none);
        fine = positions.after <= 1e-8 * equations.length();
      }
      if (fine) {
        found = solver.solve(next, next_rates, work, small ? options.statics : along);
        report.iterations += found.iterations;
        fine = found.found;
      }
      double move = 0;
      if (fine) {
        equations.local(state.q, next.q, delta);
        move = delta.cwiseQuotient(scales).lpNorm<Eigen::Infinity>();
        fine = move < options.greatest_move || small;
      }
      if (!fine && !small) {
        h = step / 4;
        secant *= h < 1e-3 * grid ? 0.0 : 1.0;  // near a jump the secant leads astray
        ++report.rejected;
        continue;
      }
      if (!fine) {
        report.why =
            "the equilibrium ends at t = " + digits(next.t) + " s" + (found.why.empty() ? "" : ": " + found.why);
        report.last = found;
        return report;
      }
      const bool jumped = move >= options.greatest_move;
      if (jumped) report.jumps.emplace_back(next.t, move);
      secant = jumped ? Vec(Vec::Zero(nv)) : Vec(delta / step);
      equations.accept(next, work);
      state = next;
      rates = next_rates;
      report.last = found;
      ++report.steps;
      h = std::min(grid, 2 * step);
    }
    output(report.last);
  }
  solver.judge(state, rates, work, report.last);
  report.finished = true;
  return report;
}

}  // namespace trammel
