// Modes of elements: sticking friction and clutches against closed solutions, in every family of methods and every
// formulation.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <optional>

#include "trammel/base/literal.h"
#include "trammel/couple/model_participant.h"
#include "trammel/rank/mechanism.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::modes_test {
namespace {

constexpr double pi = std::numbers::pi;

Model model_of(const std::string& text) { return read_model_text("trammel: 1\n" + text, "modes.yaml"); }

struct Outcome {
  MemoryTrajectory trajectory;
  RunResult result;
  std::vector<double> times() const { return trajectory.time(2); }
  // When an element came into a mode.
  std::vector<double> times_of(int mode) const {
    std::vector<double> out;
    const std::vector<double> t = times(), modes = trajectory.column("event.mode");
    for (std::size_t i = 0; i < t.size(); ++i)
      if (modes[i] == mode) out.push_back(t[i]);
    return out;
  }
  double last(const char* name) const { return trajectory.column(name).back(); }
  std::string why() const { return result.failure ? result.failure->what : ""; }
};

struct Way {
  std::string method, formulation{};
  double tolerance = 1e-11;
  std::optional<double> step{};
};

Outcome run(const std::string& text, const Way& way) {
  Model model = model_of(text);
  model.simulation.method = way.method;
  model.simulation.formulation = way.formulation;
  model.simulation.tolerance = way.tolerance;
  model.simulation.step = way.step;
  Outcome out;
  Simulation simulation(std::move(model));
  out.result = simulation.run(out.trajectory);
  return out;
}

// Two shafts of 0.4 and 0.6 kg m^2 at 100 and 0 rad/s, a clutch of 60 N m: they meet after 0.4 s at 40 rad/s, and
// 0.24 100^2/2 = 1200 J have become heat.
std::string shafts(const std::string& capacity, const std::string& rest) {
  return "bodies: {engine: {kind: planar, mass: 5, inertia: 0.4, angular_velocity: 100},\n"
         "         load: {kind: planar, mass: 5, inertia: 0.6}}\n"
         "joints: {front: {type: revolute, between: [ground, engine], at: [0, 0, 0]},\n"
         "         rear: {type: revolute, between: [ground, load], at: [0, 0, 0]}}\n"
         "forces: {clutch: {type: clutch, frames: [engine, load], capacity: \"" +
         capacity + "\"}}\n" + rest;
}

const char* const speeds = "outputs: {first: \"wz(engine)\", second: \"wz(load)\"}\n";

// A block of 1 kg on a belt at 0.2 m/s and a spring of 100 N/m.
const std::string belt =
    "bodies: {belt: {mass: 1, inertia: [0.1, 0.1, 0.1], velocity: [0.2, 0, 0]},\n"
    "         block: {mass: 1, inertia: [0.1, 0.1, 0.1], velocity: [0.2, 0, 0]}}\n"
    "frames: {wall: {body: ground, position: [-1, 0, 0]}}\n"
    "joints: {rollers: {type: translational, between: [ground, belt], at: [0, 0, 0], axis: [1, 0, 0]},\n"
    "         rail: {type: translational, between: [belt, block], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
    "motions: {drive: {type: translation, joint: rollers, displacement: 0.2*time}}\n"
    "forces: {spring: {type: translational_spring_damper, frames: [wall, block], stiffness: 100, free_length: 1},\n"
    "         pad: {type: stick_slip_friction, joint: rail, motion: translation, load: 9.81, static_coefficient: 0.5,\n"
    "               kinetic_coefficient: 0.3}}\n";

// A = 0.2 g/k from the balance of spring and kinetic friction to where the block breaks away.
constexpr double amplitude = 0.2 * 9.81 / 100, frequency = 10, belt_speed = 0.2;
const double slip_time = 2 / frequency * (pi - std::atan(amplitude * frequency / belt_speed)),
             period = 2 * amplitude / belt_speed + slip_time, first_slip = 0.5 * 9.81 / 100 / belt_speed;

std::string name_of(const Way& way) {
  std::string name = way.method + (way.formulation.empty() ? "" : "_" + way.formulation);
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

class ModesByMethod : public testing::TestWithParam<Way> {};

TEST_P(ModesByMethod, AClutchLocksWhenAndAtWhatItMust) {
  const Outcome r = run(shafts("60", std::string(speeds) + "simulation: {end: 1, length: 1}\n"), GetParam());
  ASSERT_EQ(r.result.status, RunStatus::finished) << r.why();
  ASSERT_EQ(r.times().size(), 1U);
  EXPECT_EQ(r.trajectory.column("event.mode")[0], 1);
  EXPECT_NEAR(r.times()[0], 0.4, 1e-9);
  EXPECT_NEAR(r.last("first"), 40, 1e-7);
  EXPECT_NEAR(r.last("second"), 40, 1e-7);
  EXPECT_NEAR(r.result.summary.energy.dissipated, 1200, 1e-6);
  EXPECT_LT(r.result.summary.energy.largest_imbalance, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, ModesByMethod,
    testing::Values(Way{"hht-i3", ""}, Way{"generalized-alpha-i3", ""}, Way{"newmark-i3", ""}, Way{"hht-si2", ""},
                    Way{"generalized-alpha-si2", ""}, Way{"bdf-i3", ""}, Way{"bdf-si2", ""},
                    Way{"radau-iia-3", "index-3"}, Way{"radau-iia-3", "stabilised-index-2"},
                    Way{"radau-iia-3", "state-space"}, Way{"rosenbrock-nystrom-4", "all-coordinates"},
                    Way{"rosenbrock-nystrom-4", "state-space"}, Way{"w-method-2", "all-coordinates", 1e-8},
                    Way{"dormand-prince-54", "state-space"}, Way{"dormand-prince-853", "index-1-projected"},
                    Way{"dormand-prince-853", "index-1"}, Way{"dormand-prince-853", "index-1-baumgarte"},
                    Way{"dormand-prince-853", "augmented-lagrangian"}, Way{"adams", ""}, Way{"bdf", ""},
                    Way{"sdirk-4", ""}, Way{"gauss", ""}, Way{"hht", ""}, Way{"cvode-bdf", ""},
                    Way{"split", "penalty-joints", 1e-8}, Way{"split", "index-2-relaxed", 1e-8},
                    Way{"dormand-prince-853", "penalty"}, Way{"cvode-bdf", "penalty-joints"}),
    [](const auto& tested) { return name_of(tested.param); });

class ModesHighOrder : public testing::TestWithParam<Way> {};

// The period between two moments of sticking, 1e-9 of it.
TEST_P(ModesHighOrder, StickSlipKeepsItsPeriod) {
  const Outcome r = run(belt + "simulation: {end: 2, length: 1}\n", GetParam());
  ASSERT_EQ(r.result.status, RunStatus::finished) << r.why();
  const std::vector<double> sticks = r.times_of(1), slides = r.times_of(3);
  ASSERT_GE(sticks.size(), 2U);
  ASSERT_GE(slides.size(), 2U);
  EXPECT_NEAR(slides[0], first_slip, 1e-9);
  EXPECT_NEAR(sticks[0] - slides[0], slip_time, 1e-9 * period);
  EXPECT_NEAR(sticks[1] - sticks[0], period, 1e-9 * period);
  EXPECT_NEAR(slides[1] - slides[0], period, 1e-9 * period);
  EXPECT_LT(r.result.summary.energy.largest_imbalance, 1e-6);
}
INSTANTIATE_TEST_SUITE_P(Modes, ModesHighOrder,
                         testing::Values(Way{"radau-iia-3", "index-3", 1e-12}, Way{"radau-iia-3", "state-space", 1e-12},
                                         Way{"dormand-prince-54", "", 1e-12},
                                         Way{"dormand-prince-853", "index-1-projected", 1e-12}, Way{"adams", "", 1e-12},
                                         Way{"gauss", "", 1e-12}, Way{"rosenbrock-nystrom-4", "state-space", 1e-12},
                                         Way{"rosenbrock-nystrom-4", "all-coordinates", 1e-12}),
                         [](const auto& tested) { return name_of(tested.param); });

class ModesLowOrder : public testing::TestWithParam<Way> {};

TEST_P(ModesLowOrder, StickSlipComesNearItsPeriod) {
  const Outcome r = run(belt + "simulation: {end: 1.5, length: 1}\n", GetParam());
  ASSERT_EQ(r.result.status, RunStatus::finished) << r.why();
  const std::vector<double> sticks = r.times_of(1), slides = r.times_of(3);
  ASSERT_EQ(sticks.size(), 2U);
  ASSERT_EQ(slides.size(), 2U);
  EXPECT_NEAR(slides[0], first_slip, 1e-6);
  EXPECT_NEAR(sticks[1] - sticks[0], period, 1e-5 * period);
}
INSTANTIATE_TEST_SUITE_P(Modes, ModesLowOrder,
                         testing::Values(Way{"hht-i3", "", 1e-10}, Way{"generalized-alpha-si2", "", 1e-10},
                                         Way{"bdf-i3", "", 1e-9}, Way{"bdf-si2", "", 1e-9}, Way{"bdf", "", 1e-9},
                                         Way{"sdirk-4", "", 1e-9}, Way{"hht", "", 1e-9}),
                         [](const auto& tested) { return name_of(tested.param); });

// Without location the clutch locks at the end of the step in which the speeds cross: an impulse takes what they are
// apart by then. Momentum is kept, so is the final speed; the time is late by a part of the step.
TEST(Modes, LocatedAndAtStepsSideBySide) {
  const std::string rest = std::string(speeds) + "simulation: {end: 1, length: 1";
  const Way way{"radau-iia-3", "", 1e-6, 0.03};
  const Outcome located = run(shafts("60", rest + "}\n"), way),
                plain = run(shafts("60", rest + ", events: at_steps}\n"), way);
  ASSERT_EQ(located.times().size(), 1U);
  ASSERT_EQ(plain.times().size(), 1U);
  EXPECT_NEAR(located.times()[0], 0.4, 1e-11);
  EXPECT_NEAR(plain.times()[0], 0.42, 1e-11);
  EXPECT_NEAR(located.trajectory.column("event.impulse")[0], 0, 1e-9);
  // 0.02 s of 60 N m (1/0.4 + 1/0.6) apart, times 0.24 kg m^2
  EXPECT_NEAR(std::abs(plain.trajectory.column("event.impulse")[0]), 0.24 * 0.02 * 250, 1e-9);
  for (const Outcome* each : {&located, &plain}) {
    EXPECT_NEAR(each->last("first"), 40, 1e-9);
    EXPECT_NEAR(each->last("second"), 40, 1e-9);
    EXPECT_NEAR(each->result.summary.energy.dissipated, 1200, 1e-6);
  }
}

// Two clutches lock 0.01 s apart, both within a step of 0.1 s.
TEST(Modes, TwoInOneStepAreTwoEvents) {
  const Outcome r =
      run("bodies: {a: {kind: planar, mass: 1, inertia: 1, angular_velocity: 10},\n"
          "         b: {kind: planar, mass: 1, inertia: 1, angular_velocity: 10}}\n"
          "joints: {p: {type: revolute, between: [ground, a], at: [0, 0, 0]},\n"
          "         q: {type: revolute, between: [ground, b], at: [0, 0, 0]}}\n"
          "forces: {first: {type: clutch, joint: p, capacity: 10/0.43},\n"
          "         second: {type: clutch, joint: q, capacity: 10/0.42}}\n"
          "outputs: {a: \"wz(a)\", b: \"wz(b)\"}\n"
          "simulation: {end: 1, length: 1}\n",
          {"radau-iia-3", "", 1e-8, 0.1});
  ASSERT_EQ(r.result.status, RunStatus::finished) << r.why();
  ASSERT_EQ(r.times().size(), 2U);
  EXPECT_NEAR(r.times()[0], 0.42, 1e-11);
  EXPECT_NEAR(r.times()[1], 0.43, 1e-11);
  EXPECT_NEAR(r.last("a"), 0, 1e-12);
  EXPECT_NEAR(r.last("b"), 0, 1e-12);
}

// Both lock at the same moment, and that is the end of a step: 10 rad/s, 1 kg m^2, 20 N m, steps of 1/8 s.
TEST(Modes, ExactlyAtTheEndOfAStep) {
  for (const char* method : {"radau-iia-3", "hht-i3", "dormand-prince-54"}) {
    const Outcome r =
        run("bodies: {a: {kind: planar, mass: 1, inertia: 1, angular_velocity: 10},\n"
            "         b: {kind: planar, mass: 1, inertia: 1, angular_velocity: -10}}\n"
            "joints: {p: {type: revolute, between: [ground, a], at: [0, 0, 0]},\n"
            "         q: {type: revolute, between: [ground, b], at: [0, 0, 0]}}\n"
            "forces: {first: {type: clutch, joint: p, capacity: 20}, second: {type: clutch, joint: q, capacity: 20}}\n"
            "outputs: {a: \"wz(a)\", b: \"wz(b)\"}\n"
            "simulation: {end: 1, length: 1}\n",
            {method, "", 1e-8, 0.125});
    ASSERT_EQ(r.result.status, RunStatus::finished) << method << r.why();
    ASSERT_EQ(r.times().size(), 2U) << method;
    EXPECT_NEAR(r.times()[0], 0.5, 1e-11) << method;
    EXPECT_NEAR(r.times()[1], 0.5, 1e-11) << method;
    EXPECT_NEAR(r.last("a"), 0, 1e-11) << method;
    EXPECT_NEAR(r.last("b"), 0, 1e-11) << method;
  }
}

// Pulled by 2 t N, held by 5 N, kinetic friction 4 N: it breaks away at 2.5 s and is pulled by 1 + 2 (t - 2.5) from
// there. Without other freedoms the state-space form has none while it sticks.
TEST(Modes, BreaksAwayAtTheStaticLimit) {
  const std::string text =
      "bodies: {block: {mass: 2, inertia: [1, 1, 1]}}\n"
      "joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0]}}\n"
      "forces: {pull: {type: force, frames: [ground, block], axes: world, fz: 2*time},\n"
      "         pad: {type: stick_slip_friction, joint: rail, motion: translation, load: 10, static_coefficient: 0.5,\n"
      "               kinetic_coefficient: 0.4}}\n"
      "simulation: {end: 3, length: 1}\n";
  for (const Way& way :
       {Way{"hht-i3", "", 1e-12}, Way{"radau-iia-3", "index-3"}, Way{"dormand-prince-54", ""}, Way{"bdf", ""},
        Way{"radau-iia-3", "state-space"}, Way{"bdf-si2", ""}, Way{"rosenbrock-nystrom-4", "all-coordinates"}}) {
    const Outcome r = run(text, way);
    ASSERT_EQ(r.result.status, RunStatus::finished) << name_of(way) << r.why();
    ASSERT_EQ(r.times().size(), 1U) << name_of(way);
    EXPECT_NEAR(r.times()[0], 2.5, 1e-9) << name_of(way);
    EXPECT_EQ(r.trajectory.column("event.mode")[0], 2) << name_of(way);
    EXPECT_NEAR(r.last("body.block.velocity.z"), (1 * 0.5 + 0.25) / 2, 1e-8) << name_of(way);
    EXPECT_NEAR(r.last("body.block.position.z"), (0.5 * 0.25 + 0.125 / 3) / 2, 1e-8) << name_of(way);
    // what holds is recorded as the element's force
    const std::vector<double> t = r.trajectory.time(0), force = r.trajectory.column("force.pad.force"),
                              mode = r.trajectory.column("force.pad.mode");
    for (std::size_t i = 0; i < t.size(); ++i) {
      if (t[i] < 2.49) {
        EXPECT_NEAR(force[i], -2 * t[i], 1e-8) << name_of(way);
        EXPECT_EQ(mode[i], 1) << name_of(way);
      }
      if (t[i] > 2.51) {
        EXPECT_NEAR(force[i], -4, 1e-12) << name_of(way);
        EXPECT_EQ(mode[i], 2) << name_of(way);
      }
    }
  }
}

// On a slope at its angle of friction and below a block comes to rest; above it slides on and turns.
TEST(Modes, ReversesWhereItCannotHold) {
  const auto slope = [](double pull) {
    return run(
        "bodies: {block: {mass: 1, inertia: [1, 1, 1], velocity: [0, 0, 1]}}\n"
        "joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0]}}\n"
        "forces: {pull: {type: force, frames: [ground, block], axes: world, fz: -" +
            shortest(pull) +
            "},\n"
            "         pad: {type: stick_slip_friction, joint: rail, motion: translation, force: 2}}\n"
            "simulation: {end: 2, length: 1}\n",
        {"dormand-prince-54", ""});
  };
  const Outcome rests = slope(1.5), turns = slope(3);
  ASSERT_EQ(rests.times().size(), 1U);
  EXPECT_EQ(rests.trajectory.column("event.mode")[0], 1);
  EXPECT_NEAR(rests.times()[0], 1 / 3.5, 1e-9);
  EXPECT_NEAR(rests.last("body.block.position.z"), 0.5 / 3.5, 1e-9);
  ASSERT_EQ(turns.times().size(), 1U);
  EXPECT_EQ(turns.trajectory.column("event.mode")[0], 3);
  EXPECT_NEAR(turns.times()[0], 0.2, 1e-9);
  EXPECT_NEAR(turns.last("body.block.velocity.z"), -1.8, 1e-8);
}

// A slider that is driven to and fro cannot stick: the motion has its way, friction only changes its direction.
TEST(Modes, AMotionIsStrongerThanFriction) {
  const Outcome r =
      run("bodies: {block: {mass: 1, inertia: [1, 1, 1]}}\n"
          "joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0]}}\n"
          "motions: {drive: {type: translation, joint: rail, displacement: sin(time)}}\n"
          "forces: {pad: {type: stick_slip_friction, joint: rail, motion: translation, force: 2}}\n"
          "simulation: {end: 10, length: 1}\n",
          {"hht-i3", "", 1e-7});
  ASSERT_EQ(r.result.status, RunStatus::finished) << r.why();
  const std::vector<double> t = r.times(), mode = r.trajectory.column("event.mode");
  ASSERT_EQ(t.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(t[k], pi / 2 + static_cast<double>(k) * pi, 1e-4);
    EXPECT_EQ(mode[k], k % 2 == 0 ? 3 : 2);
  }
  EXPECT_NEAR(r.result.summary.energy.dissipated, 2 * (6 - std::sin(10) - 0), 0.02);
}

// The clutch opens while it is locked; both shafts go on at one speed, and it locks again when it closes.
TEST(Modes, AClutchOpensAndCloses) {
  const Outcome r = run(
      shafts("if(time < 0.6, 60, if(time < 0.8, 0, 60))", std::string(speeds) + "simulation: {end: 1.2, length: 1}\n"),
      {"radau-iia-3"});
  ASSERT_EQ(r.result.status, RunStatus::finished) << r.why();
  const std::vector<double> mode = r.trajectory.column("force.clutch.mode"), t = r.trajectory.time(0);
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (std::abs(t[i] - 0.5) < 0.09) {
      EXPECT_EQ(mode[i], 1) << t[i];
    } else if (std::abs(t[i] - 0.7) < 0.09) {
      EXPECT_EQ(mode[i], 4) << t[i];
    } else if (t[i] > 0.81) {
      EXPECT_EQ(mode[i], 1) << t[i];
    }
  }
  EXPECT_NEAR(r.last("first"), 40, 1e-9);
}

// A block slides against a wall and is thrown back: friction turns with it, and it does not stick.
TEST(Modes, AnImpactTurnsTheDirectionOfSliding) {
  const Outcome r =
      run("bodies: {block: {mass: 1, inertia: [1, 1, 1], velocity: [0, 0, 2]}}\n"
          "joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0]}}\n"
          "frames: {wall: {body: ground, position: [0, 0, 0.75], axis: [0, 0, -1]}}\n"
          "forces: {wall: {type: impact, frames: [wall, block], restitution: 0.5},\n"
          "         pad: {type: stick_slip_friction, joint: rail, motion: translation, force: 2}}\n"
          "simulation: {end: 2, length: 1}\n",
          {"dormand-prince-54", ""});
  ASSERT_EQ(r.result.status, RunStatus::finished) << r.why();
  const std::vector<double> t = r.times(), mode = r.trajectory.column("event.mode");
  // 2 t - t^2 = 0.75 at 0.5 s with 1 m/s; back with 0.5 m/s it stops after 0.25 s more.
  ASSERT_EQ(t.size(), 3U);
  EXPECT_NEAR(t[0], 0.5, 1e-9);
  EXPECT_EQ(mode[0], -1);
  EXPECT_EQ(mode[1], 3);
  EXPECT_NEAR(t[2], 0.75, 1e-9);
  EXPECT_EQ(mode[2], 1);
  EXPECT_NEAR(r.last("body.block.position.z"), 0.75 - 0.0625, 1e-8);
}

// Pushed against a wall, the block comes to rest by ever smaller impacts, and friction changes its direction with each.
TEST(Modes, ChatterNamesTheElement) {
  const Outcome r =
      run("bodies: {block: {mass: 1, inertia: [1, 1, 1], velocity: [0, 0, 2]}}\n"
          "joints: {rail: {type: translational, between: [ground, block], at: [0, 0, 0]}}\n"
          "frames: {wall: {body: ground, position: [0, 0, 0.75], axis: [0, 0, -1]}}\n"
          "forces: {push: {type: force, frames: [ground, block], axes: world, fz: 20},\n"
          "         wall: {type: impact, frames: [wall, block], restitution: 0.8},\n"
          "         pad: {type: stick_slip_friction, joint: rail, motion: translation, force: 2}}\n"
          "simulation: {end: 5, length: 1}\n",
          {"dormand-prince-54", "", 1e-8});
  ASSERT_EQ(r.result.status, RunStatus::failed);
  EXPECT_EQ(r.result.failure->id, "events-chatter");
  EXPECT_EQ(r.result.failure->part, "force 'pad'");
}

// Degrees of freedom are those of the rows in force.
TEST(Modes, RankKnowsWhatIsHeld) {
  const Equations equations(model_of(belt));
  Workspace work = equations.make_workspace();
  State state = equations.initial_state();
  equations.start(state, work);
  EXPECT_EQ(analyse_loops(constraint_graph(equations, state, work)).freedoms_by_rank, 1);
  ASSERT_EQ(equations.forces_with_modes().size(), 1U);
  equations.begin_mode(equations.forces_with_modes()[0], state, {1e-9, 1e-9}, work);
  EXPECT_EQ(equations.name_of_mode(1, state), "force 'pad': sticks");
  const LoopAnalysis held = analyse_loops(constraint_graph(equations, state, work));
  EXPECT_EQ(held.freedoms_by_rank, 0);
  EXPECT_EQ(held.redundant, 0);
}

TEST(Modes, PartsOfCoupledSystemsAreRefused) {
  try {
    ModelParticipant part(model_of(belt), {});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems().front().id, "modes-not-in-coupling");
    EXPECT_NE(failure.problems().front().message.find("force 'pad'"), std::string::npos);
  }
}

// Stops a run after some steps.
class Stopping final : public TrajectorySink {
 public:
  explicit Stopping(long steps = -1) : steps_(steps) {}
  void begin(const std::vector<Table>& tables, const Provenance& p) override { kept.begin(tables, p); }
  void resume(const std::vector<Table>& tables, const std::vector<std::uint64_t>& rows) override {
    kept.resume(tables, rows);
  }
  bool append(std::size_t table, std::span<const double> row) override {
    if (table == 1 && --steps_ == 0) stop = true;
    return kept.append(table, row);
  }
  void flush() override {}
  void finish(RunStatus status, std::string_view summary, std::string_view failure) override {
    kept.finish(status, summary, failure);
  }
  MemoryTrajectory kept;
  std::atomic<bool> stop{false};

