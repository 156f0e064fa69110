#include "trammel/integrate/registry.h"

#include <algorithm>

#include "trammel/integrate/methods/methods.h"

namespace trammel {
namespace {

std::string nothing(const MethodSettings&) { return ""; }
bool never(const MethodSettings&) { return false; }

}  // namespace

const std::vector<MethodInfo>& method_registry() {
  static const std::vector<MethodInfo> table = [] {
    std::vector<MethodInfo> all{
        methods::hht_i3(),
        methods::generalized_alpha_i3(),
        methods::newmark_i3(),
        methods::rosenbrock_nystrom_4(),
        methods::w_method_2(),
        methods::adams(),
        methods::euler(),
        methods::taylor_2(),
        methods::heun(),
        methods::rk4(),
        methods::fehlberg_45(),
        methods::dormand_prince_54(),
        methods::dormand_prince_853(),
    };
    for (MethodInfo& m : all) {
      if (!m.refuses) m.refuses = nothing;
      if (!m.caveat) m.caveat = nothing;
      if (!m.reactions_doubtful) m.reactions_doubtful = never;
    }
    return all;
  }();
  return table;
}

const MethodInfo& find_method(std::string_view key, const Location& where) {
  std::vector<std::string> keys;
  std::string list;
  for (const MethodInfo& m : method_registry()) {
    if (m.key == key) return m;
    keys.push_back(m.key);
    list += (list.empty() ? "" : ", ") + m.key;
  }
  const std::string near = nearest_name(key, keys);
  throw Failure({Severity::error, "unknown-method", "there is no method '" + std::string(key) + "'",
                 (near.empty() ? "" : "did you mean '" + near + "'? ") + "methods: " + list, where});
}

MethodSettings resolve_settings(const MethodInfo& method, MethodSettings settings, const Location& where) {
  std::vector<std::string> names;
  for (const Field& field : method.options) names.push_back(field.name);
  for (const auto& entry : settings.options.all()) {
    const auto known = std::find(names.begin(), names.end(), entry.first);
    if (known == names.end()) {
      const std::string near = nearest_name(entry.first, names);
      throw Failure(
          {Severity::error, "unknown-option", "method '" + method.key + "' has no option '" + entry.first + "'",
           near.empty() ? "see `trammel methods " + method.key + "`" : "did you mean '" + near + "'?", where});
    }
    const Field& field = method.options[static_cast<std::size_t>(known - names.begin())];
    const double* value = std::get_if<double>(&entry.second);
    const bool right_kind =
        field.kind == FieldKind::number ? value != nullptr : std::holds_alternative<bool>(entry.second);
    if (!right_kind) {
      throw Failure({Severity::error, "wrong-type",
                     "option '" + field.name + "' of method '" + method.key + "' must be " +
                         (field.kind == FieldKind::number ? "a number" : "true or false"),
                     field.text, where});
    }
    if (value != nullptr && !(*value >= field.least && *value <= field.most)) {
      throw Failure({Severity::error, "out-of-range",
                     "option '" + field.name + "' of method '" + method.key + "' is " + std::to_string(*value) +
                         ", valid are " + std::to_string(field.least) + " to " + std::to_string(field.most),
                     field.text, where});
    }
  }
  for (const Field& field : method.options) {
    if (!settings.options.has(field.name)) settings.options.set(field.name, *field.fallback);
  }
  const std::string reason = method.refuses(settings);
  if (!reason.empty()) {
    throw Failure({Severity::error, "method-refuses", "method '" + method.key + "' refuses these settings: " + reason,
                   "give a fixed step (`--step`), or choose another value", where});
  }
  return settings;
}

}  // namespace trammel
