// The functions of the expression language, and how those of many operands are composed:
//
//   step, step5, havsin   of a unit ramp with saturated ends between h0 and h1
//   impact   max(0, k depth^e - cmax v ramp(depth/d)),  depth = max(0, x1 - x);   bistop: one at each end
//   poly     Horner's rule; cheby: T_j+1 = 2 s T_j - T_j-1;  forcos, forsin: sums of cosines and sines
//   sweep    a sine whose phase is the integral of a frequency that rises from f0 to f1
#include <cmath>
#include <numbers>

#include "trammel/math/expression_builder.h"
#include "trammel/math/expression_text.h"

namespace trammel {

using namespace expression_text;

namespace {

using Op = Expression::Op;

// Those that share a form and have no operation of their own.
enum Composed { by_poly, by_cheby, by_cosines, by_sines, by_shift, by_sweep, by_difference, by_impact, by_bistop };

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
       Op::max,
       by_impact},
      {{"bistop", "bistop(x, v, x1, x2, k, e, cmax, d)",
        "stops at both ends: impact(x, v, x1, k, e, cmax, d) below x1, -impact(-x, -v, -x2, k, e, cmax, d) above x2", 8,
        8},
       CallForm::special,
       Op::max,
       by_bistop},
      {{"trunc", "trunc(x)", "whole number next to x towards zero"}, CallForm::direct, Op::truncate},
      {{"dim", "dim(a, b)", "a - b where that is positive, else 0", 2, 2}, CallForm::special, Op::max, by_difference},
      {{"poly", "poly(x, x0, a0, ...)", "a0 + a1 (x-x0) + a2 (x-x0)^2 + ...", 3, any},
       CallForm::special,
       Op::add,
       by_poly},
      {{"cheby", "cheby(x, x0, a0, ...)", "a0 T0(x-x0) + a1 T1(x-x0) + ..., Chebyshev polynomials", 3, any},
       CallForm::special,
       Op::add,
       by_cheby},
      {{"forcos", "forcos(x, x0, w, a0, ...)", "a0 + a1 cos(w (x-x0)) + a2 cos(2 w (x-x0)) + ...", 4, any},
       CallForm::special,
       Op::add,
       by_cosines},
      {{"forsin", "forsin(x, x0, w, a0, ...)", "a0 + a1 sin(w (x-x0)) + a2 sin(2 w (x-x0)) + ...", 4, any},
       CallForm::special,
       Op::add,
       by_sines},
      {{"shf", "shf(x, x0, a, w, phi, b)", "a sin(w (x-x0) - phi) + b", 6, 6}, CallForm::special, Op::add, by_shift},
      {{"sweep", "sweep(x, a, x0, f0, x1, f1, dx)",
        "a sine of amplitude a whose frequency rises from f0 at x0 to f1 at x1, in turns per unit of x; it sets in "
        "smoothly from x0 to x0+dx",
        7, 7},
       CallForm::special,
       Op::add,
       by_sweep},
      {{"spline", "spline(name, x)", "the model's spline of that name", 2, 2}, CallForm::named, Op::spline, 0},
      {{"spline_slope", "spline_slope(name, x)", "its first derivative", 2, 2}, CallForm::named, Op::spline, 1},
      {{"spline_curvature", "spline_curvature(name, x)", "its second derivative", 2, 2},
       CallForm::named,
       Op::spline,
       2},
      {{"table", "table(name, x, y)", "the model's table of that name", 3, 3}, CallForm::named, Op::table},
  };
  return rows;
}

}  // namespace

const CallRow* find_call(std::string_view name) {
  for (const CallRow& row : call_rows()) {
    if (row.function.name == name) return &row;
  }
  return nullptr;
}

ExpressionBuilder::Operand ExpressionBuilder::call(std::size_t at, const CallRow& row,
                                                   const std::vector<Operand>& arguments) {
  if (row.form == CallForm::direct) return emit(row.op, at, arguments);
  if (row.form == CallForm::chain) {
    Operand result = arguments[0];
    for (std::size_t i = 1; i < arguments.size(); ++i) result = emit(row.op, at, result, arguments[i]);
    return result;
  }
  if (row.op == Op::power) return raise(at, arguments[0], arguments[1]);
  if (row.op == Op::select) return choose(at, arguments[0], arguments[1], arguments[2]);
  if (row.op == Op::max) {
    if (row.which == by_impact) return impact(at, row, arguments);
    if (row.which == by_bistop) return bistop(at, row, arguments);
    return emit(Op::max, at, Operand{0}, emit(Op::subtract, at, arguments[0], arguments[1]));
  }
  if (row.op == Op::add) return row.which == by_sweep ? sweep_sine(at, row, arguments) : series(at, row, arguments);
  return blend(at, row, arguments);
}

ExpressionBuilder::Operand ExpressionBuilder::blend(std::size_t at, const CallRow& row,
                                                    const std::vector<Operand>& arguments) {
  const Operand &x = arguments[0], &x0 = arguments[1], &h0 = arguments[2], &x1 = arguments[3], &h1 = arguments[4];
  if (x0.is_constant() && x1.is_constant() && !(x0.number < x1.number)) {
    return refuse(at,
                  in_quotes(row.function.name) + " must start before it ends, but x0 = " + shortest(x0.number) +
                      " and x1 = " + shortest(x1.number),
                  "write " + std::string(row.function.signature) + " with x0 < x1");
  }
  const Operand ramp = emit(Op::divide, at, emit(Op::subtract, at, x, x0), emit(Op::subtract, at, x1, x0));
  return emit(Op::interpolate, at, emit(row.op, at, ramp), h0, h1);
}

