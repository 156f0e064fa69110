// Statics, kinematics, inverse dynamics, linear systems and modes, recorded in memory.
#include <pybind11/complex.h>
#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include "app/analysis.h"
#include "app/analysis_json.h"
#include "app/around.h"
#include "app/find_drives.h"
#include "python/src/bindings.h"
#include "python/src/interruption.h"
#include "trammel/analyse/quasi_static.h"
#include "trammel/base/interruption.h"
#include "trammel/write/output_path.h"

namespace trammel::python {
namespace {

Prepared prepare_model(const CoreModel& model, Needs needs = Needs::masses) {
  Prepared p;
  p.warnings = model.warnings;
  p.simulation = std::make_unique<Simulation>(*model.model);
  RunOptions options;
  options.for_statics = needs == Needs::positions;
  p.simulation->start(options);
  p.work = p.equations().make_workspace();
  p.state = p.simulation->start_state();
  p.rates = p.simulation->start_rates();
  p.accelerations = std::make_unique<AccelerationSolver>(p.equations());
  return p;
}

// Computes without the interpreter. A failure behind Ctrl-C is no mistake of the model.
template <class Find>
auto without_interpreter(const Find& find) {
  const CtrlC ctrl_c;
  const InterruptionScope scope(&ctrl_c.flag());
  const py::gil_scoped_release released;
  try {
    return find(ctrl_c.flag());
  } catch (const Failure&) {
    if (ctrl_c.flag()) throw Interruption();
    throw;
  }
}

RunOptions until(const std::atomic<bool>& interrupted) {
  RunOptions options;
  options.interrupted = &interrupted;
  return options;
}

// States that an analysis finds, recorded as a run would.
class Record {
 public:
  Record(const Prepared& p, const std::string& analysis, const std::atomic<bool>& interrupted)
      : interrupted_(interrupted), recorder_(p.equations(), p.simulation->initial(), false) {
    Provenance provenance = p.simulation->provenance();
    provenance.set("method", analysis);
    provenance.set("formulation", "");
    result.data->begin(recorder_.tables(), provenance);
  }
  void add(const State& state, const Rates& rates) {
    if (interrupted_) throw Interruption();
    recorder_.note_step(state, rates);
    (void)result.data->append(0, recorder_.output_row(state, rates));
  }
  void finish(bool good, const Json& summary, const std::string& why) {
    result.data->finish(good ? RunStatus::finished : RunStatus::failed, summary.dump(),
                        good ? "" : Json({{"what", why}}).dump());
  }
  Result result;

