// From the text of an expression to its tape, by recursive descent and precedence climbing:
//
//   choice := logic [ "?" choice ":" choice ]
//   logic, from loose to tight:  or   and   not   < <= > >= == !=   + -   * /   - (sign)   ^ ** (right to left)
//   value  := number | name | name "(" arguments ")" | "(" choice ")"
//
// Constants are folded as they appear and equal operations share one place. What cannot be folded to a finite number is
// refused only if the result needs it: in "n > 0 ? 1/n : 0" a parameter n = 0 is fine.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>

#include "trammel/math/expression_builder.h"
#include "trammel/math/expression_foreign.h"
#include "trammel/math/expression_text.h"

namespace trammel {

using namespace expression_text;

namespace {

// Spellings of other languages that are too far from ours for an edit distance.
std::string_view foreign_spelling(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> spellings = {{{"t", "time"},
                                                                                        {"e", "exp(1)"},
                                                                                        {"ln", "log"},
                                                                                        {"fabs", "abs"},
                                                                                        {"sgn", "sign"},
                                                                                        {"arcsin", "asin"},
                                                                                        {"arccos", "acos"},
                                                                                        {"arctan", "atan"},
                                                                                        {"fmod", "mod"},
                                                                                        {"haversin", "havsin"}}};
  for (const auto& [theirs, ours] : spellings) {
    if (theirs == name) return ours;
  }
  return {};
}

}  // namespace

class ExpressionParser : private ExpressionBuilder {
 public:
  ExpressionParser(std::string_view text, const Location& where, const ExpressionScope& scope)
      : ExpressionBuilder(text, where, scope) {}

  Expression run() {
    skip_blanks();
    if (at_end()) fail(0, "empty-expression", "the expression is empty", "write 0 for nothing");
    const Operand root = parse_choice();
    if (!at_end()) fail_after_value(false);
    if (root.refusal >= 0) {
      const Refusal& refusal = refusals_[root.refusal];
      fail(refusal.offset, "not-finite", refusal.what, refusal.hint);
    }
    Expression result;
    result.text_ = text_;
    if (root.is_constant()) {
      result.constant_ = root.number;
      result.angle_ = root.angle;
    } else {
      finish(static_cast<std::size_t>(root.node), result);
    }
    return result;
  }

 private:
  struct Binary {
    std::string_view symbol;  // empty: no operator here
    int precedence = 0;
  };
  static constexpr int or_level = 1, and_level = 2, not_level = 3, comparison_level = 4, sum_level = 5,
                       product_level = 6, sign_level = 7;

  class Nesting {
   public:
    explicit Nesting(ExpressionParser& parser) : parser_(parser) {
      // Each level passes parse_choice and parse_unary, and so does what is inside the last.
      if (++parser_.nesting_ > 2 * (Expression::max_nesting + 1)) {
        parser_.fail(parser_.at_, "expression-too-deep",
                     "the expression is nested more than " + std::to_string(Expression::max_nesting) + " levels deep",
                     "split it, or leave out parentheses that change nothing");
      }
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ExpressionParser& parser_;
  };

  // ---- text ----

  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }
  bool starts_with(std::string_view symbol) const { return text_.substr(at_, symbol.size()) == symbol; }

  // ---- messages ----

  static std::string hint_for_symbol(char c, bool value_expected) {
    switch (c) {
      case '&': return "write 'and'";
      case '|': return "write 'or'";
      case '!': return "write 'not'";
      case '=': return "equality is written '=='";
      case '%': return "the remainder is mod(x, y)";
      case ',': return "arguments belong in a function's parentheses; the decimal sign is a point";
      case '[':
      case '{': return "group with ( and )";
      case '"':
      case '\'': return "names are quoted only as arguments of measures";
      default: break;
    }
    if (static_cast<unsigned char>(c) >= 0x80U) {
      return "write names and operators in ASCII: * for a product, - for minus, ^2 for a square, pi";
    }
    return value_expected ? "a value is a number, a name, a function of values, or an expression in ( )" : "";
  }

