// A run that somebody steers between its steps: inputs that jump, steps that are bounded, an end on demand.
#include <gtest/gtest.h>

#include <atomic>

#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::steer_test {
namespace {

// A mass on a rail, driven by an input: x'' = drive.
std::string sledge(const std::string& settings) {
  return R"yaml(trammel: 1
inputs: {drive: {unit: N}, other: 3}
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1]}}
joints: {rail: {type: translational, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}}
forces: {motor: {type: force, frames: [ground, a], fx: drive}}
outputs: {drive_now: {expression: drive, unit: N}}
simulation: {end: 1, output_step: 0.05, )yaml" +
         settings + "}\n";
}

struct Steered {
  RunResult result;
  MemoryTrajectory rows;
};

Steered run(const std::string& text, const std::function<Orders(const State&)>& steer) {
  Steered out;
  Simulation simulation(read_model_text(text, "test.yaml"));
  RunOptions options;
  options.steer = steer;
  out.result = simulation.run(out.rows, options);
  return out;
}

// 2 N from the first step that starts at 0.5 s or behind: x = (1 - t0)^2, and the work is 2 x.
TEST(Steer, AnInputThatJumpsActsAndItsWorkIsBooked) {
  for (const char* settings :
       {"method: hht-i3, step: 0.01", "method: hht-i3, tolerance: 1e-6", "method: bdf-i3, tolerance: 1e-7",
        "method: radau-iia-3, tolerance: 1e-7", "method: dormand-prince-54, tolerance: 1e-7",
        "method: rosenbrock-nystrom-4, tolerance: 1e-7", "method: rk4, step: 0.01"}) {
    double since = -1;
    const std::vector<std::pair<int, double>> wanted{{0, 2.0}};
    const Steered run_ = run(sledge(settings), [&](const State& state) {
      Orders orders;
      if (state.t < 0.5 - 1e-9 || since >= 0) return orders;
      since = state.t;
      orders.inputs = wanted;
      return orders;
    });
    ASSERT_EQ(run_.result.status, RunStatus::finished) << settings;
    ASSERT_GE(since, 0.5 - 1e-9);
    const double x = (1 - since) * (1 - since);
    EXPECT_NEAR(run_.rows.column("body.a.position.x").back(), x, 1e-5) << settings;
    EXPECT_NEAR(run_.rows.column("energy.external").back(), 2 * x, 1e-5) << settings;
    EXPECT_NEAR(run_.rows.column("energy.imbalance").back(), 0, 1e-5) << settings;
    const std::vector<double> drive = run_.rows.column("drive_now");
    EXPECT_EQ(drive.front(), 0);
    EXPECT_EQ(drive.back(), 2);
  }
}

// A block that sticks up to 5 N and slides against 3 N: an input below the limit leaves it, one above sets it off.
TEST(Steer, AnInputThatJumpsEndsSticking) {
  const std::string text = R"yaml(trammel: 1
inputs: {drive: {unit: N}}
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1]}}
joints: {rail: {type: translational, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}}
forces:
  motor: {type: force, frames: [ground, a], fx: drive}
  pad: {type: stick_slip_friction, joint: rail, motion: translation, load: 10, static_coefficient: 0.5, kinetic_coefficient: 0.3}
simulation: {end: 1, output_step: 0.05, method: radau-iia-3, tolerance: 1e-8}
)yaml";
  for (const double force : {4.0, 8.0}) {
    double since = -1;
    const std::vector<std::pair<int, double>> wanted{{0, force}};
    const Steered run_ = run(text, [&](const State& state) {
      Orders orders;
      orders.longest_step = 0.05;
      if (state.t < 0.5 - 1e-9 || since >= 0) return orders;
      since = state.t;
      orders.inputs = wanted;
      return orders;
    });
    ASSERT_EQ(run_.result.status, RunStatus::finished) << force;
    const double x = force < 5 ? 0 : 0.5 * (force - 3) * (1 - since) * (1 - since);
    EXPECT_NEAR(run_.rows.column("body.a.position.x").back(), x, 1e-6) << force;
    EXPECT_NEAR(run_.rows.column("energy.imbalance").back(), 0, 1e-6) << force;
  }
}

