// From a start to an end: the small driver for equations of one's own.
//
//   class Pendulum : public FirstOrderProblem { ... };
//   Pendulum problem;
//   SolveResult result = solve(problem, "adams", 0, y0, 10, {.tolerance = 1e-8, .output_times = {2, 5, 10}});
//   if (result.status != SolveStatus::finished) std::cerr << result.message;
//
// It always returns: with the end, or with the last good point and the reason in words. Wrong keys, options or start
// values throw a Failure.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/ode/control/step_rule.h"
#include "trammel/ode/registry.h"

namespace trammel {

struct SolveOptions {
  double tolerance = 1e-6;                // local error, relative to what the problem's error_scales say
  std::optional<double> step = {};        // fixed; the tolerance then only bounds correctors
  double first_step = 0;                  // 0: chosen
  double greatest_step = 0;               // 0: no bound
  long most_attempts = 1000000;           // more than any sensible run; the net against hanging
  std::vector<double> output_times = {};  // between start and end, in order of the run; by dense output
  Fields options = {};                    // of the method
  StepController::Options controller = {.gain = 1};
  // Sees the method after every accepted step; false stops the run.
  std::function<bool(const OdeMethod&)> after_step = {};
  // The last step is stretched or shortened to the end when within this part of it.
  double last_step_stretch = 0.01;

  // Step rules of MATLAB's ode45, for method "dormand-prince-54" with its option `ode45`.
  static SolveOptions like_ode45(double span, double tolerance);
};

enum class SolveStatus {
  finished,
  stopped,         // by after_step
  bad_start,       // f cannot be evaluated there
  step_too_small,  // no step above round-off is good enough
  too_many_attempts,
  fixed_step_failed,  // a step of the given size cannot be taken
};
const char* to_text(SolveStatus);

struct SolveResult {
  SolveStatus status = SolveStatus::finished;
  std::string message;        // of a failure, with hints; or what should be known of a good run; empty if nothing
  double t = 0;               // reached
  Vec y, dydt;                // there
  std::vector<double> times;  // of the output times, those reached
  std::vector<Vec> outputs;
  long steps = 0, rejected = 0, failed = 0;  // accepted; refused by error; not evaluated or not converged
  double least_step = 0, greatest_step = 0;
  long stiff_steps = 0;              // that stability limited
  std::vector<long> steps_by_order;  // of a method with variable order; [0] unused
  Counts counts;
};

SolveResult solve(FirstOrderProblem& problem, std::string_view method, double t0, const Vec& y0, double end,
                  const SolveOptions& options = {});
// The state is (y, y'). Methods for second order get y'' = f as it is, others the first-order form.
SolveResult solve(SecondOrderProblem& problem, std::string_view method, double t0, const Vec& y0, double end,
                  const SolveOptions& options = {});
SolveResult solve(ImplicitProblem& problem, std::string_view method, double t0, const Vec& y0, double end,
                  const SolveOptions& options = {});
// With a method made by hand; `scales` as error_scales gives them at the start.
SolveResult solve(OdeMethod& method, double t0, const Vec& y0, double end, const Vec& scales,
                  const SolveOptions& options = {});

}  // namespace trammel
