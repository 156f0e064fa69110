// Rule: in the state-space form of vehicles that roll without slipping, the coordinates chosen determine the others
// well at every instant, for positions and for velocities: errors are those of the tolerance, whichever way the wheels
// have turned.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/cells.h"
#include "trammel/integrate/registry.h"
#include "trammel/read/read_model.h"

namespace trammel::rule_rolling_partition_test {
namespace {

// With an upright steering head, held by a weak spring.
constexpr const char* scooter = R"yaml(trammel: 1
parameters: {v: 3, r: 0.12, a: 0.8}
gravity: [0, 0, -9.81]
bodies:
  deck: {mass: 30, inertia: [3, 4, 2], position: [0.35, 0, 0.5], velocity: [v, 0, 0]}
  fork: {mass: 2, inertia: [0.1, 0.1, 0.02], position: [a, 0, 0.4], velocity: [v, 0, 0]}
  rear: {mass: 1, inertia: [0.004, 0.008, 0.004], position: [0, 0, r], velocity: [v, 0, 0], angular_velocity: [0, v/r, 0]}
  front: {mass: 1, inertia: [0.004, 0.008, 0.004], position: [a, 0, r], velocity: [v, 0, 0], angular_velocity: [0, v/r, 0]}
joints:
  rear_hub: {type: revolute, between: [deck, rear], at: [0, 0, r], axis: [0, 1, 0]}
  front_hub: {type: revolute, between: [fork, front], at: [a, 0, r], axis: [0, 1, 0]}
  steer: {type: revolute, between: [deck, fork], at: [a, 0, 0.6], axis: [0, 0, 1]}
  roll_rear: {type: rolling_disc, between: [ground, rear], at: [[0, 0, 0], [0, 0, r]], axis: [0, 0, 1], axis_b: [0, 1, 0], radius: r}
  roll_front: {type: rolling_disc, between: [ground, front], at: [[0, 0, 0], [a, 0, r]], axis: [0, 0, 1], axis_b: [0, 1, 0], radius: r}
frames:
  left: {body: deck, position: [0, 1, 0]}
forces:
  helm: {type: torque, joint: steer, tz: "-20*angle(steer) - 2*rate(steer) + 0.5*sin(3*time) - 60*(dz(left) - dz(deck))"}
  upright: {type: torque, frames: [ground, deck], axes: world, tx: "-400*(dz(left) - dz(deck))"}
simulation: {end: 0.6, output_step: 0.1}
outputs:
  x: {expression: dx(deck), unit: m}
  y: {expression: dy(deck), unit: m}
)yaml";

// With a steered wheel and a trailing one.
constexpr const char* cart = R"yaml(trammel: 1
parameters: {v: 2, r: 0.1, a: 0.9}
gravity: [0, 0, -9.81]
bodies:
  deck: {mass: 20, inertia: [2, 3, 3], position: [0.4, 0, 0.4], velocity: [v, 0, 0]}
  fork: {mass: 2, inertia: [0.05, 0.05, 0.02], position: [a, 0, 0.3], velocity: [v, 0, 0]}
  arm: {mass: 1.5, inertia: [0.03, 0.03, 0.02], position: [-0.1, 0, 0.25], velocity: [v, 0, 0]}
  front: {mass: 1, inertia: [0.003, 0.005, 0.003], position: [a, 0, r], velocity: [v, 0, 0], angular_velocity: [0, v/r, 0]}
  rear: {mass: 1, inertia: [0.003, 0.005, 0.003], position: [-0.2, 0, r], velocity: [v, 0, 0], angular_velocity: [0, v/r, 0]}
joints:
  steer: {type: revolute, between: [deck, fork], at: [a, 0, 0.4], axis: [0, 0, 1]}
  castor: {type: revolute, between: [deck, arm], at: [0, 0, 0.4], axis: [0, 0, 1]}
  front_axle: {type: revolute, between: [fork, front], at: [a, 0, r], axis: [0, 1, 0]}
  rear_axle: {type: revolute, between: [arm, rear], at: [-0.2, 0, r], axis: [0, 1, 0]}
  roll_front: {type: rolling_disc, between: [ground, front], at: [[0, 0, 0], [a, 0, r]], axis: [0, 0, 1], axis_b: [0, 1, 0], radius: r}
  roll_rear: {type: rolling_disc, between: [ground, rear], at: [[0, 0, 0], [-0.2, 0, r]], axis: [0, 0, 1], axis_b: [0, 1, 0], radius: r}
frames:
  left: {body: deck, position: [0, 1, 0]}
forces:
  helm: {type: torque, joint: steer, tz: "-20*angle(steer) - 2*rate(steer) + 3*sin(2*time)"}
  upright: {type: torque, frames: [ground, deck], axes: world, tx: "-300*(dz(left) - dz(deck)) - 30*wx(deck)"}
simulation: {end: 0.6, output_step: 0.1}
outputs:
  x: {expression: dx(deck), unit: m}
  y: {expression: dy(deck), unit: m}
)yaml";

std::vector<Cell> state_space_cells() {
  std::vector<Cell> cells = cells_to_try();
  std::erase_if(cells, [](const Cell& cell) { return cell.formulation != "state-space"; });
  return cells;
}

const MemoryTrajectory& reference(const char* text) {
  static std::map<std::string, MemoryTrajectory> made;
  const auto found = made.find(text);
  if (found != made.end()) return found->second;
  Model model = read_model_text(text, "test.yaml");
  model.simulation.tolerance = 1e-11;
  return made.emplace(text, run_cell({"dormand-prince-853", "index-1-projected"}, std::move(model)).trajectory)
      .first->second;
}

// Of the track, m; nothing where the method refuses.
std::optional<double> error(const Cell& cell, const char* text, double tolerance) {
  Model model = read_model_text(text, "test.yaml");
  model.simulation.tolerance = tolerance;
  std::optional<CellRun> run;
  try {
    run = run_cell(cell, std::move(model));
  } catch (const Failure& failure) {
    EXPECT_FALSE(failure.problems().empty());
    return std::nullopt;
  }
  EXPECT_EQ(run->result.status, RunStatus::finished);
  double most = 0;
  for (const char* name : {"x", "y"}) {
    const std::vector<double> ours = run->trajectory.column(name), theirs = reference(text).column(name);
    EXPECT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
      most = std::max(most, std::abs(ours[i] - theirs[i]));
  }
  return most;
}

class RuleRollingPartition : public testing::TestWithParam<Cell> {};

TEST_P(RuleRollingPartition, ErrorsAreThoseOfTheTolerance) {
  // Methods of low order need too many steps for small tolerances; at 1e-3 the damper of the steering bounds those of
  // explicit ones.
  const double fine = find_method(GetParam().method, {}).order > 2 ? 1e-7 : 1e-6, coarse = 100 * fine;
  for (const char* text : {scooter, cart}) {
    const std::optional<double> second = error(GetParam(), text, fine);
    if (!second) continue;
    EXPECT_LT(*second, std::max(fine, 0.3 * *error(GetParam(), text, coarse)));
    if (*second <= 10 * fine) continue;
    EXPECT_LT(*second, 10 * *error({GetParam().method, "index-1-projected"}, text, fine));
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, RuleRollingPartition, testing::ValuesIn(state_space_cells()), name_of_cell);

}  // namespace
}  // namespace trammel::rule_rolling_partition_test