ExpressionBuilder::Operand ExpressionBuilder::impact(std::size_t at, const CallRow& row,
                                                     const std::vector<Operand>& arguments) {
  const Operand &x = arguments[0], &v = arguments[1], &x1 = arguments[2], &k = arguments[3], &e = arguments[4],
                &cmax = arguments[5], &d = arguments[6];
  const auto wrong = [&](const Operand& value, std::string_view name, std::string_view need) {
    return refuse(at,
                  in_quotes(row.function.name) + " needs " + std::string(need) + " " + std::string(name) + ", not " +
                      shortest(value.number),
                  "write " + std::string(row.function.signature));
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

ExpressionBuilder::Operand ExpressionBuilder::bistop(std::size_t at, const CallRow& row,
                                                     const std::vector<Operand>& arguments) {
  const Operand &x = arguments[0], &v = arguments[1], &x1 = arguments[2], &x2 = arguments[3];
  if (x1.is_constant() && x2.is_constant() && !(x1.number < x2.number)) {
    return refuse(at, "'bistop' needs x1 < x2, but x1 = " + shortest(x1.number) + " and x2 = " + shortest(x2.number),
                  "write " + std::string(row.function.signature));
  }
  const auto negative = [&](const Operand& operand) { return emit(Op::negate, at, operand); };
  std::vector<Operand> low{x, v, x1}, high{negative(x), negative(v), negative(x2)};
  for (std::vector<Operand>* side : {&low, &high}) side->insert(side->end(), arguments.begin() + 4, arguments.end());
  return emit(Op::subtract, at, impact(at, row, low), impact(at, row, high));
}

ExpressionBuilder::Operand ExpressionBuilder::series(std::size_t at, const CallRow& row,
                                                     const std::vector<Operand>& arguments) {
  const auto add = [&](const Operand& a, const Operand& b) { return emit(Op::add, at, a, b); };
  const auto times = [&](const Operand& a, const Operand& b) { return emit(Op::multiply, at, a, b); };
  const Operand s = emit(Op::subtract, at, arguments[0], arguments[1]);
  if (row.which == by_shift) {
    const Operand angle = emit(Op::subtract, at, times(arguments[3], s), arguments[4]);
    return add(times(arguments[2], emit(Op::sine, at, angle)), arguments[5]);
  }
  if (row.which == by_poly) {
    Operand sum = arguments.back();
    for (std::size_t i = arguments.size() - 1; i-- > 2;) sum = add(times(sum, s), arguments[i]);
    return sum;
  }
  if (row.which == by_cheby) {
    Operand sum = arguments[2], before{1}, now = s;
    for (std::size_t i = 3; i < arguments.size(); ++i) {
      sum = add(sum, times(arguments[i], now));
      if (i + 1 == arguments.size()) break;
      const Operand next = emit(Op::subtract, at, times(times(Operand{2}, s), now), before);
      before = now;
      now = next;
    }
    return sum;
  }
  Operand sum = arguments[3];
  const Operand angle = times(arguments[2], s);
  for (std::size_t i = 4; i < arguments.size(); ++i) {
    const Operand multiple = times(Operand{static_cast<double>(i - 3)}, angle);
    sum = add(sum, times(arguments[i], emit(row.which == by_cosines ? Op::cosine : Op::sine, at, multiple)));
  }
  return sum;
}

// The phase in turns: f0 x before x0, then f0 x + (f1 - f0) u^2 / (2 (x1 - x0)) with u = x - x0, beyond x1 with
// u = x1 - x0 and (f1 - f0) (x - x1) more.
ExpressionBuilder::Operand ExpressionBuilder::sweep_sine(std::size_t at, const CallRow& row,
                                                         const std::vector<Operand>& arguments) {
  const Operand &x = arguments[0], &a = arguments[1], &x0 = arguments[2], &f0 = arguments[3], &x1 = arguments[4],
                &f1 = arguments[5], &dx = arguments[6];
  if ((x0.is_constant() && x1.is_constant() && !(x0.number < x1.number)) || (dx.is_constant() && !(dx.number > 0))) {
    return refuse(at, "'sweep' needs x0 < x1 and dx > 0", "write " + std::string(row.function.signature));
  }
  const auto add = [&](const Operand& p, const Operand& q) { return emit(Op::add, at, p, q); };
  const auto minus = [&](const Operand& p, const Operand& q) { return emit(Op::subtract, at, p, q); };
  const auto times = [&](const Operand& p, const Operand& q) { return emit(Op::multiply, at, p, q); };
  const Operand length = minus(x1, x0), rise = minus(f1, f0);
  const Operand u = emit(Op::max, at, Operand{0}, emit(Op::min, at, minus(x, x0), length));
  const Operand bend = emit(Op::divide, at, times(rise, emit(Op::square, at, u)), times(Operand{2}, length));
  const Operand after = times(rise, emit(Op::max, at, Operand{0}, minus(x, x1)));
  const Operand turns = add(times(f0, x), add(bend, after));
  const Operand sine = emit(Op::sine, at, times(Operand{2 * std::numbers::pi}, turns));
  const Operand onset = emit(Op::ramp5, at, emit(Op::divide, at, minus(x, x0), dx));
  return times(times(a, onset), sine);
}

ExpressionBuilder::Operand ExpressionBuilder::arithmetic_if(std::size_t at, const Operand& x, const Operand& below,
                                                            const Operand& zero, const Operand& above) {
  return choose(at, emit(Op::less, at, x, Operand{0}), below,
                choose(at, emit(Op::equal, at, x, Operand{0}), zero, above));
}

const std::vector<ExpressionFunction>& expression_functions() {
  static const std::vector<ExpressionFunction> functions = [] {
    std::vector<ExpressionFunction> list;
    for (const CallRow& row : call_rows()) list.push_back(row.function);
    return list;
  }();
  return functions;
}

}  // namespace trammel
