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

#include "trammel/math/expression.h"
#include "trammel/math/expression_op.h"

namespace trammel {

namespace {

using Op = Expression::Op;

enum class CallForm { direct, chain, special };

struct CallRow {
  ExpressionFunction function;
  CallForm form;  // direct: one operation; chain: f(f(a, b), c)...; special: composed in ExpressionParser::call
  Op op;
};

const std::vector<CallRow>& call_rows() {
  constexpr int any = ExpressionFunction::any_number;
  static const std::vector<CallRow> rows = {
      {{"sin", "sin(x)", "sine of an angle in radians"}, CallForm::direct, Op::sine},
      {{"cos", "cos(x)", "cosine"}, CallForm::direct, Op::cosine},
      {{"tan", "tan(x)", "tangent"}, CallForm::direct, Op::tangent},
      {{"asin", "asin(x)", "arc sine, in [-pi/2, pi/2]"}, CallForm::direct, Op::arcsine},
      {{"acos", "acos(x)", "arc cosine, in [0, pi]"}, CallForm::direct, Op::arccosine},
      {{"atan", "atan(x)", "arc tangent, in (-pi/2, pi/2)"}, CallForm::direct, Op::arctangent},
      {{"atan2", "atan2(y, x)", "angle of the point (x, y), in [-pi, pi]", 2, 2}, CallForm::direct, Op::arctangent2},
      {{"sinh", "sinh(x)", "hyperbolic sine"}, CallForm::direct, Op::sinh},
      {{"cosh", "cosh(x)", "hyperbolic cosine"}, CallForm::direct, Op::cosh},
      {{"tanh", "tanh(x)", "hyperbolic tangent"}, CallForm::direct, Op::tanh},
      {{"exp", "exp(x)", "e to the power x"}, CallForm::direct, Op::exp},
      {{"log", "log(x)", "natural logarithm"}, CallForm::direct, Op::log},
      {{"log10", "log10(x)", "logarithm to base 10"}, CallForm::direct, Op::log10},
      {{"pow", "pow(x, p)", "x^p", 2, 2}, CallForm::special, Op::power},
      {{"sqrt", "sqrt(x)", "square root"}, CallForm::direct, Op::sqrt},
      {{"cbrt", "cbrt(x)", "cube root, also of negative x"}, CallForm::direct, Op::cbrt},
      {{"hypot", "hypot(x, y, ...)", "sqrt(x^2 + y^2 + ...) without overflow", 2, any}, CallForm::chain, Op::hypot},
      {{"erf", "erf(x)", "error function"}, CallForm::direct, Op::erf},
      {{"abs", "abs(x)", "absolute value"}, CallForm::direct, Op::absolute},
      {{"sign", "sign(x)", "-1, 0 or 1"}, CallForm::direct, Op::sign},
      {{"min", "min(a, b, ...)", "the least", 2, any}, CallForm::chain, Op::min},
      {{"max", "max(a, b, ...)", "the greatest", 2, any}, CallForm::chain, Op::max},
      {{"floor", "floor(x)", "next whole number below"}, CallForm::direct, Op::floor},
      {{"ceil", "ceil(x)", "next whole number above"}, CallForm::direct, Op::ceil},
      {{"round", "round(x)", "nearest whole number, halves away from zero"}, CallForm::direct, Op::round},
      {{"mod", "mod(x, y)", "x - y floor(x/y): remainder with the sign of y", 2, 2}, CallForm::direct, Op::mod},
      {{"if", "if(c, a, b)", "a where c is not 0, else b; the same as c ? a : b", 3, 3}, CallForm::special, Op::select},
      {{"step", "step(x, x0, h0, x1, h1)", "h0 up to x0, h1 from x1, between them the cubic with flat ends", 5, 5},
       CallForm::special,
       Op::ramp3},
      {{"step5", "step5(x, x0, h0, x1, h1)", "the same with a quintic: flat ends without jumps of the curvature", 5, 5},
       CallForm::special,
       Op::ramp5},
      {{"havsin", "havsin(x, x0, h0, x1, h1)", "the same with half a wave of a cosine", 5, 5},
       CallForm::special,
       Op::ramp_haversine},
      {{"impact", "impact(x, v, x1, k, e, cmax, d)",
        "one-sided contact force max(0, k (x1-x)^e - cmax v step(x1-x, 0, 0, d, 1)) where x < x1, else 0; v is the "
        "rate of x",
        7, 7},
       CallForm::special,
       Op::max},
  };
  return rows;
}

const CallRow* find_call(std::string_view name) {
  for (const CallRow& row : call_rows()) {
    if (row.function.name == name) return &row;
  }
  return nullptr;
}

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

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_continuation_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }
// In the names of frames and joints given to a measure, where no operator can stand.
bool is_item_char(char c) {
  return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80U ||
         std::string_view(".-/:#@").find(c) != std::string_view::npos;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// How many bytes of well-formed UTF-8 stand for one character at `at`; 0 if they are not well-formed.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0U;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80U) return 1;
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte(at + 1);  // overlong forms, surrogates and what is beyond U+10FFFF
  if ((lead == 0xE0U && second < 0xA0U) || (lead == 0xEDU && second > 0x9FU) || (lead == 0xF0U && second < 0x90U) ||
      (lead == 0xF4U && second > 0x8FU)) {
    return 0;
  }
  return length;
}

// Fit for a message: one line of well-formed UTF-8.
std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0) {
      result += '?';
      ++i;
    } else if (length == 1 && (text[i] < ' ' || text[i] == '\x7f')) {
      result += is_blank(text[i]) ? ' ' : '?';
      ++i;
    } else {
      result += text.substr(i, length);
      i += length;
    }
  }
  return result;
}

