#include "trammel/run/load_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "trammel/check/check_model.h"
#include "trammel/formulate/formulations.h"
#include "trammel/integrate/registry.h"
#include "trammel/read/read_model.h"

namespace trammel {
namespace {

const Location& command_line() {
  static const Location where{intern("command line"), 0, 0};
  return where;
}

[[noreturn]] void refuse(const char* id, const std::string& message, const std::string& hint) {
  throw Failure({Severity::error, id, message, hint, command_line()}, ExitCode::bad_usage);
}

void change(std::optional<double>& setting, const std::optional<double>& value, const char* name) {
  if (!value) return;
  if (!std::isfinite(*value) || *value <= 0) {
    refuse("not-positive", std::string(name) + " must be a positive number", "see `trammel run --help`");
  }
  setting = value;
}

void set_option(Fields& options, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals), value = equals == std::string::npos ? "" : text.substr(equals + 1);
  double number = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, trouble] = std::from_chars(value.data(), end, number);
  if (value == "true" || value == "false") {
    options.set(name, value == "true");
  } else if (!name.empty() && !value.empty() && rest == end && trouble == std::errc()) {
    options.set(name, number);
  } else if (!name.empty() && !value.empty() && rest == value.data()) {
    options.set(name, value);
  } else {
    refuse("bad-option", "an option is NAME=VALUE with a number, true or false, or a text, not '" + text + "'",
           "for example --option alpha=-0.1; `trammel methods KEY` lists the options");
  }
}

// Options that belong to formulations, but not to this one.
void drop_options_of_others(Fields& options, const std::string& formulation) {
  const auto has = [](const FormulationInfo& f, const std::string& name) {
    return std::any_of(f.options.begin(), f.options.end(), [&](const Field& field) { return field.name == name; });
  };
  const FormulationInfo* chosen = find_formulation(formulation);
  const std::vector<FormulationInfo>& all = formulation_registry();
  Fields kept;
  for (const auto& [name, value] : options.all()) {
    const bool of_some = std::any_of(all.begin(), all.end(), [&n = name, &has](const auto& f) { return has(f, n); });
    if (!of_some || (chosen != nullptr && has(*chosen, name))) kept.set(name, value);
  }
  options = kept;
}

}  // namespace

void apply_changes(Model& model, const ModelChanges& changes) {
  SimulationSettings& s = model.simulation;
  if (changes.method) {
    try {
      (void)find_method(*changes.method, command_line());
    } catch (const Failure& failure) {
      throw Failure(failure.problems(), ExitCode::bad_usage);
    }
    if (*changes.method != s.method) {
      s.options = {};
      s.formulation.clear();
    }
    s.method = *changes.method;
  }
  if (changes.formulation) {
    if (*changes.formulation != s.formulation) drop_options_of_others(s.options, *changes.formulation);
    s.formulation = *changes.formulation;
  }
  change(s.tolerance, changes.tolerance, "the tolerance");
  if (changes.tolerance && !changes.step) s.step.reset();
  change(s.step, changes.step, "the step");
  std::optional<double> end;
  change(end, changes.end, "the end");
  s.end = end.value_or(s.end);
  if (changes.output_step && *changes.output_step == 0) {
    s.output_step.reset();
  } else {
    change(s.output_step, changes.output_step, "the output step");
  }
  change(s.greatest_step, changes.greatest_step, "the greatest step");
  if (s.least_step && s.greatest_step && changes.greatest_step && *s.least_step > *s.greatest_step) {
    refuse("conflict", "the greatest step is below the least step that the model sets", "take a larger one");
  }
  for (const std::string& option : changes.options) set_option(s.options, option);
  if (changes.method || changes.formulation || !changes.options.empty()) s.where = command_line();
}

Model load_model(const std::string& path, const ModelChanges& changes, std::vector<Problem>* warnings) {
  ReadOptions options;
  for (const std::string& assignment : changes.set) options.set(assignment);
  return changed_model(read_model(path, options), changes, warnings);
}

Model changed_model(Model model, const ModelChanges& changes, std::vector<Problem>* warnings) {
  const SimulationSettings before = model.simulation;
  apply_changes(model, changes);
  std::vector<Problem> found = require_sound(model);
  const bool other_method = changes.method && *changes.method != before.method;
  if (!other_method && changes.formulation && before.options.all().size() > model.simulation.options.all().size()) {
    found.push_back({Severity::note, "options-of-another-method",
                     "the options that the model gives for its own formulation are left out",
                     "give those of '" + *changes.formulation + "' with --option", before.where});
  }
  if (other_method && !before.options.all().empty()) {
    found.push_back({Severity::note, "options-of-another-method",
                     "the options that the model gives for method '" + before.method + "' are left out",
                     "give those of '" + *changes.method + "' with --option", before.where});
  }
  if (warnings != nullptr) *warnings = std::move(found);
  return model;
}

}  // namespace trammel
