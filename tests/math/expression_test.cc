// Expressions: values against <cmath>, gradients and time derivatives against closed forms and differences, for every
// function the language lists; messages with their columns; limits; no allocation; no text that crashes.
#include "trammel/math/expression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <numbers>
#include <random>
#include <sstream>

namespace {
std::atomic<long> expression_test_allocations{0};
}

// Not inlined: the compiler would see free() meet the library's operator new, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++expression_test_allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace trammel::expression_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = std::numbers::pi;

// Functions that splines with the right ends, and tables, hold exactly.
double cubic_curve(double x) { return x * x * x - 2 * x + 1; }
double bilinear_surface(double x, double y) { return 1 + 2 * x - y + 0.5 * x * y; }

SplineData cubic_points(SplineKind kind, Extrapolation extrapolation) {
  SplineData data;
  data.kind = kind;
  data.extrapolation = extrapolation;
  data.x = {-1, -0.5, 0, 1, 1.5, 2};
  for (const double x : data.x) data.y.push_back(cubic_curve(x));
  data.first_slope = 3 - 2;
  data.last_slope = 12 - 2;
  return data;
}

// Splines 'curve' (the cubic above) and 'bump', a table 'surface'. Parameters k = 4, zero = 0, huge = 1e300; variables
// a, b, c, d, e, f, g in slots 0..6; measures angle(pin) in slot 7 and dx(tip, ground) in slot 8.
ExpressionScope test_scope() {
  ExpressionScope scope;
  scope.constant = [](std::string_view name) -> std::optional<double> {
    if (name == "k") return 4.0;
    if (name == "zero") return 0.0;
    if (name == "huge") return 1e300;
    if (name == "undefined") return std::nan("");
    return std::nullopt;
  };
  scope.variable = [](std::string_view function, const std::vector<std::string>& arguments,
                      std::string& error) -> std::optional<int> {
    if (arguments.empty() && function.size() == 1 && function[0] >= 'a' && function[0] <= 'g') return function[0] - 'a';
    if (function == "angle") {
      if (arguments.size() != 1) {
        error = "angle takes one joint";
        return std::nullopt;
      }
      if (arguments[0] == "pin" || arguments[0] == "left-pin.2" || arguments[0] == "the pin" ||
          arguments[0] == "\xC3\xA4\xC3\xA4") {
        return 7;
      }
      error = "there is no joint '" + arguments[0] + "'";
      return std::nullopt;
    }
    if (function == "dx" && arguments.size() == 2) {
      for (const std::string& argument : arguments) {
        if (argument != "tip" && argument != "ground") {
          error = "there is no frame '" + argument + "'; did you mean 'tip'?";
          return std::nullopt;
        }
      }
      return 8;
    }
    return std::nullopt;
  };
  scope.spline = [](std::string_view name) {
    static const auto curve = std::make_shared<const Spline>(cubic_points(SplineKind::clamped, Extrapolation::linear));
    static const auto bump = std::make_shared<const Spline>(cubic_points(SplineKind::akima, Extrapolation::none));
    return name == "curve" ? curve : name == "bump" ? bump : nullptr;
  };
  scope.table = [](std::string_view name) {
    static const auto bilinear = [] {
      SurfaceData data{SplineKind::natural, {-1, 0, 2}, {0, 1, 3}, {}};
      for (const double x : data.x) {
        for (const double y : data.y) data.z.push_back(bilinear_surface(x, y));
      }
      return std::make_shared<const SurfaceTable>(data);
    }();
    return name == "surface" ? bilinear : nullptr;
  };
  scope.spline_names = {"curve", "bump"};
  scope.table_names = {"surface"};
  scope.known_names = {"k", "zero", "huge", "undefined", "angle", "dx"};
  return scope;
}

Expression parse(const std::string& text) { return Expression::parse(text, {}, test_scope()); }

double evaluate(const std::string& text, double t = 0, std::vector<double> variables = {}) {
  variables.resize(9, 0.25);
  return parse(text).value(t, variables);
}

const Location test_place{intern("model.yaml"), 12, 8};

Problem problem_of(const std::string& text, const ExpressionScope& scope = test_scope()) {
  try {
    Expression::parse(text, test_place, scope);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems().size(), 1u);
    return failure.problems().at(0);
  }
  ADD_FAILURE() << "'" << text << "' was accepted";
  return {};
}

// Central difference with one extrapolation: error O(h^4).
template <typename Function>
double difference(Function f, double h) {
  const double coarse = (f(h) - f(-h)) / (2 * h);
  const double fine = (f(h / 2) - f(-h / 2)) / h;
  return (4 * fine - coarse) / 3;
}

// ---- the functions, one by one ----

using Arguments = std::vector<double>;

struct Reference {
  std::function<double(const Arguments&)> value;
  std::vector<Arguments> points;
};

double smooth_step(const Arguments& a, const std::function<double(double)>& ramp) {
  const double s = (a[0] - a[1]) / (a[3] - a[1]);
  if (s <= 0) return a[2];
  if (s >= 1) return a[4];
  return a[2] + (a[4] - a[2]) * ramp(s);
}

