// The published JSON Schema against a validator of somebody else: every model of ours passes, wrong ones do not; and
// against the reader: every key of the grammar is one that the reader knows.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "trammel/base/document.h"
#include "trammel/base/literal.h"
#include "trammel/read/grammar.h"
#include "trammel/read/read_model.h"
#include "trammel/read/schema.h"

namespace trammel::schema_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// As an editor sees a YAML file: plain scalars that look like numbers or booleans are such.
json to_json(const Node& node) {
  if (node.is_sequence()) {
    json out = json::array();
    for (std::size_t i = 0; i < node.count; ++i) out.push_back(to_json(node.item(i)));
    return out;
  }
  if (node.is_mapping()) {
    json out = json::object();
    for (std::size_t i = 0; i < node.count; ++i) out[std::string(node.key(i).text)] = to_json(node.value(i));
    return out;
  }
  if (node.is_null()) return nullptr;
  if (!node.quoted && (node.text == "true" || node.text == "false")) return node.text == "true";
  const Literal literal = read_literal(node.text);
  if (!node.quoted && literal.is_number && literal.rest.empty()) {
    if (node.text.find_first_of(".eE") == std::string_view::npos) return static_cast<long long>(literal.value);
    return literal.value;
  }
  return std::string(node.text);
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class SchemaTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    schema = new valijson::Schema;
    const json text = json::parse(model_schema());
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(text), *schema);
  }
  static void TearDownTestSuite() {
    delete schema;
    schema = nullptr;
  }
  static bool validates(const std::string& text, std::string* why = nullptr) {
    ProblemList problems;
    const Document document(text, "model.yaml", problems);
    const json value = to_json(document.root());
    valijson::Validator validator;
    valijson::ValidationResults results;
    const bool good = validator.validate(*schema, valijson::adapters::NlohmannJsonAdapter(value), &results);
    valijson::ValidationResults::Error error;
    while (why != nullptr && results.popError(error)) {
      for (const std::string& part : error.context) *why += part;
      *why += ": " + error.description + "\n";
    }
    return good;
  }
  static valijson::Schema* schema;
};
valijson::Schema* SchemaTest::schema = nullptr;

TEST_F(SchemaTest, EveryModelPasses) {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(TRAMMEL_SOURCE_DIR) / "models")) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    std::string why;
    EXPECT_TRUE(validates(text_of(entry.path()), &why)) << entry.path() << "\n" << why;
  }
  EXPECT_GE(count, 20);
}

TEST_F(SchemaTest, WrongOnesDoNot) {
  const char* const good = "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n";
  ASSERT_TRUE(validates(std::string("trammel: 1\n") + good));
  EXPECT_FALSE(validates(good));  // no version
  for (const char* text : {
           "bodys: {}\n",
           "bodies: {b: {mas: 1}}\n",
           "bodies: {b: 3}\n",
           "bodies: [1, 2]\n",
           "bodies: {2b: {mass: 1}}\n",
           "bodies: {b: {mass: [1]}}\n",
           "bodies: {b: {mass: {value: 3}}}\n",
           "bodies: {b: {mass: {value: 3, unit: kg, more: 1}}}\n",
           "bodies: {b: {kind: solid, mass: 1}}\n",
           "bodies: {b: {mass: 1, inertia: [1, 2]}}\n",
           "bodies: {b: {mass: 1, inertia: {tensr: [1, 2, 3]}}}\n",
           "bodies: {b: {mass: 1, position: 3}}\n",
           "bodies: {b: {mass: 1, orientation: {axis: [0, 0, 1]}}}\n",
           "bodies: {b: {shape: {type: blob, size: [1]}}}\n",
           "bodies: {b: {shape: {size: [1]}}}\n",
           "bodies: {b: {parts: 3}}\n",
           "gravity: [0]\n",
           "gravity: [0, 0, 0, 0]\n",
           "units: {lenght: mm}\n",
           "units: {length: 3}\n",
           "parameters: {a-b: 3}\n",
           "parameters: {a: true}\n",
           "frames: {f: {position: [0, 0, 0]}}\n",
           "frames: {f: {body: b, possition: [0, 0, 0]}}\n",
           "joints: {j: {between: [ground, b], at: [0, 0, 0]}}\n",
           "joints: {j: {type: revolut, between: [ground, b], at: [0, 0, 0]}}\n",
           "joints: {j: {type: revolute, betwen: [ground, b], at: [0, 0, 0]}}\n",
           "joints: {j: {type: revolute, joint: other}}\n",
           "motions: {m: {type: revolute, joint: j}}\n",
           "forces: {f: {type: translational_spring_damper, frames: [a, b], stiffnes: 3}}\n",
           "forces: {f: {type: translational_spring_damper, frames: [a, b], stiffness: true}}\n",
           "initial: {joint: {}}\n",
           "initial: {joints: {j: {angel: 3}}}\n",
           "initial: {bodies: {b: {keep: [color]}}}\n",
           "simulation: {ende: 3}\n",
           "simulation: {end: true}\n",
           "outputs: {o: {expresion: time}}\n",
           "outputs: {o: [1]}\n",
           "inputs: {u: {vale: 3}}\n",
           "shapes: {s: {type: box, size: [1, 1, 1]}}\n",
           "repeat: {to: 3}\n",
           "repeat: [{index: i, two: 3}]\n",
           "subsystems: {s: {simulation: {end: 1}}}\n",
           "use: {u: {subsytem: s}}\n",
           "include: {a: b}\n",
       }) {
    EXPECT_FALSE(validates(std::string("trammel: 1\n") + text)) << text;
  }
  EXPECT_FALSE(validates("trammel: 2\n"));
}

