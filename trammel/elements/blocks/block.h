// Blocks: parts of controllers that are written as states and variables of the model, so that every method, analysis
// and expression takes them as it takes those. A block NAME has one input, an expression, and becomes
//
//   variable NAME.input    its input
//   states   NAME.x1, ...  what it remembers
//   variable NAME          its output
//
// A block is one file of this folder and a line of the registry.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/model/model.h"

namespace trammel {

// Writes the states and variables of one block.
class BlockWriter {
 public:
  BlockWriter(Model& model, const Item& item);
  const Item& item() const { return item_; }
  double number(std::string_view field) const { return item_.fields.number(field); }
  bool has(std::string_view field) const { return item_.fields.has(field); }

  // The input as its own variable; returns its name.
  std::string input();
  // A variable NAME.suffix with this expression; returns its name.
  std::string variable(const std::string& suffix, const std::string& expression);
  // A state NAME.suffix; its rate may use states that are added later, by name_of.
  std::string state(const std::string& suffix, const std::string& rate, double value);
  std::string name_of(const std::string& suffix) const { return item_.name + "." + suffix; }
  // The block's own variable, which the reader may have named before.
  void output(const std::string& expression);

  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const;

 private:
  void set_variable(const std::string& name, const std::string& expression, const std::string& unit);
  Model& model_;
  const Item& item_;
};

struct BlockDescription {
  std::string key;      // "pid"
  std::string summary;  // one sentence
  std::vector<Field> fields;
  std::function<void(BlockWriter&)> write;
};

const std::vector<BlockDescription>& block_registry();
const BlockDescription* find_block(std::string_view key);
// Adds the states and variables of a block whose fields are complete; throws Failure.
void write_block(Model& model, const Item& item);

BlockDescription describe_transfer_function();
BlockDescription describe_state_space();
BlockDescription describe_pid();
BlockDescription describe_first_order_lag();
BlockDescription describe_second_order_lag();
BlockDescription describe_integrator();

// A number as expressions read it back, with all its digits, in parentheses if it is negative.
std::string in_text(double number);
// number * name, or what it simplifies to; empty: nothing to add.
std::string product(double number, const std::string& name);
// The sum of those of the texts that are not empty; "0" if none is.
std::string sum(const std::vector<std::string>& texts);
// Fields that most blocks share.
Field input_field();
Field unit_field();

}  // namespace trammel