TEST(Steer, WhoOnlyWatchesChangesNoBit) {
  const std::string text = sledge("method: hht-i3, tolerance: 1e-5");
  const Steered without = run(text, nullptr);
  long asked = 0;
  const Steered with = run(text, [&](const State&) {
    ++asked;
    return Orders{};
  });
  EXPECT_EQ(asked, with.result.summary.steps) << "once for each step";
  for (const Signal& signal : without.rows.tables()[0].signals)
    EXPECT_EQ(without.rows.column(signal.name), with.rows.column(signal.name)) << signal.name;
}

TEST(Steer, StepsAreBoundedUnlessTheyAreFixed) {
  const auto bound = [](const State&) {
    Orders orders;
    orders.longest_step = 0.003;
    return orders;
  };
  EXPECT_LE(run(sledge("method: hht-i3, tolerance: 1e-3"), bound).result.summary.greatest_step, 0.003 * (1 + 1e-12));
  EXPECT_NEAR(run(sledge("method: hht-i3, step: 0.01"), bound).result.summary.greatest_step, 0.01, 1e-12);
}

TEST(Steer, InputsWithoutAccelerationsAreRefusedAndTold) {
  Simulation simulation(read_model_text(R"yaml(trammel: 1
inputs: {drive: {value: 4, unit: N}}
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1]}}
joints: {rail: {type: translational, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}}
forces: {motor: {type: force, frames: [ground, a], fx: sqrt(drive)}}
outputs: {drive_now: {expression: drive, unit: N}}
simulation: {end: 1, step: 0.1, method: hht-i3}
)yaml",
                                        "test.yaml"));
  const std::vector<std::pair<int, double>> wanted{{0, -1.0}};
  std::vector<double> refused;
  RunOptions options;
  options.steer = [&](const State& state) {
    Orders orders;
    if (state.t > 0.45 && refused.empty()) orders.inputs = wanted;
    return orders;
  };
  options.inputs_refused = [&](double t) { refused.push_back(t); };
  MemoryTrajectory rows;
  EXPECT_EQ(simulation.run(rows, options).status, RunStatus::finished);
  ASSERT_EQ(refused.size(), 1);
  EXPECT_NEAR(refused[0], 0.5, 1e-9);
  EXPECT_EQ(rows.column("drive_now").back(), 4);
}

// The search for an equilibrium at the start may take long: it listens too.
TEST(Steer, AnInterruptionEndsTheSearchForAnEquilibrium) {
  Simulation simulation(read_model_text(R"yaml(trammel: 1
gravity: [0, 0, -9.81]
bodies: {bar: {mass: 2, inertia: [0.17, 0.17, 0.17], center_of_mass: [0.5, 0, 0]}}
joints: {hinge: {type: revolute, between: [ground, bar], at: [0, 0, 0], axis: [0, 1, 0]}}
)yaml",
                                        "test.yaml"));
  const std::atomic<bool> interrupted{true};
  RunOptions options;
  options.interrupted = &interrupted;
  options.from_equilibrium = true;
  MemoryTrajectory rows;
  try {
    simulation.run(rows, options);
    ADD_FAILURE() << "an equilibrium was found, or none was sought";
  } catch (const Failure& failure) {
    EXPECT_NE(failure.problems().front().message.find("interrupted"), std::string::npos);
  }
}

TEST(Steer, StopEndsTheRunInGoodOrder) {
  const Steered stopped = run(sledge("method: hht-i3, step: 0.01"), [](const State& state) {
    Orders orders;
    orders.stop = state.t >= 0.3 - 1e-9;
    return orders;
  });
  EXPECT_EQ(stopped.result.status, RunStatus::interrupted);
  EXPECT_EQ(stopped.rows.status(), RunStatus::interrupted);
  EXPECT_NEAR(stopped.result.summary.reached, 0.3, 1e-9);
}

}  // namespace
}  // namespace trammel::steer_test