  [[noreturn]] void fail_before_value() const {
    if (at_end()) {
      fail(at_, "bad-expression", "the expression ends where a value is expected",
           "something is missing after the last operator or comma");
    }
    fail(at_, "bad-expression", "a value is expected, not " + token_at(at_), hint_for_symbol(peek(), true));
  }

  [[noreturn]] void fail_after_value(bool in_parentheses) const {
    const char c = peek();
    if (is_letter(c) || is_digit(c) || c == '(' || c == '.') {
      fail(at_, "bad-expression", "an operator is missing before " + token_at(at_), "a product is written with '*'");
    }
    if (c == ')' && !in_parentheses) fail(at_, "bad-expression", "this ')' has no '('", "");
    if (c == ':') fail(at_, "bad-expression", "this ':' has no '?'", "a choice is written 'condition ? a : b'");
    fail(at_, "bad-expression", "an operator is expected, not " + token_at(at_), hint_for_symbol(c, false));
  }

  [[noreturn]] void fail_unknown(std::size_t offset, std::string_view name, bool called) const {
    if (called && (is_expression_keyword(name) || (scope_.constant && scope_.constant(name)))) {
      fail(offset, "unknown-name", in_quotes(name) + " is a number, not a function", "a product is written with '*'");
    }
    std::vector<std::string> candidates = scope_.known_names;
    for (const ExpressionFunction& function : expression_functions()) candidates.emplace_back(function.name);
    candidates.emplace_back("pi");
    if (scope_.allow_time) candidates.emplace_back(scope_.argument);

    std::string hint;
    if (name.size() <= 64) {
      const std::string lower = lower_case(name);
      for (const std::string& candidate : candidates) {
        if (lower_case(candidate) == lower) hint = "upper and lower case differ: did you mean '" + candidate + "'?";
      }
      if (hint.empty()) {
        std::string near(foreign_spelling(name));
        if (near.empty()) near = nearest_name(name, candidates);
        if (!near.empty()) hint = "did you mean '" + near + "'?";
      }
    }
    if (hint.empty()) {
      hint = called ? "functions and measures are listed in the guide, expressions.md"
                    : "parameters are defined in the model's 'parameters'";
    }
    fail(offset, "unknown-name",
         std::string("there is no ") + (called ? "function or measure " : "parameter ") + in_quotes(name),
         std::move(hint));
  }

  // ---- grammar ----
  // Each of these leaves at_ behind the blanks that follow what it has read.

  Operand parse_choice() {
    const Nesting nesting(*this);
    const Operand condition = parse_binary(or_level);
    const std::size_t at = at_;
    if (peek() != '?') return condition;
    advance(1);
    const Operand then = parse_choice();
    if (peek() != ':') {
      if (is_letter(peek()) || is_digit(peek())) fail_after_value(false);
      fail(at_, "bad-expression", "the ':' of a choice is missing", "a choice is written 'condition ? a : b'");
    }
    advance(1);
    const Operand otherwise = parse_choice();
    return choose(at, condition, then, otherwise);
  }

  Binary binary_operator() const {
    const std::string_view word = word_at(at_);
    if (word == "or") return {"or", or_level};
    if (word == "and") return {"and", and_level};
    for (const std::string_view symbol : {"<=", ">=", "==", "!=", "<", ">"}) {
      if (starts_with(symbol)) return {symbol, comparison_level};
    }
    for (const std::string_view symbol : {"+", "-"}) {
      if (starts_with(symbol)) return {symbol, sum_level};
    }
    for (const std::string_view symbol : {"*", "/"}) {
      if (starts_with(symbol)) return {symbol, product_level};
    }
    return {};
  }

  Operand parse_binary(int lowest) {
    Operand left = parse_unary(lowest);
    for (;;) {
      const Binary binary = binary_operator();
      if (binary.symbol.empty() || binary.precedence < lowest) return left;
      const std::size_t at = at_;
      advance(binary.symbol.size());
      const Operand right = parse_binary(binary.precedence + 1);
      left = combine(at, binary.symbol, left, right);
      if (binary.precedence == comparison_level && binary_operator().precedence == comparison_level) {
        fail(at_, "bad-expression", "comparisons do not chain", "write 'a < b and b < c'");
      }
    }
  }

