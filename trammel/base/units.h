// Units as they are written in files, "N s/m" or "kg*mm^2", read into a factor to SI and powers of the base dimensions.
// The radian counts as a dimension of its own, so that rad/s is not taken for Hz, nor N m/rad for N m.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trammel {

// 1 of the unit = `factor` in m^length kg^mass s^time rad^angle.
struct Unit {
  double factor = 1;
  int length = 0, mass = 0, time = 0, angle = 0;
};

bool same_dimension(const Unit& a, const Unit& b);
Unit operator*(const Unit& a, const Unit& b);
Unit operator/(const Unit& a, const Unit& b);

// unit   = factor { ("*" | "/" | blank) factor }      "/" divides by the next factor only: N s/m = (N s)/m
// factor = (symbol | "1" | "(" unit ")") [ "^" integer ]
// Nothing if the text is none of these.
std::optional<Unit> parse_unit(std::string_view text);

// The SI unit of the same dimension, as parse_unit reads it: "kg m/s^2"; "1" of a pure number.
std::string si_text(const Unit& unit);

// All known symbols, for hints and help.
const std::vector<std::string>& unit_symbols();

}  // namespace trammel
