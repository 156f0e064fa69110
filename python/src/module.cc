// The compiled part of the package, trammel._core.
#include "python/src/bindings.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The compiled part of trammel: use the package, which is made of it.";
  module.attr("version") = TRAMMEL_VERSION;
  trammel::python::bind_errors(module);
  trammel::python::bind_results(module);
  trammel::python::bind_models(module);
  trammel::python::bind_runs(module);
  trammel::python::bind_analyses(module);
  trammel::python::bind_stepping(module);
  trammel::python::bind_solve(module);
  trammel::python::bind_couple(module);
}