  Operand parse_unary(int lowest) {
    const Nesting nesting(*this);
    const std::size_t at = at_;
    if (peek() == '-') {
      advance(1);
      return emit(Op::negate, at, parse_unary(sign_level));
    }
    if (peek() == '+') {
      advance(1);
      return parse_unary(sign_level);
    }
    if (word_at(at_) == "not") {
      if (lowest > not_level) fail(at_, "bad-expression", "'not' needs parentheses here", "write '(not a)'");
      advance(3);
      return emit(Op::logical_not, at, parse_binary(not_level));
    }
    const Operand base = parse_value();
    const std::size_t operator_at = at_;
    const std::size_t length = peek() == '^' ? 1 : starts_with("**") ? 2 : 0;
    if (length == 0) return base;
    advance(length);
    return raise(operator_at, base, parse_unary(sign_level));
  }

  Operand parse_value() {
    const std::size_t at = at_;
    if (peek() == '(') {
      advance(1);
      const Operand inner = parse_choice();
      close(at);
      return inner;
    }
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return parse_number();
    const std::string_view word = word_at(at_);
    if (word.empty() || word == "and" || word == "or") fail_before_value();
    advance(word.size());
    return peek() == '(' ? parse_call(at, word) : parse_name(at, word);
  }

  Operand parse_number() {
    const std::size_t at = at_;
    double number = 0;
    const char* begin = text_.data() + at;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    std::size_t length = static_cast<std::size_t>(end - begin);
    const std::string_view digits = text_.substr(at, length);
    if (error == std::errc::result_out_of_range) {
      fail(at, "bad-number", "the number " + in_quotes(digits) + " is beyond the range of floating point",
           "magnitudes from 1e-307 to 1e308 can be written");
    }
    const std::string_view tail = word_at(at + length);
    if (!tail.empty() || (at + length < text_.size() && text_[at + length] == '.')) {
      while (at + length < text_.size() &&
             (is_letter(text_[at + length]) || is_digit(text_[at + length]) || text_[at + length] == '.')) {
        ++length;
      }
      const bool exponent = !tail.empty() && std::string_view("eEdD").find(tail[0]) != std::string_view::npos &&
                            std::all_of(tail.begin() + 1, tail.end(), is_digit);
      fail(at, "bad-number", in_quotes(text_.substr(at, length)) + " is no number",
           exponent        ? "powers of ten are written 1e-3"
           : !tail.empty() ? "a product is written with '*': " + printable(digits) + "*" + shortened(tail, 0, 40)
                           : "a number has one decimal point");
    }
    advance(length);
    return {number};
  }

  AngleUnit angle_of(std::string_view name) const { return scope_.angle ? scope_.angle(name) : AngleUnit{}; }

  Operand parse_name(std::size_t at, std::string_view name) {
    if (name == "pi") return {std::numbers::pi, -1, -1, {1, 0, true}};
    if (name == "time" && (!scope_.allow_time || scope_.argument != "time")) {
      fail(at, "no-time-here", "'time' has no meaning here",
           scope_.allow_time ? "this is a function of '" + scope_.argument + "'"
                             : "only parameters and numbers can be used");
    }
    if (scope_.allow_time && name == scope_.argument) {
      Node node;
      node.op = Op::time;
      node.timed = true;
      return push(at, node);
    }
    if (scope_.constant) {
      if (const std::optional<double> number = scope_.constant(name)) {
        if (std::isfinite(*number)) return {*number, -1, -1, angle_of(name)};
        return refuse(at, in_quotes(name) + " is " + shortest(*number), "give it a finite value");
      }
    }
    if (scope_.array && scope_.array(name) != nullptr) {
      fail(at, "wrong-arguments", in_quotes(name) + " is a list",
           "write " + std::string(name) + "(1) for its first entry");
    }
    if (scope_.known_names.empty() ||
        std::find(scope_.known_names.begin(), scope_.known_names.end(), name) == scope_.known_names.end()) {
      const std::string lower = lower_case(name.substr(0, 8));
      if (lower == "dtor") return {std::numbers::pi / 180, -1, -1, {1, 1, false}};
      if (lower == "rtod") return {180 / std::numbers::pi, -1, -1, {1, -1, false}};
      if (name == "PI" || name == "TIME") return parse_name(at, lower == "pi" ? "pi" : "time");
    }
    if (find_call(name) != nullptr) {
      fail(at, "wrong-arguments", in_quotes(name) + " is a function and needs its arguments",
           "write " + std::string(find_call(name)->function.signature));
    }
    return measure(at, name, {}, {}, false);
  }

