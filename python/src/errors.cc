// Failures of the library as trammel.Error, which carries the problems; JSON as Python's own values.
#include "python/src/bindings.h"
#include "python/src/interruption.h"
#include "trammel/base/messages.h"

namespace trammel::python {

py::list problem_tuples(const std::vector<Problem>& problems) {
  py::list out;
  for (const Problem& p : problems) {
    const char* severity = p.severity == Severity::error     ? "error"
                           : p.severity == Severity::warning ? "warning"
                                                             : "note";
    const bool placed = p.where.file != nullptr && p.where.line > 0;
    out.append(py::make_tuple(severity, p.id, p.message, p.hint,
                              p.where.file == nullptr ? py::object(py::none()) : py::object(py::str(*p.where.file)),
                              placed ? py::object(py::int_(p.where.line)) : py::object(py::none()),
                              placed ? py::object(py::int_(p.where.column)) : py::object(py::none())));
  }
  return out;
}

py::object from_json(const nlohmann::ordered_json& json) {
  using Type = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case Type::boolean: return py::bool_(json.get<bool>());
    case Type::number_integer: return py::int_(json.get<long>());
    case Type::number_unsigned: return py::int_(json.get<unsigned long>());
    case Type::number_float: return py::float_(json.get<double>());
    case Type::string: return py::str(json.get<std::string>());
    case Type::array: {
      py::list list;
      for (const auto& entry : json) list.append(from_json(entry));
      return list;
    }
    case Type::object: {
      py::dict dict;
      for (const auto& [key, value] : json.items()) dict[py::str(key)] = from_json(value);
      return dict;
    }
    default: return py::none();
  }
}

void bind_errors(py::module_& module) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      const py::object error =
          py::module_::import("trammel.errors")
              .attr("error_of")(problem_tuples(failure.problems()), static_cast<int>(failure.exit_code()));
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    } catch (const Interruption&) {
      if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
  module.def(
      "explain",
      [](const std::string& id) -> py::object {
        const MessageInfo* info = find_message(id);
        if (info == nullptr) return py::none();
        return py::make_tuple(std::string(info->group), std::string(info->text), std::string(info->remedy));
      },
      py::arg("id"), "(where it comes from, what it means, what to do) of the identifier of a problem, or None.");
}

}  // namespace trammel::python
