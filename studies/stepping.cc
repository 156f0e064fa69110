#include "studies/stepping.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace trammel {

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

SteppedRun step_model(Model model, const SteppedRunOptions& options) {
  const SimulationSettings settings = model.simulation;
  Simulation simulation(std::move(model));
  simulation.start();
  Integrator& method = simulation.integrator();
  Stepper& stepper = simulation.stepper();
  const Equations& equations = simulation.equations();
  const double end = settings.end;
  const bool fixed = settings.step.has_value();
  SteppedRun run;
  State looked = method.state();
  std::size_t next_mark = 0;
  if (options.grid > 0) run.grid.push_back(options.look(looked, equations));
  double looking = 0;  // seconds that do not count
  const double begin = cpu_seconds();
  double t = method.state().t;
  long failures = 0;
  while (t < end) {
    if (stepper.plan(end) == 0) {
      if (stepper.events_here().empty()) {
        run.why = "no way past the corner at t = " + std::to_string(t);
        break;
      }
      stepper.go_behind_events();
      t = stepper.t();
      continue;
    }
    if (!stepper.attempt()) {
      ++run.rejected;
      stepper.refuse();
      if (fixed || ++failures > 60) {
        run.why = std::string(to_text(stepper.last_attempt().verdict)) + " at t = " + std::to_string(t);
        break;
      }
      continue;
    }
    failures = 0;
    stepper.accept();
    ++run.steps;
    t = method.state().t;
    if (options.keep_steps) {
      run.t.push_back(t);
      run.h.push_back(stepper.size());
    }
    while (next_mark < options.marks.size() && t >= options.marks[next_mark] * (1 - 1e-12)) {
      run.marked.push_back(cpu_seconds() - begin - looking);
      run.marked_steps.push_back(run.steps);
      ++next_mark;
    }
    if (options.grid > 0 && static_cast<double>(run.grid.size()) * options.grid <= t * (1 + 1e-12)) {
      const double before = cpu_seconds();
      for (double at = static_cast<double>(run.grid.size()) * options.grid; at <= t * (1 + 1e-12);
           at = static_cast<double>(run.grid.size()) * options.grid) {
        method.interpolate(std::min(at, t), looked);
        run.grid.push_back(options.look(looked, equations));
      }
      looking += cpu_seconds() - before;
    }
    if (!stepper.events_here().empty()) {
      stepper.go_behind_events();
      t = stepper.t();
    }
    if (run.steps % 256 == 0 && cpu_seconds() - begin > options.patience) {
      run.why = "given up at t = " + std::to_string(t);
      break;
    }
  }
  run.seconds = cpu_seconds() - begin - looking;
  run.finished = t >= end;
  run.counts = method.counts();
  run.last = method.state();
  return run;
}

}  // namespace trammel