// The bytes [begin, end), moved to whole characters, with dots where something is left off.
std::string shortened(std::string_view text, std::size_t begin, std::size_t end) {
  end = std::min(end, text.size());
  while (begin > 0 && begin < text.size() && is_continuation_byte(text[begin])) --begin;
  while (end < text.size() && is_continuation_byte(text[end])) ++end;
  return (begin > 0 ? "..." : "") + printable(text.substr(begin, end - begin)) + (end < text.size() ? "..." : "");
}

std::string in_quotes(std::string_view text) { return "'" + shortened(text, 0, 40) + "'"; }

std::string number_text(double value) {
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

}  // namespace

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const Location& where, const ExpressionScope& scope)
      : text_(text), where_(where), scope_(scope) {}

  Expression run() {
    skip_blanks();
    if (at_end()) fail(0, "empty-expression", "the expression is empty", "write 0 for nothing");
    const Operand root = parse_choice();
    if (!at_end()) fail_after_value(false);
    if (root.refusal >= 0) {
      const Refusal& refusal = refusals_[static_cast<std::size_t>(root.refusal)];
      fail(refusal.offset, "not-finite", refusal.what, refusal.hint);
    }
    Expression result;
    result.text_ = text_;
    if (root.is_constant()) {
      result.constant_ = root.number;
    } else {
      finish(static_cast<std::size_t>(root.node), result);
    }
    return result;
  }

 private:
  using Node = Expression::Node;

  // What a part of the text has become: a number, a place on the tape, or a constant without a finite value.
  struct Operand {
    double number = 0;
    int node = -1;
    int refusal = -1;  // index in refusals_
    bool is_constant() const { return node < 0 && refusal < 0; }
    bool is_number(double value) const { return is_constant() && number == value; }
  };

  // A constant without a finite value, kept until it is known whether the result needs it.
  struct Refusal {
    std::size_t offset;
    std::string what;
    std::string hint;
  };

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

  std::string_view word_at(std::size_t at) const {
    if (at >= text_.size() || !is_letter(text_[at])) return {};
    std::size_t end = at;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    return text_.substr(at, end - at);
  }

  // What a message quotes: a whole name or number, or one character.
  std::string token_at(std::size_t at) const {
    const std::string_view word = word_at(at);
    if (!word.empty()) return in_quotes(word);
    std::size_t end = at;
    while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.')) ++end;
    if (end > at) return in_quotes(text_.substr(at, end - at));
    const std::size_t length = utf8_length(text_, at);
    if (length == 0 || static_cast<unsigned char>(text_[at]) < 0x20U || text_[at] == '\x7f') {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(text_[at]);
      return std::string("the byte 0x") + digits[byte / 16] + digits[byte % 16];
    }
    return in_quotes(text_.substr(at, length));
  }

  // ---- messages ----

  // Columns count characters, as the YAML reader does, not bytes.
  int characters_before(std::size_t end, std::size_t begin = 0) const {
    const std::string_view part = text_.substr(begin, end - begin);
    return static_cast<int>(std::count_if(part.begin(), part.end(), [](char c) { return !is_continuation_byte(c); }));
  }

  Problem problem(std::size_t offset, std::string id, const std::string& what, std::string hint) const {
    const std::string_view before = text_.substr(0, offset);
    Problem result;
    result.id = std::move(id);
    result.hint = std::move(hint);
    result.where = where_;
    const std::size_t newline = before.rfind('\n');
    if (newline == std::string_view::npos) {
      result.where.column = std::max(where_.column, 1) + characters_before(offset);
    } else {
      if (where_.line > 0) result.where.line += static_cast<int>(std::count(before.begin(), before.end(), '\n'));
      result.where.column = 1 + characters_before(offset, newline + 1);
    }
    if (!scope_.owner.empty()) result.message = scope_.owner + ": ";
    result.message += what;
    if (!text_.empty()) {
      const bool whole = text_.size() <= 60;
      result.message +=
          ", at character " + std::to_string(characters_before(offset) + 1) + " of '" +
          (whole ? printable(text_) : shortened(text_, offset - std::min<std::size_t>(offset, 25), offset + 25)) + "'";
    }
    return result;
  }

  [[noreturn]] void fail(std::size_t offset, std::string id, const std::string& what, std::string hint) const {
    throw Failure(problem(offset, std::move(id), what, std::move(hint)));
  }

  Operand refuse(std::size_t offset, std::string what, std::string hint) {
    refusals_.push_back({offset, std::move(what), std::move(hint)});
    return {0, -1, static_cast<int>(refusals_.size()) - 1};
  }

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

  Operand parse_name(std::size_t at, std::string_view name) {
    if (name == "pi") return {std::numbers::pi};
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
        if (std::isfinite(*number)) return {*number};
        return refuse(at, in_quotes(name) + " is " + number_text(*number), "give it a finite value");
      }
    }
    if (scope_.array && scope_.array(name) != nullptr) {
      fail(at, "wrong-arguments", in_quotes(name) + " is a list",
           "write " + std::string(name) + "(1) for its first entry");
    }
    if (find_call(name) != nullptr) {
      fail(at, "wrong-arguments", in_quotes(name) + " is a function and needs its arguments",
           "write " + std::string(find_call(name)->function.signature));
    }
    return measure(at, name, {}, {}, false);
  }

  Operand parse_call(std::size_t at, std::string_view name) {
    const std::size_t opening = at_;
    const CallRow* row = find_call(name);
    if (row == nullptr) {
      const std::vector<double>* const array = scope_.array ? scope_.array(name) : nullptr;
      return array != nullptr ? parse_element(at, name, *array) : parse_measure(at, name);
    }
    advance(1);
    std::vector<Operand> arguments;
    if (peek() != ')') {
      arguments.push_back(parse_choice());
      while (peek() == ',') {
        advance(1);
        arguments.push_back(parse_choice());
      }
    }
    close(opening);
    const ExpressionFunction& function = row->function;
    const int count = static_cast<int>(arguments.size());
    const bool open_ended = function.max_arguments == ExpressionFunction::any_number;
    if (count < function.min_arguments || (!open_ended && count > function.max_arguments)) {
      fail(at, "wrong-arguments",
           in_quotes(name) + " takes " + std::to_string(function.min_arguments) + (open_ended ? " or more" : "") +
               (function.min_arguments == 1 ? " argument" : " arguments") + ", not " + std::to_string(count),
           "write " + std::string(function.signature));
    }
    return call(at, *row, arguments);
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
      return refuse(at, in_quotes(name) + " has no entry " + number_text(index.number), "entries run from " + range);
    }
    return {array[static_cast<std::size_t>(index.number) - 1]};
  }

  // The arguments of a measure are names of frames, joints, ...: plain or quoted, not expressions.
  Operand parse_measure(std::size_t at, std::string_view name) {
    const std::size_t opening = at_;
    const bool known =
        (!scope_.constant || !scope_.constant(name)) &&
        std::find(scope_.known_names.begin(), scope_.known_names.end(), name) != scope_.known_names.end();
    std::vector<std::string> arguments;
    std::vector<std::size_t> offsets;
    advance(1);
    while (peek() != ')' || !arguments.empty()) {
      offsets.push_back(at_);
      if (peek() == '\'' || peek() == '"') {
        const std::size_t end = text_.find(peek(), at_ + 1);
        if (end == std::string_view::npos) fail(at_, "bad-expression", "this quote is not closed", "");
        arguments.emplace_back(text_.substr(at_ + 1, end - at_ - 1));
        advance(end + 1 - at_);
      } else {
        std::size_t end = at_;
        while (end < text_.size() && is_item_char(text_[end])) ++end;
        if (end == at_) {
          if (!known) fail_unknown(at, name, true);
          fail(at_, "bad-expression", "a name is expected as argument of " + in_quotes(name),
               "quote names with odd characters");
        }
        arguments.emplace_back(text_.substr(at_, end - at_));
        advance(end - at_);
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

  // ---- tape ----

  Operand push(std::size_t at, const Node& node) {
    for (std::size_t i = tape_.size(); i-- > 0;) {
      const bool same_sign = std::signbit(tape_[i].number) == std::signbit(node.number);  // 0 and -0 differ
      if (same_sign && tape_[i] == node) return {0, static_cast<int>(i)};
    }
    if (tape_.size() == Expression::max_operations) {
      fail(at, "expression-too-long",
           "the expression has more than " + std::to_string(Expression::max_operations) + " operations",
           "split it in several, or use fewer different terms");
    }
    tape_.push_back(node);
    return {0, static_cast<int>(tape_.size()) - 1};
  }

  std::uint16_t place(std::size_t at, const Operand& operand) {
    int node = operand.node;
    if (node < 0) {
      Node constant;
      constant.op = Op::constant;
      constant.number = operand.number;
      node = push(at, constant).node;
    }
    return static_cast<std::uint16_t>(node);
  }

  Operand emit(Op op, std::size_t at, const Operand& a, double exponent = 0) {
    return emit(op, at, std::span(&a, 1), exponent);
  }
  Operand emit(Op op, std::size_t at, const Operand& a, const Operand& b) {
    const std::array<Operand, 2> operands = {a, b};
    return emit(op, at, operands);
  }
  Operand emit(Op op, std::size_t at, const Operand& a, const Operand& b, const Operand& c) {
    const std::array<Operand, 3> operands = {a, b, c};
    return emit(op, at, operands);
  }

  Operand emit(Op op, std::size_t at, std::span<const Operand> operands, double exponent = 0) {
    for (const Operand& operand : operands) {
      if (operand.refusal >= 0) return operand;
    }
    Node node;
    node.op = op;
    node.number = exponent;
    if (std::all_of(operands.begin(), operands.end(), [](const Operand& o) { return o.is_constant(); })) {
      const auto number = [&](std::size_t i) { return i < operands.size() ? operands[i].number : 0.0; };
      const double value = Expression::apply(node, number(0), number(1), number(2));
      if (std::isfinite(value)) return {value};
      return refuse(at,
                    token_at(at) + " of " + list(operands) + (std::isnan(value) ? " is not a number" : " is infinite"),
                    "check the values of the parameters in it");
    }
    if (operands.size() == 2) {
      const Operand &a = operands[0], &b = operands[1];
      if (op == Op::add && a.is_number(0)) return b;
      if ((op == Op::add || op == Op::subtract) && b.is_number(0)) return a;
      if (op == Op::multiply && a.is_number(1)) return b;
      if ((op == Op::multiply || op == Op::divide) && b.is_number(1)) return a;
      if ((op == Op::divide || op == Op::mod) && b.is_number(0)) {
        return refuse(at, token_at(at) + " divides by zero", "check the values of the parameters in it");
      }
    }
    std::array<std::uint16_t*, 3> places = {&node.a, &node.b, &node.c};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      *places[i] = place(at, operands[i]);
      node.timed = node.timed || tape_[*places[i]].timed;
    }
    return push(at, node);
  }

  static std::string list(std::span<const Operand> operands) {
    std::string text;
    for (const Operand& operand : operands) {
      if (!text.empty()) text += " and ";
      text += number_text(operand.number);
    }
    return text;
  }

  Operand choose(std::size_t at, const Operand& condition, const Operand& then, const Operand& otherwise) {
    if (condition.is_constant()) return condition.number != 0 ? then : otherwise;
    return emit(Op::select, at, condition, then, otherwise);
  }

  Operand combine(std::size_t at, std::string_view symbol, const Operand& a, const Operand& b) {
    if (symbol == "+") return emit(Op::add, at, a, b);
    if (symbol == "-") return emit(Op::subtract, at, a, b);
    if (symbol == "*") return emit(Op::multiply, at, a, b);
    if (symbol == "/") return emit(Op::divide, at, a, b);
    if (symbol == "<") return emit(Op::less, at, a, b);
    if (symbol == "<=") return emit(Op::less_equal, at, a, b);
    if (symbol == ">") return emit(Op::less, at, b, a);
    if (symbol == ">=") return emit(Op::less_equal, at, b, a);
    if (symbol == "==") return emit(Op::equal, at, a, b);
    if (symbol == "!=") return emit(Op::unequal, at, a, b);
    const bool conjunction = symbol == "and";  // what the first operand decides, the second cannot spoil
    if (a.is_constant() && (a.number == 0) == conjunction) return {conjunction ? 0.0 : 1.0};
    if (a.refusal < 0 && b.is_constant() && (b.number == 0) == conjunction) return {conjunction ? 0.0 : 1.0};
    return emit(conjunction ? Op::logical_and : Op::logical_or, at, a, b);
  }

  Operand raise(std::size_t at, const Operand& base, const Operand& exponent) {
    if (base.node < 0 || !exponent.is_constant()) return emit(Op::general_power, at, base, exponent);
    const double p = exponent.number;
    if (p == 0) return {1};
    if (p == 1) return base;
    if (p == 2) return emit(Op::square, at, base);
    if (p == 3) return emit(Op::cube, at, base);
    if (p == -1) return emit(Op::divide, at, Operand{1}, base);
    if (p == 0.5) return emit(Op::sqrt, at, base);
    return emit(Op::power, at, base, p);
  }

  Operand call(std::size_t at, const CallRow& row, const std::vector<Operand>& arguments) {
    if (row.form == CallForm::direct) return emit(row.op, at, arguments);
    if (row.form == CallForm::chain) {
      Operand result = arguments[0];
      for (std::size_t i = 1; i < arguments.size(); ++i) result = emit(row.op, at, result, arguments[i]);
      return result;
    }
    if (row.op == Op::power) return raise(at, arguments[0], arguments[1]);
    if (row.op == Op::select) return choose(at, arguments[0], arguments[1], arguments[2]);
    if (row.op == Op::max) return impact(at, arguments);
    return blend(at, row, arguments);
  }

  Operand blend(std::size_t at, const CallRow& row, const std::vector<Operand>& arguments) {
    const Operand &x = arguments[0], &x0 = arguments[1], &h0 = arguments[2], &x1 = arguments[3], &h1 = arguments[4];
    if (x0.is_constant() && x1.is_constant() && !(x0.number < x1.number)) {
      return refuse(at,
                    in_quotes(row.function.name) + " must start before it ends, but x0 = " + number_text(x0.number) +
                        " and x1 = " + number_text(x1.number),
                    "write " + std::string(row.function.signature) + " with x0 < x1");
    }
    const Operand ramp = emit(Op::divide, at, emit(Op::subtract, at, x, x0), emit(Op::subtract, at, x1, x0));
    return emit(Op::interpolate, at, emit(row.op, at, ramp), h0, h1);
  }

  Operand impact(std::size_t at, const std::vector<Operand>& arguments) {
    const Operand &x = arguments[0], &v = arguments[1], &x1 = arguments[2], &k = arguments[3], &e = arguments[4],
                  &cmax = arguments[5], &d = arguments[6];
    const auto wrong = [&](const Operand& value, std::string_view name, std::string_view need) {
      return refuse(
          at, "'impact' needs " + std::string(need) + " " + std::string(name) + ", not " + number_text(value.number),
          "write " + std::string(find_call("impact")->function.signature));
    };
    if (k.is_constant() && k.number < 0) return wrong(k, "k", "a non-negative stiffness");
    if (e.is_constant() && e.number <= 0) return wrong(e, "e", "a positive exponent");
    if (cmax.is_constant() && cmax.number < 0) return wrong(cmax, "cmax", "a non-negative damping");
    if (d.is_constant() && d.number <= 0) return wrong(d, "d", "a positive depth");
    const Operand depth = emit(Op::max, at, Operand{0}, emit(Op::subtract, at, x1, x));
    const Operand spring = emit(Op::multiply, at, k, raise(at, depth, e));
    const Operand rise = emit(Op::ramp3, at, emit(Op::divide, at, depth, d));
    const Operand damper = emit(Op::multiply, at, emit(Op::multiply, at, cmax, rise), v);
    return emit(Op::max, at, Operand{0}, emit(Op::subtract, at, spring, damper));
  }

  // Keeps what the result needs: choices among constants leave dead operations behind.
  void finish(std::size_t root, Expression& result) const {
    std::vector<int> new_place(root + 1, -1);
    new_place[root] = 0;
    const auto operand_count = [](Op op) {
      return op < Op::negate ? 0 : op < Op::add ? 1 : op < Op::interpolate ? 2 : 3;
    };
    for (std::size_t i = root + 1; i-- > 0;) {
      if (new_place[i] < 0) continue;
      const Node& node = tape_[i];
      const std::array<std::uint16_t, 3> operands = {node.a, node.b, node.c};
      for (int k = 0; k < operand_count(node.op); ++k) new_place[operands[static_cast<std::size_t>(k)]] = 0;
    }
    for (std::size_t i = 0; i <= root; ++i) {
      if (new_place[i] < 0) continue;
      new_place[i] = static_cast<int>(result.tape_.size());
      if (tape_[i].op == Op::variable) result.slots_.push_back(slots_[tape_[i].a]);
      result.tape_.push_back(tape_[i]);
    }
    std::sort(result.slots_.begin(), result.slots_.end());
    for (Node& node : result.tape_) {
      if (node.op == Op::variable) {
        const auto found = std::lower_bound(result.slots_.begin(), result.slots_.end(), slots_[node.a]);
        node.a = static_cast<std::uint16_t>(found - result.slots_.begin());
        continue;
      }
      const std::array<std::uint16_t*, 3> operands = {&node.a, &node.b, &node.c};
      for (int k = 0; k < operand_count(node.op); ++k) {
        std::uint16_t& operand = *operands[static_cast<std::size_t>(k)];
        operand = static_cast<std::uint16_t>(new_place[operand]);
      }
    }
    result.depends_on_time_ = result.tape_.back().timed;
    result.variable_count_ = result.slots_.empty() ? 0 : result.slots_.back() + 1;
  }

  std::string_view text_;
  Location where_;
  const ExpressionScope& scope_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  std::vector<Node> tape_;
  std::vector<int> slots_;
  std::vector<Refusal> refusals_;
};

Expression Expression::parse(std::string_view text, const Location& where, const ExpressionScope& scope) {
  return ExpressionParser(text, where, scope).run();
}

const std::vector<ExpressionFunction>& expression_functions() {
  static const std::vector<ExpressionFunction> functions = [] {
    std::vector<ExpressionFunction> list;
    for (const CallRow& row : call_rows()) list.push_back(row.function);
    return list;
  }();
  return functions;
}

bool is_expression_keyword(std::string_view name) {
  return name == "pi" || name == "time" || name == "and" || name == "or" || name == "not";
}

}  // namespace trammel
