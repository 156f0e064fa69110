#include "trammel/elements/blocks/block.h"

#include <cmath>
#include <stdexcept>

#include "trammel/base/literal.h"

namespace trammel {

const std::vector<BlockDescription>& block_registry() {
  static const std::vector<BlockDescription> table = {
      describe_transfer_function(), describe_state_space(),      describe_pid(),
      describe_first_order_lag(),   describe_second_order_lag(), describe_integrator(),
  };
  return table;
}

const BlockDescription* find_block(std::string_view key) {
  for (const BlockDescription& block : block_registry())
    if (block.key == key) return &block;
  return nullptr;
}

void write_block(Model& model, const Item& item) {
  const BlockDescription* block = find_block(item.type);
  if (block == nullptr) {
    throw Failure({Severity::error, "unknown-type",
                   "block '" + item.name + "': there is no block of type '" + item.type + "'",
                   "`trammel elements` lists them", item.where});
  }
  BlockWriter writer(model, item);
  try {
    block->write(writer);
  } catch (const std::overflow_error&) {
    writer.refuse("its numbers lead to one that is not finite", "look for factors that are very small or very large");
  }
}

BlockWriter::BlockWriter(Model& model, const Item& item) : model_(model), item_(item) {}

void BlockWriter::set_variable(const std::string& name, const std::string& expression, const std::string& unit) {
  int index = model_.find_variable(name);
  if (index < 0) {
    index = static_cast<int>(model_.variables.size());
    model_.variables.emplace_back();
  }
  model_.variables[index] = {name, {expression, item_.where}, unit, item_.where};
}

std::string BlockWriter::input() {
  const auto& given = item_.fields.get<ExpressionText>("input");
  const std::string name = variable("input", given.text);
  model_.variables.back().expression.where = given.where;
  return name;
}

std::string BlockWriter::variable(const std::string& suffix, const std::string& expression) {
  const std::string name = name_of(suffix);
  if (model_.find_signal(name) >= 0) refuse("something else is called '" + name + "'", "rename it, or the block");
  set_variable(name, expression, "");
  return name;
}

std::string BlockWriter::state(const std::string& suffix, const std::string& rate, double value) {
  StateVariable x;
  x.name = name_of(suffix);
  if (model_.find_signal(x.name) >= 0) refuse("something else is called '" + x.name + "'", "rename it, or the block");
  x.rate = {rate, item_.where};
  x.value = value;
  x.where = item_.where;
  model_.states.push_back(x);
  return x.name;
}

void BlockWriter::output(const std::string& expression) {
  set_variable(item_.name, expression, has("unit") ? item_.fields.get<std::string>("unit") : "");
}

void BlockWriter::refuse(const std::string& what, const std::string& hint) const {
  throw Failure({Severity::error, "bad-block", "block '" + item_.name + "': " + what, hint, item_.where});
}

std::string in_text(double number) {
  if (!std::isfinite(number)) throw std::overflow_error("a block");
  const std::string digits = shortest(number);
  return number < 0 ? "(" + digits + ")" : digits;
}

std::string product(double number, const std::string& name) {
  if (number == 0) return "";
  return number == 1 ? name : in_text(number) + "*" + name;
}

std::string sum(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& each : texts)
    if (!each.empty()) all += (all.empty() ? "" : " + ") + each;
  return all.empty() ? "0" : all;
}

Field input_field() {
  return {"input",
          FieldKind::expression,
          Quantity::none,
          {},
          "What it acts on: an expression of time, measures, inputs, states, variables and other blocks."};
}

Field unit_field() {
  return {"unit", FieldKind::text, Quantity::none, std::string(), "A label of the output for results, an SI unit."};
}

}  // namespace trammel
