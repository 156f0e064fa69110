// Any bytes are an expression that can be evaluated and differentiated, or a Failure; nothing else.
#include <array>
#include <cstdint>
#include <string_view>

#include "trammel/math/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trammel;
  if (size > 4000) return 0;
  static const std::vector<double> list = {1, 2.5, -3};
  ExpressionScope scope;
  scope.constant = [](std::string_view name) -> std::optional<double> {
    if (name == "a") return 2;
    if (name == "b") return -0.5;
    return std::nullopt;
  };
  scope.array = [](std::string_view name) { return name == "w" ? &list : nullptr; };
  scope.variable = [](std::string_view name, const std::vector<std::string>& arguments,
                      std::string&) -> std::optional<int> {
    if (name == "dx" || name == "u") return static_cast<int>(arguments.size() % 4);
    return std::nullopt;
  };
  scope.known_names = {"a", "b", "w", "dx", "u"};
  scope.owner = "fuzz";
  try {
    const Expression expression =
        Expression::parse({reinterpret_cast<const char*>(data), size}, {intern("fuzz"), 1, 1}, scope);
    const std::array<double, 4> x = {0.3, -1, 0, 1e3};
    std::array<double, 4> slopes{};
    double rate = 0;
    expression.value(0.7, x);
    expression.gradient(0.7, x, slopes, rate);
    expression.time_derivatives(0.7, x);
  } catch (const Failure&) {
  }
  return 0;
}
