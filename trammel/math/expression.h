// The expression language of model files: text such as "k*(angle(pin) - step(time, 0, 0, 1, pi/2))" becomes a tape of
// elementary operations, evaluated without allocation. Derivatives are exact: a reverse sweep over the tape gives the
// gradient, truncated Taylor arithmetic (trammel/math/taylor.h) the first three derivatives in time.
// The language is described in docs/guide/expressions.md.
//
// Where a function has a kink, its derivative is one of the one-sided ones:
//   gradient          abs: the right one. min, max at a tie: that of the earlier argument. floor, ceil, round, sign and
//                     comparisons: 0. step and its kin have no kink in the slope. hypot and atan2 at the origin: 0.
//                     splines where a derivative jumps: that of the interval to the right.
//   time_derivatives  the right-hand derivatives in time, for abs, min, max, hypot, step and its kin, and powers.
// Results that are infinite or not a number (sqrt of a negative measure) are returned as they are, as value or
// derivative; whoever steps in time decides what they mean. Among constants they are refused by parse().
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/base/diagnosis.h"
#include "trammel/math/spline.h"

namespace trammel {

// How angles stand in a number that is known when the text is parsed: it times `unit` is in rad^power.
struct AngleUnit {
  double unit = 1;
  int power = 0;         // 0: a plain number
  bool radians = false;  // a plain number that is meant in radians: made with pi, or stated to have no unit
};

// What the names in an expression mean. Built-in names (see is_expression_keyword) are never asked for.
struct ExpressionScope {
  // Parameters: substituted when the text is parsed.
  std::function<std::optional<double>(std::string_view name)> constant;

  // Lists of parameters, used as name(k) with a k from 1 that is known when the text is parsed; nullptr: no list.
  std::function<const std::vector<double>*(std::string_view name)> array;

  // Where angles are not in radians, as among the numbers of a file in degrees: their unit in rad, and how a constant
  // or list holds angles. Functions then work in radians and refuse plain numbers; inverse ones give angles in the
  // unit.
  double angle_unit = 1;
  std::function<AngleUnit(std::string_view name)> angle;

  // Measures such as dx(tip, ground): the slot of the variable. A plain name that is no constant is offered too,
  // without arguments. On failure `error` may say why; the column reported is that of the first argument it quotes in
  // '...', else that of the name.
  std::function<std::optional<int>(std::string_view function, const std::vector<std::string>& arguments,
                                   std::string& error)>
      variable;

  // Functions given by points: spline(name, x) and table(name, x, y). None of that name: nullptr.
  std::function<std::shared_ptr<const Spline>(std::string_view name)> spline;
  std::function<std::shared_ptr<const SurfaceTable>(std::string_view name)> table;
  std::vector<std::string> spline_names, table_names;  // for "did you mean"

  std::vector<std::string> known_names;  // of parameters and measures, for "did you mean"
  bool allow_time = true;
  std::string argument = "time";  // the name of the variable that time_derivatives() differentiates by
  std::string owner;              // the part of the model that messages name: "force 'bumper'"
};

class Expression {
 public:
  enum class Op : std::uint8_t;  // trammel/math/expression_op.h

  static constexpr std::size_t max_operations = 512;  // the tape's values live on the stack
  static constexpr int max_nesting = 100;             // parentheses within parentheses

  Expression() = default;  // constant 0
  static Expression constant(double value);
  // Throws Failure. The column is where.column plus the characters before the offending one.
  static Expression parse(std::string_view text, const Location& where, const ExpressionScope& scope);

  bool is_constant() const { return tape_.empty(); }
  bool depends_on_time() const { return depends_on_time_; }
  // A comparison, min, max or rounding in it, and a variable: its slope may jump as the variables move.
  bool sets_in() const;
  // A place in it where its value or slope may jump, and the number that changes its sign there.
  struct Corner {
    enum class Kind { zero, difference, whole, half, ratio, one, knot, range, range_x, range_y } kind;
    std::uint16_t a = 0, b = 0, c = 0;  // places on the tape; c of a knot or range: which spline or table
  };
  std::vector<Corner> corners() const;
  // What its number depends on.
  struct Sources {
    bool time = false;
    std::vector<int> slots;
  };
  Sources sources_of(const Corner& corner) const;
  void corner_values(double t, std::span<const double> variables, std::span<const Corner> corners, double* out) const;
  int variable_count() const { return variable_count_; }    // 1 + the highest slot used: what the spans below must hold
  const std::vector<int>& slots() const { return slots_; }  // the slots used, ascending
  std::size_t operation_count() const { return tape_.size(); }
  const std::string& text() const { return text_; }
  const AngleUnit& angle() const { return angle_; }  // of a constant

  double value(double t, std::span<const double> variables) const;

  // Returns the value. d_dvariables holds at least variable_count() entries; all it holds are written.
  double gradient(double t, std::span<const double> variables, std::span<double> d_dvariables, double& d_dt) const;

  // f, f', f'', f''' in time, for variables that do not change.
  std::array<double, 4> time_derivatives(double t, std::span<const double> variables) const;

 private:
  friend class ExpressionBuilder;
  friend class ExpressionParser;

  struct Node {
    double number = 0;  // value of a constant, exponent of a constant power, which derivative of a spline
    // Operands: earlier places on the tape. For a variable a is its place in slots_, for a spline or table c is its
    // place in splines_ or tables_.
    std::uint16_t a = 0, b = 0, c = 0;
    Op op{};
    bool timed = false;  // depends on time
    friend bool operator==(const Node&, const Node&) = default;
  };

  static double apply(const Node& node, double x, double y, double z);
  template <int order>  // f, f', ..., up to `order` at x, of an operation with one operand
  static std::array<double, 4> differentiate(const Node& node, double x, double f);
  // The same for a derivative of a spline, as the node asks for.
  std::array<double, 4> differentiate_spline(const Node& node, double x) const;
  void sweep(double t, std::span<const double> variables, double* values) const;

  std::vector<Node> tape_;  // empty: a constant
  std::vector<int> slots_;
  std::vector<std::shared_ptr<const Spline>> splines_;
  std::vector<std::shared_ptr<const SurfaceTable>> tables_;
  double constant_ = 0;
  int variable_count_ = 0;
  bool depends_on_time_ = false;
  AngleUnit angle_;
  std::string text_ = "0";
};

// The functions of the language, in the order of the guide. Help, guide and tests are made from this list.
struct ExpressionFunction {
  std::string_view name;
  std::string_view signature;  // "atan2(y, x)"
  std::string_view text;       // what it gives, in one line
  int min_arguments = 1;
  int max_arguments = 1;  // any_number: no limit
  static constexpr int any_number = -1;
};
const std::vector<ExpressionFunction>& expression_functions();

// Functions under the names that ADAMS gives them, in any case of letters: help, guide and tests are made from this.
struct ForeignFunction {
  std::string_view signature;  // "STEP(x, x0, h0, x1, h1)"
  std::string_view ours;       // the same in this language, "step(x, x0, h0, x1, h1)"
  std::string_view instead;    // if it has no meaning here: what to use; `ours` is then empty
  std::string name() const;    // "step"
};
const std::vector<ForeignFunction>& foreign_functions();

// pi, time, and, or, not: a parameter of such a name could never be read.
bool is_expression_keyword(std::string_view name);

}  // namespace trammel
