// Models glued together by joints: `trammel couple` in one process, with all results in memory.
#include <pybind11/stl.h>

#include "python/src/bindings.h"
#include "python/src/interruption.h"
#include "trammel/couple/coupling_file.h"

namespace trammel::python {
namespace {

py::dict couple(const std::string& file, const std::vector<std::string>& set, const std::vector<std::string>& options) {
  Result whole;
  std::vector<std::pair<std::string, Result>> parts;
  CouplingSummary summary;
  {
    const CtrlC ctrl_c;
    const py::gil_scoped_release released;
    CouplingSpec spec = read_coupling(file, {set, options});
    spec.settings.stop = &ctrl_c.flag();
    Provenance provenance;
    provenance.set("program", "trammel");
    provenance.set("version", TRAMMEL_VERSION);
    provenance.set("title", spec.title);
    provenance.set("coupling_file", spec.file);
    provenance.set("scheme", spec.settings.scheme.key);
    provenance.set("date", utc_date());
    const MakeSink sink_of = [&](const std::string& name) -> std::unique_ptr<TrajectorySink> {
      parts.emplace_back(name, Result());
      return std::make_unique<TeeSink>(std::vector<TrajectorySink*>{parts.back().second.data.get()});
    };
    const std::unique_ptr<Coupling> coupling = make_coupling(std::move(spec), sink_of);
    coupling->start();
    summary = coupling->run(*whole.data, provenance, &ctrl_c.flag());
  }
  if (summary.status == RunStatus::interrupted) settle_signals();
  py::dict participants;
  for (const auto& [name, result] : parts) participants[py::str(name)] = result;
  using namespace py::literals;
  return py::dict("result"_a = whole, "participants"_a = participants,
                  "status"_a = std::string(to_text(summary.status)), "failure"_a = summary.failure,
                  "steps"_a = summary.steps, "repeated"_a = summary.rejected, "iterations"_a = summary.iterations,
                  "co_simulations"_a = summary.co_simulations, "reached"_a = summary.reached,
                  "greatest_error"_a = summary.greatest_error, "seconds"_a = summary.seconds);
}

}  // namespace

void bind_couple(py::module_& module) {
  module.def("couple", couple, py::arg("file"), py::arg("set"), py::arg("options"), "Simulates a coupling file.");
}

}  // namespace trammel::python