const std::map<std::string, Reference, std::less<>>& references() {
  const auto unary = [](double (*f)(double), const std::vector<double>& xs) {
    Reference reference{[f](const Arguments& a) { return f(a[0]); }, {}};
    for (const double x : xs) reference.points.push_back({x});
    return reference;
  };
  const std::vector<Arguments> steps = {{0.5, 0.2, -1.0, 1.1, 3.0}, {0.1, 0.2, -1.0, 1.1, 3.0},
                                        {1.7, 0.2, -1.0, 1.1, 3.0}, {0.21, 0.2, 2.0, 1.1, -3.0},
                                        {1.05, -4, 0.5, 1.1, 0.6},  {0.9, 1.5, 2, 0.3, 5}};
  static const std::map<std::string, Reference, std::less<>> table = {
      {"sin", unary(std::sin, {-7, -0.3, 0, 1, 20})},
      {"cos", unary(std::cos, {-7, -0.3, 0, 1, 20})},
      {"tan", unary(std::tan, {-1.2, -0.3, 0, 1, 3})},
      {"asin", unary(std::asin, {-0.95, -0.3, 0, 0.5, 0.9})},
      {"acos", unary(std::acos, {-0.95, -0.3, 0, 0.5, 0.9})},
      {"atan", unary(std::atan, {-30, -0.3, 0, 1, 5})},
      {"sinh", unary(std::sinh, {-3, -0.3, 0, 1, 5})},
      {"cosh", unary(std::cosh, {-3, -0.3, 0, 1, 5})},
      {"tanh", unary(std::tanh, {-3, -0.3, 0, 1, 5})},
      {"exp", unary(std::exp, {-3, -0.3, 0, 1, 5})},
      {"log", unary(std::log, {0.1, 1, 5, 300})},
      {"log10", unary(std::log10, {0.1, 1, 5, 300})},
      {"sqrt", unary(std::sqrt, {0.1, 1, 5, 300})},
      {"cbrt", unary(std::cbrt, {-8, -0.3, 0.1, 1, 5})},
      {"erf", unary(std::erf, {-2, -0.3, 0, 1, 2.5})},
      {"abs", unary(std::abs, {-2, -0.3, 1, 2.5})},
      {"floor", unary(std::floor, {-2.5, -0.3, 1.2, 2.5})},
      {"ceil", unary(std::ceil, {-2.5, -0.3, 1.2, 2.6})},
      {"round", unary(std::round, {-2.3, -0.3, 1.2, 2.6})},
      {"sign", {[](const Arguments& a) { return a[0] < 0 ? -1.0 : 1.0; }, {{-2}, {3}}}},
      {"atan2", {[](const Arguments& a) { return std::atan2(a[0], a[1]); }, {{1, 2}, {-3, 0.5}, {0.2, -4}, {-1, -1}}}},
      {"pow", {[](const Arguments& a) { return std::pow(a[0], a[1]); }, {{2, 3}, {0.3, -1.5}, {5, 0.2}, {1.3, 0}}}},
      {"hypot", {[](const Arguments& a) { return std::hypot(a[0], a[1]); }, {{3, 4}, {-1, 0.2}, {0, 2}}}},
      {"min", {[](const Arguments& a) { return std::min(a[0], a[1]); }, {{3, 4}, {-1, -2}}}},
      {"max", {[](const Arguments& a) { return std::max(a[0], a[1]); }, {{3, 4}, {-1, -2}}}},
      {"mod",
       {[](const Arguments& a) { return a[0] - a[1] * std::floor(a[0] / a[1]); },
        {{7.5, 2}, {-1, 6}, {5, -3}, {0.5, 9}}}},
      {"if", {[](const Arguments& a) { return a[0] != 0 ? a[1] : a[2]; }, {{1, 4, 9}, {-0.5, 4, 9}}}},
      {"step",
       {[](const Arguments& a) { return smooth_step(a, [](double s) { return s * s * (3 - 2 * s); }); }, steps}},
      {"step5",
       {[](const Arguments& a) {
          return smooth_step(a, [](double s) { return s * s * s * (10 - 15 * s + 6 * s * s); });
        },
        steps}},
      {"havsin",
       {[](const Arguments& a) { return smooth_step(a, [](double s) { return (1 - std::cos(pi * s)) / 2; }); }, steps}},
      {"impact",
       {[](const Arguments& a) {
          const double depth = a[2] - a[0];
          if (depth <= 0) return 0.0;
          const double s = std::min(depth / a[6], 1.0);
          return std::max(0.0, a[3] * std::pow(depth, a[4]) - a[5] * s * s * (3 - 2 * s) * a[1]);
        },
        {{0.9, -0.3, 1, 500, 1.5, 8, 0.25},
         {0.5, -0.3, 1, 500, 2.2, 8, 0.25},
         {0.5, 2.0, 1, 10, 1.0, 8, 0.25},  // pulls: cut at zero
         {0.5, 0.1, 1, 10, 1.0, 8, 0.25},
         {1.5, -2.0, 1, 10, 1.5, 8, 0.25}}}},
      {"bistop",
       {[](const Arguments& a) {
          const auto side = [&](double depth, double rate) {
            if (depth <= 0) return 0.0;
            const double s = std::min(depth / a[7], 1.0);
            return std::max(0.0, a[4] * std::pow(depth, a[5]) + a[6] * s * s * (3 - 2 * s) * rate);
          };
          return side(a[2] - a[0], -a[1]) - side(a[0] - a[3], a[1]);
        },
        {{0.9, -0.3, 1, 2, 500, 1.5, 8, 0.25},
         {2.5, 0.3, 1, 2, 500, 2.2, 8, 0.25},
         {1.5, 0.3, 1, 2, 500, 2.2, 8, 0.25},
         {2.5, -3, 1, 2, 5, 1.5, 8, 0.25}}}},
      {"trunc", unary(std::trunc, {-2.5, -0.3, 1.2, 2.6})},
      {"dim", {[](const Arguments& a) { return std::max(a[0] - a[1], 0.0); }, {{3, 1}, {1, 3}}}},
      {"poly",
       {[](const Arguments& a) {
          double sum = 0;
          for (std::size_t i = a.size(); i-- > 2;) sum = sum * (a[0] - a[1]) + a[i];
          return sum;
        },
        {{0.5, 0.2, 3}, {0.5, -0.2, 3, 2}, {1.5, 0.2, 3, -2, 0.5, 1}}}},
      {"cheby",
       {[](const Arguments& a) {
          const double s = a[0] - a[1];
          const std::vector<double> T = {1, s, 2 * s * s - 1, s * (4 * s * s - 3), 8 * s * s * (s * s - 1) + 1};
          double sum = 0;
          for (std::size_t i = 2; i < a.size(); ++i) sum += a[i] * T[i - 2];
          return sum;
        },
        {{0.5, 0.25, 3}, {0.5, -0.25, 3, 2}, {0.75, 0.25, 0.25, -2, 0.5, 1, 0.5}}}},
      {"forcos",
       {[](const Arguments& a) {
          double sum = a[3];
          for (std::size_t i = 4; i < a.size(); ++i) {
            sum += a[i] * std::cos(static_cast<double>(i - 3) * a[2] * (a[0] - a[1]));
          }
          return sum;
        },
        {{0.5, 0.25, 2, 1}, {0.5, 0.25, 2, 1, 0.5}, {0.75, 0.25, 2, 1, -2, 0.5}}}},
      {"forsin",
       {[](const Arguments& a) {
          double sum = a[3];
          for (std::size_t i = 4; i < a.size(); ++i) {
            sum += a[i] * std::sin(static_cast<double>(i - 3) * a[2] * (a[0] - a[1]));
          }
          return sum;
        },
        {{0.5, 0.25, 2, 1}, {0.5, 0.25, 2, 1, 0.5}, {0.75, 0.25, 2, 1, -2, 0.5}}}},
      {"shf",
       {[](const Arguments& a) { return a[2] * std::sin(a[3] * (a[0] - a[1]) - a[4]) + a[5]; },
        {{0.5, 0.25, 2, 3, 0.5, -1}}}},
      {"sweep",
       {[](const Arguments& a) {
          const double s = std::clamp((a[0] - a[2]) / a[6], 0.0, 1.0);
          const double turns = a[0] <= a[2] ? a[3] * a[0]
                               : a[0] >= a[4]
                                   ? a[5] * a[0] - (a[5] - a[3]) / 2 * (a[4] + a[2])
                                   : a[3] * a[0] + (a[5] - a[3]) / (2 * (a[4] - a[2])) * (a[0] - a[2]) * (a[0] - a[2]);
          return s * s * s * (10 - 15 * s + 6 * s * s) * a[1] * std::sin(2 * pi * turns);
        },
        {{0.3, 2, 0.5, 1, 1, 3, 0.1},
         {0.55, 2, 0.5, 1, 1, 3, 0.1},
         {0.75, 2, 0.5, 0.5, 1, 0.75, 0.125},
         {1.3, 0.5, 0.5, 0.25, 1, 0.5, 0.125}}}},
      {"spline", {[](const Arguments& a) { return cubic_curve(a[0]); }, {{-0.75}, {-0.2}, {0.3}, {1.75}}}},
      {"spline_slope", {[](const Arguments& a) { return 3 * a[0] * a[0] - 2; }, {{-0.75}, {-0.2}, {0.3}, {1.75}}}},
      {"spline_curvature", {[](const Arguments& a) { return 6 * a[0]; }, {{-0.75}, {-0.2}, {0.3}, {1.75}}}},
      {"table",
       {[](const Arguments& a) { return bilinear_surface(a[0], a[1]); },
        {{-0.5, 0.3}, {0.5, 2}, {1.5, 0.3}, {3, 4}, {-2, 0.5}}}},
  };
  return table;
}

std::string call_text(std::string_view name, std::size_t count,
                      const std::function<std::string(std::size_t)>& argument) {
  std::string text(name);
  const std::string item = text.rfind("spline", 0) == 0 ? "curve" : text == "table" ? "surface" : "";
  text += "(" + item;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 && item.empty() ? "" : ", ") + argument(i);
  return text + ")";
}

std::string exact(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

class ExpressionFunctions : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto found = references().find(GetParam());
    ASSERT_NE(found, references().end()) << "a function without a reference in this test";
    reference = &found->second;
    ASSERT_FALSE(reference->points.empty());
  }
  Expression of_variables(const Arguments& point) const {
    return parse(call_text(GetParam(), point.size(), [](std::size_t i) {
      return i == 7 ? "angle(pin)" : std::string(1, static_cast<char>('a' + i));
    }));
  }
  const Reference* reference = nullptr;
};

TEST_P(ExpressionFunctions, ValueEqualsReference) {
  for (const Arguments& point : reference->points) {
    const Expression expression = of_variables(point);
    EXPECT_FALSE(expression.is_constant());
    EXPECT_FALSE(expression.depends_on_time());
    EXPECT_EQ(expression.variable_count(), static_cast<int>(point.size()));
    const double expected = reference->value(point);
    EXPECT_NEAR(expression.value(0, point), expected, 4e-16 * std::max(1.0, 10 * std::abs(expected)));
  }
}