  // An argument that is the name of a frame, joint, spline, ...: plain or quoted. Empty if there is none.
  std::string_view parse_item() {
    if (peek() == '\'' || peek() == '"') {
      const std::size_t begin = at_ + 1, end = text_.find(peek(), begin);
      if (end == std::string_view::npos) fail(at_, "bad-expression", "this quote is not closed", "");
      advance(end + 1 - at_);
      return text_.substr(begin, end - begin);
    }
    const std::size_t begin = at_;
    std::size_t end = at_;
    while (end < text_.size() && is_item_char(text_[end])) ++end;
    advance(end - begin);
    return text_.substr(begin, end - begin);
  }

  std::vector<Operand> parse_arguments() {
    std::vector<Operand> arguments;
    if (peek() == ')') return arguments;
    arguments.push_back(parse_choice());
    while (peek() == ',') {
      advance(1);
      arguments.push_back(parse_choice());
    }
    return arguments;
  }

  void check_count(std::size_t at, std::string_view name, const ExpressionFunction& function, std::size_t count) const {
    const bool open_ended = function.max_arguments == ExpressionFunction::any_number;
    const auto least = static_cast<std::size_t>(function.min_arguments);
    if (count >= least && (open_ended || count <= static_cast<std::size_t>(function.max_arguments))) return;
    fail(at, "wrong-arguments",
         in_quotes(name) + " takes " + std::to_string(function.min_arguments) + (open_ended ? " or more" : "") +
             (function.min_arguments == 1 ? " argument" : " arguments") + ", not " + std::to_string(count),
         "write " + std::string(function.signature));
  }

  bool is_known(std::string_view name) const {
    return (!scope_.constant || !scope_.constant(name)) &&
           std::find(scope_.known_names.begin(), scope_.known_names.end(), name) != scope_.known_names.end();
  }

  Operand parse_call(std::size_t at, std::string_view name) {
    const std::size_t opening = at_;
    const CallRow* row = find_call(name);
    if (row == nullptr) {
      const std::vector<double>* const array = scope_.array ? scope_.array(name) : nullptr;
      if (array != nullptr) return parse_element(at, name, *array);
      if (!is_known(name) && name.size() <= 16) {
        if (const ForeignRow* foreign = find_foreign(lower_case(name))) return parse_foreign(at, name, *foreign);
      }
      return parse_measure(at, name);
    }
    advance(1);
    if (row->form == CallForm::named) return parse_named(at, name, *row, opening);
    if (row->op == Op::select && peek() != ')') {
      const Operand x = parse_choice();
      if (peek() == ':') return parse_arithmetic_if(at, x, opening);
      std::vector<Operand> arguments{x};
      if (peek() == ',') {
        advance(1);
        const std::vector<Operand> rest = parse_arguments();
        arguments.insert(arguments.end(), rest.begin(), rest.end());
      }
      close(opening);
      check_count(at, name, row->function, arguments.size());
      return call(at, *row, arguments);
    }
    const std::vector<Operand> arguments = parse_arguments();
    close(opening);
    check_count(at, name, row->function, arguments.size());
    return call(at, *row, arguments);
  }

  // Behind the x of IF(x: a, b, c).
  Operand parse_arithmetic_if(std::size_t at, const Operand& x, std::size_t opening) {
    advance(1);
    const std::vector<Operand> cases = parse_arguments();
    close(opening);
    if (cases.size() != 3) {
      fail(at, "wrong-arguments", "this choice needs three values behind its ':', not " + std::to_string(cases.size()),
           "write if(x: a, b, c): a where x < 0, b where x = 0, c where x > 0");
    }
    return arithmetic_if(at, x, cases[0], cases[1], cases[2]);
  }

