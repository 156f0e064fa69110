// The schemes of gluing: step maps in theory and of real participants, what is refused, shapes and predictors.
#include <gtest/gtest.h>

#include <cmath>

#include "trammel/couple/coupling.h"
#include "trammel/couple/model_participant.h"

namespace trammel {
namespace {

TEST(InputShapes, MomentsAreThoseOfTheBasis) {
  for (const InputShape shape : {InputShape::constant, InputShape::halves, InputShape::linear, InputShape::quadratic}) {
    for (int j = 0; j < info(shape).count; ++j) {
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
    const std::vector<double> e = step_map_eigenvalues(theta_scheme(theta));
    const double expected = (2 * theta - 1) / (2 * theta + 1);
    EXPECT_NEAR(std::min(e[0], e[1]) + std::max(e[0], e[1]), expected, 1e-14) << theta;
    EXPECT_NEAR(e[0] * e[1], 0, 1e-14) << theta;
  }
  for (const char* key : {"displacement-velocity", "linear", "quadratic"}) {
    for (const double e : step_map_eigenvalues(find_scheme(key, {}))) EXPECT_NEAR(e, 0, 1e-7) << key;
  }
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
  body.kind = BodyKind::point;
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

// Two masses held together that start with different velocities; returns the relative velocities after each step.
std::vector<double> relative_velocities(const CouplingScheme& scheme, InterfaceSolver solver) {
  std::vector<std::unique_ptr<Participant>> participants;
  participants.push_back(mass("one", 2, Vec3(0.5, 0, 0), scheme.shape));
  participants.push_back(mass("two", 3, Vec3(-0.25, 0, 0), scheme.shape));
  Item joint{"spherical", "pin", {0, 1}, {}, {}};
  CouplingSettings settings;
  settings.scheme = scheme;
  settings.solver = solver;
  settings.step = 0.1;
  settings.tolerance = 1e-13;
  settings.fit = 10;  // they do not fit
  Coupling coupling(std::move(participants), {{0, 0, "one.middle"}, {1, 0, "two.middle"}}, {joint}, settings);
  coupling.start();
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
    for (const char* key : {"displacement-velocity", "linear", "quadratic"}) {
      const std::vector<double> v = relative_velocities(find_scheme(key, {}), solver);
      for (std::size_t k = 1; k < v.size(); ++k) EXPECT_NEAR(v[k], 0, 1e-11) << key;
    }
  }
}

}  // namespace
}  // namespace trammel
