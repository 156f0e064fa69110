#include "trammel/base/units.h"

#include <cmath>
#include <cstdlib>

#include "trammel/base/characters.h"

namespace trammel {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double pound = 0.45359237, standard_gravity = 9.80665;  // exact by definition

struct Symbol {
  std::string_view name;
  Unit unit;  // factor, length, mass, time, angle
};

constexpr Symbol symbols[] = {
    {"m", {1, 1, 0, 0, 0}},
    {"mm", {1e-3, 1, 0, 0, 0}},
    {"cm", {1e-2, 1, 0, 0, 0}},
    {"km", {1e3, 1, 0, 0, 0}},
    {"um", {1e-6, 1, 0, 0, 0}},
    {"in", {0.0254, 1, 0, 0, 0}},
    {"ft", {0.3048, 1, 0, 0, 0}},
    {"kg", {1, 0, 1, 0, 0}},
    {"g", {1e-3, 0, 1, 0, 0}},
    {"t", {1e3, 0, 1, 0, 0}},
    {"lb", {pound, 0, 1, 0, 0}},
    {"s", {1, 0, 0, 1, 0}},
    {"ms", {1e-3, 0, 0, 1, 0}},
    {"us", {1e-6, 0, 0, 1, 0}},
    {"min", {60, 0, 0, 1, 0}},
    {"h", {3600, 0, 0, 1, 0}},
    {"rad", {1, 0, 0, 0, 1}},
    {"mrad", {1e-3, 0, 0, 0, 1}},
    {"deg", {pi / 180, 0, 0, 0, 1}},
    {"rev", {2 * pi, 0, 0, 0, 1}},
    {"rpm", {2 * pi / 60, 0, 0, -1, 1}},
    {"Hz", {1, 0, 0, -1, 0}},
    {"kHz", {1e3, 0, 0, -1, 0}},
    {"N", {1, 1, 1, -2, 0}},
    {"mN", {1e-3, 1, 1, -2, 0}},
    {"kN", {1e3, 1, 1, -2, 0}},
    {"MN", {1e6, 1, 1, -2, 0}},
    {"lbf", {pound * standard_gravity, 1, 1, -2, 0}},
    {"J", {1, 2, 1, -2, 0}},
    {"mJ", {1e-3, 2, 1, -2, 0}},
    {"kJ", {1e3, 2, 1, -2, 0}},
    {"W", {1, 2, 1, -3, 0}},
    {"kW", {1e3, 2, 1, -3, 0}},
    {"Pa", {1, -1, 1, -2, 0}},
    {"kPa", {1e3, -1, 1, -2, 0}},
    {"MPa", {1e6, -1, 1, -2, 0}},
    {"GPa", {1e9, -1, 1, -2, 0}},
    {"bar", {1e5, -1, 1, -2, 0}},
};

using characters::is_digit;
using characters::is_letter;

Unit power(const Unit& unit, int exponent) {
  Unit result;
  for (int i = 0; i < std::abs(exponent); ++i) result = exponent > 0 ? result * unit : result / unit;
  return result;
}

class UnitParser {
 public:
  explicit UnitParser(std::string_view text) : text_(text) {}

  std::optional<Unit> all() {
    const std::optional<Unit> unit = product(0);
    const bool sound = unit && at_ == text_.size() && std::isfinite(unit->factor) && unit->factor > 0;
    return sound ? unit : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::optional<Unit> product(int depth) {
    std::optional<Unit> left = factor(depth);
    while (left) {
      skip_blanks();
      const char c = next();
      if (c == '\0' || c == ')') break;
      const bool divide = c == '/';
      if (c == '/' || c == '*') ++at_;
      const std::optional<Unit> right = factor(depth);
      if (!right) return std::nullopt;
      left = divide ? *left / *right : *left * *right;
    }
    return left;
  }

  std::optional<Unit> factor(int depth) {
    skip_blanks();
    std::optional<Unit> unit;
    if (next() == '(' && depth < 8) {
      ++at_;
      unit = product(depth + 1);
      if (!unit || next() != ')') return std::nullopt;
      ++at_;
    } else if (next() == '1') {
      ++at_;
      unit = Unit{};
    } else {
      const std::size_t start = at_;
      while (is_letter(next())) ++at_;
      const std::string_view name = text_.substr(start, at_ - start);
      for (const Symbol& symbol : symbols) {
        if (symbol.name == name) unit = symbol.unit;
      }
    }
    if (unit && next() == '^') {
      ++at_;
      const bool negative = next() == '-';
      if (negative) ++at_;
      if (!is_digit(next())) return std::nullopt;
      const int exponent = next() - '0';  // one digit is more than any unit has
      ++at_;
      unit = power(*unit, negative ? -exponent : exponent);
    }
    return unit;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool same_dimension(const Unit& a, const Unit& b) {
  return a.length == b.length && a.mass == b.mass && a.time == b.time && a.angle == b.angle;
}

Unit operator*(const Unit& a, const Unit& b) {
  return {a.factor * b.factor, a.length + b.length, a.mass + b.mass, a.time + b.time, a.angle + b.angle};
}

Unit operator/(const Unit& a, const Unit& b) {
  return {a.factor / b.factor, a.length - b.length, a.mass - b.mass, a.time - b.time, a.angle - b.angle};
}

std::optional<Unit> parse_unit(std::string_view text) {
  // Longer texts are no units; the bound also keeps the powers below within an int.
  return text.size() > 64 ? std::nullopt : UnitParser(text).all();
}

std::string si_text(const Unit& unit) {
  std::string above, below;
  for (const auto& [symbol, power] :
       {std::pair("kg", unit.mass), {"m", unit.length}, {"rad", unit.angle}, {"s", unit.time}}) {
    if (power == 0) continue;
    std::string& side = power > 0 ? above : below;
    const std::string text = symbol + (std::abs(power) == 1 ? "" : "^" + std::to_string(std::abs(power)));
    side += power > 0 ? (side.empty() ? "" : " ") + text : "/" + text;
  }
  return (above.empty() ? "1" : above) + below;
}

const std::vector<std::string>& unit_symbols() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Symbol& symbol : symbols) list.emplace_back(symbol.name);
    return list;
  }();
  return names;
}

}  // namespace trammel
