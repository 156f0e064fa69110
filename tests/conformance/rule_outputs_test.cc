// What is recorded between the steps is as good as what is recorded at their ends: positions, velocities,
// accelerations, forces and reactions, in every cell, on a smooth mechanism and on one with a stiff
// bushing that follows its slow motion.
//
// Errors are measured against radau-iia-3 with small fixed steps, recorded at their ends; both references have errors
// below a thousandth of the smallest that is judged (`RuleOutputsReference`).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "tests/conformance/cells.h"
#include "trammel/integrate/registry.h"
#include "trammel/read/read_model.h"
#include "trammel/run/load_model.h"

namespace trammel::rule_outputs_test {
namespace {

// Two spatial links, the second held by a soft spring and damper.
constexpr const char* smooth = R"yaml(trammel: 1
gravity: [0, 0, -9.81]
bodies:
  upper: {mass: 2, inertia: [0.05, 0.06, 0.02], position: [0.3, 0, 0], velocity: [0, 0.45, 0], angular_velocity: [0, 0, 1.5]}
  lower: {mass: 1, inertia: [0.02, 0.03, 0.01], position: [0.6, 0, -0.25], velocity: [0, 0.9, 0], angular_velocity: [0, 0, 1.5]}
joints:
  hinge: {type: universal, between: [ground, upper], at: [0, 0, 0], axis: [0, 0, 1], axis_b: [0, 1, 0]}
  ball: {type: spherical, between: [upper, lower], at: [0.6, 0, 0]}
forces:
  spring:
    type: translational_spring_damper
    between: [ground, lower]
    at: [[0.6, 0.8, -1.5], [0.6, 0, -0.5]]
    stiffness: 40
    damping: 2
    free_length: 1
simulation: {end: 0.8}
)yaml";

// A swing with an arm on it that a ball joint and a stiff bushing hold, as in a suspension: eigenvalues down to -2e4
// 1/s, on which nothing moves. A torque sets the swing in motion, smoothly.
constexpr const char* stiff = R"yaml(trammel: 1
gravity: [0, 0, -9.81]
bodies:
  swing: {mass: 10, inertia: [0.4, 0.5, 0.3], position: [0, 0, -0.5]}
  arm: {mass: 1, inertia: [0.02, 0.03, 0.03], position: [0.15, 0, -0.8]}
joints:
  hinge: {type: revolute, between: [ground, swing], at: [0, 0, 0], axis: [0, 1, 0]}
  ball: {type: spherical, between: [swing, arm], at: [0, 0, -0.8]}
forces:
  bushing:
    type: bushing
    between: [swing, arm]
    at: [0.3, 0, -0.8]
    stiffness: [4e6, 4e6, 4e6]
    damping: [1.2e4, 1.2e4, 1.2e4]
    angular_stiffness: [400, 400, 400]
    angular_damping: [3, 3, 3]
  drive: {type: torque, joint: hinge, axes: world, ty: "400*time^2*cos(8*time)"}
initial: {equilibrium: true}
simulation: {end: 0.5}
)yaml";

struct Case {
  const char* text;
  double end, reference_step, tolerance, step, output_step;
};
constexpr Case smooth_case{smooth, 0.8, 1e-3, 1e-5, 2e-3, 0.8 / 977};
constexpr Case stiff_case{stiff, 0.5, 5e-4, 1e-4, 5e-5, 0.5 / 977};

MemoryTrajectory make_reference(const Case& c, double step) {
  Model model = read_model_text(c.text, "reference.yaml");
  model.simulation.step = step;
  CellRun run = run_cell({"radau-iia-3", "state-space"}, std::move(model));
  EXPECT_EQ(run.result.status, RunStatus::finished);
  return std::move(run.trajectory);
}

const MemoryTrajectory& reference_of(const Case& c) {
  static std::map<const char*, MemoryTrajectory> made;
  if (made.count(c.text) == 0) made.emplace(c.text, make_reference(c, c.reference_step));
  return made.at(c.text);
}