 private:
  const std::atomic<bool>& interrupted_;
  Recorder recorder_;
};

struct Analysis {
  Result result;
  Json report;
};

Analysis find_static(const CoreModel& model, const std::string& way, double tolerance,
                     const std::atomic<bool>& interrupted) {
  StaticOptions options;
  options.tolerance = tolerance;
  bool known = false;
  for (const StaticWay each : {StaticWay::automatic, StaticWay::newton, StaticWay::load_steps, StaticWay::relaxation}) {
    if (way != to_text(each)) continue;
    options.way = each;
    known = true;
  }
  if (!known)
    throw Failure({Severity::error,
                   "bad-usage",
                   "there is no way '" + way + "' to an equilibrium",
                   "automatic, newton, load-steps or relaxation",
                   {}},
                  ExitCode::bad_usage);
  Prepared p = prepare_model(model, Needs::positions);
  Record record(p, "static", interrupted);
  const StaticReport report = find_equilibrium(p.equations(), p.state, p.rates, p.work, options);
  record.add(p.state, p.rates);
  const Json json = to_json(report);
  record.finish(report.found, json, report.why);
  return {record.result, json};
}

Analysis follow_kinematics(const CoreModel& model, const std::atomic<bool>& interrupted) {
  Prepared p = prepare_model(model);
  Record record(p, "kinematic", interrupted);
  const SimulationSettings& s = p.equations().model().simulation;
  KinematicOptions options;
  options.end = s.end;
  options.output_step = s.output_step.value_or(s.end / 100);
  const KinematicReport report =
      run_kinematics(p.equations(), p.state, p.rates, *p.accelerations, p.simulation->initial(), p.work, options,
                     [&](const State& state, const Rates& rates) { record.add(state, rates); });
  const Json json = to_json(report);
  record.finish(report.finished, json, report.why);
  return {record.result, json};
}

Analysis follow_statics(const CoreModel& model, int steps, const std::atomic<bool>& interrupted) {
  Prepared p = prepare_model(model, Needs::positions);
  Record record(p, "quasi-static", interrupted);
  QuasiStaticOptions options;
  options.end = p.equations().model().simulation.end;
  options.outputs = steps;
  const QuasiStaticReport report =
      run_quasi_static(p.equations(), p.state, p.rates, p.work, options,
                       [&](const State& state, const Rates& rates) { record.add(state, rates); });
  if (interrupted) throw Interruption();
  const Json json = to_json(report);
  record.finish(report.finished, json, report.why);
  return {record.result, json};
}

template <class Find>
py::tuple analyse(const Find& find) {
  const Analysis found = without_interpreter(find);
  return py::make_tuple(found.result, from_json(found.report));
}

py::dict inverse(const CoreModel& model, const std::string& csv_name) {
  InverseResult found;
  std::string forward, csv;
  without_interpreter([&](const std::atomic<bool>& interrupted) {
    Prepared p = prepare_model(model);
    found = find_drives(p, until(interrupted));
    if (interrupted) throw Interruption();
    forward = forward_yaml(p.equations(), found.history, csv_name);
    csv = std::string(drives_magic) + "1\n" + to_csv(found.history);
  });
  py::list drives;
  for (std::size_t i = 0; i < found.history.drives.size(); ++i) {
    const Drive& drive = found.history.drives[i];
    drives.append(py::make_tuple(
        drive.column, drive.motion, component_name(drive), drive.unit(),
        py::array_t<double>(static_cast<py::ssize_t>(found.history.values[i].size()), found.history.values[i].data())));
  }
  using namespace py::literals;
  return py::dict(
      "by"_a = found.driven ? "kinematics" : "simulation", "reached"_a = found.reached, "why"_a = found.trouble,
      "drives"_a = drives, "forward"_a = forward, "csv"_a = csv,
      "t"_a = py::array_t<double>(static_cast<py::ssize_t>(found.history.time.size()), found.history.time.data()));
}

py::list names_and_units(const std::vector<LinearName>& names) {
  py::list list;
  for (const LinearName& name : names) list.append(py::make_tuple(name.name, name.unit));
  return list;
}

py::dict linearise(const CoreModel& model, const std::string& where, const std::string& outputs) {
  LinearSystem s;
  std::string text;
  double t = 0;
  LinearOutputs which = LinearOutputs::automatic;
  if (outputs == "model") which = LinearOutputs::model;
  if (outputs == "bodies") which = LinearOutputs::bodies;
  if (outputs == "all") which = LinearOutputs::all;
  without_interpreter([&](const std::atomic<bool>& interrupted) {
    Prepared p = prepare_model(model);
    text = go_to(p, where, until(interrupted)).text;
    s = linearise_system(p.equations(), p.state, p.rates, which);
    t = p.state.t;
  });
  using namespace py::literals;
  return py::dict("A"_a = s.A, "B"_a = s.B, "C"_a = s.C, "D"_a = s.D, "x_dot"_a = s.x_dot, "y"_a = s.y,
                  "states"_a = names_and_units(s.states), "inputs"_a = names_and_units(s.inputs),
                  "outputs"_a = names_and_units(s.outputs), "positions"_a = s.positions, "around"_a = text, "t"_a = t,
                  "mass"_a = s.mass, "smallest_pivot"_a = s.worst_pivot, "speed"_a = s.speed,
                  "acceleration"_a = s.acceleration);
}

py::dict modes(const CoreModel& model, const std::string& where, int count, const std::string& solver) {
  ModeOptions options;
  options.count = count;
  if (solver == "dense") options.solver = ModeSolver::dense;
  if (solver == "sparse") options.solver = ModeSolver::sparse;
  Modes found;
  std::string text;
  std::vector<std::string> bodies;
  std::array<std::vector<Eigen::MatrixXcd>, 2> shapes;
  without_interpreter([&](const std::atomic<bool>& interrupted) {
    Prepared p = prepare_model(model);
    text = go_to(p, where, until(interrupted)).text;
    found = find_modes(p.equations(), p.state, p.rates, options);
    for (const bool damped : {false, true}) {
      for (const Mode& mode : damped ? found.damped : found.undamped)
        shapes[damped].push_back(shape_of_bodies(p.equations(), p.state, mode));
    }
    for (const Body& body : p.equations().model().bodies) bodies.push_back(body.name);
  });
  using namespace py::literals;
  const auto list = [&](bool damped) {
    py::list out;
    const std::vector<Mode>& modes = damped ? found.damped : found.undamped;
    for (std::size_t i = 0; i < modes.size(); ++i) {
      const Mode& m = modes[i];
      out.append(py::dict("eigenvalue"_a = m.eigenvalue, "frequency"_a = m.frequency, "damping"_a = m.damping,
                          "oscillates"_a = m.oscillates, "rigid"_a = m.rigid, "stable"_a = m.stable,
                          "bodies"_a = m.bodies, "shape"_a = shapes[damped][i]));
    }
    return out;
  };
  return py::dict("undamped"_a = list(false), "damped"_a = list(true), "bodies"_a = bodies, "around"_a = text,
                  "freedoms"_a = found.freedoms, "rigid"_a = found.rigid, "notes"_a = found.notes);
}

}  // namespace

void bind_analyses(py::module_& module) {
  module.def(
      "static",
      [](const CoreModel& model, const std::string& way, double tolerance) {
        return analyse([&](const auto& interrupted) { return find_static(model, way, tolerance, interrupted); });
      },
      py::arg("model"), py::arg("way"), py::arg("tolerance"), "(result of one row, report): the static equilibrium.");
  module.def(
      "kinematic",
      [](const CoreModel& model) {
        return analyse([&](const auto& interrupted) { return follow_kinematics(model, interrupted); });
      },
      py::arg("model"), "(result, report) of a mechanism that motions drive completely.");
  module.def(
      "quasi_static",
      [](const CoreModel& model, int steps) {
        return analyse([&](const auto& interrupted) { return follow_statics(model, steps, interrupted); });
      },
      py::arg("model"), py::arg("steps"), "(result, report): the static equilibrium along motions and loads.");
  module.def("inverse", inverse, py::arg("model"), py::arg("csv_name"), "Forces and torques that the motions need.");
  module.def("linearise", linearise, py::arg("model"), py::arg("around"), py::arg("outputs"),
             "A, B, C, D near a state, with names.");
  module.def("modes", modes, py::arg("model"), py::arg("around"), py::arg("count"), py::arg("solver"),
             "Eigenvalues and mode shapes near a state.");
}

}  // namespace trammel::python
