// The units and the parameters of a model file, and the evaluation of expressions of parameters.
#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/elements/measure.h"
#include "trammel/read/literal.h"
#include "trammel/read/values.h"

namespace trammel {
namespace {

struct QuantityName {
  Quantity quantity;
  const char* name;  // in the section `units`
};

constexpr QuantityName quantity_names[] = {
    {Quantity::length, "length"},
    {Quantity::mass, "mass"},
    {Quantity::time, "time"},
    {Quantity::angle, "angle"},
    {Quantity::force, "force"},
    {Quantity::torque, "torque"},
    {Quantity::speed, "speed"},
    {Quantity::acceleration, "acceleration"},
    {Quantity::angular_speed, "angular_speed"},
    {Quantity::inertia, "inertia"},
    {Quantity::stiffness, "stiffness"},
    {Quantity::damping, "damping"},
    {Quantity::angular_stiffness, "angular_stiffness"},
    {Quantity::angular_damping, "angular_damping"},
    {Quantity::energy, "energy"},
    {Quantity::power, "power"},
    {Quantity::frequency, "frequency"},
    {Quantity::area, "area"},
    {Quantity::second_moment, "second_moment"},
    {Quantity::pressure, "pressure"},
    {Quantity::density, "density"},
};

// si_unit's text is one of ours, so it parses.
Unit si_dimension(Quantity quantity) {
  return quantity == Quantity::none ? Unit{} : parse_unit(si_unit(quantity)).value_or(Unit{});
}

}  // namespace

Values::Values(const Document& document, ProblemList& problems) : document_(document), problems_(problems) {
  factors_.fill(1);
  for (const QuantityName& q : quantity_names) unit_names_[slot(q.quantity)] = si_unit(q.quantity);
}

void Values::error(const Node& node, const char* id, std::string message, std::string hint) {
  problems_.add({Severity::error, id, std::move(message), std::move(hint), where(node)});
}

void Values::wrong_type(const Node& node, const Place& place, const char* wanted, std::string hint) {
  error(node, "wrong-type", place.text() + " must be " + wanted + ", but is " + kind_of(node), std::move(hint));
}

// ---- Units ---------------------------------------------------------------------------------------------------------

void Values::read_units(const Node* node) {
  if (node == nullptr) return;
  const Place place{"units", "", ""};
  Entries entries = mapping(*node, place);
  if (!entries.good()) return;
  std::array<bool, quantity_count> given{};
  for (const QuantityName& q : quantity_names) {
    const Node* entry = entries.find(q.name);
    if (entry == nullptr) continue;
    const std::optional<std::string> name = text(*entry, place.at(q.name));
    if (!name) continue;
    if (const auto value = unit_factor(*name, *entry, place.at(q.name), q.quantity)) {
      factors_[slot(q.quantity)] = *value;
      unit_names_[slot(q.quantity)] = *name;
      given[slot(q.quantity)] = true;
    }
  }
  entries.finish();

  // The others follow from length, mass, time, angle and force.
  const double L = factor(Quantity::length), M = factor(Quantity::mass), T = factor(Quantity::time);
  const double A = factor(Quantity::angle), F = factor(Quantity::force);
  const auto follow = [&](Quantity quantity, double value) {
    if (!given[slot(quantity)]) factors_[slot(quantity)] = value;
  };
  follow(Quantity::torque, F * L);
  follow(Quantity::speed, L / T);
  follow(Quantity::acceleration, L / (T * T));
  follow(Quantity::angular_speed, A / T);
  follow(Quantity::inertia, M * L * L);
  follow(Quantity::stiffness, F / L);
  follow(Quantity::damping, F * T / L);
  follow(Quantity::angular_stiffness, F * L / A);
  follow(Quantity::angular_damping, F * L * T / A);
  follow(Quantity::energy, F * L);
  follow(Quantity::power, F * L / T);
  follow(Quantity::frequency, 1 / T);
  follow(Quantity::area, L * L);
  follow(Quantity::second_moment, L * L * L * L);
  follow(Quantity::pressure, F / (L * L));
  follow(Quantity::density, M / (L * L * L));
  all_si_ = std::all_of(factors_.begin(), factors_.end(), [](double f) { return f == 1; });
}

std::optional<Unit> Values::unit(std::string_view text, const Node& node, const Place& place) {
  std::optional<Unit> found = parse_unit(trim(text));
  if (!found) {
    std::string hint = did_you_mean(text, unit_symbols());
    if (hint.empty())
      hint = "units are written like mm, N/mm, kg*m^2, N*s/m, deg/s, rpm; a product of parameters needs a *";
    error(node, "unknown-unit", place.text() + ": " + quote(text) + " is not a unit", std::move(hint));
  }
  return found;
}

std::optional<double> Values::unit_factor(std::string_view text, const Node& node, const Place& place,
                                          Quantity quantity) {
  const std::optional<Unit> found = unit(text, node, place);
  if (!found) return std::nullopt;
  if (same_dimension(*found, si_dimension(quantity))) return found->factor;
  if (quantity == Quantity::none) {
    error(node, "wrong-unit", place.text() + " is a plain number, but the unit " + quote(text) + " is given",
          "leave the unit out");
  } else {
    error(node, "wrong-unit", place.text() + ": the unit " + quote(text) + " does not fit",
          std::string("a unit such as '") + si_unit(quantity) + "' is needed");
  }
  return std::nullopt;
}

std::optional<Values::Scaled> Values::unwrap(const Node& node, const Place& place, Quantity quantity) {
  if (!node.is_mapping()) return Scaled{&node, factor(quantity), false};
  Entries entries = mapping(node, place);
  const Node* value = entries.need("value");
  const Node* unit_node = entries.need("unit");
  entries.finish();
  if (value == nullptr || unit_node == nullptr) return std::nullopt;
  const std::optional<std::string> name = text(*unit_node, place);
  if (!name) return std::nullopt;
  const std::optional<double> found = unit_factor(*name, *unit_node, place, quantity);
  if (!found) return std::nullopt;
  return Scaled{value, *found, true};
}

// ---- Parameters ----------------------------------------------------------------------------------------------------

std::optional<Unit> Values::matching_file_unit(const Unit& stated) const {
  Unit result = stated;
  result.factor = 1;
  if (all_si_ || same_dimension(stated, Unit{})) return result;
  for (const QuantityName& q : quantity_names) {
    if (!same_dimension(stated, si_dimension(q.quantity))) continue;
    result.factor = factor(q.quantity);
    return result;
  }
  return std::nullopt;
}

void Values::read_parameters(const Node* node, const std::vector<std::pair<std::string, std::string>>& overrides) {
  std::unordered_map<std::string_view, std::string_view> given;
  for (const auto& [name, value] : overrides) given[name] = value;  // the last one counts
  std::size_t count = 0;
  if (node != nullptr && !node->is_null()) {
    if (!node->is_mapping()) {
      wrong_type(*node, {"parameters", "", ""}, "a mapping of names to numbers", "write {L: 0.5, m: 2}");
    } else {
      count = node->count;
    }
  }
  parameters_.reserve(count);  // the index points at their names
  for (std::size_t i = 0; i < count; ++i) {
    const Node& key = node->key(i);
    if (!key.is_scalar()) continue;  // reported with the document
    const std::string_view name = key.text;
    if (!is_plain_name(name)) {
      error(key, "bad-name", "parameter " + quote(name) + ": this name cannot stand in an expression",
            "use letters, digits and _, with a letter first");
      continue;
    }
    const auto& functions = expression_functions();
    if (is_expression_keyword(name) || find_measure(name) != nullptr ||
        std::any_of(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; })) {
      error(key, "reserved-name", "parameter " + quote(name) + ": expressions use this name for something else",
            "choose another name");
      continue;
    }
    if (parameter_index_.count(name) != 0) continue;  // reported with the document
    const auto overriding = given.find(name);
    read_parameter(name, key, node->value(i),
                   overriding == given.end() ? std::nullopt : std::optional(overriding->second));
  }
  for (const auto& each : overrides) {
    const std::string& name = each.first;
    if (parameter_index_.count(name) != 0) continue;
    std::vector<std::string> names;
    for (const Known& known : parameters_) names.push_back(known.name);
    std::string hint = did_you_mean(name, names);
    if (hint.empty() && names.empty()) hint = "the model has no parameters";
    if (hint.empty()) hint = "parameters: " + list_of({names.begin(), names.end()});
    problems_.add({Severity::error,
                   "unknown-parameter",
                   Place{"--set", name, ""}.text() + ": the model has no such parameter",
                   std::move(hint),
                   {document_.file(), 0, 0}});
  }
}

