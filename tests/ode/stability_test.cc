// Linear stability: from data and by running a method the same; limits as the theory has them.
#include "trammel/ode/stability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace trammel::stability_test {
namespace {

StabilitySummary summary_of(const std::string& name, const Fields& options = {}) {
  return summarise_stability(growth_of(name, options, {}));
}
Fields option(const char* name, double value) {
  Fields fields;
  fields.set(name, value);
  return fields;
}

TEST(Stability, RunningAMethodGivesTheFunctionOfItsData) {
  const std::pair<const char*, ImplicitTableau> implicit[] = {{"trapezoidal", ImplicitTableau::trapezoidal()},
                                                              {"gauss", ImplicitTableau::gauss(2)},
                                                              {"radau-iia-3", ImplicitTableau::radau_iia(3)},
                                                              {"lobatto-iiic", ImplicitTableau::lobatto_iiic(3)}};
  for (const Complex z : {Complex(-1, 0.5), Complex(-20, 3), Complex(-0.2, 2)}) {
    for (const auto& [name, table] : implicit)
      EXPECT_NEAR(growth_of(name, {}, {})(z), std::abs(stability_function(table.A, table.b, z)), 1e-10) << name;
    EXPECT_NEAR(growth_of("rosenbrock-nystrom-4", {}, {})(z),
                std::abs(stability_function(RosenbrockTableau::rn43(), z)), 1e-11);
  }
}

// Padé approximations: Gauss (s, s), Radau IIA (s - 1, s), Lobatto IIIC (s - 2, s).
TEST(Stability, ImplicitTableausHaveTheirPadeApproximation) {
  const Complex z(-0.7, 1.3);
  const auto pade = [&](int j, int k) {
    Complex above = 1, below = 1, a = 1, b = 1;
    for (int i = 1; i <= j; ++i)
      above += a *= z * static_cast<double>(j - i + 1) / static_cast<double>((j + k - i + 1) * i);
    for (int i = 1; i <= k; ++i)
      below += b *= -z * static_cast<double>(k - i + 1) / static_cast<double>((j + k - i + 1) * i);
    return above / below;
  };
  for (int s = 1; s <= 3; ++s) {
    const ImplicitTableau g = ImplicitTableau::gauss(s), r = ImplicitTableau::radau_iia(s),
                          l = ImplicitTableau::lobatto_iiic(s + 1);
    EXPECT_LT(std::abs(stability_function(g.A, g.b, z) - pade(s, s)), 1e-14);
    EXPECT_LT(std::abs(stability_function(r.A, r.b, z) - pade(s - 1, s)), 1e-14);
    EXPECT_LT(std::abs(stability_function(l.A, l.b, z) - pade(s - 1, s + 1)), 1e-13);
  }
}

TEST(Stability, LimitsOfMultistepFormulas) {
  EXPECT_NEAR(summary_of("adams-bashforth-2").real_interval, 1, 1e-6);
  EXPECT_NEAR(summary_of("adams-bashforth-4").real_interval, 0.3, 1e-6);
  EXPECT_NEAR(summary_of("adams-moulton-4").real_interval, 3, 1e-6);
  const double angles[] = {90, 90, 86.03, 73.35, 51.84, 17.84};
  for (int k = 1; k <= 6; ++k) EXPECT_NEAR(summary_of("bdf-" + std::to_string(k)).angle, angles[k - 1], 0.02) << k;
  EXPECT_NEAR(summary_of("rk4").imaginary_interval, std::sqrt(8.0), 1e-6);
  EXPECT_NEAR(summary_of("rk4").real_interval, 2.785293563405282, 1e-6);
}

TEST(Stability, SaysWhichMethodsAreLStable) {
  for (const char* name : {"radau-iia-1", "radau-iia-2", "radau-iia-3", "lobatto-iiic", "rosenbrock-nystrom-4"})
    EXPECT_TRUE(summary_of(name).l_stable) << name;
  for (const char* name : {"trapezoidal", "implicit-midpoint", "gauss", "norsett-sdirk", "newmark", "hht"}) {
    EXPECT_TRUE(summary_of(name).a_stable) << name;
    EXPECT_FALSE(summary_of(name).l_stable) << name;
  }
  EXPECT_TRUE(summary_of("norsett-sdirk", option("alpha_choice", 2)).l_stable);
  EXPECT_NEAR(summary_of("norsett-sdirk").at_infinity, std::sqrt(3.0) - 1, 1e-6);
  EXPECT_NEAR(summary_of("newmark", option("beta", 0)).imaginary_interval, 2, 1e-4);
  EXPECT_FALSE(summary_of("wilson-theta", option("theta", 1.3)).a_stable);
  EXPECT_TRUE(summary_of("wilson-theta", option("theta", 1.37)).a_stable);
  // Multiple roots: what 1/(omega h) = 1e-8 is in a coefficient is its square or cube root here.
  EXPECT_NEAR(summary_of("generalized-alpha", option("rho_inf", 0.5)).at_infinity, 0.5, 5e-3);
  EXPECT_NEAR(summary_of("hht", option("alpha", -0.1)).at_infinity, 0.9 / 1.1, 5e-3);
}

// Problem 7/1 of the textbook: omega h = 0.1.
TEST(Stability, FreeOscillations) {
  const OscillationErrors rule = oscillation_errors(StructuralParameters::newmark(0.25, 0.5), 0.1);
  EXPECT_NEAR(rule.radius, 1, 1e-14);
  EXPECT_NEAR(rule.period_elongation, 0.1 / (2 * std::atan(0.05)) - 1, 1e-13);
  const OscillationErrors hht = oscillation_errors(StructuralParameters::hht(-0.1), 0.1);
  EXPECT_NEAR(hht.radius, 0.999998993395, 1e-11);
  EXPECT_NEAR(hht.period_elongation, 0.00104458, 1e-7);
  EXPECT_NEAR(hht.damping_ratio, 1.008e-5, 1e-8);
  const OscillationErrors damped = oscillation_errors(StructuralParameters::newmark(0.5, 1), 0.1);
  EXPECT_NEAR(damped.radius, 0.997509336108, 1e-11);
  // Wilson's method overshoots, the alpha-method does not.
  EXPECT_GT(oscillation_errors(StructuralParameters::collocation(1.4, 1.0 / 6, 0.5), 60).overshoot, 1);
  EXPECT_LT(oscillation_errors(StructuralParameters::hht(-0.1), 60).overshoot, 0.1);
}

TEST(Stability, RefusesMethodsWithoutASingleFunction) { EXPECT_THROW(growth_of("adams", {}, {}), Failure); }

}  // namespace
}  // namespace trammel::stability_test
