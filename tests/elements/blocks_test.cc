// Blocks: frequency responses of linearised models, limits and anti-windup, and what they refuse.
#include "trammel/elements/blocks/block.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <complex>
#include <numbers>

#include "trammel/analyse/linearise.h"
#include "trammel/initial/consistent.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::blocks_test {
namespace {

using Complex = std::complex<double>;

const char* const load = "trammel: 1\nbodies: {load: {kind: point, mass: 1}}\n";

MemoryTrajectory run(const std::string& text, const std::string& method = "radau-iia-3") {
  Model model = read_model_text(load + text, "blocks.yaml");
  model.simulation.method = method;
  Simulation simulation(std::move(model));
  MemoryTrajectory trajectory;
  const RunResult result = simulation.run(trajectory);
  EXPECT_EQ(result.status, RunStatus::finished) << method;
  return trajectory;
}

// From an input of the model to the output of a block, by A, B, C, D of the linearised model.
Complex response(const std::string& block, double w) {
  const Model model = read_model_text(std::string(load) + "inputs: {u: 0}\nblocks: {g: {input: u, " + block +
                                          "}}\noutputs: {y: g}\nsimulation: {end: 1, length: 1}\n",
                                      "blocks.yaml");
  const Equations equations(model);
  Workspace work = equations.make_workspace();
  State state = equations.initial_state();
  equations.start(state, work);
  const LinearSystem s = linearise_system(equations, state, equations.make_rates());
  int y = -1;
  for (std::size_t i = 0; i < s.outputs.size(); ++i)
    if (s.outputs[i].name == "y") y = static_cast<int>(i);
  if (y < 0) return std::nan("");
  const Eigen::MatrixXcd m = Complex(0, w) * Eigen::MatrixXcd::Identity(s.A.rows(), s.A.cols()) - s.A;
  const Eigen::MatrixXcd g = s.C * m.partialPivLu().solve(s.B.cast<Complex>()) + s.D;
  return g(y, 0);
}

TEST(Blocks, FrequencyResponses) {
  for (const double w : {0.1, 1.0, 7.0, 40.0}) {
    const Complex s(0, w);
    const auto near = [&](const std::string& block, Complex expected) {
      EXPECT_LT(std::abs(response(block, w) - expected), 1e-11 * (1 + std::abs(expected))) << block << " at " << w;
    };
    near("type: transfer_function, numerator: [2, 1, 3, 4], denominator: [4, 1, 6, 8]",
         (2.0 * s * s * s + s * s + 3.0 * s + 4.0) / (4.0 * s * s * s + s * s + 6.0 * s + 8.0));
    near("type: transfer_function, numerator: [5], denominator: [2]", 2.5);
    near("type: first_order_lag, time_constant: 0.25, gain: -3", -3.0 / (1.0 + 0.25 * s));
    const double w0 = 2 * std::numbers::pi * 0.8;
    near("type: second_order_lag, frequency: 0.8, damping: 0.3, gain: 2",
         2 * w0 * w0 / (s * s + 0.6 * w0 * s + w0 * w0));
    near("type: integrator, gain: 4", 4.0 / s);
    near("type: pid, p: 3, i: 2, d: 0.5, filter: 0.1", 3.0 + 2.0 / s + 0.5 * s / (1.0 + 0.1 * s));
  }
}

// Held at its limit, the output asked for exceeds it by i e T_t: the integral does not wind up.
TEST(Blocks, TheIntegralDoesNotWindUp) {
  for (const char* method : {"hht-i3", "bdf-si2", "rosenbrock-nystrom-4", "dormand-prince-54"}) {
    const MemoryTrajectory r =
        run("blocks: {c: {type: pid, input: '2', p: 1, i: 3, upper: 4, tracking: 0.2}}\n"
            "simulation: {end: 5, length: 1, tolerance: 1e-6}\n",
            method);
    EXPECT_NEAR(r.column("variable.c").back(), 4, 1e-9) << method;
    EXPECT_NEAR(r.column("variable.c.asked").back(), 4 + 3 * 2 * 0.2, 1e-4) << method;
  }
}

// a = (s + 2)/(s + 1) (1 - b) passes its input on at once; at rest a = 2 (1 - 2 a).
TEST(Blocks, LoopsAreSolvedWithALagOrWithout) {
  const MemoryTrajectory at_once =
      run("blocks:\n"
          "  a: {type: transfer_function, input: '1 - b', numerator: [1, 2], denominator: [1, 1]}\n"
          "  b: {type: pid, input: a, p: 2}\n"
          "simulation: {end: 20, length: 1, tolerance: 1e-8}\n");
  EXPECT_NEAR(at_once.column("variable.a").back(), 0.4, 1e-6);
  const MemoryTrajectory r =
      run("blocks:\n"
          "  a: {type: first_order_lag, input: '1 - b', time_constant: 0.1}\n"
          "  b: {type: pid, input: a, p: 4}\n"
          "simulation: {end: 2, length: 1, tolerance: 1e-8}\n");
  EXPECT_NEAR(r.column("variable.a").back(), 0.2, 1e-6);
}

void expect_refused(const std::string& block, const std::string& why) {
  try {
    read_model_text(std::string(load) + "blocks: {b: {" + block + "}}\n", "blocks.yaml");
    FAIL() << block;
  } catch (const Failure& failure) {
    const std::string text = failure.what();
    EXPECT_NE(text.find(why), std::string::npos) << text;
    EXPECT_NE(text.find("blocks.yaml:3:"), std::string::npos) << text;
  }
}

TEST(Blocks, WhatDoesNotFitIsRefused) {
  expect_refused("type: transfer_function, input: '1', numerator: [1, 2, 3], denominator: [1, 2]", "higher degree");
  expect_refused("type: transfer_function, input: '1', numerator: [1], denominator: [0, 1]", "first coefficient");
  expect_refused("type: transfer_function, input: '1', numerator: [1], denominator: [1, 1], initial: [1, 2]",
                 "2 values");
  expect_refused("type: pid, input: '1', d: 1", "filter");
  expect_refused("type: pid, input: '1', i: 1, upper: 1, lower: 2", "'upper' does not lie above 'lower'");
  expect_refused("type: integrator, input: '1', upper: 1, initial: 2", "outside of the limits");
  expect_refused("type: first_order_lag, input: '1', time_constant: 0", "time_constant");
  expect_refused("type: state_space, inputs: [b], A: [[1, 2], [3]], B: [1], C: [1]", "this row has 1");
  expect_refused("type: state_space, inputs: [b], A: [[-1]], B: [1, 2], C: [1]", "'B' has 2 numbers");
  expect_refused("type: state_space, inputs: [b], A: [[-1, 0], [0, -1]], B: [1, 1], C: [1]", "no multiple of the 2");
  expect_refused("type: transfer_function, input: '1', numerator: [1e200], denominator: [1e-200, 2]", "not finite");
  expect_refused("type: pid, input: '1', p: 1, unit: mm", "its unit must be an SI unit");
  expect_refused("type: lag, input: '1'", "there is no type");
  expect_refused("type: pid, p: 1", "'input' must be given");
  expect_refused("type: pid, input: '1', q: 1", "'q'");
}

}  // namespace
}  // namespace trammel::blocks_test