// The text of a parameter's value, and its unit: given as {value, unit} or after the number.
std::optional<Values::ParameterText> Values::parameter_text(const Node& value, const Place& place) {
  ParameterText result;
  const Node* node = &value;
  if (value.is_mapping()) {
    Entries entries = mapping(value, place);
    node = entries.need("value");
    const Node* unit_node = entries.need("unit");
    entries.finish();
    if (node == nullptr || unit_node == nullptr) return std::nullopt;
    const std::optional<std::string> unit_text = text(*unit_node, place);
    if (unit_text) result.unit = unit(*unit_text, *unit_node, place);
    if (!result.unit) return std::nullopt;
  }
  if (!node->is_scalar() || node->is_null()) {
    wrong_type(*node, place, "a number or an expression");
    return std::nullopt;
  }
  result.from = text_start(*node);
  result.content = trim(node->text);
  const Literal literal = read_literal(result.content);
  if (!literal.is_number || !literal.has_unit()) return result;
  if (result.unit) {
    error(*node, "wrong-unit", place.text() + " states its unit twice", "keep one of them");
    return std::nullopt;
  }
  result.unit = unit(literal.rest, *node, place);
  result.content = trim(result.content.substr(0, result.content.size() - literal.rest.size()));
  return result.unit ? std::optional(result) : std::nullopt;
}