// A value that a form may have; what it means does not matter here.
std::string sample(const Key& key) {
  switch (key.form) {
    case Form::version: return "1";
    case Form::text:
      return key.choices.empty() || key.choices == "shape" ? "sphere"
                                                           : std::string(key.choices.substr(0, key.choices.find(' ')));
    case Form::name: return "b";
    case Form::names: return "[b]";
    case Form::texts: return "[]";
    case Form::number:
    case Form::condition:
    case Form::expression: return "1";
    case Form::vector:
    case Form::vector_or_number:
    case Form::direction:
    case Form::points: return "[0, 0, 1]";
    case Form::numbers: return "[1]";
    case Form::values: return "[1]";
    case Form::orientation: return "{axis: [0, 0, 1], angle: 1}";
    case Form::inertia:
    case Form::tensor: return "[1, 1, 1]";
    default: return "{}";
  }
}

// Where mappings of a rule stand in a file, with %s for one more key.
std::string around(Rule rule, const std::string& inside, std::string_view key) {
  const std::string body = "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n";
  const std::string kind = key == "angle"           ? "kind: planar, "
                           : key.starts_with("end") ? "kind: rod, "
                           : key == "flexible"      ? "kind: modal, "
                                                    : "";
  switch (rule) {
    case Rule::file: return key == "trammel" ? "" : inside + "\n";
    case Rule::subsystem: return "subsystems: {s: {" + inside + "}}\nuse: {u: {subsystem: s}}\n";
    case Rule::use: return "subsystems: {s: {}}\nuse: {u: {" + inside + "}}\n";
    case Rule::repeat: return "repeat: [{" + inside + "}]\n";
    case Rule::body: return "bodies: {b: {" + (key == "kind" ? "" : kind) + inside + "}}\n";
    case Rule::inertia: return "bodies: {b: {mass: 1, inertia: {" + inside + "}}}\n";
    case Rule::shape: return "bodies: {b: {shape: {" + inside + "}}}\n";
    case Rule::part: return "bodies: {b: {parts: [{" + inside + "}]}}\n";
    case Rule::drawn_shape: return "shapes: {s: {" + inside + "}}\n";
    case Rule::flexible: return "bodies: {b: {kind: modal, flexible: {" + inside + "}}}\n";
    case Rule::flexible_material: return "bodies: {b: {kind: modal, flexible: {materials: {m: {" + inside + "}}}}}\n";
    case Rule::flexible_section: return "bodies: {b: {kind: modal, flexible: {sections: {s: {" + inside + "}}}}}\n";
    case Rule::flexible_beam: return "bodies: {b: {kind: modal, flexible: {beams: [{" + inside + "}]}}}\n";
    case Rule::flexible_stress: return "bodies: {b: {kind: modal, flexible: {stress: {" + inside + "}}}}\n";
    case Rule::flexible_mass: return "bodies: {b: {kind: modal, flexible: {lumped_masses: [{" + inside + "}]}}}\n";
    case Rule::coordinate: return "coordinates: {c: {" + inside + "}}\n";
    case Rule::frame: return "frames: {f: {" + inside + "}}\n";
    case Rule::item: {
      const bool force = key == "joint" || key == "part";
      return body + (force ? "forces: {j: {" : "joints: {j: {") +
             (key == "type" ? ""
              : force       ? "type: force, "
                            : "type: revolute, ") +
             inside + "}}\n";
    }
    case Rule::contact_set: return "contacts: {c: {" + inside + "}}\n";
    case Rule::initial: return "initial: {" + inside + "}\n";
    case Rule::initial_joint:
      return body + "joints: {j: {type: revolute, between: [ground, b], at: [0, 0, 0]}}\ninitial: {joints: {j: {" +
             inside + "}}}\n";
    case Rule::initial_body:
      return "bodies: {b: {" + kind + "mass: 1, " +
             (key.starts_with("end") ? "ends: [[0, 0, 0], [1, 0, 0]]"
              : kind.empty()         ? "inertia: [1, 1, 1]"
                                     : "inertia: 1") +
             "}}\ninitial: {bodies: {b: {" + inside + "}}}\n";
    case Rule::initial_coordinate: return "coordinates: {c: {}}\ninitial: {coordinates: {c: {" + inside + "}}}\n";
    case Rule::simulation: return "simulation: {" + inside + "}\n";
    case Rule::input: return "inputs: {u: {" + inside + "}}\n";
    case Rule::state: return "states: {x: {" + inside + "}}\n";
    case Rule::variable: return "variables: {v: {" + inside + "}}\n";
    case Rule::output: return "outputs: {o: {" + inside + "}}\n";
    case Rule::spline: return "splines: {s: {" + inside + "}}\n";
    case Rule::table: return "tables: {s: {" + inside + "}}\n";
    case Rule::none: break;
  }
  return "";
}

TEST(Grammar, EveryKeyIsKnownToTheReader) {
  int keys = 0;
  for (int r = 1; r <= static_cast<int>(Rule::output); ++r) {
    const auto rule = static_cast<Rule>(r);
    for (const Key& key : keys_of(rule)) {
      ++keys;
      const std::string text = "trammel: 1\n" + around(rule, std::string(key.name) + ": " + sample(key), key.name);
      try {
        read_model_text(text, "t.yaml");
      } catch (const Failure& failure) {
        for (const Problem& problem : failure.problems()) {
          EXPECT_FALSE(problem.id == "unknown-key" &&
                       problem.message.find("'" + std::string(key.name) + "'") != std::string::npos)
              << text << failure.what();
        }
      }
    }
  }
  EXPECT_GE(keys, 120);
}

}  // namespace
}  // namespace trammel::schema_test