TEST_P(ExpressionFunctions, ConstantsFoldToTheSameBits) {
  for (const Arguments& point : reference->points) {
    if (point.size() == 5 && point[1] >= point[3]) continue;  // step backwards: refused among constants
    const Expression folded =
        parse(call_text(GetParam(), point.size(), [&](std::size_t i) { return exact(point[i]); }));
    EXPECT_TRUE(folded.is_constant());
    EXPECT_EQ(folded.value(0, {}), of_variables(point).value(0, point));
  }
}

TEST_P(ExpressionFunctions, GradientEqualsCentralDifferences) {
  for (const Arguments& point : reference->points) {
    const Expression expression = of_variables(point);
    std::vector<double> gradient(point.size() + 2, -99);
    double d_dt = -99;
    EXPECT_EQ(expression.gradient(0, point, gradient, d_dt), expression.value(0, point));
    EXPECT_EQ(d_dt, 0);
    EXPECT_EQ(gradient[point.size()], 0);  // entries beyond the expression's own are written too
    for (std::size_t i = 0; i < point.size(); ++i) {
      const auto along = [&](double h) {
        Arguments moved = point;
        moved[i] += h;
        return expression.value(0, moved);
      };
      const double numeric = difference(along, 1e-3 * std::max(0.1, std::abs(point[i])));
      EXPECT_NEAR(gradient[i], numeric, 1e-8 * std::max(1.0, std::abs(numeric))) << "argument " << i;
    }
  }
}

// Every argument moves with time; each derivative is the rate of the one below it, and the first is also the
// gradient's.
TEST_P(ExpressionFunctions, TimeDerivativesEqualDifferencesOfLowerOnes) {
  for (const Arguments& point : reference->points) {
    const Expression expression = parse(call_text(GetParam(), point.size(), [&](std::size_t i) {
      return exact(point[i]) + " + 0.02*sin(" + std::to_string(i + 1) + "*time)";
    }));
    for (const double t : {0.0, 0.05, 0.4}) {
      const std::array<double, 4> d = expression.time_derivatives(t, {});
      double d_dt = 0;
      EXPECT_EQ(d[0], expression.gradient(t, {}, {}, d_dt));
      EXPECT_NEAR(d[1], d_dt, 1e-12 * std::max(1.0, std::abs(d_dt)));
      for (std::size_t k = 0; k < 3; ++k) {
        const double numeric = difference([&](double h) { return expression.time_derivatives(t + h, {})[k]; }, 1e-3);
        EXPECT_NEAR(d[k + 1], numeric, 1e-7 * std::max(1.0, std::abs(numeric))) << "order " << k + 1 << " at " << t;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExpressionFunctions, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const ExpressionFunction& function : expression_functions())
                             names.emplace_back(function.name);
                           return names;
                         }()),
                         [](const auto& instance) { return instance.param; });

TEST(Expression, FunctionsAreWellDescribed) {
  for (const ExpressionFunction& function : expression_functions()) {
    EXPECT_EQ(function.signature.substr(0, function.name.size() + 1), std::string(function.name) + "(");
    EXPECT_FALSE(function.text.empty());
    const auto commas = std::count(function.signature.begin(), function.signature.end(), ',');
    EXPECT_EQ(commas + 1, function.min_arguments + (function.max_arguments == ExpressionFunction::any_number ? 1 : 0));
  }
}

TEST(Expression, GuideListsEveryFunctionAsTheLibraryDoes) {
  const auto path = std::filesystem::path(TRAMMEL_SOURCE_DIR) / "docs/guide/expressions.md";
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::stringstream content;
  content << file.rdbuf();
  const std::string guide = content.str();
  for (const ExpressionFunction& function : expression_functions()) {
    const std::string row = "| `" + std::string(function.signature) + "` | " + std::string(function.text) + " |";
    EXPECT_NE(guide.find(row), std::string::npos) << "the guide lacks this row:\n" << row;
  }
}

// ---- grammar ----

TEST(Expression, PrecedenceAndAssociativity) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"1 + 2*3", 7},
      {"(1 + 2)*3", 9},
      {"8 - 3 - 2", 3},
      {"8/4/2", 1},
      {"2^3^2", 512},
      {"2**3**2", 512},
      {"-2^2", -4},
      {"(-2)^2", 4},
      {"2^-1", 0.5},
      {"2*-3", -6},
      {"2 - -3", 5},
      {"--3", 3},
      {"+3", 3},
      {"-2^-2", -0.25},
      {"2*3^2", 18},
      {"1e-3", 1e-3},
      {".5 + 1. + 2.5E+1", 26.5},
      {"1 < 2", 1},
      {"2 <= 2", 1},
      {"2 > 2", 0},
      {"2 >= 2", 1},
      {"2 == 2", 1},
      {"2 != 2", 0},
      {"1 + 1 == 2", 1},
      {"not 1 == 2", 1},
      {"not 0 and 0", 0},
      {"1 or 0 and 0", 1},
      {"not not 5", 1},
      {"3 and 2", 1},
      {"0 or 0", 0},
      {"1 ? 2 : 3", 2},
      {"0 ? 2 : 0 ? 4 : 5", 5},
      {"0 ? 2 : 1 ? 4 : 5", 4},
      {"1 ? 0 ? 6 : 7 : 8", 7},
      {"1 < 2 ? 10 : 20", 10},
      {"k*2", 8},
      {"pi", pi},
      {"min(3, 1, 2)", 1},
      {"max(3, 1, 7, 2)", 7},
      {"hypot(2, 3, 6)", 7},
      {" \t 1\n+\r\n1 ", 2},
      {"round(2.5) + round(-2.5) + round(3.5)", 4},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_DOUBLE_EQ(evaluate(text), expected) << text;
    EXPECT_TRUE(parse(text).is_constant()) << text;
  }
}

// The same grammar where nothing can be folded.
TEST(Expression, OperatorsOnVariables) {
  const double a = 2, b = -3, c = 0.5;
  const std::vector<std::pair<std::string, double>> cases = {
      {"a - b - c", a - b - c},
      {"a/b/c", a / b / c},
      {"-a^2", -4},
      {"a^c^a", std::pow(2, 0.25)},
      {"b^2 + b^3 + b^-1 + a^0.5 + a^1 + b^0 + b^4", 9 - 27 - 1.0 / 3 + std::sqrt(2) + 2 + 1 + 81},
      {"a < b", 0},
      {"a > b", 1},
      {"a >= 2 and b <= -3", 1},
      {"a != 2 or b == -3", 1},
      {"not a", 0},
      {"b < 0 ? a : c", a},
      {"b > 0 ? a : c", c},
      {"if(not b > 0, a, c)", a},
      {"a + 0 + 0 - 0", a},
      {"1*a*1/1", a},
      {"0 + a", a},
      {"0 - a", -a},
      {"a and 1", 1},
      {"zero or c", 1},
      {"1 ? a : b", a},
  };
  for (const auto& [text, expected] : cases) EXPECT_DOUBLE_EQ(evaluate(text, 0, {a, b, c}), expected) << text;
}

TEST(Expression, TimeAndMeasures) {
  const Expression expression =
      parse("k*angle(pin) + dx( tip ,ground ) - time^2 + angle('the pin') + angle(left-pin.2)");
  EXPECT_TRUE(expression.depends_on_time());
  EXPECT_EQ(expression.variable_count(), 9);
  EXPECT_EQ(expression.slots(), (std::vector<int>{7, 8}));
  std::vector<double> variables(9, 0.0), gradient(9);
  variables[7] = 3;
  variables[8] = 0.5;
  EXPECT_DOUBLE_EQ(expression.value(2, variables), 6 * 3 + 0.5 - 4);
  double d_dt = 0;
  expression.gradient(2, variables, gradient, d_dt);
  EXPECT_DOUBLE_EQ(d_dt, -4);
  EXPECT_DOUBLE_EQ(gradient[7], 6);
  EXPECT_DOUBLE_EQ(gradient[8], 1);
  EXPECT_DOUBLE_EQ(gradient[0], 0);
}