  template <class Curve>
  std::shared_ptr<const Curve> find_curve(std::size_t at, std::string_view name, const char* kind,
                                          const std::function<std::shared_ptr<const Curve>(std::string_view)>& find,
                                          const std::vector<std::string>& names) const {
    if (!find) {
      fail(at, "no-spline-here", std::string(kind) + "s have no meaning here",
           "they stand in expressions of forces, motions and outputs");
    }
    std::shared_ptr<const Curve> found = find(name);
    if (found == nullptr) {
      const std::string near = name.size() <= 64 ? nearest_name(name, names) : "";
      fail(at, "unknown-name", std::string("there is no ") + kind + " " + in_quotes(name),
           near.empty() ? std::string("define it in the model's '") + kind + "s'" : "did you mean '" + near + "'?");
    }
    return found;
  }

  // spline(name, x), table(name, x, y): behind the parenthesis.
  Operand parse_named(std::size_t at, std::string_view name, const CallRow& row, std::size_t opening) {
    const std::size_t item_at = at_;
    const std::string_view item = parse_item();
    if (item.empty() || (peek() != ',' && peek() != ')' && !at_end())) {
      fail(item_at, "bad-expression", "the first argument of " + in_quotes(name) + " is a name",
           "write " + std::string(row.function.signature));
    }
    std::vector<Operand> arguments;
    if (peek() == ',') {
      advance(1);
      arguments = parse_arguments();
    }
    close(opening);
    check_count(at, name, row.function, 1 + arguments.size());
    if (row.op == Op::table) {
      return table(at, find_curve(item_at, item, "table", scope_.table, scope_.table_names), arguments[0],
                   arguments[1]);
    }
    return spline(at, find_curve(item_at, item, "spline", scope_.spline, scope_.spline_names), arguments[0], row.which);
  }

  // ---- ADAMS' names ----

  Operand parse_foreign(std::size_t at, std::string_view name, const ForeignRow& row) {
    const std::size_t opening = at_;
    const std::string signature(row.function.signature);
    if (row.form == ForeignForm::missing) {
      fail(at, "no-such-function", "ADAMS' " + in_quotes(name) + " has no meaning here",
           std::string(row.function.instead));
    }
    advance(1);
    if (row.form == ForeignForm::component || row.form == ForeignForm::magnitude || row.form == ForeignForm::pair) {
      return parse_foreign_measure(at, name, row, opening);
    }
    if (row.form == ForeignForm::curve) return parse_foreign_curve(at, name, row, opening);
    if (row.form == ForeignForm::arithmetic_if) {
      const Operand x = parse_choice();
      if (peek() == ':') return parse_arithmetic_if(at, x, opening);
      fail(at_, "bad-expression", "a ':' is expected behind the first value of " + in_quotes(name),
           "write IF(x: a, b, c), or if(condition, a, b) in lower case");
    }
    const std::vector<Operand> arguments = parse_arguments();
    close(opening);
    if (row.form == ForeignForm::same) {
      const CallRow& ours = *find_call(row.target);
      check_count(at, name, ours.function, arguments.size());
      return call(at, ours, arguments);
    }
    if (arguments.size() != 2) {
      fail(at, "wrong-arguments", in_quotes(name) + " takes 2 arguments, not " + std::to_string(arguments.size()),
           "write " + signature);
    }
    if (row.form == ForeignForm::remainder) return emit(Op::remainder, at, arguments[0], arguments[1]);
    const Operand magnitude = emit(Op::absolute, at, arguments[0]);
    return choose(at, emit(Op::less, at, arguments[1], Operand{0}), emit(Op::negate, at, magnitude), magnitude);
  }

