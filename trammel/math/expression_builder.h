// The tape of an expression while it is built: operations on constants are folded as they appear, equal operations
// share one place, and functions of many operands are composed of elementary ones. The parser stands on it; not for
// other users.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/math/expression.h"
#include "trammel/math/expression_op.h"

namespace trammel {

enum class CallForm { direct, chain, special, named };

struct CallRow {
  ExpressionFunction function;
  // direct: one operation; chain: f(f(a, b), c)...; special: composed in ExpressionBuilder::call; named: the first
  // argument is the name of a spline or table
  CallForm form;
  Expression::Op op;
  int which = 0;  // among those that share an operation
};
const CallRow* find_call(std::string_view name);

class ExpressionBuilder {
 protected:
  using Node = Expression::Node;
  using Op = Expression::Op;

  // What a part of the text has become: a number, a place on the tape, or a constant without a finite value.
  struct Operand {
    double number = 0;
    int node = -1;
    int refusal = -1;      // index in refusals_
    AngleUnit angle = {};  // of a number
    bool is_constant() const { return node < 0 && refusal < 0; }
    bool is_number(double value) const { return is_constant() && number == value; }
  };

  // A constant without a finite value, kept until it is known whether the result needs it.
  struct Refusal {
    std::size_t offset;
    std::string what;
    std::string hint;
  };

  ExpressionBuilder(std::string_view text, const Location& where, const ExpressionScope& scope)
      : text_(text), where_(where), scope_(scope) {}

  std::string_view word_at(std::size_t at) const;
  // What a message quotes: a whole name or number, or one character.
  std::string token_at(std::size_t at) const;
  // Columns count characters, as the YAML reader does, not bytes.
  int characters_before(std::size_t end, std::size_t begin = 0) const;
  Problem problem(std::size_t offset, std::string id, const std::string& what, std::string hint) const;
  [[noreturn]] void fail(std::size_t offset, std::string id, const std::string& what, std::string hint) const;
  Operand refuse(std::size_t offset, std::string what, std::string hint);

  Operand push(std::size_t at, const Node& node);
  std::uint16_t place(std::size_t at, const Operand& operand);
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
  Operand emit(Op op, std::size_t at, std::span<const Operand> operands, double exponent = 0);
  Operand fold(const Node& node, std::size_t at, std::span<const Operand> operands);
  static std::string list(std::span<const Operand> operands);

  Operand choose(std::size_t at, const Operand& condition, const Operand& then, const Operand& otherwise);
  Operand combine(std::size_t at, std::string_view symbol, const Operand& a, const Operand& b);
  Operand raise(std::size_t at, const Operand& base, const Operand& exponent);
  Operand spline(std::size_t at, const std::shared_ptr<const Spline>& curve, const Operand& x, int order);
  Operand table(std::size_t at, const std::shared_ptr<const SurfaceTable>& surface, const Operand& x, const Operand& y);

  // Keeps what the result needs: choices among constants leave dead operations behind.
  void finish(std::size_t root, Expression& result) const;

  // expression_functions.cc
  Operand call(std::size_t at, const CallRow& row, const std::vector<Operand>& arguments);
  Operand blend(std::size_t at, const CallRow& row, const std::vector<Operand>& arguments);
  Operand impact(std::size_t at, const CallRow& row, const std::vector<Operand>& arguments);
  Operand bistop(std::size_t at, const CallRow& row, const std::vector<Operand>& arguments);
  Operand series(std::size_t at, const CallRow& row, const std::vector<Operand>& arguments);
  Operand sweep_sine(std::size_t at, const CallRow& row, const std::vector<Operand>& arguments);
  Operand arithmetic_if(std::size_t at, const Operand& x, const Operand& below, const Operand& zero,
                        const Operand& above);

  std::string_view text_;
  Location where_;
  const ExpressionScope& scope_;
  std::vector<Node> tape_;
  std::vector<int> slots_;
  std::vector<std::shared_ptr<const Spline>> splines_;
  std::vector<std::shared_ptr<const SurfaceTable>> tables_;
  std::vector<Refusal> refusals_;
};

}  // namespace trammel