TEST(Expression, ConstantsAndDefault) {
  EXPECT_TRUE(Expression().is_constant());
  EXPECT_EQ(Expression().value(1, {}), 0);
  EXPECT_EQ(Expression().text(), "0");
  const Expression half = Expression::constant(0.5);
  EXPECT_EQ(half.value(7, {}), 0.5);
  EXPECT_EQ(half.text(), "0.5");
  EXPECT_EQ(half.variable_count(), 0);
  EXPECT_EQ(half.time_derivatives(3, {}), (std::array<double, 4>{0.5, 0, 0, 0}));
  std::vector<double> gradient = {1, 2};
  double d_dt = 3;
  EXPECT_EQ(half.gradient(1, {}, gradient, d_dt), 0.5);
  EXPECT_EQ(gradient, (std::vector<double>{0, 0}));
  EXPECT_EQ(d_dt, 0);
  EXPECT_EQ(parse(" 2*k ").text(), " 2*k ");
}

TEST(Expression, EqualOperationsShareAPlaceAndDeadOnesVanish) {
  EXPECT_EQ(parse("sin(a*b) + sin(a*b)*sin(a*b)").operation_count(), 6u);  // a b a*b sin * +
  EXPECT_EQ(parse("2*3*k + 1").operation_count(), 0u);
  const Expression chosen = parse("zero > 1 ? sin(time*b) : a");
  EXPECT_EQ(chosen.operation_count(), 1u);
  EXPECT_FALSE(chosen.depends_on_time());
  EXPECT_EQ(chosen.variable_count(), 1);
}

TEST(Expression, BranchesNotTakenDoNoHarm) {
  EXPECT_EQ(evaluate("zero != 0 ? 1/zero : 5"), 5);
  EXPECT_EQ(evaluate("if(zero, log(zero), a)", 0, {3}), 3);
  EXPECT_EQ(evaluate("zero != 0 and 1/zero > 2"), 0);
  EXPECT_EQ(evaluate("zero == 0 or 1/zero > 2"), 1);

  // A square root beyond its domain, in a branch that is not taken or behind max.
  for (const char* text : {"a > 0 ? sqrt(a) : 0", "sqrt(max(0, a))", "max(0, a)^1.5"}) {
    const Expression expression = parse(text);
    for (const double x : {-2.0, 0.0}) {
      const std::vector<double> variables = {x};
      std::vector<double> gradient(1);
      double d_dt = 0;
      EXPECT_EQ(expression.gradient(0, variables, gradient, d_dt), 0) << text;
      EXPECT_EQ(gradient[0], 0) << text << " at " << x;
    }
  }
}

// ---- derivatives ----

void expect_series(const std::string& text, double t, const std::array<double, 4>& expected) {
  const std::array<double, 4> d = parse(text).time_derivatives(t, std::vector<double>(9, 0.25));
  for (std::size_t k = 0; k < 4; ++k) {
    if (std::isinf(expected[k])) {
      EXPECT_EQ(d[k], expected[k]) << text << ", order " << k;
    } else if (std::isnan(expected[k])) {
      EXPECT_TRUE(std::isnan(d[k])) << text << ", order " << k << ": " << d[k];
    } else {
      EXPECT_NEAR(d[k], expected[k], 1e-13 * std::max(1.0, std::abs(expected[k]))) << text << ", order " << k;
    }
  }
}

TEST(Expression, TimeDerivativesOfClosedForms) {
  const double t = 0.7;
  {  // sin(u), u = exp(t/2)
    const double u = std::exp(0.5 * t), u1 = u / 2, u2 = u / 4, u3 = u / 8, s = std::sin(u), c = std::cos(u);
    expect_series("sin(exp(0.5*time))", t,
                  {s, c * u1, -s * u1 * u1 + c * u2, -c * u1 * u1 * u1 - 3 * s * u1 * u2 + c * u3});
  }
  {
    const double l = std::log(2.0), f = std::pow(2.0, t);
    expect_series("2^time", t, {f, f * l, f * l * l, f * l * l * l});
  }
  expect_series("time^2.5", t,
                {std::pow(t, 2.5), 2.5 * std::pow(t, 1.5), 3.75 * std::pow(t, 0.5), 1.875 * std::pow(t, -0.5)});
  expect_series("(-time)^5", t, {-std::pow(t, 5), -5 * std::pow(t, 4), -20 * t * t * t, -60 * t * t});
  {
    const double f = std::pow(t, t), l = std::log(t) + 1;
    expect_series("time^time", t, {f, f * l, f * (l * l + 1 / t), f * (l * l * l + 3 * l / t - 1 / (t * t))});
  }
  expect_series("1/(1 + time)", t,
                {1 / (1 + t), -std::pow(1 + t, -2), 2 * std::pow(1 + t, -3), -6 * std::pow(1 + t, -4)});
  {  // tan' = 1 + tan^2
    const double f = std::tan(t), d = 1 + f * f;
    expect_series("sin(time)/cos(time)", t, {f, d, 2 * f * d, 2 * d * d + 4 * f * f * d});
  }
  expect_series("atan2(sin(3*time), cos(3*time))", t, {2.1, 3, 0, 0});
  expect_series("hypot(3*time, 4*time)", t, {5 * t, 5, 0, 0});
  expect_series("hypot(1e200*cos(time), 1e200*sin(time))/1e200", t, {1, 0, 0, 0});  // its squares would overflow
  expect_series("mod(5*time, 2)", t, {1.5, 5, 0, 0});
  expect_series("a*b + time*k", t, {0.0625 + 4 * t, 4, 0, 0});
  expect_series("step(time, 0.2, 1, 1.2, 5)", t, {3, 6, 0, -48});
  {  // s = (t - 0.2)/2
    const double s = 0.25;
    expect_series("step(time, 0.2, 1, 2.2, 5)", t,
                  {1 + 4 * s * s * (3 - 2 * s), 4 * 6 * s * (1 - s) / 2, 4 * (6 - 12 * s) / 4, 4 * -12.0 / 8});
    expect_series("step5(time, 0.2, 1, 2.2, 5)", t,
                  {1 + 4 * (10 * s * s * s - 15 * s * s * s * s + 6 * s * s * s * s * s),
                   4 * (30 * s * s - 60 * s * s * s + 30 * s * s * s * s) / 2,
                   4 * (60 * s - 180 * s * s + 120 * s * s * s) / 4, 4 * (60 - 360 * s + 360 * s * s) / 8});
    expect_series("havsin(time, 0.2, 1, 2.2, 5)", t,
                  {3 - 2 * std::cos(pi * s), 2 * pi / 2 * std::sin(pi * s), 2 * pi * pi / 4 * std::cos(pi * s),
                   -2 * pi * pi * pi / 8 * std::sin(pi * s)});
  }
}

TEST(Expression, StepReachesItsEndsExactly) {
  for (const char* name : {"step", "step5", "havsin"}) {
    const Expression expression = parse(std::string(name) + "(time, 0.1, 0.7, 0.3, 1.1)");
    EXPECT_EQ(expression.value(0.1, {}), 0.7);
    EXPECT_EQ(expression.value(-5, {}), 0.7);
    EXPECT_EQ(expression.value(0.3, {}), 1.1);
    EXPECT_EQ(expression.value(infinity, {}), 1.1);
  }
}

// Where a derivative jumps, time_derivatives looks ahead in time.
TEST(Expression, TimeDerivativesAtKinksAreRightHand) {
  expect_series("abs(time)", 0, {0, 1, 0, 0});
  expect_series("abs(-2*time)", 0, {0, 2, 0, 0});
  expect_series("abs(time^2 - time^3)", 0, {0, 0, 2, -6});
  expect_series("max(0, time)", 0, {0, 1, 0, 0});
  expect_series("max(time, 0)", 0, {0, 1, 0, 0});
  expect_series("max(0, -time)", 0, {0, 0, 0, 0});
  expect_series("min(time, 0)", 0, {0, 0, 0, 0});
  expect_series("min(time^2, 2*time^2)", 0, {0, 0, 2, 0});
  expect_series("hypot(3*time, 4*time)", 0, {0, 5, 0, 0});
  expect_series("step(time, 0, 0, 1, 1)", 0, {0, 0, 6, -12});
  expect_series("step(time, 0, 0, 1, 1)", 1, {1, 0, 0, 0});
  expect_series("step(-time, 0, 0, 1, 1)", 0, {0, 0, 0, 0});
  expect_series("step(1 - time, 0, 0, 1, 1)", 0, {1, 0, -6, 12});
  expect_series("step5(time, 0, 0, 1, 1)", 0, {0, 0, 0, 60});
  expect_series("havsin(time, 0, 0, 1, 1)", 0, {0, 0, pi * pi / 2, 0});
  expect_series("time < 1 ? time : 2", 1, {2, 0, 0, 0});
}

