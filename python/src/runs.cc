// Runs and sweeps: the same calls as `trammel run` and `trammel sweep`, without the interpreter while they compute.
#include <pybind11/stl.h>

#include "app/common.h"
#include "python/src/bindings.h"
#include "python/src/interruption.h"
#include "trammel/base/interruption.h"
#include "trammel/run/simulation.h"
#include "trammel/run/sweep.h"

namespace trammel::python {
namespace {

struct Outcome {
  Result result;
  std::string status, failure_text, failure_hint, failure_id;
  std::vector<Problem> warnings;
  std::vector<std::string> notes;
  std::string start_json;
};

// Calls Python now and then; an exception of the function ends the run, and is raised after it. Ctrl-C is no such
// exception: the run ends in good order.
class Progress {
 public:
  Progress(py::object function, std::atomic<bool>& flag) : function_(std::move(function)), flag_(flag) {}
  ~Progress() {
    const py::gil_scoped_acquire held;
    function_ = py::object();
    thrown_.reset();
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  template <class... Numbers>
  void call(Numbers... numbers) {
    const py::gil_scoped_acquire held;
    if (thrown_) return;
    try {
      function_(numbers...);
    } catch (py::error_already_set& error) {
      flag_ = true;
      if (error.matches(PyExc_KeyboardInterrupt))
        ctrl_c_ = true;
      else
        thrown_ = std::make_unique<py::error_already_set>(error);
    }
  }
  // Behind the run; `interrupted`: it says so itself.
  void rethrow(bool interrupted) {
    if (thrown_) {
      thrown_->restore();
      thrown_.reset();
      throw py::error_already_set();
    }
    if (interrupted)
      settle_signals();
    else if (ctrl_c_)
      PyErr_SetInterrupt();  // it came too late for this run, and is for whoever called
  }

 private:
  py::object function_;
  std::atomic<bool>& flag_;
  bool ctrl_c_ = false;
  std::unique_ptr<py::error_already_set> thrown_;
};

// Ctrl-C during the start, before there is anything to record, is no mistake of the model. A failure behind the start
// is one, Ctrl-C or not: a disk that is full, say.
RunResult run_or_interrupted(Simulation& simulation, TrajectorySink& sink, const RunOptions& options) {
  const InterruptionScope scope(options.interrupted);
  try {
    simulation.start(options);
  } catch (const Failure&) {
    if (*options.interrupted) throw Interruption();
    throw;
  }
  return simulation.run(sink, options);
}

Outcome run(const CoreModel& model, bool from_static, const std::string& file, const py::object& progress) {
  Outcome out;
  out.warnings = model.warnings;
  const CtrlC ctrl_c;
  Progress teller(progress, ctrl_c.flag());
  {
    const py::gil_scoped_release released;
    std::unique_ptr<TrajectorySink> to_file;
    if (!file.empty()) to_file = make_sink(file);
    Simulation simulation(*model.model);
    RunOptions options;
    options.interrupted = &ctrl_c.flag();
    options.from_equilibrium = from_static;
    options.note = [&](const std::string& text) { out.notes.push_back(text); };
    if (!progress.is_none()) options.progress = [&](double t, double end, long steps) { teller.call(t, end, steps); };
    TrajectorySink& sink = to_file ? *to_file : *out.result.data;
    RunResult result = run_or_interrupted(simulation, sink, options);
    out.status = std::string(to_text(result.status));
    for (Problem& doubt : result.warnings) {
      doubt.where = {intern(model.model->file), 0, 0};
      out.warnings.push_back(doubt);
    }
    if (result.failure) {
      out.failure_text = to_text(*result.failure);
      out.failure_id = result.failure->id;
      for (const std::string& advice : result.failure->try_next)
        out.failure_hint += (out.failure_hint.empty() ? "" : "; ") + advice;
    }
    out.start_json = start_json(simulation.initial()).dump();
  }
  teller.rethrow(out.status == to_text(RunStatus::interrupted));
  return out;
}

SweepSummary sweep(const std::string& file, const ModelChanges& changes, const std::vector<std::string>& names,
                   const std::vector<std::vector<std::string>>& runs, const std::vector<std::string>& measures,
                   const std::string& table, bool resume, int threads, const py::object& progress) {
  const CtrlC ctrl_c;
  Progress teller(progress, ctrl_c.flag());
  SweepSummary summary;
  {
    const py::gil_scoped_release released;
    SweepOptions options;
    options.model = file;
    options.changes = changes;
    for (const std::string& measure : measures) options.measures.push_back(sweep_measure(measure));
    options.table = table;
    options.resume = resume;
    options.threads = threads;
    options.interrupted = &ctrl_c.flag();
    if (!progress.is_none()) options.progress = [&](const SweepRow&, long done, long all) { teller.call(done, all); };
    summary = run_sweep(options, {names, runs});
  }
  teller.rethrow(!summary.complete);
  return summary;
}

}  // namespace

void bind_runs(py::module_& module) {
  py::class_<Outcome>(module, "Outcome", "What came of a run.")
      .def_readonly("result", &Outcome::result)
      .def_readonly("status", &Outcome::status)
      .def_readonly("failure_text", &Outcome::failure_text)
      .def_readonly("failure_hint", &Outcome::failure_hint)
      .def_readonly("failure_id", &Outcome::failure_id)
      .def_readonly("notes", &Outcome::notes)
      .def_readonly("start", &Outcome::start_json)
      .def_property_readonly("warnings", [](const Outcome& o) { return problem_tuples(o.warnings); });
  module.def("run", run, py::arg("model"), py::arg("from_static"), py::arg("file"), py::arg("progress"),
             "Simulates a model into memory, or into a file if one is named.");

  py::class_<SweepPlan>(module, "SweepPlan", "Parameters, and their values in each run.")
      .def_readonly("names", &SweepPlan::names)
      .def_readonly("runs", &SweepPlan::runs);
  py::class_<SweepSummary>(module, "SweepSummary", "How many runs of a sweep were made.")
      .def_readonly("runs", &SweepSummary::runs)
      .def_readonly("finished", &SweepSummary::finished)
      .def_readonly("failed", &SweepSummary::failed)
      .def_readonly("taken_over", &SweepSummary::taken_over)
      .def_readonly("complete", &SweepSummary::complete)
      .def_readonly("seconds", &SweepSummary::seconds);
  module.def("latin_plan", latin_plan, py::arg("ranges"), py::arg("count"), py::arg("seed"), "A Latin hypercube.");
  module.def("sweep", sweep, py::arg("file"), py::arg("changes"), py::arg("names"), py::arg("runs"),
             py::arg("measures"), py::arg("table"), py::arg("resume"), py::arg("threads"), py::arg("progress"),
             "Many runs of a model file, each with its own parameters.");
}

}  // namespace trammel::python
