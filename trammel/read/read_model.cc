#include "trammel/read/read_model.h"

#include <algorithm>
#include <filesystem>

#include "trammel/base/input_file.h"
#include "trammel/base/literal.h"
#include "trammel/base/units.h"
#include "trammel/read/model_reader.h"
#include "trammel/read/splines.h"

namespace trammel {
namespace {

[[noreturn]] void fail_file(const std::string& path, const char* id, std::string message, std::string hint) {
  throw Failure({Severity::error, id, std::move(message), std::move(hint), {intern(path), 0, 0}});
}

}  // namespace

Model ModelReader::read() {
  Scope& top = scopes_.emplace_back(document_, problems_);
  activate(top, nullptr);
  std::vector<std::string> chain{std::filesystem::path(*document_.file()).lexically_normal().string()};
  top.files = chain;
  gather(top, document_.root(), Rule::file, chain);
  if (top.sources.empty()) return {};
  set_up(top, {});

  each("inputs", "input", [&](const Entry& entry) { read_input(entry); });
  for (Scope& scope : scopes_) {
    for (const GivenInput& given : scope.given_inputs) {
      if (given.name.empty()) continue;  // taken
      activate(*given.scope, nullptr);
      values_->error(*given.node, "unknown-key",
                     "use " + quote(scope.prefix.substr(0, scope.prefix.size() - 1)) + ": the subsystem has no input " +
                         quote(given.name),
                     "define it under its `inputs`");
    }
  }
  read_curves();
  each("states", "state", [&](const Entry& entry) { name_state(entry); });
  each("variables", "variable", [&](const Entry& entry) { name_variable(entry, "variable"); });
  each("blocks", "block", [&](const Entry& entry) { name_variable(entry, "block"); });
  each("bodies", "body", [&](const Entry& entry) { read_body(entry); });
  each("coordinates", "coordinate", [&](const Entry& entry) { read_coordinate(entry); });
  each("lines", "line", [&](const Entry& entry) { name_line(entry); });
  each("frames", "frame", [&](const Entry& entry) { read_frame(entry); });
  read_lines();
  each("joints", "joint", [&](const Entry& entry) {
    joint_index_.emplace(entry.name, static_cast<int>(model_.joints.size()));
    read_item(Category::joint, entry, model_.joints);
  });
  attach_by_fields();
  each("motions", "motion", [&](const Entry& entry) { read_item(Category::motion, entry, model_.motions); });
  each("forces", "force", [&](const Entry& entry) { read_item(Category::force, entry, model_.forces); });
  each("contacts", "contact set", [&](const Entry& entry) { read_contact_set(entry); });
  read_initial();
  each("states", "state", [&](const Entry& entry) { read_state(entry); });
  each("variables", "variable", [&](const Entry& entry) { read_variable(entry); });
  each("blocks", "block", [&](const Entry& entry) { read_block(entry); });
  each("outputs", "output", [&](const Entry& entry) { read_output(entry); });
  each("shapes", "shape", [&](const Entry& entry) { read_shape(entry); });
  for (const Scope& scope : scopes_) {
    for (Parameter& parameter : scope.values.parameters()) {
      parameter.name.insert(0, scope.prefix);
      model_.parameters.push_back(std::move(parameter));
    }
  }
  return std::move(model_);
}

// In a subsystem its own splines and tables come first, then those of the model.
void ModelReader::read_curves() {
  const CurveFileLoader load = [this](const Node& node, const Place& place, std::string& path, bool& good) {
    path = resolve(node.text, node);
    return load_text(path, node, place, good);
  };
  const auto name_inside = [this](const Entry& entry) {
    if (current_->parent != nullptr) current_->input_texts[std::string(entry.key.text)] = entry.name;
  };
  each("splines", "spline", [&](const Entry& entry) {
    if (auto spline = read_spline(entry.name, entry.key, entry.node, *values_, load)) {
      model_.splines.push_back(std::move(*spline));
    }
    name_inside(entry);
  });
  each("tables", "table", [&](const Entry& entry) {
    if (auto table = read_table(entry.name, entry.key, entry.node, *values_, load)) {
      model_.tables.push_back(std::move(*table));
    }
    name_inside(entry);
  });
}

void ModelReader::read_input(const Entry& entry) {
  const Place place{"input", entry.name, ""};
  if (!values_->check_parameter_name(entry.key, "input")) return;
  if (values_->has_parameter(entry.key.text)) {
    values_->error(entry.key, "duplicate-name", "input " + quote(entry.name) + ": a parameter has this name",
                   "rename one of them");
    return;
  }
  Input input;
  input.name = entry.name;
  input.where = values_->where(entry.key);
  const Node* value = &entry.node;
  if (entry.node.is_mapping()) {
    Entries entries = values_->mapping(entry.node, place, Rule::input);
    value = entries.find("value");
    const Node* unit = entries.find("unit");
    entries.finish();
    if (unit != nullptr) {
      set(input.unit, values_->text(*unit, place.at("unit")));
      const std::optional<Unit> known = parse_unit(input.unit);
      if (!known || known->factor != 1) {
        values_->error(*unit, "wrong-unit", place.text() + ": the unit of an input must be an SI unit",
                       "inputs are in SI, such as N, m, rad/s");
      }
    }
  }
  if (value != nullptr) set(input.value, values_->number(*value, place.at("value"), Quantity::none));
  if (current_->parent == nullptr) {
    model_.inputs.push_back(std::move(input));
    return;
  }
  // In a subsystem an input stands for what its use gives, or else for its value.
  Scope& scope = *current_;
  std::string text = "(" + shortest(input.value) + ")";
  for (GivenInput& given : scope.given_inputs) {
    if (given.name != entry.key.text) continue;
    activate(*given.scope, &given.bound);
    if (const auto expression = values_->expression(*given.node, place, Quantity::none)) {
      text = "(" + expression->text + ")";
    }
    given.name = {};
  }
  scope.input_texts[std::string(entry.key.text)] = text;
  activate(scope, nullptr);
}

// Values are computed in SI whatever the file's units are: another known unit would be a wrong label.
void ModelReader::refuse_other_unit(const Node& node, const Place& place, const std::string& unit) {
  const std::optional<Unit> known = parse_unit(unit);
  if (!known || known->factor == 1) return;
  values_->error(node, "wrong-unit", place.text() + ": its unit must be an SI unit", "it is computed in SI");
}

// States and variables are known by name before anything that may use them is read.
bool ModelReader::check_signal_name(const Entry& entry, const char* what) {
  if (!values_->check_parameter_name(entry.key, what)) return false;
  if (!values_->has_parameter(entry.key.text) && model_.find_signal(entry.name) < 0) return true;
  values_->error(entry.key, "duplicate-name",
                 std::string(what) + " " + quote(entry.name) + ": something else has this name", "rename one of them");
  return false;
}

void ModelReader::name_state(const Entry& entry) {
  if (!check_signal_name(entry, "state")) return;
  StateVariable x;
  x.name = entry.name;
  x.where = values_->where(entry.key);
  model_.states.push_back(std::move(x));
  if (current_->parent != nullptr) current_->input_texts[std::string(entry.key.text)] = entry.name;
}

// A block is known by its output, the variable of its name.
void ModelReader::name_variable(const Entry& entry, const char* what) {
  if (!check_signal_name(entry, what)) return;
  Variable variable;
  variable.name = entry.name;
  variable.where = values_->where(entry.key);
  model_.variables.push_back(std::move(variable));
  if (current_->parent != nullptr) current_->input_texts[std::string(entry.key.text)] = entry.name;
}

void ModelReader::read_variable(const Entry& entry) {
  const int index = model_.find_variable(entry.name);
  if (index < 0) return;  // reported before
  Variable& variable = model_.variables[index];
  const Place place{"variable", entry.name, ""};
  const Node* expression = &entry.node;
  if (entry.node.is_mapping()) {
    Entries entries = values_->mapping(entry.node, place, Rule::variable);
    expression = entries.need("expression");
    if (const Node* unit = entries.find("unit")) {
      set(variable.unit, values_->text(*unit, place.at("unit")));
      refuse_other_unit(*unit, place, variable.unit);
    }
    entries.finish();
  }
  if (expression == nullptr) return;
  if (auto text = values_->expression(*expression, place, Quantity::none)) variable.expression = std::move(*text);
}

void ModelReader::read_state(const Entry& entry) {
  const int index = model_.find_state(entry.name);
  if (index < 0) return;  // reported before
  StateVariable& x = model_.states[index];
  const Place place{"state", entry.name, ""};
  const Node* rate = &entry.node;
  if (entry.node.is_mapping()) {
    Entries entries = values_->mapping(entry.node, place, Rule::state);
    const Node* equation = entries.find("equation");
    rate = equation != nullptr ? entries.find("rate") : entries.need("rate");
    if (equation != nullptr) {
      if (rate != nullptr)
        values_->error(*equation, "two-rates", place.text() + " has a rate and an equation", "keep one of them");
      rate = equation;
      x.implicit = true;
    }
    if (const Node* value = entries.find("value")) {
      if (const auto number = values_->number(*value, place.at("value"), Quantity::none)) x.value = *number;
    }
    if (const Node* unit = entries.find("unit")) {
      set(x.unit, values_->text(*unit, place.at("unit")));
      refuse_other_unit(*unit, place, x.unit);
    }
    entries.finish();
  }
  if (rate == nullptr) return;
  if (auto text = values_->expression(*rate, place, Quantity::none)) x.rate = std::move(*text);
}

// ---- Start, run and results
// --------------------------------------------------------------------------------------------

void ModelReader::read_initial() {
  for (Fragment& fragment : fragments_) {
    const Node* node = stop_ ? nullptr : fragment.node->find("initial");
    if (node == nullptr || node->is_null()) continue;
    const std::size_t before = problems_.all().size();
    activate(fragment);
    Entries entries = values_->mapping(*node, {"initial", "", ""}, Rule::initial);
    const Node* joints = entries.find("joints");
    const Node* bodies = entries.find("bodies");
    const Node* coordinates = entries.find("coordinates");
    const Node* equilibrium = entries.find("equilibrium");
    entries.finish();
    if (equilibrium != nullptr)
      set(model_.start_in_equilibrium, values_->condition(*equilibrium, {"initial", "", "equilibrium"}));
    if (joints != nullptr) {
      each_entry(*joints, "joint", false, [&](const Entry& entry) { read_initial_joint(entry); });
    }
    if (bodies != nullptr) {
      each_entry(*bodies, "body", false, [&](const Entry& entry) { read_initial_body(entry); });
    }
    if (coordinates != nullptr) {
      each_entry(*coordinates, "coordinate", false, [&](const Entry& entry) { read_initial_coordinate(entry); });
    }
    if (fragment.repeated && problems_.all().size() > before) stop_ = true;
  }
  problems_.set_context("");
}

// Value and rate of a scalar coordinate lie along x; its quantity gives their units.
void ModelReader::read_coordinate_state(Entries& entries, const Place& place, Body& body) {
  const bool turns = body.quantity == Quantity::angle, moves = body.quantity == Quantity::length;
  const auto take = [&](const char* name, Quantity quantity, double& target) {
    if (const Node* node = entries.find(name)) set(target, values_->number(*node, place.at(name), quantity));
  };
  take("value", body.quantity, body.pose.position.x());
  take("speed", turns ? Quantity::angular_speed : moves ? Quantity::speed : Quantity::none, body.velocity.x());
  const Node* keep = entries.find("keep");
  if (keep == nullptr) return;
  std::vector<std::string_view> names;
  read_names(keep, place.at("keep"), names);
  for (const std::string_view name : names) {
    if (name == "value") {
      body.keep_position = true;
    } else if (name == "speed") {
      body.keep_velocity = true;
    } else {
      values_->error(*keep, "unknown-key", place.text() + ": " + quote(name) + " is nothing that a coordinate can keep",
                     "write keep: [value, speed], or one of them");
    }
  }
}

void ModelReader::read_coordinate(const Entry& entry) {
  const Place place{"coordinate", entry.name, ""};
  if (!values_->check_parameter_name(entry.key, "coordinate")) return;
  if (body_index_.count(entry.name) != 0 || values_->has_parameter(entry.key.text)) {
    values_->error(entry.key, "duplicate-name", place.text() + ": a body or parameter has this name",
                   "expressions use the coordinate by its name; choose another");
    return;
  }
  Body body;
  body.name = entry.name;
  body.kind = "scalar";
  body.where = values_->where(entry.key);
  body_index_.emplace(entry.name, static_cast<int>(model_.bodies.size()));
  if (current_->parent != nullptr) current_->input_texts[std::string(entry.key.text)] = "dx(" + body.name + ", ground)";
  Entries entries = values_->mapping(entry.node, place, Rule::coordinate);
  if (entries.good()) {
    if (const Node* quantity = entries.find("quantity")) {
      if (quantity->text == "angle") {
        body.quantity = Quantity::angle;
      } else if (quantity->text == "length") {
        body.quantity = Quantity::length;
      } else {
        values_->error(*quantity, "unknown-kind", place.text() + ": the quantity must be angle or length",
                       "leave it out for a plain number");
      }
    }
    if (const Node* mass = entries.find("mass")) {
      set(body.mass, values_->number(*mass, place.at("mass"), Quantity::none));
    }
    read_coordinate_state(entries, place, body);
    entries.finish();
  }
  model_.bodies.push_back(std::move(body));
}

void ModelReader::read_initial_coordinate(const Entry& entry) {
  const Place place{"initial coordinate", entry.key.text, ""};
  const int index = find_body(entry.key, {"initial", "", ""});
  if (index < 0) return;
  Body& body = model_.bodies[index];
  if (kind_of(body).is_place) {
    values_->error(entry.key, "wrong-type", "initial: " + quote(body.name) + " is not a scalar coordinate",
                   "give it under `bodies`");
    return;
  }
  Entries entries = values_->mapping(entry.node, place, Rule::initial_coordinate);
  if (!entries.good()) return;
  read_coordinate_state(entries, place, body);
  entries.finish();
}

void ModelReader::read_initial_joint(const Entry& entry) {
  const Node& key = entry.key;
  const Node& node = entry.node;
  const Place place{"initial joint", key.text, ""};
  InitialJoint initial;
  initial.joint = find_joint(key, {"initial", "", ""});
  initial.where = values_->where(key);
  Entries entries = values_->mapping(node, place, Rule::initial_joint);
  if (!entries.good()) return;
  const auto take = [&](const char* name, Quantity quantity, std::optional<double>& target) {
    if (const Node* value = entries.find(name)) target = values_->number(*value, place.at(name), quantity);
  };
  take("angle", Quantity::angle, initial.angle);
  take("displacement", Quantity::length, initial.displacement);
  take("angular_speed", Quantity::angular_speed, initial.angular_speed);
  take("speed", Quantity::speed, initial.speed);
  entries.finish();
  model_.initial_joints.push_back(initial);
}

// Joints are placed by now: a pose given here moves the body away from where it was drawn.
void ModelReader::read_initial_body(const Entry& entry) {
  const Node& key = entry.key;
  const Node& node = entry.node;
  const Place place{"initial body", key.text, ""};
  const int index = find_body(key, {"initial", "", ""});
  if (index < 0) {
    if (index == ground)
      values_->error(key, "reserved-name", "initial: the ground does not move", "name a moving body");
    return;
  }
  Body& body = model_.bodies[index];
  if (!kind_of(body).is_place) {
    values_->error(key, "wrong-type", "initial: " + quote(body.name) + " is a scalar coordinate",
                   "give it under `coordinates`");
    return;
  }
  Entries entries = values_->mapping(node, place, Rule::initial_body);
  if (!entries.good()) return;
  const Pose before = body.pose;
  read_state(entries, place, body);
  if (!(before.position == body.pose.position && before.rotation.coeffs() == body.pose.rotation.coeffs()))
    body.drawn = before;
  if (const Node* keep = entries.find("keep")) read_keep(*keep, place.at("keep"), body);
  entries.finish();
}

void ModelReader::read_keep(const Node& node, const Place& place, Body& body) {
  const char* const hint =
      "write keep: [position, orientation, velocity, angular_velocity], or some of them, or components: position.x";
  if (!node.is_sequence()) {
    values_->error(node, "wrong-type", place.text() + " must be a list", hint);
    return;
  }
  const bool turns = kind_of(body).turns, planar = kind_of(body).is_planar;
  for (std::size_t i = 0; i < node.count; ++i) {
    const std::string_view text = node.item(i).text;
    const std::size_t point = text.find('.');
    const std::string_view what = text.substr(0, point);
    Kept* kept = what == "position"                                                ? &body.keep_position
                 : what == "velocity"                                              ? &body.keep_velocity
                 : turns && (what == "orientation" || (what == "angle" && planar)) ? &body.keep_orientation
                 : turns && what == "angular_velocity"                             ? &body.keep_angular_velocity
                                                                                   : nullptr;
    // In its plane a body moves along x and y and turns about z.
    const bool rotation = kept == &body.keep_orientation || kept == &body.keep_angular_velocity;
    const std::string_view axes = !planar ? "xyz" : rotation ? "z" : "xy";
    if (kept != nullptr && point == std::string_view::npos) {
      *kept = true;
    } else if (kept != nullptr && text.size() == point + 2 && axes.find(text.back()) != std::string_view::npos &&
               what != "angle") {
      if (planar && rotation)
        *kept = true;
      else
        (*kept)[text.back() - 'x'] = true;
    } else {
      values_->error(node.item(i), "unknown-key",
                     place.text() + ": " + quote(text) + " is nothing that a " + body.kind + " body can keep", hint);
    }
  }
}

void ModelReader::read_simulation(const Node& node) {
  const Place place{"simulation", "", ""};
  SimulationSettings& simulation = model_.simulation;
  simulation.where = values_->where(node);
  Entries entries = values_->mapping(node, place, Rule::simulation);
  if (!entries.good()) return;
  const auto take = [&](const char* name, Quantity quantity, auto& target) {
    if (const Node* value = entries.find(name)) {
      if (const auto read = values_->number(*value, place.at(name), quantity)) target = *read;
    }
  };
  take("end", Quantity::time, simulation.end);
  if (const Node* method = entries.find("method")) {
    if (auto text = values_->text(*method, place.at("method"))) simulation.method = std::move(*text);
  }
  if (const Node* formulation = entries.find("formulation")) {
    if (auto text = values_->text(*formulation, place.at("formulation"))) simulation.formulation = std::move(*text);
  }
  if (const Node* events = entries.find("events")) {
    simulation.locate_events = events->text == "located";
    simulation.events_at_steps = events->text == "at_steps";
    if (!simulation.locate_events && !simulation.events_at_steps)
      values_->error(*events, "unknown-value", place.at("events").text() + ": " + quote(events->text) + " is not known",
                     "write events: located, or at_steps, or leave it out");
  }
  if (const Node* independent = entries.find("independent")) {
    const std::size_t count = independent->is_sequence() ? independent->count : 1;
    for (std::size_t i = 0; i < count; ++i) {
      const Node& item = independent->is_sequence() ? independent->item(i) : *independent;
      if (auto text = values_->text(item, place.at("independent"))) simulation.independent.push_back(std::move(*text));
    }
  }
  take("tolerance", Quantity::none, simulation.tolerance);
  take("step", Quantity::time, simulation.step);
  take("first_step", Quantity::time, simulation.first_step);
  take("least_step", Quantity::time, simulation.least_step);
  take("greatest_step", Quantity::time, simulation.greatest_step);
  take("output_step", Quantity::time, simulation.output_step);
  take("length", Quantity::length, simulation.length);
  take("time_scale", Quantity::time, simulation.time_scale);
  const Node* options = entries.find("options");
  entries.finish();
  if (options == nullptr || options->is_null()) return;
  const Place options_place{"simulation options", "", ""};
  Entries all = values_->mapping(*options, options_place);
  if (!all.good()) return;
  for (std::size_t i = 0; i < options->count; ++i) {
    const Node& key = options->key(i);
    if (!key.is_scalar()) continue;  // reported with the document
    if (auto value = values_->scalar_of_any_kind(options->value(i), options_place.at(key.text))) {
      simulation.options.set(std::string(key.text), std::move(*value));
    }
  }
}

void ModelReader::read_output(const Entry& entry) {
  const Node& node = entry.node;
  const Place place{"output", entry.name, ""};
  Output output;
  output.name = entry.name;
  const Node* expression = &node;
  if (node.is_mapping()) {
    Entries entries = values_->mapping(node, place, Rule::output);
    expression = entries.need("expression");
    if (const Node* unit = entries.find("unit")) set(output.unit, values_->text(*unit, place.at("unit")));
    entries.finish();
  }
  if (expression == nullptr) return;
  if (auto text = values_->expression(*expression, place, Quantity::none)) output.expression = std::move(*text);
  model_.outputs.push_back(std::move(output));
}

// ---- Files
// -------------------------------------------------------------------------------------------------------------

std::string read_file_text(const std::string& path) { return read_whole_file(path); }

void ReadOptions::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == assignment.size()) {
    throw Failure({Severity::error,
                   "bad-setting",
                   "--set " + std::string(assignment) + ": this is not NAME=VALUE",
                   "write for example --set L=0.5",
                   {}},
                  ExitCode::bad_usage);
  }
  parameters.emplace_back(assignment.substr(0, equals), assignment.substr(equals + 1));
}

Model read_model_text(std::string_view text, const std::string& name, const ReadOptions& options) {
  if (text.size() > largest_input_file) fail_file(name, "too-large", "the text is larger than a model file may be", "");
  ProblemList problems;
  Document document(text, name, problems);
  ModelReader reader(document, problems, options);
  Model model = reader.read();
  problems.fail_if_any();
  model.file = name;
  model.text = std::string(text) + reader.other_texts();
  return model;
}

Model read_model(const std::string& path, const ReadOptions& options) {
  const std::string text = read_whole_file(path);
  note_input(path);
  return read_model_text(text, path, options);
}

}  // namespace trammel