TEST(Expression, TimeDerivativesOfPowersAtZero) {
  expect_series("time^4", 0, {0, 0, 0, 0});
  expect_series("time^1.5", 0, {0, 0, infinity, -infinity});
  expect_series("time^2.5", 0, {0, 0, 0, infinity});
  expect_series("sqrt(time)", 0, {0, infinity, -infinity, infinity});
  expect_series("cbrt(time)", 0, {0, infinity, -infinity, infinity});
  expect_series("cbrt(-time)", 0, {0, -infinity, infinity, -infinity});
  expect_series("(time^2)^1.5", 0, {0, 0, 0, 6});
  expect_series("(time^2)^2.5", 0, {0, 0, 0, 0});
  expect_series("sqrt(time^2 + time^3)", 0, {0, 1, 1, std::nan("")});  // the third needs the fourth of the argument
  expect_series("(1 - time)^1.5", 1, {0, 0, infinity, infinity});      // defined to the left only
  expect_series("(1 - time)^2.5", 1, {0, 0, 0, -infinity});
  expect_series("max(0, time)^1.5", -1, {0, 0, 0, 0});
  expect_series("max(0, time)^1.5", 1, {1, 1.5, 0.75, -0.375});
  expect_series("(time*k)^(2 + 0*time)", 0, {0, 0, 32, 0});
}

TEST(Expression, GradientAtKinksIsOneSided) {
  const auto slope = [](const std::string& text, double x) {
    std::vector<double> gradient(1);
    double d_dt = 0;
    parse(text).gradient(0, std::vector<double>{x}, gradient, d_dt);
    return gradient[0];
  };
  EXPECT_EQ(slope("abs(a)", 0), 1);
  EXPECT_EQ(slope("max(0, a)", 0), 0);
  EXPECT_EQ(slope("max(a, 0)", 0), 1);
  EXPECT_EQ(slope("sign(a)", 0), 0);
  EXPECT_EQ(slope("floor(a)", 2), 0);
  EXPECT_EQ(slope("hypot(a, a)", 0), 0);
  EXPECT_EQ(slope("atan2(a, a)", 0), 0);
  EXPECT_EQ(slope("a*sqrt(a - 1)", 1), infinity);
  EXPECT_EQ(slope("impact(a, -1, 1, 100, 1.5, 2, 0.1)", 1), 0);
}

TEST(Expression, NotANumberIsReturnedAsItIs) {
  std::vector<double> gradient(1);
  double d_dt = 0;
  for (const char* text : {"sqrt(a)", "log(a)", "a^1.5", "asin(a - 1)", "min(sqrt(a), 0)", "max(0, sqrt(a))"}) {
    const Expression expression = parse(text);
    EXPECT_TRUE(std::isnan(expression.gradient(0, std::vector<double>{-2}, gradient, d_dt))) << text;
    EXPECT_TRUE(std::isnan(gradient[0])) << text;
  }
  EXPECT_EQ(evaluate("1/a", 0, {0}), infinity);
  EXPECT_TRUE(std::isnan(parse("sqrt(time)").time_derivatives(-1, {})[2]));
}

// Random compositions of smooth functions, against differences of the value and of the lower derivatives.
TEST(Expression, RandomCompositions) {
  std::mt19937 random(7);
  const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  const std::function<std::string(int)> make = [&](int depth) -> std::string {
    if (depth == 0) {
      const std::array<const char*, 6> leaves = {"a", "b", "c", "time", "0.7", "k"};
      return leaves[static_cast<std::size_t>(pick(6))];
    }
    const std::string x = make(depth - 1);
    switch (pick(13)) {
      case 0: return "(" + x + " + " + make(depth - 1) + ")";
      case 1: return "(" + x + " - " + make(depth - 1) + ")";
      case 2: return x + "*" + make(depth - 1);
      case 3: return x + "/(2 + (" + make(depth - 1) + ")^2)";
      case 4: return "sin(" + x + ")";
      case 5: return "-exp(-(" + x + ")^2)";
      case 6: return "tanh(" + x + ")";
      case 7: return "sqrt(1 + (" + x + ")^2)";
      case 8: return "(1 + (" + x + ")^2)^atan(" + make(depth - 1) + ")";
      case 9: return "atan2(" + x + ", 1.5 + sin(" + make(depth - 1) + "))";
      case 10: return "hypot(1, " + x + ")";
      case 11: return "log(1.5 + cos(" + x + "))";
      default: return "erf(" + x + ")";
    }
  };
  std::uniform_real_distribution<double> uniform(-0.8, 0.8);
  for (int trial = 0; trial < 300; ++trial) {
    const std::string text = make(4);
    SCOPED_TRACE(text);
    const Expression expression = parse(text);
    const std::vector<double> variables = {uniform(random), uniform(random), uniform(random)};
    const double t = uniform(random);
    std::vector<double> gradient(3);
    double d_dt = 0;
    const double value = expression.gradient(t, variables, gradient, d_dt);
    EXPECT_EQ(value, expression.value(t, variables));
    for (std::size_t i = 0; i < 3; ++i) {
      const auto along = [&](double h) {
        std::vector<double> moved = variables;
        moved[i] += h;
        return expression.value(t, moved);
      };
      EXPECT_NEAR(gradient[i], difference(along, 2e-4), 1e-7 * std::max(1.0, std::abs(value) + std::abs(gradient[i])));
    }
    const std::array<double, 4> d = expression.time_derivatives(t, variables);
    EXPECT_EQ(d[0], value);
    EXPECT_NEAR(d[1], d_dt, 1e-11 * std::max(1.0, std::abs(d_dt)));
    for (std::size_t k = 0; k < 3; ++k) {
      const auto along = [&](double h) { return expression.time_derivatives(t + h, variables)[k]; };
      EXPECT_NEAR(d[k + 1], difference(along, 2e-4), 1e-6 * std::max({1.0, std::abs(d[k]), std::abs(d[k + 1])}));
    }
  }
}

TEST(Expression, ImpactJoinsItsOwnParts) {
  // With full penetration the damping is cmax; approach adds to the spring, retreat takes away, never below zero.
  EXPECT_DOUBLE_EQ(evaluate("impact(0.5, -2, 1, 100, 1.5, 3, 0.1)"), 100 * std::pow(0.5, 1.5) + 6);
  EXPECT_DOUBLE_EQ(evaluate("impact(0.5, 2, 1, 100, 1.5, 3, 0.1)"), 100 * std::pow(0.5, 1.5) - 6);
  EXPECT_EQ(evaluate("impact(0.5, 200, 1, 100, 1.5, 3, 0.1)"), 0);
  EXPECT_EQ(evaluate("impact(1, -200, 1, 100, 1.5, 3, 0.1)"), 0);
  EXPECT_DOUBLE_EQ(evaluate("impact(0.95, -2, 1, 100, 1.5, 3, 0.1)"),
                   evaluate("100*0.05^1.5 + 2*step(0.95, 0.9, 3, 1, 0)"));
}

// ---- messages ----

struct BadText {
  std::string text;
  int character;  // of the offence, from 1
  std::string id;
  std::string message;  // a part of it
  std::string hint;     // a part of it
};

