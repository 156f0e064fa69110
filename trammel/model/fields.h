// Values of an item's fields, and the description of what fields an item may have. One description serves the reader,
// the schema, the help, the docs and the conformance tests.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "trammel/base/diagnosis.h"
#include "trammel/base/types.h"

namespace trammel {

// The text of an expression of time and measures, kept until the model is compiled.
struct ExpressionText {
  std::string text;
  Location where;
};

// All that may be names in an expression: parameters, functions, measures, frames. "left-wheel" gives itself, left,
// wheel.
std::vector<std::string_view> names_in(const ExpressionText& expression);

using Value =
    std::variant<double, bool, std::string, Vec3, Mat6, std::vector<double>, ExpressionText, std::vector<std::string>>;

// name: of a part of the model. matrix: square, its numbers by rows; forces and torques against displacements and
// rotations in groups of six. table: rows of numbers of one length, without units. points: vectors, their components
// one after the other.
enum class FieldKind {
  number,
  boolean,
  text,
  vector3,
  matrix6,
  numbers,
  expression,
  name,
  names,
  matrix,
  table,
  points
};

// What a number means; the reader converts the file's units to SI by it.
enum class Quantity {
  none,
  length,
  mass,
  time,
  angle,
  force,
  torque,
  speed,
  acceleration,
  angular_speed,
  angular_acceleration,
  inertia,
  stiffness,
  damping,
  angular_stiffness,
  angular_damping,
  energy,
  power,
  frequency,
  area,
  second_moment,  // of an area
  pressure,       // and moduli of elasticity
  density,
  flexural_rigidity,  // E I and G J of a section
  mass_per_length,
  curvature
};
constexpr std::size_t quantity_count = static_cast<std::size_t>(Quantity::curvature) + 1;
const char* si_unit(Quantity);  // "m", "kg m^2", "" for none

struct Field {
  std::string name;
  FieldKind kind = FieldKind::number;
  Quantity quantity = Quantity::none;
  std::optional<Value> fallback;        // absent: the field must be given, unless it may be left out
  std::string text;                     // one sentence: what it is, when to change it
  double least = -1e300, most = 1e300;  // valid range of a number (of each entry), in SI
  bool may_be_left_out = false;         // and is then absent from the fields

  bool must_be_given() const { return !fallback && !may_be_left_out; }
};
// One without a value of its own, which means something when it is absent: a stop that is not there.
inline Field optional_field(std::string name, FieldKind kind, Quantity quantity, std::string text) {
  return {.name = std::move(name),
          .kind = kind,
          .quantity = quantity,
          .fallback = {},
          .text = std::move(text),
          .may_be_left_out = true};
}

// Field name -> value in SI, in the order of the description; every field of the description is present after reading,
// but for those that may be left out.
class Fields {
 public:
  void set(std::string name, Value value);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Value* find(std::string_view name) const;
  template <class T>
  const T& get(std::string_view name) const {
    const Value* value = find(name);
    const T* typed = value == nullptr ? nullptr : std::get_if<T>(value);
    if (typed == nullptr) fail_missing(name);
    return *typed;
  }
  double number(std::string_view name) const { return get<double>(name); }
  const std::vector<std::pair<std::string, Value>>& all() const { return values_; }

 private:
  [[noreturn]] static void fail_missing(std::string_view name);
  std::vector<std::pair<std::string, Value>> values_;
};

}  // namespace trammel
