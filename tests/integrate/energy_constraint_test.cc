// The trapezoidal rule with velocities on their constraints and on the balance of energy: nothing is gained or lost,
// the order stays 2, and a saved run continues bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/problems/mechanisms.h"
#include "tests/problems/stepping.h"
#include "trammel/integrate/alpha/alpha.h"

namespace trammel::energy_constraint_test {
namespace {

using problems::fitted_slope;
using problems::Ready;

AlphaOptions balanced() {
  AlphaOptions options;
  options.parameters = AlphaParameters::newmark(0.5, 0.25);
  options.fixed_step = options.energy = true;
  options.newton.c = 1e-8;
  return options;
}

double energy_of(const Ready& ready, const Integrator& m) {
  Workspace work = ready.equations->make_workspace();
  const Energy e = ready.equations->energy(m.state(), m.rates(), work);
  return e.kinetic + e.potential;
}

TEST(EnergyConstraint, KeepsTheEnergyAndTheOrder) {
  const Ready ready(problems::spatial_slider_crank());
  std::vector<double> h, change;
  Vec last;
  for (const int count : {250, 500, 1000, 2000}) {
    AlphaMethod m(*ready.equations, balanced());
    m.start(ready.state, ready.rates);
    const double first = energy_of(ready, m);
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(m.attempt(0.5 / count).verdict, Verdict::ok);
      m.accept();
      ASSERT_NEAR(energy_of(ready, m), first, 1e-12);
    }
    if (last.size() > 0) {
      h.push_back(0.5 / count);
      change.push_back(problems::distance(*ready.equations, last, m.state().q));
    }
    last = m.state().q;
  }
  EXPECT_NEAR(fitted_slope(h, change), 2, 0.2);
}

TEST(EnergyConstraint, ContinuesBitForBit) {
  const Ready ready(problems::spatial_slider_crank());
  AlphaMethod whole(*ready.equations, balanced()), other(*ready.equations, balanced());
  whole.start(ready.state, ready.rates);
  other.start(ready.state, ready.rates);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(whole.attempt(1e-3).verdict, Verdict::ok);
    whole.accept();
  }
  Bytes bytes;
  whole.save(bytes);
  std::span<const std::byte> in(bytes);
  other.restore(in);
  EXPECT_TRUE(in.empty());
  for (AlphaMethod* m : {&whole, &other}) {
    for (int i = 0; i < 50; ++i) {
      ASSERT_EQ(m->attempt(1e-3).verdict, Verdict::ok);
      m->accept();
    }
  }
  const Vec &a = whole.state().v, &b = other.state().v;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)), 0);
}

}  // namespace
}  // namespace trammel::energy_constraint_test
