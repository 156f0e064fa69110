#include "app/find_drives.h"

#include "trammel/analyse/kinematics.h"
#include "trammel/model/signal_names.h"

namespace trammel {
namespace {

// Drive forces from a recorded run: the reaction of the motion in the axes of its first frame.
void drives_of_run(const MemoryTrajectory& run, const Equations& equations, DriveHistory& history) {
  const Model& model = equations.model();
  std::vector<double> forces(history.drives.size());
  for (std::size_t k = 0; k < run.rows(0); ++k) {
    const auto value = [&](const std::string& name) { return run.value(run.at(name), k); };
    const auto vector = [&](const std::string& path) {
      return Vec3(value(component(path, Axis::x)), value(component(path, Axis::y)), value(component(path, Axis::z)));
    };
    for (std::size_t i = 0; i < history.drives.size(); ++i) {
      const Drive& drive = history.drives[i];
      const Frame& frame = model.frames[static_cast<std::size_t>(equations.constraint_frames(drive.constraint)[0])];
      Quat axes = frame.local.rotation;
      if (frame.body != ground) {
        const std::string path = BodySignals(model.bodies[static_cast<std::size_t>(frame.body)].name).orientation();
        const Vec3 v = vector(path);
        axes = Quat(value(path + ".w"), v.x(), v.y(), v.z()) * axes;
      }
      const ConstraintSignals names(true, drive.motion);
      forces[i] = drive_component(drive, axes.toRotationMatrix(), vector(names.force()), vector(names.torque()));
    }
    history.add(run.value({0, 0}, k), forces);
  }
}

}  // namespace

InverseResult find_drives(Prepared& p, const RunOptions& run_options) {
  const Equations& equations = p.equations();
  InverseResult found;
  DriveHistory& history = found.history;
  history.drives = drives_of(equations);
  if (history.drives.empty()) {
    throw Failure({Severity::error,
                   "no-motions",
                   "the model prescribes no motion, so there is nothing whose force could be found",
                   "add `motions:`, one for each coordinate that shall follow a given course",
                   {}},
                  ExitCode::bad_model);
  }
  const InitialReport& initial = p.simulation->initial();
  found.driven = initial.rank.freedoms_by_rank - initial.permanence.momentary_first == 0 && equations.sizes().nk == 0;
  if (found.driven) {
    const SimulationSettings& s = equations.model().simulation;
    KinematicOptions options;
    options.end = s.end;
    options.output_step = s.output_step.value_or(s.end / 100);
    std::vector<double> forces;
    const KinematicReport report = run_kinematics(
        equations, p.state, p.rates, *p.accelerations, initial, p.work, options,
        [&](const State& state, const Rates& rates) {
          if (run_options.interrupted != nullptr && *run_options.interrupted)
            throw Failure({Severity::error, "run-failed", "it was interrupted", "", {}}, ExitCode::interrupted);
          drive_forces(equations, history.drives, state, rates, p.work, forces);
          history.add(state.t, forces);
        });
    if (!report.finished) found.trouble = report.why;
    found.reached = report.reached;
  } else {
    MemoryTrajectory run;
    const RunResult result = p.simulation->run(run, run_options);
    if (result.failure) found.trouble = result.failure->what;
    if (result.status == RunStatus::interrupted) found.trouble = "it was interrupted";
    found.reached = result.summary.reached;
    drives_of_run(run, equations, history);
  }
  return found;
}

}  // namespace trammel
