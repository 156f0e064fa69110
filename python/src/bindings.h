// What the bindings share. Everything that computes is in the library; everything that is pleasant is in Python.
#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "trammel/base/diagnosis.h"
#include "trammel/base/types.h"
#include "trammel/model/model.h"
#include "trammel/write/trajectory.h"

namespace trammel::python {

namespace py = pybind11;

// Problems as tuples (severity, id, message, hint, file, line, column), from which trammel.errors makes its own.
py::list problem_tuples(const std::vector<Problem>& problems);

// A vector seen from Python without copying it: `owner` lives as long as the array does. Read-only.
py::array view_of(const double* data, py::ssize_t count, py::ssize_t stride_in_bytes,
                  std::shared_ptr<const void> owner);
inline py::array view_of(const Vec& vector, std::shared_ptr<const void> owner) {
  return view_of(vector.data(), vector.size(), sizeof(double), std::move(owner));
}

// A result in memory, shared by the arrays that look into it.
struct Result {
  std::shared_ptr<MemoryTrajectory> data = std::make_shared<MemoryTrajectory>();
  std::vector<Problem> notes{};  // what was left out when it was read
};

// A model that has been read: never changed, so that threads may share it.
struct CoreModel {
  std::shared_ptr<const Model> model;
  std::vector<Problem> warnings{};
};

// JSON as Python's own dictionaries and lists.
py::object from_json(const nlohmann::ordered_json& json);

void bind_errors(py::module_& module);
void bind_results(py::module_& module);
void bind_models(py::module_& module);
void bind_runs(py::module_& module);
void bind_analyses(py::module_& module);
void bind_stepping(py::module_& module);
void bind_solve(py::module_& module);
void bind_couple(py::module_& module);

}  // namespace trammel::python
