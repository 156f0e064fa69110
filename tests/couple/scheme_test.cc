// The schemes of gluing: step maps in theory and of real participants, what is refused, shapes and predictors.
#include <gtest/gtest.h>

#include <cmath>

#include "trammel/couple/coupling.h"
#include "trammel/couple/model_participant.h"

namespace trammel::scheme_test {
namespace {

TEST(InputShapes, MomentsAreThoseOfTheBasis) {
  for (const InputShape shape : all_input_shapes) {
    for (int j = 0; j < info(shape).count; ++j) {
      if (shape == InputShape::shifted && j == 1) continue;  // acts at once
      EXPECT_EQ(basis(shape, j, info(shape).nodes[static_cast<std::size_t>(j)]), 1);
      for (const double s : {0.25, 0.5, 1.0}) {
        double first = 0, second = 0;
        const int n = 4000;
        for (int i = 0; i < n; ++i) {
          const double r = s * (i + 0.5) / n;
          first += basis(shape, j, r) * s / n;
          second += (s - r) * basis(shape, j, r) * s / n;
        }
        EXPECT_NEAR(first_moment(shape, j, s), first, 1e-7);
        EXPECT_NEAR(second_moment(shape, j, s), second, 1e-7);
      }
    }
  }
}

TEST(Schemes, StepMapsHaveTheEigenvaluesOfTheory) {
  for (const double theta : {0.0, 0.1, 0.5, 1.0}) {
    const auto e = step_map_eigenvalues(theta_scheme(theta));
    const double expected = (2 * theta - 1) / (2 * theta + 1);
    EXPECT_NEAR(std::abs(e[0] + e[1] - expected), 0, 1e-14) << theta;
    EXPECT_NEAR(std::abs(e[0] * e[1]), 0, 1e-14) << theta;
  }
  for (const char* key : {"displacement-velocity", "linear", "quadratic", "stabilised"}) {
    for (const auto e : step_map_eigenvalues(find_scheme(key, {}))) EXPECT_NEAR(std::abs(e), 0, 1e-7) << key;
  }
}

double spectral_radius(const CouplingScheme& scheme) {
  double most = 0;
  for (const auto e : step_map_eigenvalues(scheme)) most = std::max(most, std::abs(e));
  return most;
}

// Continuous inputs remember: none of the usual conditions makes them forget.
TEST(Schemes, ContinuousInputsNeverForget) {
  const auto with = [](InputShape shape, std::vector<SchemeCondition> conditions) {
    return CouplingScheme{"", "", shape, std::move(conditions), 3, true};
  };
  EXPECT_NEAR(spectral_radius(with(InputShape::linear, {{1, 1, 0}})), 2 + std::sqrt(3), 1e-12);
  EXPECT_NEAR(spectral_radius(with(InputShape::linear, {{1, 0, 1}})), 1, 1e-12);
  EXPECT_NEAR(spectral_radius(with(InputShape::quadratic, {{1, 1, 0}, {1, 0, 1}})), 1, 1e-7);
  for (double theta = 0; theta <= 5; theta += 0.1)
    EXPECT_GT(spectral_radius(with(InputShape::linear, {{1, 1, theta}})), 1.05) << theta;
}

TEST(Schemes, RefuseWhatIsUnstableOrSingular) {
  const auto id = [](const CouplingScheme& scheme) -> std::string {
    try {
      require_usable(scheme, {});
      return "";
    } catch (const Failure& failure) {
      return failure.problems()[0].id;
    }
  };
  for (const CouplingScheme& scheme : scheme_registry()) EXPECT_EQ(id(scheme), "") << scheme.key;
  EXPECT_EQ(id(theta_scheme(-0.2)), "scheme-unstable");
  EXPECT_EQ(id({"own", "", InputShape::quadratic, {{1, 1, 0}, {1, 0, 1}, {0.5, 0, 1}}, 5}), "scheme-singular");
  EXPECT_EQ(id({"own", "", InputShape::linear, {{1, 1, 0}}, 3}), "scheme-singular");
  EXPECT_EQ(id({"own", "", InputShape::quadratic, {{0.75, 1, 1}, {1, 1, 0.25}}, 5, true}), "");  // a rare one
  EXPECT_THROW(find_scheme("quadradic", {}), Failure);
}

TEST(Predictor, FollowsPolynomialsAndEnvelopes) {
  const auto miss = [](Prediction prediction, bool alternating) {
    InputPredictor predictor(InputShape::constant, 1, 3, prediction);
    double last = 0;
    for (int k = 0; k < 20; ++k) {
      const double t = 0.1 * k, mid = t + 0.05;
      Vec guess, value(1);
      value << 1 + mid - 2 * mid * mid + mid * mid * mid + (alternating ? (k % 2 == 0 ? 5 : -5) : 0);
      predictor.guess(t, 0.1, guess);
      last = std::abs(guess[0] - value[0]);
      predictor.accept(t, 0.1, value);
    }
    return last;
  };
  EXPECT_LT(miss(Prediction::consecutive, false), 1e-12);
  EXPECT_GT(miss(Prediction::consecutive, true), 50);  // 2^4 times the amplitude
  EXPECT_LT(miss(Prediction::envelope, true), 1e-12);
  EXPECT_LT(miss(Prediction::automatic, true), 1e-12);
  EXPECT_LT(miss(Prediction::automatic, false), 1e-12);
}

// ---- real participants
// -----------------------------------------------------------------------------------------------

// A free body with a frame at its origin.
std::unique_ptr<Participant> mass(const std::string& name, double m, const Vec3& velocity, InputShape shape) {
  Model model;
  model.title = name;
  Body body;
  body.name = name;
  body.kind = "point";
  body.mass = m;
  body.velocity = velocity;
  model.add_frame(model.add_body(std::move(body)), {}, "middle");
  model.simulation.method = "dormand-prince-54";
  model.simulation.tolerance = 1e-10;
  ModelParticipant::Options options;
  options.name = name;
  options.frames = {"middle"};
  options.shape = shape;
  return std::make_unique<ModelParticipant>(std::move(model), std::move(options));
}

// Two masses held together.
std::unique_ptr<Coupling> two_masses(const CouplingScheme& scheme, InterfaceSolver solver, double m1, const Vec3& v1,
                                     double m2, const Vec3& v2) {
  std::vector<std::unique_ptr<Participant>> participants;
  participants.push_back(mass("one", m1, v1, scheme.shape));
  participants.push_back(mass("two", m2, v2, scheme.shape));
  Item joint{"spherical", "pin", {0, 1}, {}, {}};
  CouplingSettings settings;
  settings.scheme = scheme;
  settings.solver = solver;
  settings.step = 0.1;
  settings.end = 10;
  settings.tolerance = 1e-13;
  settings.fit = 10;  // they need not fit
  auto coupling = std::make_unique<Coupling>(std::move(participants),
                                             std::vector<InterfaceFrame>{{0, 0, "one.middle"}, {1, 0, "two.middle"}},
                                             std::vector<Item>{joint}, settings);
  coupling->start();
  return coupling;
}

// They start with different velocities; returns the relative velocities after each step.
std::vector<double> relative_velocities(const CouplingScheme& scheme, InterfaceSolver solver) {
  const auto made = two_masses(scheme, solver, 2, Vec3(0.5, 0, 0), 3, Vec3(-0.25, 0, 0));
  Coupling& coupling = *made;
  std::vector<double> out{-0.75};
  for (int k = 0; k < 4; ++k) {
    EXPECT_TRUE(coupling.advance(0.1)) << coupling.summary().failure;
    coupling.accept_step();
    out.push_back(coupling.frames()[1].v.x() - coupling.frames()[0].v.x());
  }
  return out;
}

TEST(TwoMasses, StepMapsToRoundOff) {
  for (const InterfaceSolver solver : {InterfaceSolver::compliance, InterfaceSolver::sensitivity,
                                       InterfaceSolver::differences, InterfaceSolver::broyden}) {
    for (const double theta : {0.0, 0.1, 0.5, 1.0}) {
      const std::vector<double> v = relative_velocities(theta_scheme(theta), solver);
      const double map = (2 * theta - 1) / (2 * theta + 1);
      // The first step also has a position to mend only if theta is not 0; from the second one the map acts.
      for (std::size_t k = 1; k + 1 < v.size(); ++k) EXPECT_NEAR(v[k + 1], map * v[k], 1e-11) << theta;
    }
    for (const char* key : {"displacement-velocity", "linear", "quadratic", "stabilised"}) {
      const std::vector<double> v = relative_velocities(find_scheme(key, {}), solver);
      for (std::size_t k = 1; k < v.size(); ++k) EXPECT_NEAR(v[k], 0, 1e-11) << key;
    }
  }
}

// Gains a little below and above the limits: what is left of a disturbance after many steps.
TEST(TwoMasses, StepsMadeOnceAreStableUpToTheirLimits) {
  const auto grown = [](Passes passes, int degree, double gain) {
    const auto made = two_masses(one_pass_scheme(passes, degree), InterfaceSolver::compliance, 1, Vec3(0.5, 0, 0), gain,
                                 Vec3(0.5 - 1e-9, 0, 0));
    double early = 0, late = 0;
    for (int k = 0; k < 90; ++k) {
      if (!made->advance(0.1)) return 1e9;
      made->accept_step();
      const double input = std::abs(made->inputs()[0]);
      if (k > 10 && k <= 20) early = std::max(early, input);
      if (k > 80) late = std::max(late, input);
    }
    return late / early;
  };
  for (const Passes passes : {Passes::gauss_seidel, Passes::jacobi}) {
    for (int degree = 0; degree <= 2; ++degree) {
      const double limit = one_pass_limit(passes, degree);
      EXPECT_LT(grown(passes, degree, 0.95 * limit), 1) << static_cast<int>(passes) << " " << degree;
      EXPECT_GT(grown(passes, degree, 1.05 * limit), 1) << static_cast<int>(passes) << " " << degree;
    }
  }
}

// Made once, errors of the reaction multiply by -m2/m1: the second one follows.
TEST(TwoMasses, StepsMadeOnceMultiplyErrorsByTheirMasses) {
  for (const double m2 : {1.0, 3.0}) {
    const auto made = two_masses(one_pass_scheme(Passes::gauss_seidel, 0), InterfaceSolver::compliance, 2,
                                 Vec3(0.5, 0, 0), m2, Vec3(0.4999, 0, 0));
    std::vector<double> found;
    for (int k = 0; k < 12; ++k) {
      ASSERT_TRUE(made->advance(0.1)) << made->summary().failure;
      made->accept_step();
      found.push_back(made->inputs()[0]);
    }
    EXPECT_NEAR(*made->summary().greatest_gain, m2 / 2, 1e-12);
    for (std::size_t k = 4; k < found.size(); ++k)
      EXPECT_NEAR(found[k], -m2 / 2 * found[k - 1], 1e-10 * std::abs(found[k - 1]) + 1e-13) << m2 << " " << k;
  }
}

}  // namespace
}  // namespace trammel::scheme_test
