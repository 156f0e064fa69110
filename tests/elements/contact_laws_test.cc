// Laws of contact: slopes, heat, no tension, restitution against an impact integrated step by step, coefficients of
// friction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "trammel/elements/contacts/friction_law.h"
#include "trammel/elements/contacts/normal_law.h"

namespace trammel::contact_laws_test {
namespace {

using Damping = NormalLaw::Damping;

const NormalLaw normal_laws[] = {
    {1000, 1.5, Damping::hunt_crossley, 0.4, 0, 0}, {1000, 1.5, Damping::hunt_crossley, 0.4, 0, 0.1},
    {1000, 1, Damping::hunt_crossley, 0.4, 0, 0.1}, {1000, 2.2, Damping::hunt_crossley, 2, 0, 0.1},
    {1000, 1, Damping::impact, 20, 0.02, 0},        {1000, 2.2, Damping::impact, 20, 0.02, 0},
    {1000, 1.5, Damping::hunt_crossley, 0, 0, 0.1},
};

TEST(NormalLaws, HaveExactSlopesHeatAndNoTension) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> depths(1e-4, 0.1), rates(-5, 5);
  for (const NormalLaw& law : normal_laws) {
    for (int i = 0; i < 300; ++i) {
      const double e = depths(random), w = rates(random);
      const NormalForce f = law.at(e, w);
      EXPECT_GE(f.Q, 0);
      EXPECT_GE((f.Q - f.elastic) * w, 0);
      EXPECT_EQ(law.at(-e, w).Q, 0);
      EXPECT_EQ(law.at(-e, w).Q_depth, 0);  // of p = 1 it was k
      const double h = 1e-6 * e, H = 1e-6;
      if ((law.at(e, w - H).Q == 0) != (law.at(e, w + H).Q == 0)) continue;  // the clip, where it is sharp
      EXPECT_NEAR(f.Q_depth, (law.at(e + h, w).Q - law.at(e - h, w).Q) / (2 * h), 1e-6 * (1 + std::abs(f.Q_depth)));
      EXPECT_NEAR(f.Q_rate, (law.at(e, w + H).Q - law.at(e, w - H).Q) / (2 * H), 1e-6 * (1 + std::abs(f.Q_rate)));
      EXPECT_NEAR(f.elastic, (law.stored(e + h) - law.stored(e - h)) / (2 * h), 1e-6 * (1 + f.elastic));
    }
    EXPECT_EQ(law.at(0, 1).Q, 0);
    EXPECT_NEAR(law.at(law.depth_at(7), 0).Q, 7, 1e-12);
  }
}

// A mass against the law, by the classical Runge-Kutta method: the speed at which it leaves.
double rebound(const NormalLaw& law, double v) {
  double e = 0, w = v;
  const double h = 1e-5;
  for (int i = 0; i < 2000000; ++i) {
    const auto a = [&](double depth, double rate) { return -law.at(depth, rate).Q; };
    const double k1 = a(e, w), k2 = a(e + h / 2 * w, w + h / 2 * k1),
                 k3 = a(e + h / 2 * w + h * h / 4 * k1, w + h / 2 * k2), k4 = a(e + h * w + h * h / 2 * k2, w + h * k3);
    e += h * w + h * h / 6 * (k1 + k2 + k3);
    w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    if (e <= 0) return -w;
  }
  return 0;
}

// Whatever stiffness and exponent are.
TEST(NormalLaws, ReboundWithTheRestitutionAskedFor) {
  for (const double clip : {0.0, 0.1}) {
    for (const double restitution : {0.3, 0.6, 0.9}) {
      for (const double exponent : {1.0, 1.5, 2.2}) {
        const double v = 1.7;
        NormalLaw law{400, exponent};
        law.clip = clip;
        law.damping = damping_for_restitution(restitution, clip) / v;
        EXPECT_NEAR(rebound(law, v) / v, restitution, 1e-4) << clip << " " << exponent;
      }
    }
    EXPECT_EQ(damping_for_restitution(1, clip), 0);
  }
  // X - ln(1 + X) = -eX - ln(1 - eX)
  const double X = damping_for_restitution(0.8606, 0);
  EXPECT_NEAR(X - std::log1p(X), -0.8606 * X - std::log1p(-0.8606 * X), 1e-14);
  EXPECT_NEAR(X, 0.2426, 2e-4);
}

TEST(FrictionLaws, HaveTheirCoefficients) {
  const FrictionLaw coulomb{0.3, 0.3, 0.02}, stribeck{0.3, 0.45, 0.02};
  const auto mu = [](const FrictionLaw& law, double r) {
    const Friction f = law.at(r);
    return f.coefficient * f.phi * r;
  };
  EXPECT_NEAR(mu(coulomb, 0.02), 0.3 * std::tanh(1), 1e-15);
  EXPECT_NEAR(mu(coulomb, 1), 0.3, 1e-15);
  EXPECT_NEAR(mu(stribeck, 0.02), 0.45, 3e-4);  // 0.3 (1 - tanh 4)
  EXPECT_NEAR(mu(stribeck, 2), 0.3, 1e-5);
  double greatest = 0;
  for (double r = 0; r < 0.1; r += 1e-5) greatest = std::max(greatest, mu(stribeck, r));
  EXPECT_NEAR(greatest, 0.45, 2e-3);
}

TEST(FrictionLaws, HaveExactSlopes) {
  for (const FrictionLaw& law : {FrictionLaw{0.3, 0.3, 0.02}, FrictionLaw{0.3, 0.45, 0.02}, FrictionLaw{0, 0.4, 0.5}}) {
    // phi is a smooth function of r^2: slope = 2 d phi/d(r^2). Through where the series ends.
    const double v = law.slip_speed;
    for (double r = 1e-3 * v; r < 20 * v; r *= 1.07) {
      const double q = r * r, h = std::min(0.5 * q, 1e-4 * v * v);
      const double slope = (law.at(std::sqrt(q + h)).phi - law.at(std::sqrt(q - h)).phi) / h;
      EXPECT_NEAR(law.at(r).slope, slope, 1e-5 * std::abs(law.at(0).slope)) << r;
    }
  }
}

}  // namespace
}  // namespace trammel::contact_laws_test
