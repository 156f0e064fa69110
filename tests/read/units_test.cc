// Units: factors, dimensions and the grammar.
#include "trammel/base/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace trammel::units_test {
namespace {

void expect_unit(const char* text, double factor, int length, int mass, int time, int angle) {
  const std::optional<Unit> unit = parse_unit(text);
  ASSERT_TRUE(unit) << text;
  EXPECT_NEAR(unit->factor, factor, 1e-14 * factor) << text;
  EXPECT_TRUE(same_dimension(*unit, {1, length, mass, time, angle})) << text;
}

TEST(Units, FactorsAndDimensions) {
  expect_unit("m", 1, 1, 0, 0, 0);
  expect_unit("mm", 1e-3, 1, 0, 0, 0);
  expect_unit("kg*mm^2", 1e-6, 2, 1, 0, 0);
  expect_unit("kg mm^2", 1e-6, 2, 1, 0, 0);
  expect_unit("N/mm", 1e3, 0, 1, -2, 0);
  expect_unit("N s/m", 1, 0, 1, -1, 0);
  expect_unit("N*m*s/rad", 1, 2, 1, -1, -1);
  expect_unit("N m/deg", 180 / std::numbers::pi, 2, 1, -2, -1);
  expect_unit("m/s^2", 1, 1, 0, -2, 0);
  expect_unit("m s^-2", 1, 1, 0, -2, 0);
  expect_unit("N/(m/s)", 1, 0, 1, -1, 0);
  expect_unit("1/s", 1, 0, 0, -1, 0);
  expect_unit("1", 1, 0, 0, 0, 0);
  expect_unit("rpm", std::numbers::pi / 30, 0, 0, -1, 1);
  expect_unit("rev/min", std::numbers::pi / 30, 0, 0, -1, 1);
  expect_unit("km/h", 1 / 3.6, 1, 0, -1, 0);
  expect_unit("lbf", 4.4482216152605, 1, 1, -2, 0);
  expect_unit("MPa", 1e6, -1, 1, -2, 0);
  expect_unit("kW", 1e3, 2, 1, -3, 0);
}

TEST(Units, RadianIsADimension) {
  EXPECT_FALSE(same_dimension(*parse_unit("rad/s"), *parse_unit("Hz")));
  EXPECT_FALSE(same_dimension(*parse_unit("N m/rad"), *parse_unit("N m")));
  EXPECT_TRUE(same_dimension(*parse_unit("J"), *parse_unit("N m")));
}

TEST(Units, OtherTextsAreNone) {
  for (const char* text : {"", " ", "metre", "M", "mm^", "mm^x", "m//s", "*m", "m*", "(m", "m)", "2 m", "m^1.5", "kg-m",
                           "m^99", "((((((((((m))))))))))", "((((((((mm^9)^9)^9)^9)^9)^9)^9)^9)"}) {
    EXPECT_FALSE(parse_unit(text)) << text;
  }
  EXPECT_FALSE(parse_unit(std::string(100000, '(')));
}

TEST(Units, EverySymbolParses) {
  for (const std::string& symbol : unit_symbols()) EXPECT_TRUE(parse_unit(symbol)) << symbol;
}

}  // namespace
}  // namespace trammel::units_test