// The same for a value of the command line: in the unit of the file unless it states its own.
std::optional<Values::ParameterText> Values::override_text(std::string_view given, const ParameterText& in_file,
                                                           const Place& place) {
  ParameterText result{trim(given), in_file.unit, {}};
  const Literal literal = read_literal(result.content);
  if (!literal.is_number || !literal.has_unit()) return result;
  result.unit = parse_unit(literal.rest);
  result.content = trim(result.content.substr(0, result.content.size() - literal.rest.size()));
  if (!result.unit) {
    problems_.add({Severity::error,
                   "unknown-unit",
                   place.text() + ": " + quote(literal.rest) + " is not a unit",
                   did_you_mean(literal.rest, unit_symbols()),
                   {}});
    return std::nullopt;
  }
  if (in_file.unit && !same_dimension(*result.unit, *in_file.unit)) {
    problems_.add({Severity::error,
                   "wrong-unit",
                   place.text() + ": the unit " + quote(literal.rest) + " does not fit",
                   "the file gives this parameter another kind of unit",
                   {}});
    return std::nullopt;
  }
  return result;
}

// Each parameter has two values: in the file's units for fields, in SI for expressions of the run. They differ only if
// the file's units are not SI and the parameter states its unit, or follows from such.
void Values::read_parameter(std::string_view name, const Node& key, const Node& value,
                            std::optional<std::string_view> given) {
  Known known;
  known.name = name;
  known.where = where(key);
  std::optional<ParameterText> source = parameter_text(value, {"parameter", name, ""});
  const Place place{given ? "--set" : "parameter", name, ""};
  if (source && given) source = override_text(*given, *source, place);
  std::optional<Unit> file_unit;
  if (source && source->unit) {
    file_unit = matching_file_unit(*source->unit);
    if (!file_unit) {
      error(key, "wrong-unit", place.text() + ": it is not clear which of the file's units corresponds to this one",
            "give the plain number in the file's units, or use SI units in the file");
      source.reset();
    }
  }
  if (source) evaluate_parameter(*source, file_unit, place, known);
  parameters_.push_back(std::move(known));
  parameter_index_.emplace(parameters_.back().name, parameters_.size() - 1);
}

