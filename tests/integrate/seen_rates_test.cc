// Forces that see accelerations and reactions, states given by equations: whole models by every method that takes them,
// against closed solutions, with the orders that are left.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/problems/stepping.h"
#include "trammel/integrate/registry.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::seen_rates_test {
namespace {

using problems::fitted_slope;
using problems::Ready;

std::unique_ptr<Integrator> make(const Ready& ready, const char* method, const char* formulation, bool fixed = true,
                                 double tolerance = 1e-3) {
  MethodSettings settings;
  settings.fixed_step = fixed;
  settings.tolerance = tolerance;
  settings.formulation = formulation;
  const MethodInfo& info = find_method(method, {});
  std::unique_ptr<Integrator> out = info.make(*ready.equations, resolve_settings(info, settings, {}));
  out->start(ready.state, ready.rates);
  return out;
}

Model example(const char* name) { return read_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + name); }

double journal_speed(double t) {
  constexpr double k = 0.3 * 0.03 * 2 * 0.02 / (0.004 + 2 * 0.02 * 0.02);
  const double c = k / std::sqrt(1 - k * k);
  return 60 / (1 + c * 60 * t);
}

struct Case {
  const char *method, *formulation;
  double order;  // of speeds
  int coarsest;
};

TEST(SeenRates, FrictionTakesTheTrueReactionOfAJournal) {
  const Ready ready(example("journal_friction.yaml"));
  // At the start already: w' = -c w^2.
  EXPECT_NEAR(ready.rates.a[5], (journal_speed(1e-4) - journal_speed(-1e-4)) / 2e-4, 1e-3);
  for (const Case& c : {Case{"hht-i3", "index-3", 2, 800}, Case{"generalized-alpha-i3", "index-3", 2, 800},
                        Case{"hht-si2", "stabilised-index-2", 2, 800}, Case{"bdf-i3", "index-3", 1, 800},
                        Case{"bdf-si2", "stabilised-index-2", 2, 800}, Case{"radau-iia-3", "index-3", 2, 100},
                        Case{"radau-iia-3", "stabilised-index-2", 5, 100}}) {
    std::array<double, 3> h, error;
    for (std::size_t k = 0; k < 3; ++k) {
      const int steps = c.coarsest << k;
      h[k] = 0.25 / steps;
      const std::unique_ptr<Integrator> run = make(ready, c.method, c.formulation);
      for (int i = 0; i < steps; ++i) {
        ASSERT_EQ(run->attempt(h[k]).verdict, Verdict::ok) << c.method;
        run->accept();
      }
      error[k] = std::abs(run->state().v[5] - journal_speed(0.25));
    }
    const double slope = fitted_slope(h, error);
    EXPECT_GT(slope, c.order - 0.3) << c.method << " " << c.formulation << ": " << error[0] << " to " << error[2];
  }
}

// With step control, from a file, with an output beside its closed form: their greatest difference.
double worst_of(const char* file, const char* method, const char* formulation, double tolerance, double end,
                const char* computed, const char* expected) {
  Model model = example(file);
  model.simulation.method = method;
  model.simulation.formulation = formulation;
  model.simulation.options = {};
  model.simulation.tolerance = tolerance;
  model.simulation.end = end;
  model.simulation.output_step = end / 50;
  MemoryTrajectory result;
  Simulation simulation(std::move(model));
  EXPECT_EQ(simulation.run(result).status, RunStatus::finished) << file << ", " << method;
  const std::vector<double> a = result.column(computed), b = result.column(expected);
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  EXPECT_GT(a.size(), 50U);
  return worst;
}

struct Member {
  const char *method, *formulation;
};
constexpr Member members[] = {{"hht-i3", "index-3"},
                              {"bdf-i3", "index-3"},
                              {"bdf-si2", "stabilised-index-2"},
                              {"radau-iia-3", "index-3"},
                              {"radau-iia-3", "stabilised-index-2"}};

TEST(SeenRates, ModelsMeetTheirClosedSolutions) {
  for (const Member& m : members) {
    EXPECT_LT(worst_of("journal_friction.yaml", m.method, m.formulation, 1e-8, 0.5, "speed", "expected"), 1e-3)
        << m.method;
    EXPECT_LT(worst_of("pressed_clutch.yaml", m.method, m.formulation, 1e-8, 0.6, "press", "expected"), 1e-6)
        << m.method;
  }
}

// A torque that cancels what the reaction would do; at index 3 corrections diverge on it.
TEST(SeenRates, ComputedTorqueAtStabilisedIndex2) {
  for (const Member& m : {Member{"bdf-si2", "stabilised-index-2"}, Member{"radau-iia-3", "stabilised-index-2"}}) {
    EXPECT_LT(worst_of("computed_torque_arm.yaml", m.method, m.formulation, 1e-8, 1, "angle", "expected"), 1e-6)
        << m.method;
    // This holds at output times whatever the method.
    EXPECT_LT(worst_of("computed_torque_arm.yaml", m.method, m.formulation, 1e-8, 1, "acceleration", "wanted"), 1e-9)
        << m.method;
  }
}

TEST(SeenRates, OthersRefuseByName) {
  const Ready ready(example("journal_friction.yaml"));
  for (const Member& m : {Member{"rosenbrock-nystrom-4", "all-coordinates"}, Member{"radau-iia-3", "state-space"},
                          Member{"dormand-prince-54", "joint-coordinates"}, Member{"bdf", "penalty"}}) {
    try {
      make(ready, m.method, m.formulation);
      ADD_FAILURE() << m.method;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.problems()[0].id, "method-refuses");
      EXPECT_NE(failure.problems()[0].message.find("force 'friction' (press)"), std::string::npos)
          << failure.problems()[0].message;
    }
  }
}

TEST(SeenRates, ReactionsThatAreNotUniqueAreRefused) {
  try {
    const Ready ready(read_model_text(R"yaml(
trammel: 1
gravity: [0, 0, -9.81]
bodies: {beam: {mass: 2, inertia: [1, 1, 1]}}
joints:
  left: {type: revolute, between: [ground, beam], at: [0, 0, 0]}
  right: {type: revolute, between: [ground, beam], at: [0, 0, 1]}
forces:
  drag: {type: joint_friction, joint: left, radius: 0.1, load: "hypot(force_x(left), force_y(left))", static_coefficient: 0.1}
)yaml",
                                      "r.yaml"),
                      {});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems()[0].id, "reaction-not-unique");
    EXPECT_NE(failure.problems()[0].message.find("joint 'left'"), std::string::npos) << failure.problems()[0].message;
  }
}

}  // namespace
}  // namespace trammel::seen_rates_test
