// Fast rotation: angles and orientations are right over any number of turns between outputs, in a step and in what a
// method remembers, at the outputs and at the steps; or the run fails and says so.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/conformance/cells.h"
#include "trammel/integrate/registry.h"
#include "trammel/math/rotation.h"
#include "trammel/read/read_model.h"

namespace trammel::rule_fast_rotation_test {
namespace {

class RuleFastRotation : public testing::TestWithParam<Cell> {
 protected:
  // Whether the cell takes such a run, and how it ended. What is not finished must say why.
  bool finished(Model model) {
    try {
      run_ = run_cell(GetParam(), std::move(model));
    } catch (const Failure& refusal) {
      EXPECT_FALSE(refusal.problems().empty());
      return false;
    }
    if (run_.result.status == RunStatus::finished) return true;
    EXPECT_TRUE(run_.result.failure && !run_.result.failure->causes.empty()) << GetParam();
    return false;
  }
  // The greatest error of an angle that should be `closed(t)`.
  template <class Closed>
  double angle_error(const char* signal, Closed&& closed) const {
    const std::vector<double> t = run_.trajectory.time(0), angle = run_.trajectory.column(signal);
    double most = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
      const double error = std::abs(angle[i] - closed(t[i]));
      if (!(error <= most)) most = error;
    }
    return most;
  }
  template <class Closed>
  double orientation_error(const std::string& body, Closed&& closed) const {
    const std::vector<double> t = run_.trajectory.time(0);
    std::array<std::vector<double>, 4> parts;
    for (std::size_t k = 0; k < 4; ++k) parts[k] = run_.trajectory.column("body." + body + ".orientation." + "wxyz"[k]);
    double most = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
      const Quat is(parts[0][i], parts[1][i], parts[2][i], parts[3][i]);
      const double error = rotation_log(Quat(closed(t[i])).conjugate() * is).norm();
      if (!(error <= most)) most = error;
    }
    return most;
  }
  // The tolerance is that of a step; a hundred steps and the amplification by the formulation are granted.
  static double promised(double tolerance) { return 300 * tolerance; }

  CellRun run_;
};

Quat about_z(double angle) { return Quat(Eigen::AngleAxisd(angle, Vec3::UnitZ())); }

// A rotor in a bearing. If it remembers, its torque has a part that looks at the angle and is zero if that is right.
Model rotor(bool remembers, double speed, const std::string& torque, const std::string& angle,
            const std::string& settings) {
  return read_model_text(
      "trammel: 1\n"
      "bodies: {w: {mass: 1, inertia: [0.1, 0.1, 0.1], angular_velocity: [0, 0, " +
          std::to_string(speed) +
          "]}}\n"
          "joints: {j: {type: revolute, between: [ground, w], at: [0, 0, 0], axis: [0, 0, 1]}}\n"
          "forces: {m: {type: torque, joint: j, tz: \"" +
          torque + (remembers ? " + 0.02*(" + angle + " - angle(j))" : "") +
          "\"}}\n"
          "simulation: {" +
          settings +
          "}\n"
          "outputs: {angle: {expression: angle(j), unit: rad}}\n",
      "rotor.yaml");
}

// Tens of turns, many in a step where the method can.
TEST_P(RuleFastRotation, UnsteadyRotorIsCounted) {
  const auto closed = [](double t) { return 60 * t + 0.2 * (1 - std::cos(5 * t)); };
  for (const bool remembers : {false, true}) {
    for (const char* grid : {"output_step: 0.001, ", "output_step: 0.25, ", ""}) {
      if (!finished(rotor(remembers, 60, "0.5*cos(5*time)", "60*time + 0.2*(1 - cos(5*time))",
                          grid + std::string("end: 0.5, tolerance: 1e-4"))))
        return;
      EXPECT_LT(angle_error("angle", closed), promised(1e-4)) << grid;
      EXPECT_LT(angle_error("joint.j.angle", closed), promised(1e-4)) << grid;
      EXPECT_LT(orientation_error("w", [&](double t) { return about_z(closed(t)); }), promised(1e-4)) << grid;
    }
  }
}

// At constant speed every method is exact, whatever the step: half a turn and more, one turn, several.
TEST_P(RuleFastRotation, SteadyRotorTurnsAnyNumberOfTimesInAStep) {
  const double speed = std::stod(std::to_string(20 * std::numbers::pi));
  const auto closed = [&](double t) { return speed * t; };
  for (const bool remembers : {false, true}) {
    for (const char* step : {"0.03", "0.05", "0.07", "0.1", "0.15", "0.23"}) {
      if (!finished(rotor(remembers, speed, "0", std::to_string(speed) + "*time",
                          std::string("end: 2.5, output_step: 0.011, step: ") + step)))
        continue;
      EXPECT_LT(angle_error("angle", closed), 1e-6) << step;
      EXPECT_LT(angle_error("joint.j.angle", closed), 1e-6) << step;
      EXPECT_LT(orientation_error("w", [&](double t) { return about_z(closed(t)); }), 1e-6) << step;
    }
  }
}

// From rest to 100 rad/s. Errors of first order add up in one direction here: beside what is promised to all, a step
// may be off by twice its tolerance. Errors fall with the power order / error_order of the tolerance.
TEST_P(RuleFastRotation, SpinUpIsCounted) {
  const auto closed = [](double t) { return 50 * t * t; };
  const MethodInfo& method = find_method(GetParam().method, {});
  const double power = method.variable_order ? 1 : static_cast<double>(method.order) / method.error_order;
  for (const bool remembers : {false, true}) {
    for (const char* grid : {"output_step: 0.01, ", ""}) {
      for (const bool fine : {false, true}) {
        const std::string text = grid + std::string("end: 1, tolerance: ") + (fine ? "1e-6" : "1e-4");
        if (!finished(rotor(remembers, 0, "10", "50*time^2", text))) return;
        const double bound = promised(1e-4) * (fine ? std::pow(1e-2, power) : 1) +
                             2 * (fine ? 1e-6 : 1e-4) * static_cast<double>(run_.result.summary.steps);
        EXPECT_LT(angle_error("angle", closed), bound) << text;
        EXPECT_LT(angle_error("joint.j.angle", closed), bound) << text;
        EXPECT_LT(orientation_error("w", [&](double t) { return about_z(closed(t)); }), bound) << text;
      }
    }
  }
}

// A free symmetric body, A = A, C: with L its angular momentum, R = exp(t L/A) R0 exp(t (1 - C/A) w3 e3).
TEST_P(RuleFastRotation, FreeTopTumbles) {
  const double A = 0.1, C = 0.15;
  const Vec3 w(0.5, 0, 60), precession(w.x(), w.y(), C / A * w.z());
  const auto closed = [&](double t) {
    return Quat(rotation_exp(t * precession) * rotation_exp(Vec3(0, 0, t * (1 - C / A) * w.z())));
  };
  for (const char* grid : {"output_step: 0.001, ", ""}) {
    const std::string text =
        "trammel: 1\n"
        "bodies: {w: {mass: 1, inertia: [0.1, 0.1, 0.15], angular_velocity: [0.5, 0, 60]}}\n"
        "simulation: {end: 0.3, tolerance: 1e-4, " +
        std::string(grid) + "}\n";
    if (!finished(read_model_text(text, "top.yaml"))) return;
    EXPECT_LT(orientation_error("w", closed), promised(1e-4)) << grid;
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, RuleFastRotation, testing::ValuesIn(cells_to_try()), name_of_cell);

}  // namespace
}  // namespace trammel::rule_fast_rotation_test
