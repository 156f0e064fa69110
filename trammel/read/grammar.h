// What a model file may hold: every mapping of the format with its keys. The reader asks only for keys that stand here
// (tests/read checks that it asks for all of them), and the JSON Schema and the order of sections of `trammel fmt` are
// made from it. Joints, motions and forces have the fields of the element registry on top.
#pragma once
#include <string_view>
#include <vector>

#include "trammel/elements/registry.h"
#include "trammel/model/fields.h"

namespace trammel {

// The mappings of the format.
enum class Rule {
  none,
  file,
  subsystem,
  use,
  repeat,
  body,
  inertia,
  shape,        // of a body
  part,         // of a body
  drawn_shape,  // of the section `shapes`
  flexible,     // of a body
  flexible_material,
  flexible_section,
  flexible_beam,
  flexible_mass,
  flexible_stress,
  coordinate,
  spline,
  table,
  frame,
  item,  // what joints, motions and forces have in common
  contact_set,
  initial,
  initial_joint,
  initial_body,
  initial_coordinate,
  simulation,
  input,
  state,
  variable,
  output,
};

// What the value of a key looks like.
enum class Form {
  version,  // 1
  text,     //
  name,     // of a body, frame, joint, ...
  names,    // a list of them
  texts,    // one text or a list
  number,   // 2.5, 30 deg, L/2, {value: .., unit: ..}
  vector,   // three of them (planar: two)
  vector_or_number,
  numbers,      // any number of them
  values,       // numbers or texts
  rows,         // a list of lists of numbers
  points,       // a vector or two
  direction,    // a vector without unit
  condition,    // a number without unit; 0 is false
  expression,   // of the run
  orientation,  //
  inertia,      // 1, 3, 6 or 3 x 3 numbers, or a mapping of Rule::inertia
  tensor,       // the same without the mapping
  units,        // quantities to units
  parameters,   // names to numbers or lists of them
  settings,     // names to numbers, true or false, or texts
  expressions,  // names to expressions of the run
  references,   // names to names
  places,       // names to vectors
  mapping,      // of the rule
  mappings,     // one of the rule or a list of them
  named,        // names to mappings of the rule
  elements,     // names to joints, motions or forces
  blocks,       // names to blocks
  lines,        // names to lines
};

struct Key {
  std::string_view name;
  Form form = Form::text;
  std::string_view text;  // one sentence
  Quantity quantity = Quantity::none;
  Rule rule = Rule::none;               // of mappings
  bool required = false;                // in every case
  std::string_view choices = {};        // of a text, separated by blanks
  Category category = Category::joint;  // of elements
};

const std::vector<Key>& keys_of(Rule rule);
const Key* find_key(Rule rule, std::string_view name);
std::string_view name_of(Rule rule);  // "body"

}  // namespace trammel
