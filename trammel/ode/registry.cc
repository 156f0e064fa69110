#include "trammel/ode/registry.h"

#include <algorithm>

#include "trammel/base/numbers.h"
#include "trammel/ode/methods.h"

namespace trammel {

namespace {

// What a fixed number of corrections leaves is not bounded: an error test would take it for the method's error.
std::vector<OdeMethodInfo> with_corrections_at_fixed_steps_only(std::vector<OdeMethodInfo> all) {
  for (OdeMethodInfo& m : all) {
    if (std::none_of(m.options.begin(), m.options.end(), [](const Field& f) { return f.name == "corrections"; }))
      continue;
    m.refuses = [own = m.refuses](const OdeSettings& s) -> std::string {
      if (!s.fixed_step && s.options.number("corrections") > 0)
        return "a fixed number of `corrections` needs a fixed step: no error test could tell what they leave from the "
               "error of the method";
      return own ? own(s) : "";
    };
  }
  return all;
}

}  // namespace

const std::vector<OdeMethodInfo>& ode_method_registry() {
  static const std::vector<OdeMethodInfo> table = with_corrections_at_fixed_steps_only({
      methods::rosenbrock_nystrom_4(),
      methods::w_method_2(),
      methods::adams(),
      methods::euler(),
      methods::taylor_2(),
      methods::heun(),
      methods::rk4(),
      methods::runge_kutta_from_file(),
      methods::bogacki_shampine_32(),
      methods::fehlberg_45(),
      methods::dormand_prince_54(),
      methods::dormand_prince_853(),
      methods::adams_bashforth(),
      methods::adams_moulton(),
      methods::bdf_fixed(),
      methods::bdf(),
      methods::cvode_bdf(),
      methods::cvode_adams(),
      methods::trapezoidal(),
      methods::implicit_midpoint(),
      methods::norsett_sdirk(),
      methods::sdirk_4(),
      methods::gauss(),
      methods::radau_iia_1(),
      methods::radau_iia_2(),
      methods::radau_iia_3(),
      methods::lobatto_iiic(),
      methods::newmark(),
      methods::hht(),
      methods::wilson_theta(),
      methods::collocation(),
      methods::generalized_alpha(),
      methods::midpoint(),
  });
  return table;
}

void refuse_unknown_method(std::string_view key, const char* kind, const std::vector<std::string>& keys,
                           const Location& where) {
  std::string list;
  for (const std::string& known : keys) list += (list.empty() ? "" : ", ") + known;
  const std::string near = nearest_name(key, keys);
  throw Failure({Severity::error, "unknown-method", "there is no method '" + std::string(key) + "'" + kind,
                 (near.empty() ? "" : "did you mean '" + near + "'? ") + "methods: " + list, where});
}

const OdeMethodInfo& find_ode_method(std::string_view key, const Location& where) {
  std::vector<std::string> keys;
  for (const OdeMethodInfo& m : ode_method_registry()) {
    if (m.key == key) return m;
    keys.push_back(m.key);
  }
  refuse_unknown_method(key, " for differential equations", keys, where);
}

namespace {

// What was wrong on the command line is wrong usage, not a wrong model.
ExitCode exit_code_for(const Location& where) {
  return where.file != nullptr && *where.file == "command line" ? ExitCode::bad_usage : ExitCode::bad_model;
}

void check_option(const OdeMethodInfo& method, const Field& field, const Value& given, const Location& where) {
  const double* value = std::get_if<double>(&given);
  const bool right_kind = field.kind == FieldKind::number ? value != nullptr
                          : field.kind == FieldKind::text ? std::holds_alternative<std::string>(given)
                                                          : std::holds_alternative<bool>(given);
  const std::string option = "option '" + field.name + "' of method '" + method.key + "'";
  if (!right_kind) {
    const char* kind = field.kind == FieldKind::number ? "a number"
                       : field.kind == FieldKind::text ? "a text"
                                                       : "true or false";
    throw Failure({Severity::error, "wrong-type", option + " must be " + kind, field.text, where},
                  exit_code_for(where));
  }
  if (value != nullptr && !(*value >= field.least && *value <= field.most)) {
    throw Failure(
        {Severity::error, "out-of-range",
         option + " is " + digits(*value) + ", valid are " + digits(field.least) + " to " + digits(field.most),
         field.text, where},
        exit_code_for(where));
  }
}

}  // namespace

void resolve_options(const OdeMethodInfo& method, const std::vector<Field>& fields, Fields& options,
                     const Location& where) {
  for (const auto& [name, value] : options.all()) {
    const auto known =
        std::find_if(fields.begin(), fields.end(), [&key = name](const Field& field) { return field.name == key; });
    if (known != fields.end()) {
      check_option(method, *known, value, where);
      continue;
    }
    std::vector<std::string> names;
    for (const Field& field : fields) names.push_back(field.name);
    const std::string near = nearest_name(name, names);
    throw Failure({Severity::error, "unknown-option", "method '" + method.key + "' has no option '" + name + "'",
                   near.empty() ? "see `trammel methods " + method.key + "`" : "did you mean '" + near + "'?", where});
  }
  for (const Field& field : fields) {
    if (!options.has(field.name)) options.set(field.name, *field.fallback);
  }
}

void ask_method(const OdeMethodInfo& method, const OdeSettings& settings, const Location& where) {
  const std::string reason = method.why_refused(settings);
  if (reason.empty()) return;
  throw Failure({Severity::error, "method-refuses", "method '" + method.key + "' refuses these settings: " + reason,
                 settings.fixed_step ? "choose another value, or let the method choose its steps"
                                     : "choose another value, or give a fixed step (`--step`)",
                 where});
}

OdeSettings resolve_settings(const OdeMethodInfo& method, OdeSettings settings, const Location& where) {
  resolve_options(method, method.options, settings.options, where);
  ask_method(method, settings, where);
  return settings;
}

}  // namespace trammel
