#include "app/around.h"

#include <fmt/format.h>

#include <charconv>

namespace trammel {

Around go_to(Prepared& p, const std::string& where, const RunOptions& options) {
  const Equations& equations = p.equations();
  if (where == "initial") return {"initial state", {}};
  if (where == "equilibrium") {
    StaticReport report = find_equilibrium(equations, p.state, p.rates, p.work);
    if (!report.found) {
      throw Failure({Severity::error,
                     "no-equilibrium",
                     "no static equilibrium: " + report.why,
                     "`--around initial` takes the state at the start; `trammel static` says more",
                     {}},
                    ExitCode::failed_run);
    }
    // Motions stand still here; accelerations are those of rest.
    std::string text = std::string("static equilibrium (") + to_text(report.stability) + ")";
    return {text, std::move(report)};
  }
  double time = 0;
  const char* const end = where.data() + where.size();
  const auto [rest, trouble] = std::from_chars(where.data(), end, time);
  if (rest != end || trouble != std::errc() || !(time > 0)) {
    throw Failure({Severity::error,
                   "bad-usage",
                   "--around is initial, equilibrium or a positive time, not '" + where + "'",
                   "for example --around equilibrium",
                   {}},
                  ExitCode::bad_usage);
  }
  Model model = equations.model();
  model.simulation.end = time;
  model.simulation.output_step.reset();
  Simulation run(std::move(model));
  MemoryTrajectory nothing;
  const RunResult result = run.run(nothing, options);
  if (result.status != RunStatus::finished) {
    throw Failure({Severity::error,
                   "run-failed",
                   "the run stopped before that time: " + (result.failure ? result.failure->what : "interrupted"),
                   "`trammel run` says more",
                   {}},
                  ExitCode::failed_run);
  }
  p.state = run.integrator().state();
  p.accelerations->project(p.state, p.work);
  p.accelerations->solve(p.state, p.rates, p.work);
  return {fmt::format("state of a run at t = {:.6g} s", time), {}};
}

}  // namespace trammel