  // AKISPL(x, y, name, order) and CUBSPL: of a table, or of a spline, where y is 0.
  Operand parse_foreign_curve(std::size_t at, std::string_view name, const ForeignRow& row, std::size_t opening) {
    const std::string write = "write " + std::string(row.function.signature) + ", or " + std::string(row.function.ours);
    std::array<Operand, 2> x;
    for (Operand& each : x) {
      each = parse_choice();
      if (peek() != ',') fail(at_, "bad-expression", "a ',' is expected in " + in_quotes(name), write);
      advance(1);
    }
    const std::size_t item_at = at_;
    const std::string_view item = parse_item();
    if (item.empty()) fail(item_at, "bad-expression", "a name is expected as argument of " + in_quotes(name), write);
    Operand order{0};
    if (peek() == ',') {
      advance(1);
      order = parse_choice();
    }
    close(opening);
    if (!order.is_number(0) && !order.is_number(1) && !order.is_number(2)) {
      fail(at, "wrong-arguments", "the order of a derivative in " + in_quotes(name) + " is 0, 1 or 2", write);
    }
    const bool akima = row.target == "akima";
    const auto check_kind = [&](SplineKind kind) {
      if ((kind == SplineKind::akima) == akima && kind != SplineKind::linear) return;
      fail(item_at, "wrong-kind", in_quotes(item) + " is not of the kind that " + in_quotes(name) + " is for",
           "write " + std::string(row.function.ours) + ", which are of any kind");
    };
    if (scope_.table) {
      if (const std::shared_ptr<const SurfaceTable> surface = scope_.table(item)) {
        check_kind(surface->data().kind);
        if (!order.is_number(0)) fail(at, "wrong-arguments", "derivatives are of splines, not of tables", write);
        return table(at, surface, x[0], x[1]);
      }
    }
    const std::shared_ptr<const Spline> curve = find_curve(item_at, item, "spline", scope_.spline, scope_.spline_names);
    check_kind(curve->data().kind);
    if (!x[1].is_number(0)) {
      fail(at, "wrong-arguments", in_quotes(item) + " is a spline of one variable: the second argument must be 0",
           write);
    }
    return spline(at, curve, x[0], static_cast<int>(order.number));
  }

  // i, j, k, l are names; j, k, l left out are the ground.
  Operand parse_foreign_measure(std::size_t at, std::string_view name, const ForeignRow& row, std::size_t opening) {
    std::vector<std::string> items;
    std::vector<std::size_t> offsets;
    while (peek() != ')' || !items.empty()) {
      offsets.push_back(at_);
      items.emplace_back(parse_item());
      if (items.back().empty()) {
        fail(offsets.back(), "bad-expression", "a name is expected as argument of " + in_quotes(name),
             "write " + std::string(row.function.signature) + " with names of frames, bodies or ground");
      }
      if (peek() != ',') break;
      advance(1);
    }
    close(opening);
    const std::size_t most = (row.form == ForeignForm::component ? 3U : 2U) + (row.seen_from ? 1U : 0U);
    if (items.empty() || items.size() > most) {
      fail(at, "wrong-arguments",
           in_quotes(name) + " takes 1 to " + std::to_string(most) + " names, not " + std::to_string(items.size()),
           "write " + std::string(row.function.signature));
    }
    const bool has_axes = row.form == ForeignForm::component;
    const std::size_t given = items.size();
    while (items.size() < 4) {
      items.emplace_back("ground");
      offsets.push_back(at);
    }
    const std::size_t view = has_axes ? 2 : row.seen_from ? 2 : 3;  // whose axes, or where the motion is seen from
    if (has_axes && row.seen_from && items[3] != items[2]) {
      fail(
          given > 3 ? offsets[3] : at, "no-such-function",
          in_quotes(name) + " along the axes of '" + items[2] + "' as seen from '" + items[3] + "' has no measure here",
          "velocities are seen from the frame whose axes are used: write " + std::string(row.function.signature) +
              ", that is " + std::string(row.function.ours));
    }
    const auto one = [&](std::string_view measure_name, std::size_t b, std::size_t a) {
      if (items[b] == items[a]) return Operand{0};
      return measure(at, measure_name, {items[b], items[a]}, {offsets[b], offsets[a]}, true);
    };
    const auto difference = [&](std::string_view measure_name) {
      const Operand first = one(measure_name, 0, view), second = one(measure_name, 1, view);
      return emit(Op::subtract, at, first, second);
    };
    if (row.form == ForeignForm::pair) return one(row.target, 0, 1);
    if (has_axes) return difference(row.target);
    const std::string letter(row.target);
    const Operand x = difference(letter + "x"), y = difference(letter + "y"), z = difference(letter + "z");
    return emit(Op::hypot, at, emit(Op::hypot, at, x, y), z);
  }