// Where values or slopes jump: one number each that changes its sign there, and nowhere between.
TEST(Expression, CornersChangeTheirSignWhereTheSlopeJumps) {
  ExpressionScope scope = test_scope();
  scope.spline = [](std::string_view name) {
    SplineData data = cubic_points(SplineKind::akima, Extrapolation::constant);
    if (name == "straight") data.kind = SplineKind::linear;
    if (name == "smooth") data.kind = SplineKind::natural;
    if (name == "onward") data.extrapolation = Extrapolation::linear;
    return std::make_shared<const Spline>(std::move(data));
  };
  scope.table = [](std::string_view) {
    SurfaceData data;
    data.x = {0, 1};
    data.y = {2, 4};
    data.z = {0, 1, 2, 3};
    data.extrapolation = Extrapolation::constant;
    return std::make_shared<const SurfaceTable>(std::move(data));
  };
  const std::vector<double> points = cubic_points(SplineKind::akima, Extrapolation::constant).x;
  const std::map<std::string, std::vector<double>> places{
      {"spline(rounded, time)", {-1, 2}},       // keeps its value beyond its ends
      {"spline(smooth, time)", {-1, 2}},        //
      {"spline(onward, time)", {}},             // goes on along its tangent
      {"spline(straight, time)", points},       //
      {"spline_slope(onward, time)", points},   // of akima splines the curvature jumps
      {"spline_slope(smooth, time)", {-1, 2}},  //
      {"spline_curvature(smooth, time)", points},
      {"table(any, time, 3)", {0, 1}},
      {"table(any, 0.5, time)", {2, 4}},
      {"if(time < 0.3, 1, 2)", {0.3}},
  };
  for (const auto& [text, expected] : places) {
    const Expression e = Expression::parse(text, {}, scope);
    const std::vector<Expression::Corner> corners = e.corners();
    std::vector<double> values(corners.size()), before(corners.size()), found;
    for (int k = -400; k <= 500; ++k) {
      const double t = 0.01 * k + 1e-3;  // on no place itself
      e.corner_values(t, {}, corners, values.data());
      for (std::size_t i = 0; i < corners.size(); ++i) {
        EXPECT_TRUE(e.sources_of(corners[i]).time) << text;
        if (k > -400 && values[i] * before[i] < 0) found.push_back(t - 0.005);
      }
      before = values;
    }
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found.size(), expected.size()) << text;
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 0.006) << text;
  }
}

TEST(Expression, MessagesPointAtTheOffence) {
  const std::vector<BadText> cases = {
      {"", 1, "empty-expression", "empty", "0"},
      {"   ", 1, "empty-expression", "empty", "0"},
      {"1 +", 4, "bad-expression", "ends where a value is expected", "operator"},
      {"1 + * 2", 5, "bad-expression", "a value is expected, not '*'", ""},
      {"(1 + 2", 7, "bad-expression", "a ')' is missing", "character 1 is still open"},
      {"2*(3 + (1)", 11, "bad-expression", "a ')' is missing", "character 3 is still open"},
      {"1 + 2)", 6, "bad-expression", "this ')' has no '('", ""},
      {"()", 2, "bad-expression", "a value is expected, not ')'", ""},
      {"2 k", 3, "bad-expression", "an operator is missing before 'k'", "'*'"},
      {"2 (3)", 3, "bad-expression", "an operator is missing before '('", "'*'"},
      {"sin(2 k)", 7, "bad-expression", "an operator is missing before 'k'", "'*'"},
      {"3 + 2k", 5, "bad-number", "'2k' is no number", "2*k"},
      {"1.2.3", 1, "bad-number", "'1.2.3' is no number", "one decimal point"},
      {"1d3", 1, "bad-number", "'1d3' is no number", "1e-3"},
      {"1e", 1, "bad-number", "'1e' is no number", "1e-3"},
      {"2*1e999", 3, "bad-number", "beyond the range", ""},
      {"1,5", 2, "bad-expression", "an operator is expected, not ','", "decimal"},
      {"a = 2", 3, "bad-expression", "not '='", "'=='"},
      {"a && b", 3, "bad-expression", "not '&'", "'and'"},
      {"a || b", 3, "bad-expression", "not '|'", "'or'"},
      {"!a", 1, "bad-expression", "not '!'", "'not'"},
      {"7 % 2", 3, "bad-expression", "not '%'", "mod(x, y)"},
      {"2*[1]", 3, "bad-expression", "not '['", "( and )"},
      {"a < b < c", 7, "bad-expression", "comparisons do not chain", "a < b and b < c"},
      {"a + not b", 5, "bad-expression", "'not' needs parentheses", "(not a)"},
      {"1 ? 2", 6, "bad-expression", "the ':' of a choice is missing", "condition ? a : b"},
      {"(1 ? 2)", 7, "bad-expression", "the ':' of a choice is missing", "condition ? a : b"},
      {"1 : 2", 3, "bad-expression", "this ':' has no '?'", ""},
      {"and 2", 1, "bad-expression", "a value is expected, not 'and'", ""},
      {"2 + spedd", 5, "unknown-name", "there is no parameter 'spedd'", "parameters"},
      {"2*hug", 3, "unknown-name", "there is no parameter 'hug'", "'huge'"},
      {"Hypot(2, 1)", 1, "unknown-name", "there is no function or measure 'Hypot'",
       "upper and lower case differ: did you mean 'hypot'?"},
      {"1 + Pi", 5, "unknown-name", "'Pi'", "'pi'"},
      {"spline(curv, 1)", 8, "unknown-name", "there is no spline 'curv'", "'curve'"},
      {"spline(1 + 2, 1)", 8, "bad-expression", "the first argument of 'spline' is a name", "spline(name, x)"},
      {"spline(curve)", 1, "wrong-arguments", "'spline' takes 2 arguments, not 1", "spline(name, x)"},
      {"2*table(curve, 1, 2)", 9, "unknown-name", "there is no table 'curve'", "tables"},
      {"spline(bump, 5)", 1, "not-finite", "'spline' has no value at 5", "extrapolation"},
      {"FX(tip)", 1, "no-such-function", "ADAMS' 'FX' has no meaning here", "force_x(joint)"},
      {"AX(tip, ground)", 1, "no-such-function", "'AX'", "angle(i, j)"},
      {"CURVE(a, 0, 1, curve)", 1, "no-such-function", "'CURVE'", "one spline for each coordinate"},
      {"VX(tip, ground, tip)", 1, "no-such-function", "as seen from 'ground'", "vx(i, k) - vx(j, k)"},
      {"IF(a, b, c)", 5, "bad-expression", "a ':' is expected", "IF(x: a, b, c)"},
      {"IF(a: b, c)", 1, "wrong-arguments", "three values behind its ':', not 2", "if(x: a, b, c)"},
      {"SIGN(a)", 1, "wrong-arguments", "'SIGN' takes 2 arguments, not 1", "SIGN(a, b)"},
      {"AKISPL(a, 0, curve)", 14, "wrong-kind", "'curve' is not of the kind that 'AKISPL' is for", "spline(name, x)"},
      {"AKISPL(a, b, bump)", 1, "wrong-arguments", "the second argument must be 0", "spline(name, x)"},
      {"AKISPL(a, 0, bump, 3)", 1, "wrong-arguments", "0, 1 or 2", ""},
      {"DX(tipp)", 4, "bad-measure", "there is no frame 'tipp'", ""},
      {"K", 1, "unknown-name", "'K'", "'k'"},
      {"1 + t", 5, "unknown-name", "'t'", "'time'"},
      {"ln(2)", 1, "unknown-name", "'ln'", "'log'"},
      {"sqr(2)", 1, "unknown-name", "'sqr'", "'sqrt'"},
      {"foo(2*a)", 1, "unknown-name", "there is no function or measure 'foo'", "guide"},
      {"k(a + 1)", 1, "unknown-name", "'k' is a number, not a function", "'*'"},
      {"2*pi(3)", 3, "unknown-name", "'pi' is a number, not a function", "'*'"},
      {"1 + sin", 5, "wrong-arguments", "'sin' is a function", "sin(x)"},
      {"2*atan2(1)", 3, "wrong-arguments", "'atan2' takes 2 arguments, not 1", "atan2(y, x)"},
      {"sin()", 1, "wrong-arguments", "'sin' takes 1 argument, not 0", "sin(x)"},
      {"min(1)", 1, "wrong-arguments", "'min' takes 2 or more arguments, not 1", "min(a, b, ...)"},
      {"sin(1,)", 7, "bad-expression", "a value is expected, not ')'", ""},
      {"1 + dx(tipp, ground)", 8, "bad-measure", "there is no frame 'tipp'", ""},
      {"1 + dx(tip, grund)", 13, "bad-measure", "there is no frame 'grund'", ""},
      {"angle(a, b)", 1, "bad-measure", "angle takes one joint", ""},
      {"angle(pin + 1)", 11, "bad-expression", "',' or ')' is expected", "names"},
      {"angle(pin,)", 11, "bad-expression", "a name is expected", ""},
      {"angle('pin)", 7, "bad-expression", "this quote is not closed", ""},
      {"angle(pin", 10, "bad-expression", "a ')' is missing", "character 6"},
      {"2 + 1/zero", 6, "not-finite", "'/' of 1 and 0 is infinite", "parameters"},
      {"a/zero", 2, "not-finite", "'/' divides by zero", "parameters"},
      {"mod(a, 0)", 1, "not-finite", "'mod' divides by zero", "parameters"},
      {"k*sqrt(-1)", 3, "not-finite", "'sqrt' of -1 is not a number", ""},
      {"2*huge^2", 7, "not-finite", "'^' of 1e+300 and 2 is infinite", ""},
      {"a > 0 ? a : log(zero)", 13, "not-finite", "'log' of 0 is infinite", ""},
      {"a + undefined", 5, "not-finite", "'undefined' is nan", "finite"},
      {"1 + step(a, 2, 0, 1, 1)", 5, "not-finite", "'step' must start before it ends, but x0 = 2 and x1 = 1",
       "x0 < x1"},
      {"impact(a, b, 1, -5, 1.5, 1, 0.1)", 1, "not-finite", "'impact' needs a non-negative stiffness k, not -5", ""},
      {"impact(a, b, 1, 5, 1.5, 1, 0)", 1, "not-finite", "'impact' needs a positive depth d, not 0", ""},
      {"a # b", 3, "bad-expression", "not '#'", ""},
      {"2\xC3\x97"
       "3",
       2, "bad-expression", "not '\xC3\x97'", "ASCII"},                                  // a multiplication sign
      {"angle('the pin') + \xCF\x80", 20, "bad-expression", "not '\xCF\x80'", "ASCII"},  // a Greek pi
      {"angle(\xC3\xA4) + 1", 7, "bad-measure", "there is no joint '\xC3\xA4'", ""},
      {"1 + \xFF", 5, "bad-expression", "the byte 0xff", ""},
      {std::string("1 + \0", 5), 5, "bad-expression", "the byte 0x00", ""},
  };
  for (const BadText& bad : cases) {
    SCOPED_TRACE(bad.text);
    const Problem problem = problem_of(bad.text);
    EXPECT_EQ(problem.where.file, test_place.file);
    EXPECT_EQ(problem.where.line, 12);
    EXPECT_EQ(problem.where.column, test_place.column + bad.character - 1);
    EXPECT_EQ(problem.id, bad.id) << problem.message;
    EXPECT_NE(problem.message.find(bad.message), std::string::npos) << problem.message;
    EXPECT_NE(problem.hint.find(bad.hint), std::string::npos) << problem.hint;
    if (!bad.text.empty() && bad.id != "empty-expression") {
      EXPECT_NE(problem.message.find("at character " + std::to_string(bad.character) + " of '"), std::string::npos)
          << problem.message;
    }
  }
}