// Six neighbouring rows of the reference as a polynomial in time.
double reference_at(const MemoryTrajectory& reference, std::size_t column, double step, double t) {
  const long last = static_cast<long>(reference.rows(0)) - 6;
  const long first = std::clamp(static_cast<long>(std::floor(t / step)) - 2, 0L, last);
  double sum = 0;
  for (long i = first; i < first + 6; ++i) {
    double weight = 1;
    for (long j = first; j < first + 6; ++j)
      if (j != i) weight *= (t / step - static_cast<double>(j)) / static_cast<double>(i - j);
    sum += weight * reference.value({0, column}, static_cast<std::size_t>(i));
  }
  return sum;
}

bool judged(const Signal& signal) {
  return signal.name != "time" && !signal.flagged && signal.name.rfind("energy.", 0) != 0 &&
         signal.name.rfind("residual.", 0) != 0;
}

// Largest errors of each signal of a run.
std::vector<double> errors_of(const MemoryTrajectory& run, const Case& c) {
  const MemoryTrajectory& reference = reference_of(c);
  const std::vector<Signal>& signals = run.tables()[0].signals;
  std::vector<double> errors(signals.size(), 0);
  for (std::size_t row = 0; row < run.rows(0); ++row) {
    const double t = run.value({0, 0}, row);
    for (std::size_t column = 0; column < signals.size(); ++column) {
      if (!judged(signals[column])) continue;
      const double error = std::abs(run.value({0, column}, row) - reference_at(reference, column, c.reference_step, t));
      errors[column] = std::max(errors[column], error);
    }
  }
  return errors;
}

const char* kind_of(const Signal& signal) {
  const std::string& unit = signal.unit;
  if (unit == "N" || unit == "N m") return signal.name.rfind("force.", 0) == 0 ? "forces" : "reactions";
  return unit == "m/s^2" || unit == "rad/s^2" ? "accelerations"
         : unit == "m/s" || unit == "rad/s"   ? "velocities"
                                              : "positions";
}

// The largest of some values among the signals of each kind; angles count as lengths of 1 m. What is zero by symmetry
// is not judged by its own size.
std::map<std::string, double> by_kind(const std::vector<Signal>& signals, const std::vector<double>& values) {
  std::map<std::string, double> out;
  for (std::size_t column = 1; column < signals.size(); ++column) {
    if (!judged(signals[column])) continue;
    double& most = out[kind_of(signals[column])];
    most = std::max(most, values[column]);
  }
  return out;
}

std::map<std::string, double> ranges_of(const Case& c) {
  const MemoryTrajectory& reference = reference_of(c);
  std::vector<double> ranges;
  for (std::size_t column = 0; column < reference.tables()[0].signals.size(); ++column) {
    const std::vector<double> values = reference.column(SignalRef{0, column});
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    ranges.push_back(*most - *least);
  }
  return by_kind(reference.tables()[0].signals, ranges);
}

// Cells that do not reach the rule yet, with the largest ratio of their errors as measured: none may become worse.
double allowed_ratio(const Cell& cell, const std::string& mechanism) {
  std::ifstream file(std::string(TRAMMEL_SOURCE_DIR) + "/tests/conformance/outputs_not_reached.txt");
  std::string method, formulation, name;
  for (double ratio = 0; file >> name >> method >> formulation >> ratio;) {
    if (name == mechanism && method == cell.method && formulation == cell.formulation) return 1.2 * ratio;
  }
  return 3;
}

