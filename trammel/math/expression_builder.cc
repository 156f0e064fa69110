#include "trammel/math/expression_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "trammel/math/expression_text.h"

namespace trammel {

using namespace expression_text;

// ---- text and messages ---------------------------------------------------------------------------------------------

std::string_view ExpressionBuilder::word_at(std::size_t at) const {
  if (at >= text_.size() || !is_letter(text_[at])) return {};
  const auto in_name = [this](std::size_t i) {
    return i < text_.size() && (is_letter(text_[i]) || is_digit(text_[i]));
  };
  std::size_t end = at;
  // A dot inside a name: of a subsystem or a block, left.angle.
  while (in_name(end) || (end < text_.size() && text_[end] == '.' && in_name(end + 1))) ++end;
  return text_.substr(at, end - at);
}

std::string ExpressionBuilder::token_at(std::size_t at) const {
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

int ExpressionBuilder::characters_before(std::size_t end, std::size_t begin) const {
  const std::string_view part = text_.substr(begin, end - begin);
  return static_cast<int>(std::count_if(part.begin(), part.end(), [](char c) { return !is_continuation_byte(c); }));
}

Problem ExpressionBuilder::problem(std::size_t offset, std::string id, const std::string& what,
                                   std::string hint) const {
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

void ExpressionBuilder::fail(std::size_t offset, std::string id, const std::string& what, std::string hint) const {
  throw Failure(problem(offset, std::move(id), what, std::move(hint)));
}

ExpressionBuilder::Operand ExpressionBuilder::refuse(std::size_t offset, std::string what, std::string hint) {
  refusals_.push_back({offset, std::move(what), std::move(hint)});
  return {0, -1, static_cast<int>(refusals_.size()) - 1, {}};
}

// ---- tape ----------------------------------------------------------------------------------------------------------

ExpressionBuilder::Operand ExpressionBuilder::push(std::size_t at, const Node& node) {
  for (std::size_t i = tape_.size(); i-- > 0;) {
    const bool same_sign = std::signbit(tape_[i].number) == std::signbit(node.number);  // 0 and -0 differ
    if (same_sign && tape_[i] == node) return {0, static_cast<int>(i), -1, {}};
  }
  if (tape_.size() == Expression::max_operations) {
    fail(at, "expression-too-long",
         "the expression has more than " + std::to_string(Expression::max_operations) + " operations",
         "split it in several, or use fewer different terms");
  }
  tape_.push_back(node);
  return {0, static_cast<int>(tape_.size()) - 1, -1, {}};
}

std::uint16_t ExpressionBuilder::place(std::size_t at, const Operand& operand) {
  int node = operand.node;
  if (node < 0) {
    Node constant;
    constant.op = Op::constant;
    constant.number = operand.number;
    node = push(at, constant).node;
  }
  return static_cast<std::uint16_t>(node);
}

ExpressionBuilder::Operand ExpressionBuilder::emit(Op op, std::size_t at, std::span<const Operand> operands,
                                                   double exponent) {
  for (const Operand& operand : operands) {
    if (operand.refusal >= 0) return operand;
  }
  Node node;
  node.op = op;
  node.number = exponent;
  if (std::all_of(operands.begin(), operands.end(), [](const Operand& o) { return o.is_constant(); }))
    return fold(node, at, operands);
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

namespace {

// The operands of an operation on numbers with their units of angles, and the unit of the result.
struct UnitedOperands {
  std::array<double, 3> x{};
  std::array<AngleUnit, 3> angle{};
  AngleUnit result;
  double made = 1;  // unit of an angle that a function gives

  void take(const AngleUnit& from) {
    result.unit = from.unit;
    result.power = from.power;
  }
  void to_radians(std::size_t i) {
    if (angle[i].power != 0) x[i] *= angle[i].unit;
  }
  void match(std::size_t a, std::size_t b) {  // and gives their unit to the result
    if (angle[a].power != 0 && angle[b].power == angle[a].power && angle[b].unit != angle[a].unit)
      x[b] *= angle[b].unit / angle[a].unit;
    take(angle[a].power != 0 ? angle[a] : angle[b]);
  }
  void raise_to(double p) {
    const double power = angle[0].power * p;
    if (power == std::round(power) && std::abs(power) < 100) {
      result.unit = angle[0].power == 0 ? 1 : std::pow(angle[0].unit, p);
      result.power = static_cast<int>(power);
    } else {
      to_radians(0);
    }
  }
  // Brings x to the units that the operation takes. `exponent`: of Op::power; `file_unit`: of angles that functions
  // give.
  void unite(Expression::Op op, double exponent, double file_unit);
};

void UnitedOperands::unite(Expression::Op op, double exponent, double file_unit) {
  using Op = Expression::Op;
  switch (op) {
    case Op::sine:
    case Op::cosine:
    case Op::tangent:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::exp:
    case Op::log:
    case Op::log10:
    case Op::erf:
      to_radians(0);
      result.radians = false;
      break;
    case Op::arctangent2: match(0, 1); [[fallthrough]];
    case Op::arcsine:
    case Op::arccosine:
    case Op::arctangent:
      made = file_unit;
      result = {made, 1, false};
      break;
    case Op::negate:
    case Op::absolute:
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::truncate: take(angle[0]); break;
    case Op::square: raise_to(2); break;
    case Op::cube: raise_to(3); break;
    case Op::power: raise_to(exponent); break;
    case Op::sqrt: raise_to(0.5); break;
    case Op::cbrt: raise_to(1.0 / 3); break;
    case Op::general_power:
      to_radians(1);
      raise_to(x[1]);
      break;
    case Op::multiply:
    case Op::divide: {
      const bool divide = op == Op::divide;
      result.unit = divide ? angle[0].unit / angle[1].unit : angle[0].unit * angle[1].unit;
      result.power = divide ? angle[0].power - angle[1].power : angle[0].power + angle[1].power;
      break;
    }
    case Op::add:
    case Op::subtract:
    case Op::hypot:
    case Op::mod:
    case Op::remainder:
    case Op::min:
    case Op::max: match(0, 1); break;
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::unequal:
      match(0, 1);
      take({});
      break;
    case Op::interpolate: match(1, 2); break;
    default: break;
  }
}

}  // namespace

// An operation on numbers. The unit of angles goes through products and roots as a factor does; sums, choices and
// comparisons bring their operands to one unit, a plain number taking that of the other; functions take radians.
ExpressionBuilder::Operand ExpressionBuilder::fold(const Node& node, std::size_t at,
                                                   std::span<const Operand> operands) {
  UnitedOperands o;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    o.x[i] = operands[i].number;
    o.angle[i] = operands[i].angle;
    o.result.radians = o.result.radians || o.angle[i].radians;
  }
  const bool of_angle = node.op == Op::sine || node.op == Op::cosine || node.op == Op::tangent;
  if (of_angle && o.angle[0].power == 0 && !o.angle[0].radians && scope_.angle_unit != 1) {
    fail(at, "unit-needed",
         token_at(at) + " takes a plain number here, and the file's unit of angles is not the radian",
         "give the angle its unit where it stands, `phi: 30 deg`, or write 30*DTOR; multiples of pi are radians");
  }
  o.unite(node.op, node.number, scope_.angle_unit);
  double value = Expression::apply(node, o.x[0], o.x[1], o.x[2]);
  if (o.made != 1) value /= o.made;
  if (o.result.power == 0 && o.result.unit != 1) {  // the quotient of two angles
    value *= o.result.unit;
    o.result.unit = 1;
  }
  if (std::isfinite(value)) return {value, -1, -1, o.result};
  return refuse(at, token_at(at) + " of " + list(operands) + (std::isnan(value) ? " is not a number" : " is infinite"),
                "check the values of the parameters in it");
}

std::string ExpressionBuilder::list(std::span<const Operand> operands) {
  std::string text;
  for (const Operand& operand : operands) {
    if (!text.empty()) text += " and ";
    text += shortest(operand.number);
  }
  return text;
}

ExpressionBuilder::Operand ExpressionBuilder::choose(std::size_t at, const Operand& condition, const Operand& then,
                                                     const Operand& otherwise) {
  if (condition.is_constant()) return condition.number != 0 ? then : otherwise;
  return emit(Op::select, at, condition, then, otherwise);
}

ExpressionBuilder::Operand ExpressionBuilder::combine(std::size_t at, std::string_view symbol, const Operand& a,
                                                      const Operand& b) {
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

ExpressionBuilder::Operand ExpressionBuilder::raise(std::size_t at, const Operand& base, const Operand& exponent) {
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

ExpressionBuilder::Operand ExpressionBuilder::spline(std::size_t at, const std::shared_ptr<const Spline>& curve,
                                                     const Operand& x, int order) {
  if (x.refusal >= 0) return x;
  if (x.is_constant()) {
    const double value = curve->derivatives(x.number)[order];
    if (std::isfinite(value)) return {value};
    return refuse(at, token_at(at) + " has no value at " + shortest(x.number),
                  "its points end before, and its extrapolation is none");
  }
  auto found = std::find(splines_.begin(), splines_.end(), curve);
  if (found == splines_.end()) found = splines_.insert(splines_.end(), curve);
  Node node;
  node.op = Op::spline;
  node.number = order;
  node.a = place(at, x);
  node.c = static_cast<std::uint16_t>(found - splines_.begin());
  node.timed = tape_[node.a].timed;
  return push(at, node);
}

ExpressionBuilder::Operand ExpressionBuilder::table(std::size_t at, const std::shared_ptr<const SurfaceTable>& surface,
                                                    const Operand& x, const Operand& y) {
  for (const Operand* operand : {&x, &y}) {
    if (operand->refusal >= 0) return *operand;
  }
  if (x.is_constant() && y.is_constant()) {
    const double value = surface->value(x.number, y.number);
    if (std::isfinite(value)) return {value};
    return refuse(at, token_at(at) + " has no value at " + shortest(x.number) + " and " + shortest(y.number),
                  "its points end before, and its extrapolation is none");
  }
  auto found = std::find(tables_.begin(), tables_.end(), surface);
  if (found == tables_.end()) found = tables_.insert(tables_.end(), surface);
  Node node;
  node.op = Op::table;
  node.a = place(at, x);
  node.b = place(at, y);
  node.c = static_cast<std::uint16_t>(found - tables_.begin());
  node.timed = tape_[node.a].timed || tape_[node.b].timed;
  return push(at, node);
}

void ExpressionBuilder::finish(std::size_t root, Expression& result) const {
  std::vector<int> new_place(root + 1, -1);
  new_place[root] = 0;
  const auto operand_count = [](Op op) {
    return op < Op::negate ? 0 : op < Op::add ? 1 : op < Op::interpolate ? 2 : 3;
  };
  for (std::size_t i = root + 1; i-- > 0;) {
    if (new_place[i] < 0) continue;
    const Node& node = tape_[i];
    const std::array<std::uint16_t, 3> operands = {node.a, node.b, node.c};
    for (int k = 0; k < operand_count(node.op); ++k) new_place[operands[k]] = 0;
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
      std::uint16_t& operand = *operands[k];
      operand = static_cast<std::uint16_t>(new_place[operand]);
    }
  }
  result.splines_ = splines_;
  result.tables_ = tables_;
  result.depends_on_time_ = result.tape_.back().timed;
  result.variable_count_ = result.slots_.empty() ? 0 : result.slots_.back() + 1;
}

}  // namespace trammel
