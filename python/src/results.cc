// Results: columns as arrays that look into the memory of the run, files read column by column.
#include <pybind11/stl.h>

#include "app/common.h"
#include "python/src/bindings.h"
#include "trammel/write/output_path.h"
#include "trammel/write/read_trajectory.h"

namespace trammel::python {

py::array view_of(const double* data, py::ssize_t count, py::ssize_t stride, std::shared_ptr<const void> owner) {
  using Owner = std::shared_ptr<const void>;
  const py::capsule keeper(new Owner(std::move(owner)), [](void* p) { delete static_cast<Owner*>(p); });
  py::array_t<double> array({count}, {stride}, data, keeper);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

namespace {

py::tuple pair_of(SignalRef ref) { return py::make_tuple(ref.table, ref.column); }

py::list table_names(const Result& result) {
  py::list names;
  for (const Table& table : result.data->tables()) names.append(table.name);
  return names;
}

py::list signal_names(const Result& result, std::size_t table) {
  py::list names;
  for (const Signal& signal : result.data->tables().at(table).signals) names.append(signal.name);
  return names;
}

py::tuple signal_of(const Result& result, std::size_t table, std::size_t column) {
  const Signal& s = result.data->tables().at(table).signals.at(column);
  return py::make_tuple(s.name, s.unit, s.frame, s.text,
                        s.flagged ? s.flag_text.empty() ? "flagged" : s.flag_text : "");
}

py::list match(const Result& result, const std::string& pattern) {
  py::list found;
  for (const SignalRef ref : result.data->match(pattern)) found.append(pair_of(ref));
  return found;
}

py::array column(const Result& result, std::size_t table, std::size_t index) {
  const MemoryTrajectory& data = *result.data;
  const auto width = static_cast<py::ssize_t>(data.tables().at(table).signals.size() * sizeof(double));
  const auto rows = static_cast<py::ssize_t>(data.rows(table));
  if (rows == 0) return py::array_t<double>(0);
  return view_of(data.row(table, 0).data() + index, rows, width, result.data);
}

void save(const Result& result, const std::string& path) {
  const MemoryTrajectory& data = *result.data;
  const std::unique_ptr<TrajectorySink> sink = make_sink(path);
  sink->begin(data.tables(), data.provenance());
  for (std::size_t t = 0; t < data.tables().size(); ++t) {
    for (std::size_t i = 0; i < data.rows(t); ++i) {
      if (!sink->append(t, data.row(t, i))) sink->flush();
    }
  }
  sink->finish(data.status(), data.summary_json(), data.failure_json());
}

Result read(const std::string& path, const std::vector<std::string>& signals) {
  Result result;
  *result.data = read_trajectory(path, {signals}, &result.notes);
  return result;
}

Result read_head(const std::string& path) {
  Result result;
  *result.data = read_hdf5_head(path);
  return result;
}

}  // namespace

void bind_results(py::module_& module) {
  py::class_<Result>(module, "Result", "Tables of numbers with names, units and provenance, in memory.")
      .def("tables", table_names, "Names of the tables.")
      .def("names", signal_names, py::arg("table"), "Names of the columns of a table.")
      .def("signal", signal_of, py::arg("table"), py::arg("column"), "(name, unit, frame, text, flag) of a column.")
      .def(
          "find",
          [](const Result& r, const std::string& name) -> py::object {
            const std::optional<SignalRef> ref = r.data->find(name);
            return ref ? py::object(pair_of(*ref)) : py::object(py::none());
          },
          py::arg("name"), "(table, column) of exactly this name, or None.")
      .def("match", match, py::arg("pattern"), "(table, column) of all that a name, group or pattern means.")
      .def("column", column, py::arg("table"), py::arg("column"), "The values, not copied.")
      .def(
          "rows", [](const Result& r, std::size_t table) { return r.data->rows(table); }, py::arg("table"),
          "How many rows a table has.")
      .def("save", save, py::arg("path"), py::call_guard<py::gil_scoped_release>(), "Writes HDF5, or CSV by its name.")
      .def_property_readonly(
          "status", [](const Result& r) { return std::string(to_text(r.data->status())); },
          "running, finished, failed or interrupted.")
      .def_property_readonly(
          "summary", [](const Result& r) { return r.data->summary_json(); }, "JSON text.")
      .def_property_readonly(
          "failure", [](const Result& r) { return r.data->failure_json(); }, "JSON text.")
      .def_property_readonly(
          "notes", [](const Result& r) { return problem_tuples(r.notes); }, "What was left out when it was read.")
      .def_property_readonly(
          "provenance", [](const Result& r) { return r.data->provenance().entries; },
          "Keys and values: where it comes from.");
  module.def("read", read, py::arg("path"), py::arg("signals"), py::call_guard<py::gil_scoped_release>(),
             "Reads a result file; only these signals, if any are named.");
  module.def("read_head", read_head, py::arg("path"), py::call_guard<py::gil_scoped_release>(),
             "What a result in HDF5 says of itself, without its rows.");
  module.def("is_hdf5", is_hdf5_file, py::arg("path"), "By its first bytes.");
}

}  // namespace trammel::python