class RuleOutputs : public testing::TestWithParam<Cell> {
 protected:
  // Between the steps at most three times as far off as at their ends. TRAMMEL_SHOW=1 prints the ratios.
  void judge(const Case& c, const char* name) {
    const auto run_with = [&](bool at_ends) {
      Model model = read_model_text(c.text, "outputs.yaml");
      if (!at_ends) model.simulation.output_step = c.output_step;
      MethodSettings settings;
      settings.tolerance = c.tolerance;
      const MethodInfo& info = find_method(GetParam().method, {});
      try {
        settings.formulation = GetParam().formulation;
        resolve_settings(info, settings, {});
        model.simulation.tolerance = c.tolerance;
      } catch (const Failure&) {  // it takes fixed steps only
        model.simulation.step = info.stiff ? 20 * c.step : c.step;
      }
      return run_cell(GetParam(), std::move(model));
    };
    const CellRun ends = run_with(true), between = run_with(false);
    if (ends.result.status != RunStatus::finished) GTEST_SKIP() << "refuses or fails, and says so";
    ASSERT_EQ(between.result.status, RunStatus::finished);
    ASSERT_EQ(between.result.summary.steps, ends.result.summary.steps) << "outputs must not change the steps";
    const MethodInfo& method = find_method(GetParam().method, {});  // others may interpolate, by evaluations of the run
    if (method.stiff && method.steps_to_outputs && between.result.summary.outputs_interpolated == 0) {
      EXPECT_EQ(between.result.summary.counts.evaluations, ends.result.summary.counts.evaluations)
          << "steps to outputs must not be counted as steps of the run";
    }
    const std::vector<double> at_ends = errors_of(ends.trajectory, c), inside = errors_of(between.trajectory, c);
    const std::vector<Signal>& signals = ends.trajectory.tables()[0].signals;
    const double most = allowed_ratio(GetParam(), name);
    double worst = 0;
    std::string table;
    for (const auto& [kind, range] : ranges_of(c)) {
      const double end = std::max(by_kind(signals, at_ends)[kind], 1e-7 * range),
                   ratio = by_kind(signals, inside)[kind] / end;
      EXPECT_LE(ratio, most) << "largest error between steps by that at their ends, " << end << " " << kind;
      worst = std::max(worst, ratio);
      char text[80];
      std::snprintf(text, sizeof text, " | %s %.2g", kind.c_str(), ratio);
      table += text;
    }
    if (std::getenv("TRAMMEL_SHOW") != nullptr)
      std::printf("%s %s %s %.2g%s\n", name, GetParam().method.c_str(), GetParam().formulation.c_str(), worst,
                  table.c_str());
  }
};

TEST_P(RuleOutputs, AreAsGoodAsStepsWhereAllIsSmooth) { judge(smooth_case, "smooth"); }
TEST_P(RuleOutputs, AreAsGoodAsStepsInStiffParts) { judge(stiff_case, "stiff"); }

INSTANTIATE_TEST_SUITE_P(Cells, RuleOutputs, testing::ValuesIn(cells_to_try()), name_of_cell);

// Bushings with an eigenvalue of -2.6e5 1/s, steps up to 0.04 s: between them forces and accelerations stay in the
// range that they have at their ends.
TEST(RuleOutputsVehicle, RecordsWhatStiffBushingsDo) {
  const auto run = [](bool at_ends) {
    Model model = load_model(std::string(TRAMMEL_SOURCE_DIR) + "/models/hmmwv_bump.yaml");
    if (at_ends) model.simulation.output_step.reset();
    CellRun out;
    Simulation simulation(std::move(model));
    out.result = simulation.run(out.trajectory);
    return out;
  };
  const CellRun ends = run(true), between = run(false);
  ASSERT_EQ(between.result.summary.steps, ends.result.summary.steps);
  std::vector<SignalRef> signals = ends.trajectory.match("force.*.bushing.f?");
  for (const SignalRef& more : ends.trajectory.match("body.*.acceleration.?")) signals.push_back(more);
  for (const SignalRef& signal : signals) {
    const std::vector<double> known = ends.trajectory.column(signal), recorded = between.trajectory.column(signal);
    const auto [least, most] = std::minmax_element(known.begin(), known.end());
    const double room = 0.2 * (*most - *least) + 1;
    EXPECT_GT(*std::min_element(recorded.begin(), recorded.end()), *least - room)
        << ends.trajectory.signal(signal).name;
    EXPECT_LT(*std::max_element(recorded.begin(), recorded.end()), *most + room) << ends.trajectory.signal(signal).name;
  }
}

TEST(RuleOutputsReference, IsGoodEnough) {
  for (const Case& c : {smooth_case, stiff_case}) {
    const MemoryTrajectory finer = make_reference(c, 0.5 * c.reference_step);
    const std::vector<Signal>& signals = finer.tables()[0].signals;
    std::vector<double> differences(signals.size(), 0);
    for (std::size_t column = 1; column < signals.size(); ++column) {
      for (std::size_t row = 0; row < reference_of(c).rows(0); ++row)
        differences[column] = std::max(
            differences[column], std::abs(finer.value({0, column}, 2 * row) - reference_of(c).value({0, column}, row)));
    }
    const std::map<std::string, double> worst = by_kind(signals, differences);
    for (const auto& [kind, range] : ranges_of(c)) EXPECT_LE(worst.at(kind), 1e-8 * range) << kind;
  }
}

}  // namespace
}  // namespace trammel::rule_outputs_test
