// Energy that nothing explains: the warning says where it arose, and steps that bring more than the mechanism holds are
// refused; steps that are merely hard are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trammel/base/messages.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::energy_test {
namespace {

using testing::HasSubstr;

RunResult run(const std::string& text, std::vector<std::string>* notes = nullptr) {
  Simulation simulation(read_model_text(text, "test.yaml"));
  MemoryTrajectory sink;
  RunOptions options;
  if (notes != nullptr) options.note = [notes](const std::string& note) { notes->push_back(note); };
  return simulation.run(sink, options);
}

std::string energy_warning(const RunResult& result) {
  for (const Problem& warning : result.warnings)
    if (warning.id == "energy-imbalance") return warning.message;
  return "";
}

// A mass slides without a force until a spring of 1 ms period meets it at 0.5 s, and the fixed step is 4 ms.
constexpr const char* stiff_spring = R"yaml(trammel: 1
bodies: {a: {kind: point, mass: 1, position: [-0.5, 0, 0], velocity: [1, 0, 0]}}
forces:
  breeze: {type: force, between: [ground, a], at: [-0.5, 0, 0], fx: "-0.01"}
  wall: {type: force, between: [ground, a], at: [-0.5, 0, 0], fx: "-4e5*max(0, dx(a))"}
simulation: {end: 0.52, method: heun, formulation: state-space, step: 4e-3}
)yaml";

TEST(Energy, TheWarningSaysWhenAndWhere) {
  std::vector<std::string> notes;
  const RunResult result = run(stiff_spring, &notes);
  const std::string text = energy_warning(result);
  EXPECT_THAT(text, HasSubstr("force 'wall'"));
  EXPECT_THAT(text, HasSubstr("since t = 0.5"));
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("energy-imbalance") != std::string::npos;
  })) << "told when it arises";
}

// A stiff damper that rings from step to step is booked more heat than there is, and the run goes on.
TEST(Energy, HeatOfARingingDamperIsNoReason) {
  for (const char* method : {"split, options: {beta: 0.5}", "theta, options: {theta: 0.5}"}) {
    const RunResult result = run(std::string(R"yaml(trammel: 1
bodies:
  first: {kind: point, mass: 1, position: [1, 0, 0], velocity: [1, 0, 0]}
  second: {kind: point, mass: 1, position: [1, 0, 0], velocity: [3, 0, 0]}
forces:
  weak: {type: bushing, frames: [ground, first], stiffness: [1, 0, 0]}
  stiff: {type: bushing, frames: [first, second], part: implicit, stiffness: [1e3, 0, 0], damping: [100, 0, 0]}
simulation: {end: 20, length: 1, step: 1, method: )yaml") +
                                 method + "}\n");
    EXPECT_EQ(result.status, RunStatus::finished) << method;
    EXPECT_GT(result.summary.energy.dissipated, 2 * result.summary.energy.first) << "else it does not ring";
  }
}

TEST(Energy, NoStepPassesThePoleOfATorque) {
  const RunResult result = run(R"yaml(trammel: 1
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 0, 0]}}
joints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}
forces: {drive: {type: torque, joint: j, tz: "exp(100*rate)"}}
simulation: {end: 1}
)yaml");
  ASSERT_EQ(result.status, RunStatus::failed);
  EXPECT_EQ(result.failure->part, "force 'drive'") << to_text(*result.failure);
  EXPECT_LT(result.summary.reached, 0.01);
  for (const Cause& cause : result.failure->causes) EXPECT_NE(find_message(cause.id), nullptr) << cause.id;
}

// Much energy in a short time, and all of it explained: nothing is refused.
class HardStart : public testing::TestWithParam<const char*> {};

TEST_P(HardStart, IsNoReason) {
  const RunResult result = run(GetParam());
  EXPECT_EQ(result.status, RunStatus::finished) << (result.failure ? to_text(*result.failure) : "");
  EXPECT_EQ(result.summary.rejected_energy, 0);
  EXPECT_EQ(energy_warning(result), "");
}

constexpr const char* large_force = R"yaml(trammel: 1
bodies: {a: {kind: point, mass: 1}}
forces: {push: {type: force, between: [ground, a], at: [0, 0, 0], fx: "1e6"}}
simulation: {end: 1}
)yaml";
constexpr const char* shot_from_a_spring = R"yaml(trammel: 1
bodies: {a: {kind: point, mass: 0.01, position: [0.1, 0, 0]}}
forces: {shot: {type: translational_spring_damper, frames: [ground, a], stiffness: 1e6, free_length: 0.2}}
simulation: {end: 0.01}
)yaml";
constexpr const char* driven_from_rest = R"yaml(trammel: 1
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}}
joints: {j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}
motions: {m: {type: rotation, joint: j, angle: "step(time, 0.1, 0, 0.2, 10)"}}
simulation: {end: 0.3}
)yaml";
constexpr const char* dropped_on_a_hard_floor = R"yaml(trammel: 1
gravity: [0, 0, -9.81]
bodies: {a: {kind: point, mass: 1, position: [0, 0, 1]}}
forces: {floor: {type: force, between: [ground, a], at: [0, 0, 1], fz: "impact(dz(a), vz(a), 0, 1e7, 1.5, 100, 1e-4)"}}
simulation: {end: 1}
)yaml";
INSTANTIATE_TEST_SUITE_P(Energy, HardStart,
                         testing::Values(large_force, shot_from_a_spring, driven_from_rest, dropped_on_a_hard_floor));

}  // namespace
}  // namespace trammel::energy_test