TEST(Expression, MessagesNameTheOwnerAndCountCharactersAndLines) {
  ExpressionScope scope = test_scope();
  scope.owner = "force 'bumper'";
  EXPECT_EQ(problem_of("2 + spedd", scope).message,
            "force 'bumper': there is no parameter 'spedd', at character 5 of '2 + spedd'");

  // Columns count characters, not bytes.
  EXPECT_EQ(problem_of("angle(\xC3\xA4\xC3\xA4) + oops").where.column, test_place.column + 12);

  const Problem second_line = problem_of("1 +\n  oops");
  EXPECT_EQ(second_line.where.line, 13);
  EXPECT_EQ(second_line.where.column, 3);

  const std::string longer = std::string(200, '1') + " + oops + " + std::string(200, '2');
  const Problem in_the_middle = problem_of("0*" + longer.substr(150));
  EXPECT_NE(in_the_middle.message.find("oops"), std::string::npos);
  EXPECT_LT(in_the_middle.message.size(), 200u);

  const Problem nowhere = [] {
    try {
      parse("1 + oops");
    } catch (const Failure& failure) {
      return failure.problems().at(0);
    }
    return Problem{};
  }();
  EXPECT_EQ(nowhere.where.file, nullptr);
  EXPECT_EQ(nowhere.where.line, 0);
  EXPECT_EQ(nowhere.where.column, 5);
}

// ---- ADAMS' names ----

TEST(Expression, ForeignNamesMeanWhatTheyMeanThere) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"SIN(a) + Cos(b)", "sin(a) + cos(b)"},
      {"STEP(TIME, 0, a, 1, b)", "step(time, 0, a, 1, b)"},
      {"HAVSIN(a, 0, b, 1, c)", "havsin(a, 0, b, 1, c)"},
      {"IMPACT(a, b, 1, 500, 1.5, 8, 0.25)", "impact(a, b, 1, 500, 1.5, 8, 0.25)"},
      {"MOD(a - 3, 2)", "(a - 3) - 2*trunc((a - 3)/2)"},
      {"SIGN(a, -b)", "-abs(a)*sign(b)"},
      {"DIM(a, b) + AINT(c) + ANINT(d)", "max(a - b, 0) + trunc(c) + round(d)"},
      {"IF(a - 0.25: 1, 2, 3)", "a < 0.25 ? 1 : a == 0.25 ? 2 : 3"},
      {"if(b - 1: 1, 2, 3)", "b < 1 ? 1 : b == 1 ? 2 : 3"},
      {"90*DTOR + a*RTOD + PI", "pi/2 + a*180/pi + pi"},
      {"AKISPL(a, 0, bump, 0) + AKISPL(a, 0, 'bump', 1)", "spline(bump, a) + spline_slope(bump, a)"},
      {"CUBSPL(a, 0, curve, 2) + CUBSPL(a, b, surface)", "spline_curvature(curve, a) + table(surface, a, b)"},
      {"DX(tip)", "dx(tip, ground)"},
      {"DX(tip, ground, ground)", "dx(tip, ground)"},
      {"DX(ground, tip)", "-dx(tip, ground)"},
      {"POLY(a, 1, 2, 3, 4)", "2 + 3*(a - 1) + 4*(a - 1)^2"},
      {"SHF(TIME, a, b, c, d, 1)", "b*sin(c*(time - a) - d) + 1"},
  };
  const std::vector<double> variables = {0.25, 0.6, 1.7, -2.5, 0.3, 0.1, 0.2, 0.4, 0.7};
  for (const auto& [theirs, ours] : pairs) {
    EXPECT_NEAR(parse(theirs).value(0.3, variables), parse(ours).value(0.3, variables), 1e-14) << theirs;
  }
}

TEST(Expression, GuideListsEveryForeignFunction) {
  const auto path = std::filesystem::path(TRAMMEL_SOURCE_DIR) / "docs/guide/expressions.md";
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  const std::string guide = content.str();
  for (const ForeignFunction& function : foreign_functions()) {
    EXPECT_NE(function.ours.empty(), function.instead.empty()) << function.signature;
    EXPECT_NE(guide.find("`" + std::string(function.signature) + "`"), std::string::npos) << function.signature;
    if (!function.ours.empty()) {
      const std::string row = "| `" + std::string(function.signature) + "` | `" + std::string(function.ours) + "` |";
      EXPECT_NE(guide.find(row), std::string::npos) << "the guide lacks this row:\n" << row;
    }
  }
}

// Names of the language and of the scope come first.
TEST(Expression, OwnNamesComeBeforeForeignOnes) {
  ExpressionScope scope = test_scope();
  scope.constant = [](std::string_view name) -> std::optional<double> {
    if (name == "DTOR") return 7.0;
    return std::nullopt;
  };
  EXPECT_EQ(Expression::parse("DTOR", {}, scope).value(0, {}), 7);
  EXPECT_EQ(evaluate("mod(-1, 6)"), 5);
  EXPECT_EQ(evaluate("MOD(-1, 6)"), -1);
}

