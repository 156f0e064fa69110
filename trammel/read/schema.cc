#include "trammel/read/schema.h"

#include <nlohmann/json.hpp>

#include "trammel/base/units.h"
#include "trammel/elements/blocks/block.h"
#include "trammel/elements/lines/line.h"
#include "trammel/model/mass_properties.h"
#include "trammel/read/grammar.h"

namespace trammel {
namespace {

using SchemaJson = nlohmann::ordered_json;

// Names start with a letter or _; $(...) may stand for any part. With dots they reach into subsystems.
constexpr const char* name_pattern = "^([A-Za-z_]|[^ -~]|\\$\\(.*\\))([A-Za-z0-9_-]|[^ -~]|\\$\\(.*\\))*$";
constexpr const char* path_pattern = "^([A-Za-z_]|[^ -~]|\\$\\(.*\\))([A-Za-z0-9_.-]|[^ -~]|\\$\\(.*\\))*$";

SchemaJson ref(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }
SchemaJson any_of(std::vector<SchemaJson> ways) { return {{"anyOf", std::move(ways)}}; }

SchemaJson list(SchemaJson items, int least = -1, int most = -1) {
  SchemaJson out{{"type", "array"}, {"items", std::move(items)}};
  if (least >= 0) out["minItems"] = least;
  if (most >= 0) out["maxItems"] = most;
  return out;
}

// {value: .., unit: ..} around a value.
SchemaJson with_unit(SchemaJson value) {
  return {{"type", "object"},
          {"properties", {{"value", std::move(value)}, {"unit", {{"type", {"string", "number"}}}}}},
          {"required", {"value", "unit"}},
          {"additionalProperties", false}};
}

SchemaJson words(std::string_view text) {
  SchemaJson out = SchemaJson::array();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    out.push_back(std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

SchemaJson named(SchemaJson value) {
  return {{"type", {"object", "null"}},
          {"patternProperties", {{name_pattern, std::move(value)}}},
          {"additionalProperties", false}};
}

std::string unit_text(Quantity quantity) {
  const std::string unit = si_unit(quantity);
  return unit.empty() ? "" : " [" + unit + "]";
}

SchemaJson value_schema(const Key& key) {
  const std::string rule(name_of(key.rule));
  switch (key.form) {
    case Form::version: return {{"enum", {1, "1"}}};
    case Form::text: {
      if (key.choices == "shape") {
        SchemaJson types = SchemaJson::array();
        for (const ShapeForm& form : shape_forms()) types.push_back(std::string(form.type));
        return {{"enum", types}};
      }
      if (!key.choices.empty()) return {{"enum", words(key.choices)}};
      return {{"type", {"string", "number", "boolean"}}};
    }
    case Form::name: return ref("name");
    case Form::names: {
      SchemaJson item = key.choices.empty() ? ref("name") : SchemaJson{{"enum", words(key.choices)}};
      return list(std::move(item));
    }
    case Form::texts: return any_of({{{"type", "string"}}, list({{"type", "string"}})});
    case Form::number: return ref("number");
    case Form::vector:
    case Form::direction: return ref("vector");
    case Form::vector_or_number: return any_of({ref("number"), ref("vector")});
    case Form::numbers: return ref("numbers");
    case Form::rows: return list(ref("numbers"));
    case Form::values: return list({{"type", {"number", "string"}}});
    case Form::points: return any_of({ref("vector"), list(ref("vector"), 2, 2)});
    case Form::condition: return {{"type", {"number", "string", "boolean"}}};
    case Form::expression: return ref("expression");
    case Form::orientation: return ref("orientation");
    case Form::inertia: return any_of({ref("tensor"), ref(rule)});
    case Form::tensor: return ref("tensor");
    case Form::units: return ref("units");
    case Form::parameters: return ref("parameters");
    case Form::settings:
      return {{"type", {"object", "null"}}, {"additionalProperties", {{"type", {"number", "string", "boolean"}}}}};
    case Form::expressions: return named(ref("expression"));
    case Form::references: return named(ref("name"));
    case Form::places: return named(ref("vector"));
    case Form::mapping: return any_of({ref(rule), {{"type", "null"}}});
    case Form::mappings: return any_of({ref(rule), list(ref(rule)), {{"type", "null"}}});
    case Form::named:
      if (key.rule == Rule::input) return named(any_of({ref("number"), ref(rule)}));
      if (key.rule == Rule::output || key.rule == Rule::state || key.rule == Rule::variable)
        return named(any_of({ref("expression"), ref(rule)}));
      return named(ref(rule));
    case Form::elements: return named(ref(to_text(key.category)));
    case Form::blocks: return named(ref("block"));
    case Form::lines: return named(ref("line"));
  }
  return {};
}

SchemaJson described(SchemaJson schema, std::string text) {
  if (text.empty()) return schema;
  if (schema.contains("$ref")) schema = {{"allOf", {std::move(schema)}}};  // draft 7 ignores what stands beside a $ref
  SchemaJson out{{"description", std::move(text)}};
  out.update(schema);
  return out;
}

// Things with a name can be left out by a condition.
bool has_when(Rule rule) {
  switch (rule) {
    case Rule::use:
    case Rule::body:
    case Rule::drawn_shape:
    case Rule::coordinate:
    case Rule::frame:
    case Rule::contact_set:
    case Rule::input:
    case Rule::state:
    case Rule::variable:
    case Rule::output: return true;
    default: return false;
  }
}

SchemaJson when_schema() {
  return described({{"type", {"number", "string", "boolean"}}}, "Left out where this is 0 or false.");
}

SchemaJson field_schema(const Field& field) {
  switch (field.kind) {
    case FieldKind::number: return ref("number");
    case FieldKind::boolean: return {{"type", "boolean"}};
    case FieldKind::text: return {{"type", {"string", "number"}}};
    case FieldKind::vector3: return ref("vector");
    case FieldKind::matrix6:
      return any_of(
          {list({{"type", {"number", "string"}}}, 6, 6), list(list({{"type", {"number", "string"}}}, 6, 6), 6, 6)});
    case FieldKind::numbers: return ref("numbers");
    case FieldKind::expression: return ref("expression");
    case FieldKind::name: return ref("name");
    case FieldKind::names: return list(ref("name"));
    case FieldKind::table: return any_of({ref("numbers"), list(ref("numbers"))});
    case FieldKind::points: return list(ref("vector"), 2);
    case FieldKind::matrix: return {{"type", "array"}, {"minItems", 6}, {"maxItems", 48}};
  }
  return {};
}

void add_fields(const std::vector<Field>& fields, SchemaJson& properties, SchemaJson& required) {
  for (const Field& field : fields) {
    properties[field.name] = described(field_schema(field), field.text + unit_text(field.quantity));
    if (field.must_be_given()) required.push_back(field.name);
  }
}

SchemaJson rule_schema(Rule rule) {
  SchemaJson properties = SchemaJson::object(), required = SchemaJson::array();
  for (const Key& key : keys_of(rule)) {
    properties[std::string(key.name)] = described(value_schema(key), std::string(key.text) + unit_text(key.quantity));
    if (key.required) required.push_back(std::string(key.name));
  }
  if (has_when(rule)) properties["when"] = when_schema();
  if (rule == Rule::contact_set) add_fields(find_element(Category::force, "contact")->fields, properties, required);
  SchemaJson out{{"type", "object"}, {"properties", properties}};
  if (!required.empty()) out["required"] = required;
  out["additionalProperties"] = false;
  return out;
}

// All keys of one type of joint, motion or force.
SchemaJson element_schema(const ElementDescription& element) {
  SchemaJson properties = SchemaJson::object(), required = {"type"};
  for (const Key& key : keys_of(Rule::item)) {
    if (key.name == "joint" && element.category == Category::joint) continue;
    if (key.name == "part" && element.category != Category::force) continue;
    properties[std::string(key.name)] = described(value_schema(key), std::string(key.text) + unit_text(key.quantity));
  }
  properties["type"] = {{"const", element.key}};
  properties["when"] = when_schema();
  add_fields(element.fields, properties, required);
  return {{"description", element.summary},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

// Of a block or a line.
template <class Description>
SchemaJson typed_schema(const Description& of) {
  SchemaJson properties = SchemaJson::object(), required = {"type"};
  properties["type"] = {{"const", of.key}};
  properties["when"] = when_schema();
  add_fields(of.fields, properties, required);
  return {
      {"description", of.summary}, {"properties", properties}, {"required", required}, {"additionalProperties", false}};
}

// The type decides about the other keys.
class TypeSchema {
 public:
  void add(const std::string& key, SchemaJson schema) {
    keys_.push_back(key);
    cases_.push_back(
        {{"if", {{"properties", {{"type", {{"const", key}}}}}, {"required", {"type"}}}}, {"then", std::move(schema)}});
  }
  SchemaJson whole() const {
    return {{"type", "object"},
            {"properties", {{"type", {{"description", "The kind of element."}, {"enum", keys_}}}}},
            {"required", {"type"}},
            {"allOf", cases_}};
  }

 private:
  SchemaJson keys_ = SchemaJson::array(), cases_ = SchemaJson::array();
};

SchemaJson category_schema(Category category) {
  TypeSchema types;
  for (const ElementDescription& element : element_registry())
    if (element.category == category) types.add(element.key, element_schema(element));
  return types.whole();
}

template <class Description>
SchemaJson types_schema(const std::vector<Description>& registry) {
  TypeSchema types;
  for (const Description& of : registry) types.add(of.key, typed_schema(of));
  return types.whole();
}

SchemaJson basic_definitions() {
  const SchemaJson plain{{"type", {"number", "string"}}};
  SchemaJson out;
  out["name"] = {{"type", "string"}, {"pattern", path_pattern}};
  out["number"] = described(any_of({{{"type", "number"}}, {{"type", "string"}, {"minLength", 1}}, with_unit(plain)}),
                            "2.5, 30 deg, L/2, or {value: L/2, unit: mm}");
  out["numbers"] = any_of({list(ref("number")), {{"type", "string"}, {"pattern", "^ *\\["}}, with_unit(list(plain))});
  out["vector"] = described(
      any_of({list(ref("number"), 2, 3), {{"type", "string"}, {"pattern", "^ *\\["}}, with_unit(list(plain, 2, 3))}),
      "[x, y, z]; of planar bodies also [x, y]");
  const SchemaJson tensor = any_of({list(plain, 3, 3), list(plain, 6, 6), list(list(plain, 3, 3), 3, 3)});
  out["tensor"] =
      described(any_of({ref("number"), tensor, with_unit(tensor)}),
                "[ixx, iyy, izz], [ixx, iyy, izz, ixy, ixz, iyz], or three rows; of planar bodies a number");
  out["expression"] =
      described(any_of({{{"type", "number"}}, {{"type", "string"}, {"minLength", 1}}, with_unit(plain)}),
                "A number, or an expression of time and measures in SI: 2*sin(3*time)");
  const auto object = [](SchemaJson properties, SchemaJson required) {
    return SchemaJson{{"type", "object"},
                      {"properties", std::move(properties)},
                      {"required", std::move(required)},
                      {"additionalProperties", false}};
  };
  out["orientation"] = any_of({
      object({{"axis", ref("vector")}, {"angle", ref("number")}}, {"axis", "angle"}),
      object({{"x_axis", ref("vector")}, {"z_axis", ref("vector")}}, {"x_axis", "z_axis"}),
      object({{"euler", ref("vector")}, {"sequence", {{"type", "string"}, {"pattern", "^[xyz][xyz][xyz]$"}}}},
             {"euler", "sequence"}),
      object({{"quaternion", list(plain, 4, 4)}}, SchemaJson::array({"quaternion"})),
      object({{"matrix", list(list(plain, 3, 3), 3, 3)}}, SchemaJson::array({"matrix"})),
  });
  out["parameters"] = {
      {"type", {"object", "null"}},
      {"patternProperties",
       {{"^[A-Za-z_][A-Za-z0-9_]*$", any_of({ref("number"), list(ref("number"), 1), with_unit(list(plain, 1))})}}},
      {"additionalProperties", false}};
  SchemaJson units = SchemaJson::object();
  for (const char* quantity : {"length",
                               "mass",
                               "time",
                               "angle",
                               "force",
                               "torque",
                               "speed",
                               "acceleration",
                               "angular_speed",
                               "angular_acceleration",
                               "inertia",
                               "stiffness",
                               "damping",
                               "angular_stiffness",
                               "angular_damping",
                               "energy",
                               "power",
                               "frequency",
                               "area",
                               "second_moment",
                               "pressure",
                               "density",
                               "flexural_rigidity",
                               "mass_per_length",
                               "curvature"}) {
    units[quantity] = {{"type", "string"}, {"minLength", 1}};
  }
  out["units"] = {{"type", {"object", "null"}}, {"properties", units}, {"additionalProperties", false}};
  return out;
}

}  // namespace

std::string model_schema() {
  SchemaJson schema = rule_schema(Rule::file);
  SchemaJson definitions = basic_definitions();
  for (const Rule rule : {Rule::subsystem,
                          Rule::use,
                          Rule::repeat,
                          Rule::body,
                          Rule::inertia,
                          Rule::shape,
                          Rule::part,
                          Rule::drawn_shape,
                          Rule::flexible,
                          Rule::flexible_material,
                          Rule::flexible_section,
                          Rule::flexible_beam,
                          Rule::flexible_mass,
                          Rule::flexible_stress,
                          Rule::coordinate,
                          Rule::spline,
                          Rule::table,
                          Rule::frame,
                          Rule::contact_set,
                          Rule::initial,
                          Rule::initial_joint,
                          Rule::initial_body,
                          Rule::initial_coordinate,
                          Rule::simulation,
                          Rule::input,
                          Rule::state,
                          Rule::variable,
                          Rule::output}) {
    definitions[std::string(name_of(rule))] = rule_schema(rule);
  }
  for (const Category category : {Category::joint, Category::motion, Category::force}) {
    definitions[to_text(category)] = category_schema(category);
  }
  definitions["block"] = types_schema(block_registry());
  definitions["line"] = types_schema(line_registry());
  SchemaJson out{{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "Trammel model file"},
                 {"description", "A mechanical system, and what to run with it."}};
  out.update(schema);
  out["definitions"] = definitions;
  return out.dump(2) + "\n";
}

}  // namespace trammel
