// Models: texts in the file format read and checked as the command does, and the lists the Python side is made from.
#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include "app/common.h"
#include "python/src/bindings.h"
#include "trammel/base/document.h"
#include "trammel/elements/blocks/block.h"
#include "trammel/elements/registry.h"
#include "trammel/integrate/registry.h"
#include "trammel/ode/registry.h"
#include "trammel/read/format.h"
#include "trammel/read/grammar.h"
#include "trammel/read/read_model.h"
#include "trammel/run/checkpoint.h"

namespace trammel::python {
namespace {

CoreModel read_text(const std::string& text, const std::string& name, const std::vector<std::string>& set) {
  ReadOptions options;
  for (const std::string& assignment : set) options.set(assignment);
  return {std::make_shared<const Model>(read_model_text(text, name, options))};
}

CoreModel change(const CoreModel& model, const ModelChanges& changes) {
  CoreModel changed;
  changed.model = std::make_shared<const Model>(changed_model(*model.model, changes, &changed.warnings));
  return changed;
}

// A document as Python's own values. Texts in quotes come as (text,), others as text; keys are texts.
py::object value_of(const Node& node) {
  if (node.is_sequence()) {
    py::list list;
    for (std::size_t i = 0; i < node.count; ++i) list.append(value_of(node.item(i)));
    return list;
  }
  if (node.is_mapping()) {
    py::dict dict;
    for (std::size_t i = 0; i < node.count; ++i) dict[py::str(std::string(node.key(i).text))] = value_of(node.value(i));
    return dict;
  }
  const py::str text{std::string(node.text)};
  return node.quoted ? py::object(py::make_tuple(text)) : py::object(text);
}

py::object parse(const std::string& text, const std::string& name) {
  ProblemList problems;
  const Document document(text, name, problems);
  problems.fail_if_any();
  return value_of(document.root());
}

const char* attachment_name(Attachment attachment) {
  switch (attachment) {
    case Attachment::joint: return "joint";
    case Attachment::two_points: return "two_points";
    case Attachment::on_joint: return "on_joint";
    case Attachment::joints: return "joints";
    case Attachment::several: return "several";
  }
  return "";
}

Json fields_json(const std::vector<Field>& fields) {
  Json list = Json::array();
  for (const Field& field : fields) list.push_back(to_json(field));
  return list;
}

py::object elements() {
  Json list = Json::array();
  for (const ElementDescription& e : element_registry()) {
    list.push_back({{"category", to_text(e.category)},
                    {"key", e.key},
                    {"summary", e.summary},
                    {"attachment", attachment_name(e.attachment)},
                    {"fields", fields_json(e.fields)},
                    {"fields_text", fields_text(e.fields)}});
  }
  for (const BlockDescription& b : block_registry()) {
    list.push_back({{"category", "block"},
                    {"key", b.key},
                    {"summary", b.summary},
                    {"attachment", ""},
                    {"fields", fields_json(b.fields)},
                    {"fields_text", fields_text(b.fields)}});
  }
  return from_json(list);
}

py::object methods() {
  Json list = Json::array();
  for (const MethodInfo& m : method_registry()) {
    list.push_back({{"key", m.key},
                    {"title", m.title},
                    {"source", m.source},
                    {"order", m.order},
                    {"stability", m.stability},
                    {"explicit", m.is_explicit},
                    {"stiff", m.stiff},
                    {"mechanisms", static_cast<bool>(m.make)},
                    {"first_order", static_cast<bool>(m.make_first_order)},
                    {"second_order", static_cast<bool>(m.make_second_order)},
                    {"implicit", static_cast<bool>(m.make_implicit)},
                    {"formulations", m.formulations},
                    {"options", fields_json(m.options)}});
  }
  return from_json(list);
}

// The keys of a mapping of the format: (name, sentence, unit, required).
py::list keys(const std::string& rule) {
  py::list list;
  for (int i = 0; i <= static_cast<int>(Rule::output); ++i) {
    if (name_of(static_cast<Rule>(i)) != rule) continue;
    for (const Key& key : keys_of(static_cast<Rule>(i))) {
      list.append(py::make_tuple(std::string(key.name), std::string(key.text), si_unit(key.quantity), key.required));
    }
  }
  return list;
}

template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

}  // namespace

void bind_models(py::module_& module) {
  py::class_<ModelChanges>(module, "Changes", "What is changed of a model for a run, as options of the command do.")
      .def(py::init<>())
      .def_readwrite("method", &ModelChanges::method)
      .def_readwrite("formulation", &ModelChanges::formulation)
      .def_readwrite("tolerance", &ModelChanges::tolerance)
      .def_readwrite("step", &ModelChanges::step)
      .def_readwrite("end", &ModelChanges::end)
      .def_readwrite("output_step", &ModelChanges::output_step)
      .def_readwrite("greatest_step", &ModelChanges::greatest_step)
      .def_readwrite("options", &ModelChanges::options)
      .def_readwrite("set", &ModelChanges::set);
  py::class_<CoreModel>(module, "Model", "A model that has been read.")
      .def("changed", change, py::arg("changes"), py::call_guard<py::gil_scoped_release>(),
           "With other settings, and checked.")
      .def_property_readonly("warnings", [](const CoreModel& m) { return problem_tuples(m.warnings); })
      .def_property_readonly("title", [](const CoreModel& m) { return m.model->title; })
      .def_property_readonly("gravity", [](const CoreModel& m) { return m.model->gravity; })
      .def_property_readonly("end", [](const CoreModel& m) { return m.model->simulation.end; })
      .def_property_readonly("method", [](const CoreModel& m) { return m.model->simulation.method; })
      .def_property_readonly("bodies", [](const CoreModel& m) { return names_of(m.model->bodies); })
      .def_property_readonly("joints", [](const CoreModel& m) { return names_of(m.model->joints); })
      .def_property_readonly("motions", [](const CoreModel& m) { return names_of(m.model->motions); })
      .def_property_readonly("forces", [](const CoreModel& m) { return names_of(m.model->forces); })
      .def_property_readonly("inputs", [](const CoreModel& m) { return names_of(m.model->inputs); })
      .def_property_readonly("states", [](const CoreModel& m) { return names_of(m.model->states); })
      .def_property_readonly("variables", [](const CoreModel& m) { return names_of(m.model->variables); })
      .def_property_readonly("outputs", [](const CoreModel& m) { return names_of(m.model->outputs); })
      .def_property_readonly("parameters",
                             [](const CoreModel& m) {
                               py::dict values;
                               for (const Parameter& p : m.model->parameters)
                                 values[py::str(p.name)] = py::make_tuple(p.value, p.unit);
                               return values;
                             })
      .def_property_readonly(
          "digest",
          [](const CoreModel& m) {
            Model same = *m.model;
            same.text.clear();  // layout and comments do not matter
            return model_digest(same);
          },
          "Everything that is computed with, as text.");
  module.def("read_text", read_text, py::arg("text"), py::arg("name"), py::arg("set"),
             py::call_guard<py::gil_scoped_release>(), "Reads a model from a text in the file format.");
  module.def("read_file_text", read_file_text, py::arg("path"), "The text of a model file.");
  module.def(
      "format_text", [](const std::string& text, const std::string& name) { return format_model_text(text, name); },
      py::arg("text"), py::arg("name"), "As `trammel fmt` lays it out.");
  module.def("parse", parse, py::arg("text"), py::arg("name"), "A document as Python's own values.");
  module.def("elements", elements, "All joints, motions, forces and blocks, with their fields.");
  module.def("methods", methods, "All time integration methods, with their options.");
  module.def("keys", keys, py::arg("rule"), "(name, sentence, unit, required) of the keys of a mapping of the format.");
}

}  // namespace trammel::python