TEST(Expression, TimeMayBeForbidden) {
  ExpressionScope scope = test_scope();
  scope.allow_time = false;
  const Problem problem = problem_of("2*time", scope);
  EXPECT_EQ(problem.id, "no-time-here");
  EXPECT_EQ(problem.where.column, test_place.column + 2);
}

TEST(Expression, AnEmptyScopeKnowsOnlyTheLanguage) {
  const Expression expression = Expression::parse("sin(pi*time)", {}, {});
  EXPECT_DOUBLE_EQ(expression.value(0.5, {}), 1);
  EXPECT_EQ(problem_of("x", {}).id, "unknown-name");
  EXPECT_EQ(problem_of("f(x)", {}).id, "unknown-name");
  EXPECT_TRUE(is_expression_keyword("time"));
  EXPECT_FALSE(is_expression_keyword("sin"));
}

// ---- limits ----

TEST(Expression, NestingIsBounded) {
  const auto nested = [](int depth, const std::string& open, const std::string& close) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += open;
    text += "1";
    for (int i = 0; i < depth; ++i) text += close;
    return text;
  };
  EXPECT_EQ(evaluate(nested(Expression::max_nesting, "(", ")")), 1);
  for (const auto& [open, close] :
       std::vector<std::pair<std::string, std::string>>{{"(", ")"},
                                                        {"-", ""},
                                                        {"not ", ""},
                                                        {"2^", ""},
                                                        {"1 ? 1 : ", ""},
                                                        {"1 ? ", " : 1"},
                                                        {"sin(", ")"},
                                                        {"1 or 1 and 1 < 1 + 1 * (", ")"}}) {
    const Problem problem = problem_of(nested(100000, open, close));
    EXPECT_EQ(problem.id, "expression-too-deep") << open;
    EXPECT_LT(problem.message.size(), 300u);
  }
  EXPECT_EQ(problem_of(nested(Expression::max_nesting + 1, "(", ")")).where.column,
            test_place.column + Expression::max_nesting + 1);
}

TEST(Expression, LengthIsBounded) {
  const auto sum = [](int terms) {
    std::string text = "a";
    for (int i = 1; i < terms; ++i) text += "*a";
    return text;
  };
  const Expression longest = parse(sum(512));
  EXPECT_EQ(longest.operation_count(), Expression::max_operations);
  std::vector<double> gradient(1);
  double d_dt = 0;
  EXPECT_DOUBLE_EQ(longest.gradient(0, std::vector<double>{1.0}, gradient, d_dt), 1);
  EXPECT_DOUBLE_EQ(gradient[0], 512);
  const Problem problem = problem_of(sum(513));
  EXPECT_EQ(problem.id, "expression-too-long");
  EXPECT_NE(problem.message.find("more than 512 operations"), std::string::npos);
  EXPECT_EQ(problem.where.column, test_place.column + 1023);

  // Numbers alone are folded, however many, and a long text of nonsense is refused in time.
  std::string ones = "1";
  for (int i = 1; i < 20000; ++i) ones += "+1";
  EXPECT_EQ(evaluate(ones), 20000);
  std::string infinite = "1/0";
  for (int i = 1; i < 20000; ++i) infinite += "+1/0";
  EXPECT_EQ(problem_of(infinite).id, "not-finite");
  EXPECT_EQ(problem_of(std::string(1000000, 'x')).id, "unknown-name");
}

TEST(Expression, EvaluationAllocatesNothing) {
  const Expression expression = parse(
      "impact(a, b, 1, 500, 1.5, 8, 0.25) + step(time, 0, a, 1, b)*sin(hypot(a, b, time))^c + min(a, b, c, time^2.5) + "
      "spline(curve, time) + table(surface, a, time)");
  const std::vector<double> variables = {0.4, -0.3, 1.2};
  std::vector<double> gradient(3);
  double d_dt = 0, sum = 0;
  const long before = expression_test_allocations;
  for (int i = 0; i < 100; ++i) {
    const double t = 0.01 * i;
    sum += expression.value(t, variables);
    sum += expression.gradient(t, variables, gradient, d_dt);
    sum += expression.time_derivatives(t, variables)[3];
  }
  EXPECT_EQ(expression_test_allocations - before, 0);
  EXPECT_FALSE(std::isnan(sum));
  EXPECT_EQ(parse("a + 1").value(0, variables), 1.4);
  EXPECT_GT(expression_test_allocations - before, 0);  // the counter counts
}

// ---- anything at all ----

void survive(const std::string& text, std::mt19937& random) {
  static const ExpressionScope scope = test_scope();
  try {
    const Expression expression = Expression::parse(text, test_place, scope);
    std::uniform_real_distribution<double> uniform(-2, 2);
    std::vector<double> variables(9), gradient(9);
    for (double& variable : variables) variable = uniform(random);
    double d_dt = 0;
    const double t = uniform(random);
    const double value = expression.value(t, variables);
    const double again = expression.gradient(t, variables, gradient, d_dt);
    const double third = expression.time_derivatives(t, variables)[0];
    EXPECT_TRUE(value == again || (std::isnan(value) && std::isnan(again))) << text;
    EXPECT_TRUE(value == third || (std::isnan(value) && std::isnan(third))) << text;
  } catch (const Failure& failure) {
    const Problem& problem = failure.problems().at(0);
    EXPECT_FALSE(problem.message.empty());
    EXPECT_GE(problem.where.line, test_place.line);
    EXPECT_GE(problem.where.column, 1);
    EXPECT_LT(problem.message.size(), 1000u);
  }
}

TEST(Expression, RandomBytesNeverCrash) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 10000; ++trial) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = static_cast<char>(random() & 0xFFU);
    survive(text, random);
  }
  const std::string alphabet = "()+-*/^<>=!?:,.' 0123456789eabkpi\tsincot";
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text(random() % 24, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    survive(text, random);
  }
}

TEST(Expression, MutatedExpressionsNeverCrash) {
  const std::vector<std::string> seeds = {
      "k*(angle(pin) - step(time, 0, 0, 1, pi/2)) + -2.5e-3*dx(tip, ground)^2",
      "impact(dx(tip, ground), b, 1, 500, 1.5, 8, 0.25)",
      "a > 0 and not b < 1 or c == 2 ? sqrt(abs(a)) : if(b, min(a, b, c), hypot(a, b))",
      "havsin(time, a, b, c, d) + step5(mod(time, 2), 0.1, 0, 0.9, 1) ** atan2(a, b)",
      "erf(cbrt(tan(tanh(log10(1 + exp(a)))))) / floor(3.7) - round(ceil(sign(b)))",
      "spline(curve, a) + table(surface, a, time) - AKISPL(b, 0, bump, 1) + IF(a: DX(tip, ground), 2, 3)",
  };
  const std::vector<std::string> tokens = {
      "+",     "-",    "*",     "/",    "^",  "**",    "(", ")",  ",",    "?",    ":",       "<",       "<=", "==",
      " and ", " or ", " not ", "time", "pi", "1e308", "0", "-1", "sin(", "max(", "impact(", "angle('", "a",  "\xC3"};
  std::mt19937 random(13);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = seeds[random() % seeds.size()];
    const unsigned changes = 1 + random() % 4;
    for (unsigned i = 0; i < changes && !text.empty(); ++i) {
      const std::size_t at = random() % text.size();
      switch (random() % 5) {
        case 0: text.erase(at, 1 + random() % 3); break;
        case 1: text[at] = static_cast<char>(random() & 0xFFU); break;
        case 2: text.insert(at, tokens[random() % tokens.size()]); break;
        case 3: text.insert(at, text.substr(random() % text.size(), random() % 12)); break;
        default: text.replace(at, std::min<std::size_t>(3, text.size() - at), tokens[random() % tokens.size()]); break;
      }
    }
    survive(text, random);
  }
}

}  // namespace
}  // namespace trammel::expression_test
