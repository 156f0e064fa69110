#include "trammel/analyse/quasi_static.h"

#include <algorithm>
#include <cmath>

#include "trammel/base/numbers.h"
#include "trammel/initial/consistent.h"

namespace trammel {

namespace {

// The equilibrium followed from time to time.
class QuasiStaticRun {
 public:
  QuasiStaticRun(const Equations& equations, State& state, Rates& rates, Workspace& work,
                 const QuasiStaticOptions& options)
      : equations_(equations),
        state_(state),
        rates_(rates),
        work_(work),
        options_(options),
        solver_(equations),
        saddle_(equations, 1e-8, SaddleSystem::Keep::factors_only),
        scales_(equations.scales()),
        grid_((options.end - state.t) / std::max(1, options.outputs)),
        h_(grid_),
        secant_(Vec::Zero(equations.sizes().nv)),
        delta_(equations.sizes().nv) {}
  bool start();
  bool advance_to(double target);  // false: the equilibrium ends before
  void judge_end() { solver_.judge(state_, rates_, work_, report_.last); }
  double grid() const { return grid_; }
  QuasiStaticReport& report() { return report_; }

 private:
  struct Trial {
    State state;
    Rates rates;
    StaticReport found;
    double move = 0;
  };
  bool is_small(double step) const { return step < 1e-6 * grid_; }
  bool attempt(double step, Trial& next);
  void accept(double step, Trial& next);

  const Equations& equations_;
  State& state_;
  Rates& rates_;
  Workspace& work_;
  const QuasiStaticOptions& options_;
  StaticSolver solver_;
  SaddleSystem saddle_;
  const Vec scales_;
  const double grid_;  // between outputs
  double h_;
  Vec secant_, delta_;  // of the last step, by time; the step's move
  QuasiStaticReport report_;
};

bool QuasiStaticRun::start() {
  report_.first = report_.last = solver_.solve(state_, rates_, work_, options_.statics);
  report_.iterations += report_.first.iterations;
  if (!report_.first.found) report_.why = "there is no equilibrium at the start: " + report_.first.why;
  return report_.first.found;
}

// From the secant back to the constraints and to the equilibrium there, not too far away unless the step is small.
bool QuasiStaticRun::attempt(double step, Trial& next) {
  delta_ = step * secant_;
  if (!(delta_.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>() < options_.greatest_move)) return false;
  equations_.retract(state_.q, delta_, next.state.q);
  const std::vector<bool> none(static_cast<std::size_t>(delta_.size()), false);
  const StageReport positions = assemble_positions(equations_, next.state, saddle_, work_, none);
  if (!(positions.after <= 1e-8 * equations_.length())) return false;
  StaticOptions along = options_.statics;  // neighbours: stability is judged at the ends only
  along.judge_stability = false;
  along.way = StaticWay::newton;
  next.found = solver_.solve(next.state, next.rates, work_, is_small(step) ? options_.statics : along);
  report_.iterations += next.found.iterations;
  if (!next.found.found) return false;
  equations_.local(state_.q, next.state.q, delta_);
  next.move = delta_.cwiseQuotient(scales_).lpNorm<Eigen::Infinity>();
  return next.move < options_.greatest_move || is_small(step);
}

void QuasiStaticRun::accept(double step, Trial& next) {
  const bool jumped = next.move >= options_.greatest_move;
  if (jumped) report_.jumps.emplace_back(next.state.t, next.move);
  secant_ = jumped ? Vec(Vec::Zero(delta_.size())) : Vec(delta_ / step);
  equations_.accept(next.state, work_);
  state_ = next.state;
  rates_ = next.rates;
  report_.last = next.found;
  ++report_.steps;
  h_ = std::min(grid_, 2 * step);
}

bool QuasiStaticRun::advance_to(double target) {
  while (state_.t < target) {
    double step = std::min(h_, target - state_.t);
    if (target - state_.t - step < 1e-9 * grid_) step = target - state_.t;
    Trial next{state_, rates_, {}};
    next.state.t = step == target - state_.t ? target : state_.t + step;
    if (attempt(step, next)) {
      accept(step, next);
    } else if (!is_small(step)) {
      h_ = step / 4;
      secant_ *= h_ < 1e-3 * grid_ ? 0.0 : 1.0;  // near a jump the secant leads astray
      ++report_.rejected;
    } else {
      report_.why = "the equilibrium ends at t = " + digits(next.state.t) + " s" +
                    (next.found.why.empty() ? "" : ": " + next.found.why);
      report_.last = next.found;
      return false;
    }
  }
  return true;
}

}  // namespace

QuasiStaticReport run_quasi_static(const Equations& equations, State& state, Rates& rates, Workspace& work,
                                   const QuasiStaticOptions& options,
                                   const std::function<void(const State&, const Rates&)>& each) {
  QuasiStaticRun run(equations, state, rates, work, options);
  QuasiStaticReport& report = run.report();
  const auto output = [&](const StaticReport& at) {
    each(state, rates);
    ++report.outputs;
    report.reached = state.t;
    report.largest_residual = std::max(report.largest_residual, at.residual);
  };
  const double first = state.t;
  if (!run.start()) return report;
  output(report.first);
  for (int k = 1; k <= options.outputs; ++k) {
    if (!run.advance_to(k == options.outputs ? options.end : first + k * run.grid())) return report;
    output(report.last);
  }
  run.judge_end();
  report.finished = true;
  return report;
}

}  // namespace trammel
