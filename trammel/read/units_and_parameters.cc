// The units and the parameters of a model file, and the evaluation of expressions of parameters.
#include <algorithm>
#include <cmath>
#include <limits>

#include "trammel/base/literal.h"
#include "trammel/elements/measure.h"
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
    {Quantity::angular_acceleration, "angular_acceleration"},
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
    {Quantity::flexural_rigidity, "flexural_rigidity"},
    {Quantity::mass_per_length, "mass_per_length"},
    {Quantity::curvature, "curvature"},
};

// si_unit's text is one of ours, so it parses.
Unit si_dimension(Quantity quantity) {
  return quantity == Quantity::none ? Unit{} : parse_unit(si_unit(quantity)).value_or(Unit{});
}

}  // namespace

Values::Values(Document& document, ProblemList& problems) : document_(document), problems_(problems) {
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
  follow(Quantity::angular_acceleration, A / (T * T));
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
  follow(Quantity::flexural_rigidity, F * L * L);
  follow(Quantity::mass_per_length, M / L);
  follow(Quantity::curvature, 1 / L);
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

AngleUnit Values::angle_unit(const Unit& unit) const {
  const double rest = std::pow(factor(Quantity::length), unit.length) * std::pow(factor(Quantity::mass), unit.mass) *
                      std::pow(factor(Quantity::time), unit.time);
  return {unit.angle == 0 ? 1 : unit.factor / rest, unit.angle, same_dimension(unit, Unit{})};
}

// The value of an expression of parameters. Angles in it count in their own unit; all else is in the file's.
std::optional<double> Values::to_si(const Evaluated& result, const Node& node, const Place& place, Quantity quantity,
                                    double factor_used, bool stated) {
  Unit file_unit = si_dimension(quantity);
  file_unit.factor = factor(quantity);
  const AngleUnit wanted = angle_unit(file_unit);
  const AngleUnit& angle = result.angle;
  if (angle.power == 0 || quantity == Quantity::none) return result.value * factor_used;
  if (stated) {  // none of its parameters has a unit, so a function or DTOR gave the angle
    if (quantity == Quantity::angle && angle.power == 1 && factor_used == 1) return result.value * angle.unit;
    error(node, "wrong-unit", place.text() + " states a unit, but its expression gives an angle, which has one",
          "leave the unit out, or make a plain number of the angle: degrees by *RTOD");
    return std::nullopt;
  }
  if (angle.power == wanted.power) {
    return result.value * (angle.unit == wanted.unit ? factor_used : factor_used * (angle.unit / wanted.unit));
  }
  if (angle.unit == 1 || !result.all_have_units) return result.value * factor_used;
  error(node, "wrong-unit",
        place.text() + ": its expression keeps an angle as a factor, so that its value depends on the unit of angles",
        "use radians, `units: {angle: rad}` (30 deg can be written there too), or make a plain number of the angle: "
        "degrees by *RTOD");
  return std::nullopt;
}

void Values::take_units(const Values& other) {
  factors_ = other.factors_;
  unit_names_ = other.unit_names_;
  all_si_ = other.all_si_;
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

bool Values::check_parameter_name(const Node& key, const char* kind) {
  const std::string_view name = key.text;
  const std::string who = std::string(kind) + " " + quote(name);
  if (!is_plain_name(name)) {
    error(key, "bad-name", who + ": this name cannot stand in an expression",
          "use letters, digits and _, with a letter first");
    return false;
  }
  const auto& functions = expression_functions();
  if (is_expression_keyword(name) || find_measure(name) != nullptr ||
      std::any_of(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; })) {
    error(key, "reserved-name", who + ": expressions use this name for something else", "choose another name");
    return false;
  }
  return true;
}

void Values::collect_parameters(const Node& section, const std::vector<std::pair<std::string, std::string>>& overrides,
                                const Bound& given, std::vector<Pending>& pending) {
  if (section.is_null()) return;
  if (!section.is_mapping()) {
    wrong_type(section, {"parameters", "", ""}, "a mapping of names to numbers", "write {L: 0.5, m: 2}");
    return;
  }
  for (std::size_t i = 0; i < section.count; ++i) {
    const Node& key = section.key(i);
    if (!key.is_scalar() || !check_parameter_name(key, "parameter")) continue;  // the former is reported already
    const std::string_view name = key.text;
    if (const auto before = parameter_index_.find(name); before != parameter_index_.end()) {
      const Location& first = parameters_[before->second].where;
      if (first.file != where(key).file) {  // otherwise reported with the document
        error(key, "duplicate-name", "parameter " + quote(name) + " is given in two files",
              "the other is " + *first.file + ":" + std::to_string(first.line));
      }
      continue;
    }
    std::optional<std::string_view> overriding;
    for (const auto& each : overrides) {
      if (each.first == name) overriding = each.second;  // the last one counts
    }
    pending.push_back(pending_parameter(key, section.value(i), overriding));
    Known known;
    known.name = name;
    known.where = where(key);
    for (const Known& from_outside : given) {
      if (from_outside.name != name) continue;
      take_given(from_outside, pending.back(), known);
      pending.back().good = false;
    }
    parameters_.push_back(std::move(known));
    parameter_index_.emplace(parameters_.back().name, parameters_.size() - 1);
  }
}

void Values::read_parameters(const std::vector<const Node*>& sections,
                             const std::vector<std::pair<std::string, std::string>>& overrides, const Bound& given) {
  std::size_t count = 0;
  for (const Node* section : sections) count += section->is_mapping() ? section->count : 0;
  parameters_.reserve(count);  // the index points at their names
  std::vector<Pending> pending;
  pending.reserve(count);
  for (const Node* section : sections) collect_parameters(*section, overrides, given, pending);
  for (const std::size_t i : evaluation_order(pending)) {
    if (pending[i].good) evaluate_parameter(pending[i], parameters_[i]);
  }
  const auto unknown = [&](const char* kind, const std::string& name, const Location& at) {
    std::vector<std::string> names;
    for (const Known& known : parameters_) names.push_back(known.name);
    std::string hint = did_you_mean(name, names);
    const char* const what = *kind == '-' ? "model" : "subsystem";
    if (hint.empty() && names.empty()) hint = std::string("the ") + what + " has no parameters";
    if (hint.empty()) hint = "parameters: " + list_of({names.begin(), names.end()});
    problems_.add({Severity::error, "unknown-parameter",
                   Place{kind, name, ""}.text() + ": the " + what + " has no such parameter", std::move(hint), at});
  };
  for (const auto& each : overrides) {
    if (!has_parameter(each.first)) unknown("--set", each.first, {document_.file(), 0, 0});
  }
  for (const Known& each : given) {
    if (!has_parameter(each.name)) unknown("parameter", each.name, each.where);
  }
}

// Each after those it uses, otherwise in the order of the file. Those that depend on themselves are reported and
// marked; none of them is evaluated.
std::vector<std::size_t> Values::evaluation_order(const std::vector<Pending>& pending) {
  std::vector<std::vector<std::size_t>> uses(pending.size());
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const auto add = [&](std::string_view content) {
      const ExpressionText text{std::string(content), {}};  // the names are parts of it
      for (const std::string_view name : names_in(text)) {
        const auto found = parameter_index_.find(name);
        if (found != parameter_index_.end()) uses[i].push_back(found->second);
      }
    };
    const ParameterText& source = pending[i].source;
    if (!pending[i].good) continue;
    if (source.list == nullptr) {
      if (!read_literal(source.content).is_number || !read_literal(source.content).rest.empty()) add(source.content);
    } else {
      for (std::size_t k = 0; k < source.list->count; ++k) add(source.list->item(k).text);
    }
  }
  enum class Mark : char { fresh, open, done };
  std::vector<Mark> marks(pending.size(), Mark::fresh);
  std::vector<std::size_t> order;
  std::vector<std::pair<std::size_t, std::size_t>> path;  // a parameter, and how many of its uses have been followed
  for (std::size_t start = 0; start < pending.size(); ++start) {
    if (marks[start] != Mark::fresh) continue;
    path.emplace_back(start, 0);
    marks[start] = Mark::open;
    while (!path.empty()) {
      const std::size_t i = path.back().first;
      if (path.back().second == uses[i].size()) {
        marks[i] = Mark::done;
        order.push_back(i);
        path.pop_back();
        continue;
      }
      const std::size_t next = uses[i][path.back().second++];
      if (marks[next] == Mark::fresh) {
        marks[next] = Mark::open;
        path.emplace_back(next, 0);
      } else if (marks[next] == Mark::open) {
        std::string circle;
        std::size_t at = path.size();
        while (path[--at].first != next) {
        }
        for (std::size_t shown = 0; at < path.size(); ++at, ++shown) {
          if (shown == 8) {
            circle += "... -> ";
            break;
          }
          circle += parameters_[path[at].first].name + " -> ";
        }
        problems_.add(
            {Severity::error, "parameter-cycle",
             "parameter " + quote(parameters_[next].name) + " depends on itself: " + circle + parameters_[next].name,
             "give one of them as a number", parameters_[next].where});
        // All of the circle are left without a value; those that use them say nothing more.
        for (auto& step : path) marks[step.first] = Mark::done;
        path.clear();
      }
    }
  }
  return order;
}