 private:
  long steps_;
};

// Saved while it sticks and while it slips, continued across the next change: the same bits.
TEST(Modes, AContinuedRunGivesTheSameBits) {
  for (const Way& way : {Way{"hht-i3", "", 1e-5}, Way{"radau-iia-3", "index-3", 1e-6},
                         Way{"dormand-prince-54", "", 1e-6}, Way{"adams", "", 1e-6}, Way{"bdf-si2", "", 1e-5}}) {
    const auto make = [&] {
      Model model = model_of(belt + "simulation: {end: 1.5, length: 1, output_step: 0.01}\n");
      model.simulation.method = way.method;
      model.simulation.formulation = way.formulation;
      model.simulation.tolerance = way.tolerance;
      return model;
    };
    Simulation whole(make());
    Stopping reference;
    ASSERT_EQ(whole.run(reference, {}).status, RunStatus::finished) << name_of(way);
    const auto steps = static_cast<long>(reference.kept.rows(1));
    for (const long first : {steps / 10, steps / 3, 2 * steps / 3}) {
      Simulation early(make());
      Stopping half(first);
      RunOptions options;
      options.interrupted = &half.stop;
      ASSERT_EQ(early.run(half, options).status, RunStatus::interrupted);
      const Bytes bytes = early.save();
      Simulation late(make());
      late.restore(bytes);
      EXPECT_EQ(late.save(), bytes) << name_of(way);
      Stopping rest;
      ASSERT_EQ(late.run(rest, {}).status, RunStatus::finished);
      EXPECT_EQ(late.integrator().state().q, whole.integrator().state().q) << name_of(way) << first;
      EXPECT_EQ(late.integrator().state().v, whole.integrator().state().v) << name_of(way);
      EXPECT_EQ(late.integrator().state().memory, whole.integrator().state().memory) << name_of(way);
      EXPECT_EQ(static_cast<long>(half.kept.rows(1) + rest.kept.rows(1)), steps) << name_of(way);
      EXPECT_EQ(half.kept.rows(2) + rest.kept.rows(2), reference.kept.rows(2)) << name_of(way);
    }
  }
}

}  // namespace
}  // namespace trammel::modes_test