void Values::evaluate_parameter(const ParameterText& source, const std::optional<Unit>& file_unit, const Place& place,
                                Known& known) {
  std::optional<Evaluated> in_file, in_si;
  const Literal literal = read_literal(source.content);
  if (literal.is_number && literal.rest.empty()) {
    in_file = Evaluated{};
    in_file->value = literal.out_of_range ? std::numeric_limits<double>::infinity() : literal.value;
    in_si = in_file;
  } else if (source.content.empty() || is_not_finite_word(source.content)) {
    in_file = Evaluated{};
    in_file->value = std::numeric_limits<double>::infinity();
    in_si = in_file;
  } else {
    in_file = evaluate(source.content, source.from, place, false);
    in_si = in_file && !all_si_ ? evaluate(source.content, source.from, place, true) : in_file;
  }
  if (!in_file || !in_si) return;
  known.value = in_file->value;
  known.si_value = in_si->value;
  known.has_unit = in_file->has_parameters && in_file->all_have_units;
  if (source.unit) {
    if (in_file->any_has_unit) {
      problems_.add({Severity::error, "wrong-unit",
                     place.text() + " states a unit, but its expression uses parameters that have one",
                     "leave the unit out", source.from});
      return;
    }
    known.si_value = in_file->value * source.unit->factor;
    if (source.unit->factor != file_unit->factor) known.value = known.si_value / file_unit->factor;
    known.has_unit = true;
  }
  if (!std::isfinite(known.value) || !std::isfinite(known.si_value)) {
    problems_.add({Severity::error, "not-finite",
                   place.text() + " is " + quote(source.content) + ", not a finite number",
                   "give a number of ordinary size", source.from});
    return;
  }
  known.good = true;
}

std::vector<Parameter> Values::parameters() const {
  std::vector<Parameter> result;
  result.reserve(parameters_.size());
  for (const Known& known : parameters_) result.push_back({known.name, known.si_value, known.where, known.used});
  return result;
}

std::optional<Values::Evaluated> Values::evaluate(std::string_view text, const Location& from, const Place& place,
                                                  bool si) {
  std::string key(text);
  if (!si) {
    const auto found = evaluated_.find(key);
    if (found != evaluated_.end()) return found->second;
  }
  Evaluated result;
  bool broken = false;  // uses a parameter that is no good, which has been reported
  ExpressionScope scope;
  scope.constant = [&](std::string_view name) -> std::optional<double> {
    const auto found = parameter_index_.find(name);
    if (found == parameter_index_.end()) return std::nullopt;
    Known& known = parameters_[found->second];
    known.used = true;
    broken = broken || !known.good;
    result.has_parameters = true;
    result.all_have_units = result.all_have_units && known.has_unit;
    result.any_has_unit = result.any_has_unit || known.has_unit;
    return si ? known.si_value : known.value;
  };
  scope.allow_time = false;
  scope.owner = place.text();
  try {
    result.value = Expression::parse(text, from, scope).value(0, {});
  } catch (const Failure&) {
    if (broken) return std::nullopt;
    // Once more for the message, now with the names to choose the nearest from.
    for (const Known& known : parameters_) scope.known_names.push_back(known.name);
    try {
      Expression::parse(text, from, scope);
    } catch (const Failure& failure) {
      for (const Problem& problem : failure.problems()) problems_.add(problem);
    }
    return std::nullopt;
  }
  if (broken) return std::nullopt;
  if (!std::isfinite(result.value)) {
    problems_.add({Severity::error, "not-finite", place.text() + ": " + quote(text) + " is not a finite number",
                   "check the parameters it uses", from});
    return std::nullopt;
  }
  if (!si) evaluated_.emplace(std::move(key), result);
  return result;
}

}  // namespace trammel
