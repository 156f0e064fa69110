// Rule: whatever expression an element takes, it declares the corners in it, so that steps end there. Tried on every
// expression field of the registry.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/element_checks.h"
#include "trammel/elements/measure.h"

namespace trammel::rule_corner_test {
namespace {

// What an element with these fields declares; nothing: they do not make one.
std::optional<std::vector<SwitchInfo>> declared(const ElementDescription& description, const Fields& fields) {
  Model model;
  for (const char* name : {"first", "second"}) {
    Body body;
    body.name = name;
    model.add_body(body);
  }
  Item item;
  item.type = description.key;
  item.name = "sample";
  item.fields = fields;
  for (int i = 0; i < description.random_frames; ++i)
    item.frames.push_back(model.add_frame(i % 2, {Vec3(0.1 * i, 1, 0), Quat::Identity()}));
  try {
    complete_fields(description, item);
    if (description.category == Category::force) {
      model.forces.push_back(item);
      wire_measures(model);
      item = model.forces[0];
    }
    const conformance::Instance made = conformance::make(description, item, model);
    return made.force ? made.force->switches() : made.constraint->switches();
  } catch (const Failure&) {
    return std::nullopt;
  }
}

// Random fields with `text` in one of them, with and without the expressions in the others: some exclude each other.
std::optional<std::vector<SwitchInfo>> declared_with(const ElementDescription& description, const std::string& field,
                                                     const std::string& text) {
  std::mt19937 random(20261119);
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Fields drawn = description.random_fields ? description.random_fields(random) : Fields{};
    Fields alone;
    for (const auto& [name, value] : drawn.all())
      if (!std::holds_alternative<ExpressionText>(value)) alone.set(name, value);
    for (Fields fields : {drawn, alone}) {
      fields.set(field, ExpressionText{text, {}});
      if (const auto found = declared(description, fields)) return found;
    }
  }
  return std::nullopt;
}

TEST(RuleCorner, EveryElementDeclaresTheCornersOfItsExpressions) {
  int fields = 0;
  for (const ElementDescription& description : element_registry()) {
    for (const Field& field : description.fields) {
      if (field.kind != FieldKind::expression) continue;
      const std::string name = std::string(to_text(description.category)) + " " + description.key + ", " + field.name;
      // Curves are functions of a coordinate: `x` and `z` of one that a model has to have, and nothing is made here.
      const bool curve = description.key == "point_on_curve";
      if (curve && (field.name == "x" || field.name == "z")) continue;
      const std::string argument = !curve ? "time" : field.name == "y" ? "x" : "angle";
      const auto found = declared_with(description, field.name, "if(" + argument + " < 0.3, 2, 3)");
      ASSERT_TRUE(found) << name << ": no element could be made";
      const bool declares = std::any_of(found->begin(), found->end(),
                                        [&](const SwitchInfo& info) { return info.timed == (argument == "time"); });
      EXPECT_TRUE(declares) << name << " declares no corner of " << argument;
      ++fields;
    }
  }
  EXPECT_GE(fields, 30);
}

}  // namespace
}  // namespace trammel::rule_corner_test