// A parameter of a subsystem whose use gives it a value.
void Values::take_given(const Known& given, const Pending& pending, Known& known) {
  const bool stated = pending.source.unit.has_value() && pending.file_unit.has_value();
  known.is_array = given.is_array;
  const auto convert = [&](double value, double si, double& to_value, double& to_si) {
    if (!given.has_unit && stated) {  // a plain number is in the unit that the subsystem states
      to_si = value * pending.source.unit->factor;
      to_value = to_si / pending.file_unit->factor;
    } else if (given.has_unit && (stated || all_si_)) {
      to_si = si;
      to_value = stated ? si / pending.file_unit->factor : si;
    } else {
      to_si = si;
      to_value = value;
    }
  };
  convert(given.value, given.si_value, known.value, known.si_value);
  for (std::size_t i = 0; i < given.values.size(); ++i) {
    convert(given.values[i], given.si_values[i], known.values.emplace_back(), known.si_values.emplace_back());
  }
  known.angle = stated                      ? angle_unit(*pending.file_unit)
                : given.has_unit && all_si_ ? AngleUnit{1, given.angle.power, given.angle.radians}
                                            : given.angle;
  known.has_unit = given.has_unit || stated;
  known.pure = given.pure && !stated;
  known.good = given.good;
}

Values::Bound Values::read_local_parameters(const Node& section, const char* kind) {
  Bound result;
  if (section.is_null()) return result;
  if (!section.is_mapping()) {
    wrong_type(section, {"parameters", "", ""}, "a mapping of names to numbers", "write {L: 0.5, m: 2}");
    return result;
  }
  Bound* const outer = bound_;
  Bound visible = outer == nullptr ? Bound{} : *outer;
  const bool binds = kind == std::string_view("local parameter");
  for (std::size_t i = 0; i < section.count; ++i) {
    const Node& key = section.key(i);
    if (!key.is_scalar() || !check_parameter_name(key, kind)) continue;
    bool varies = false;
    if (binds && (find_known(key.text, varies) != nullptr)) {
      error(key, "duplicate-name", std::string(kind) + " " + quote(key.text) + ": a parameter or index has this name",
            "choose another name");
      continue;
    }
    Known known;
    known.name = key.text;
    known.where = where(key);
    const Pending pending = pending_parameter(key, section.value(i), std::nullopt);
    if (pending.good) evaluate_parameter(pending, known);
    if (!known.good) continue;
    result.push_back(known);
    if (binds) {
      visible.push_back(std::move(known));
      bound_ = &visible;
    }
  }
  bound_ = outer;
  return result;
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
  if (node->is_sequence()) {
    result.list = node;
    result.from = where(*node);
    return result;
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

Values::Pending Values::pending_parameter(const Node& key, const Node& value, std::optional<std::string_view> given) {
  Pending pending;
  const std::optional<ParameterText> in_file = parameter_text(value, {"parameter", key.text, ""});
  if (given) pending.kind = "--set";
  const Place place{pending.kind, key.text, ""};
  if (!in_file) return pending;
  const std::optional<ParameterText> source = given ? override_text(*given, *in_file, place) : in_file;
  if (!source) return pending;
  pending.source = *source;
  if (pending.source.unit) {
    pending.file_unit = matching_file_unit(*pending.source.unit);
    if (!pending.file_unit) {
      error(key, "wrong-unit", place.text() + ": it is not clear which of the file's units corresponds to this one",
            "give the plain number in the file's units, or use SI units in the file");
      return pending;
    }
  }
  pending.good = true;
  return pending;
}

// Each parameter has two values: in the file's units for fields, in SI for expressions of the run. They differ only if
// the file's units are not SI and the parameter states its unit, or follows from such.
void Values::evaluate_parameter(const Pending& pending, Known& known) {
  const ParameterText& source = pending.source;
  const Place place{pending.kind, known.name, ""};
  if (source.list != nullptr) {
    evaluate_array(pending, place, known);
    return;
  }
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
  known.has_unit = in_file->has_parameters ? in_file->all_have_units : in_file->angle.power != 0;
  known.angle = in_file->angle;
  if (source.unit) {
    if (in_file->any_has_unit) {
      problems_.add({Severity::error, "wrong-unit",
                     place.text() + " states a unit, but its expression uses parameters that have one",
                     "leave the unit out", source.from});
      return;
    }
    const bool gives_angle = in_file->angle.power != 0;
    if (gives_angle && !(in_file->angle.power == 1 && same_dimension(*source.unit, si_dimension(Quantity::angle)) &&
                         source.unit->factor == 1)) {
      problems_.add({Severity::error, "wrong-unit",
                     place.text() + " states a unit, but its expression gives an angle, which has one",
                     "leave the unit out, or make a plain number of the angle: degrees by *RTOD", source.from});
      return;
    }
    known.si_value = in_file->value * (gives_angle ? in_file->angle.unit : source.unit->factor);
    known.value = gives_angle ? known.si_value : in_file->value;
    known.angle = angle_unit(*pending.file_unit);
    if (source.unit->factor != pending.file_unit->factor) known.value = known.si_value / pending.file_unit->factor;
    known.has_unit = true;
    // A ratio has no unit; if its plain numbers were scaled, in mm/m, those in SI need one to be told apart.
    known.si_unit = !same_dimension(*source.unit, Unit{}) ? si_text(*source.unit)
                    : source.unit->factor != 1            ? "m/m"
                                                          : "";
  }
  if (!std::isfinite(known.value) || !std::isfinite(known.si_value)) {
    problems_.add({Severity::error, "not-finite",
                   place.text() + " is " + quote(source.content) + ", not a finite number",
                   "give a number of ordinary size", source.from});
    return;
  }
  known.good = true;
}

void Values::evaluate_array(const Pending& pending, const Place& place, Known& known) {
  known.is_array = true;
  if (pending.source.list->count == 0) {
    error(*pending.source.list, "wrong-length", place.text() + " is a list without entries", "give it some");
    return;
  }
  for (std::size_t i = 0; i < pending.source.list->count; ++i) {
    const Node& item = pending.source.list->item(i);
    std::optional<ParameterText> source = item.is_sequence() ? std::nullopt : parameter_text(item, place);
    if (item.is_sequence()) wrong_type(item, place, "a list of single numbers");
    if (!source) return;
    Pending one{*source, pending.file_unit, pending.kind, true};
    if (!one.source.unit) {
      one.source.unit = pending.source.unit;
    } else if (pending.source.unit) {
      error(item, "wrong-unit", place.text() + " states its unit twice", "keep one of them");
      return;
    } else {
      one.file_unit = matching_file_unit(*one.source.unit);
      if (!one.file_unit) {
        error(item, "wrong-unit", place.text() + ": it is not clear which of the file's units corresponds to this one",
              "give plain numbers in the file's units, or use SI units in the file");
        return;
      }
    }
    Known entry;
    entry.name = known.name;
    evaluate_parameter(one, entry);
    if (!entry.good) return;
    known.has_unit = (i == 0 || known.has_unit) && entry.has_unit;
    known.si_unit = entry.si_unit;
    if (i > 0 && entry.angle.power == known.angle.power && entry.angle.unit != known.angle.unit)
      entry.value *= entry.angle.unit / known.angle.unit;
    if (i == 0 || known.angle.power == 0) known.angle = entry.angle;
    known.values.push_back(entry.value);
    known.si_values.push_back(entry.si_value);
  }
  known.good = true;
}

std::vector<Parameter> Values::parameters() const {
  std::vector<Parameter> result;
  result.reserve(parameters_.size());
  for (const Known& known : parameters_) {
    if (!known.is_array) result.push_back({known.name, known.si_value, known.where, known.used, known.si_unit});
    // the entries of a list by the names that expressions have for them
    for (std::size_t i = 0; i < known.si_values.size(); ++i)
      result.push_back(
          {known.name + "(" + std::to_string(i + 1) + ")", known.si_values[i], known.where, true, known.si_unit});
  }
  return result;
}

Values::Known* Values::find_known(std::string_view name, bool& varies) {
  if (bound_ != nullptr) {
    for (std::size_t i = bound_->size(); i-- > 0;) {
      if ((*bound_)[i].name != name) continue;
      varies = true;
      return &(*bound_)[i];
    }
  }
  const auto found = parameter_index_.find(name);
  return found == parameter_index_.end() ? nullptr : &parameters_[found->second];
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
  const auto note = [&](Known& known) {
    known.used = true;
    broken = broken || !known.good;
    result.has_parameters = true;
    if (known.pure) return;
    result.all_have_units = result.all_have_units && known.has_unit;
    result.any_has_unit = result.any_has_unit || known.has_unit;
  };
  scope.constant = [&](std::string_view name) -> std::optional<double> {
    Known* const known = find_known(name, result.varies);
    if (known == nullptr || known->is_array || known->is_text) return std::nullopt;
    note(*known);
    return si ? known->si_value : known->value;
  };
  scope.array = [&](std::string_view name) -> const std::vector<double>* {
    Known* const known = find_known(name, result.varies);
    if (known == nullptr || !known->is_array) return nullptr;
    note(*known);
    return si ? &known->si_values : &known->values;
  };
  if (!si) {
    scope.angle_unit = factor(Quantity::angle);
    scope.angle = [&](std::string_view name) {
      const Known* const known = find_known(name, result.varies);
      return known == nullptr ? AngleUnit{} : known->angle;
    };
  }
  scope.allow_time = false;
  scope.owner = place.text();
  try {
    const Expression expression = Expression::parse(text, from, scope);
    result.value = expression.value(0, {});
    result.angle = expression.angle();
  } catch (const Failure&) {
    if (broken) return std::nullopt;
    // Once more for the message, now with the names to choose the nearest from.
    for (const Known& known : parameters_) scope.known_names.push_back(known.name);
    if (bound_ != nullptr) {
      for (const Known& known : *bound_) scope.known_names.push_back(known.name);
    }
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
  if (!si && !result.varies) evaluated_.emplace(std::move(key), result);
  return result;
}

}  // namespace trammel
