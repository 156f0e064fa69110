// Natural frequencies of structures of beam elements against the frequency equations of Euler-Bernoulli beams. Masses
// are gathered at the nodes, so the frequencies are about a percent low with four to ten beams a member.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "tests/problems/stepping.h"
#include "trammel/analyse/modes.h"
#include "trammel/analyse/statics.h"
#include "trammel/run/load_model.h"

namespace trammel::beam_modes_test {
namespace {

std::vector<double> frequencies(const std::string& file) {  // rad/s, about the equilibrium, ascending
  problems::Ready ready(load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + file));
  StaticSolver solver(*ready.equations);
  EXPECT_TRUE(solver.solve(ready.state, ready.rates, ready.work).found);
  std::vector<double> out;
  for (const auto& mode : find_modes(*ready.equations, ready.state, ready.rates).undamped)
    out.push_back(2 * std::numbers::pi * mode.frequency);
  return out;
}

double root(const std::function<double(double)>& f, double low, double high) {
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    ((f(low) > 0) == (f(middle) > 0) ? low : high) = middle;
  }
  return low;
}

double nearest_relative_error(const std::vector<double>& found, double wanted) {
  double least = 1;
  for (const double w : found) least = std::min(least, std::abs(w / wanted - 1));
  return least;
}

// 1 + cos(l) cosh(l) = 0, w = l^2 sqrt(E I/(rho A L^4)), in both directions of bending.
TEST(BeamModes, CantileverStrip) {
  const double E = 210e9, rho = 7850, b = 10e-3, t = 2e-3, L = 0.5;
  const std::vector<double> found = frequencies("cantilever_beams.yaml");
  const auto equation = [](double l) { return 1 + std::cos(l) * std::cosh(l); };
  const double first = root(equation, 1.5, 2.5), second = root(equation, 4, 5.5);
  for (const double height : {t, b}) {
    const double c = std::sqrt(E * height * height / 12 / rho) / (L * L);
    EXPECT_LT(nearest_relative_error(found, first * first * c), 0.01);
    EXPECT_LT(nearest_relative_error(found, second * second * c), 0.035);
  }
}

// Sway of a portal of three equal members, clamped at the ground, by their dynamic stiffnesses (l = L (rho A w^2/E
// I)^1/4):
//   2 (c3 - c2^2/(2 a + g)) = l^4,   a = l (sin cosh - cos sinh)/d,  g = l (sinh - sin)/d,  c2 = l^2 sin sinh/d,
//   c3 = l^3 (sin cosh + cos sinh)/d,  d = 1 - cos cosh;     l = 1.79013
TEST(BeamModes, PortalFrameSways) {
  const double E = 210e9, rho = 7850, d = 20e-3;
  const double l = root(
      [](double x) {
        const double s = std::sin(x), c = std::cos(x), S = std::sinh(x), C = std::cosh(x), det = 1 - c * C;
        const double a = x * (s * C - c * S) / det, g = x * (S - s) / det, c2 = x * x * s * S / det,
                     c3 = x * x * x * (s * C + c * S) / det;
        return 2 * (c3 - c2 * c2 / (2 * a + g)) - x * x * x * x;
      },
      1, 2.2);
  const double wanted = l * l * std::sqrt(E * d * d / 16 / rho);
  EXPECT_LT(nearest_relative_error(frequencies("framework_of_beams.yaml"), wanted), 0.01);
}

}  // namespace
}  // namespace trammel::beam_modes_test