  Operand parse_element(std::size_t at, std::string_view name, const std::vector<double>& array) {
    const std::size_t opening = at_;
    advance(1);
    const std::size_t index_at = at_;
    const Operand index = parse_choice();
    close(opening);
    if (index.refusal >= 0) return index;
    const std::string range = "1 to " + std::to_string(array.size());
    if (!index.is_constant() || index.number != std::round(index.number)) {
      fail(index_at, "bad-index", "the index of " + in_quotes(name) + " is not a whole number that is known beforehand",
           "it runs from " + range);
    }
    if (index.number < 1 || index.number > static_cast<double>(array.size())) {
      return refuse(at, in_quotes(name) + " has no entry " + shortest(index.number), "entries run from " + range);
    }
    return {array[static_cast<std::size_t>(index.number) - 1], -1, -1, angle_of(name)};
  }

  // The arguments of a measure are names of frames, joints, ...: plain or quoted, not expressions.
  Operand parse_measure(std::size_t at, std::string_view name) {
    const std::size_t opening = at_;
    const bool known = is_known(name);
    std::vector<std::string> arguments;
    std::vector<std::size_t> offsets;
    advance(1);
    while (peek() != ')' || !arguments.empty()) {
      offsets.push_back(at_);
      const bool quoted = peek() == '\'' || peek() == '"';
      arguments.emplace_back(parse_item());
      if (arguments.back().empty() && !quoted) {
        if (!known) fail_unknown(at, name, true);
        fail(at_, "bad-expression", "a name is expected as argument of " + in_quotes(name),
             "quote names with odd characters");
      }
      if (peek() != ',') break;
      advance(1);
    }
    if (peek() != ')' && !at_end()) {
      if (!known) fail_unknown(at, name, true);
      fail(at_, "bad-expression",
           "',' or ')' is expected after an argument of " + in_quotes(name) + ", not " + token_at(at_),
           "arguments of measures are names, not expressions; quote names with odd characters");
    }
    close(opening);
    return measure(at, name, arguments, offsets, true);
  }

  Operand measure(std::size_t at, std::string_view name, const std::vector<std::string>& arguments,
                  const std::vector<std::size_t>& offsets, bool called) {
    std::string error;
    std::optional<int> slot;
    if (scope_.variable) slot = scope_.variable(name, arguments, error);
    if (slot && *slot >= 0) {
      auto found = std::find(slots_.begin(), slots_.end(), *slot);
      if (found == slots_.end()) found = slots_.insert(slots_.end(), *slot);
      Node node;
      node.op = Op::variable;
      node.a = static_cast<std::uint16_t>(found - slots_.begin());
      return push(at, node);
    }
    if (error.empty()) fail_unknown(at, name, called);
    std::size_t offset = at, first_quote = std::string::npos;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::size_t quote = error.find("'" + arguments[i] + "'");
      if (quote < first_quote) {  // later ones may be suggestions
        first_quote = quote;
        offset = offsets[i];
      }
    }
    fail(offset, "bad-measure", printable(error), "");
  }

  void advance(std::size_t count) {
    at_ += count;
    skip_blanks();
  }

  void close(std::size_t opening) {
    if (peek() == ')') {
      advance(1);
      return;
    }
    if (!at_end()) fail_after_value(true);
    fail(at_, "bad-expression", "a ')' is missing",
         "the '(' at character " + std::to_string(characters_before(opening) + 1) + " is still open");
  }

  std::size_t at_ = 0;
  int nesting_ = 0;
};

Expression Expression::parse(std::string_view text, const Location& where, const ExpressionScope& scope) {
  return ExpressionParser(text, where, scope).run();
}

bool is_expression_keyword(std::string_view name) {
  return name == "pi" || name == "time" || name == "and" || name == "or" || name == "not";
}

}  // namespace trammel
