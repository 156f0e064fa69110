// The condition number of Newton's matrix over the step size: flat for the scaling that is used, growing like h^-2 and
// h^-4 for the other two.
#include "tests/problems/conditioning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"

namespace trammel::conditioning_test {
namespace {

void check(Model model) {
  const problems::Ready ready(std::move(model));
  const AlphaParameters p = AlphaParameters::hht(-0.3);
  const problems::End at =
      problems::run_fixed(ready, problems::fixed(p), 1e-3, 150);  // nothing special about this state
  std::vector<double> c, h_a, a, h_b, b;
  for (int k = 1; k <= 8; ++k) {
    const double h = std::pow(10.0, -k);
    const problems::Conditions n = problems::newton_conditions(*ready.equations, at.state, at.rates, p, h);
    c.push_back(n.c);
    // where long double still resolves them, and the stiffness terms have died away
    if (k >= 3 && n.a < 1e17) {
      h_a.push_back(h);
      a.push_back(n.a);
    }
    if (k >= 3 && n.b < 1e17) {
      h_b.push_back(h);
      b.push_back(n.b);
    }
  }
  EXPECT_LT(*std::max_element(c.begin(), c.end()), 2 * *std::min_element(c.begin(), c.end()));
  EXPECT_LT(*std::max_element(c.begin() + 2, c.end()), 1.01 * *std::min_element(c.begin() + 2, c.end()));
  ASSERT_GE(b.size(), 2u);
  EXPECT_NEAR(problems::fitted_slope(h_b, b), -2, 0.1);
  if (a.size() >= 2) {
    EXPECT_NEAR(problems::fitted_slope(h_a, a), -4, 0.1);
  }
}

TEST(Conditioning, StaysFlatOnTheSliderCrank) { check(problems::spatial_slider_crank()); }
TEST(Conditioning, StaysFlatOnTheHeavyTop) { check(problems::heavy_top()); }
TEST(Conditioning, StaysFlatWithForces) { check(problems::slider_crank_with_forces()); }
TEST(Conditioning, StaysFlatOnAChain) { check(problems::chain(3)); }

}  // namespace
}  // namespace trammel::conditioning_test
