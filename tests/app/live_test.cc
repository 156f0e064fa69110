// Pieces of a run that is watched: what a page may ask, which rows are kept, how a body is pushed. The whole of it is
// tested in a browser (viewer/tests/live_tests.mjs).
#include <gtest/gtest.h>

#include <algorithm>

#include "app/live_commands.h"
#include "app/live_history.h"
#include "app/live_push.h"
#include "app/live_turns.h"
#include "tests/app/command.h"
#include "trammel/elements/build.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::live_test {
namespace {

const LiveNames names{{"drive", "brake"}, {"cart", "pole"}, {"M", "l"}};

template <class Command>
Command parsed(const std::string& text) {
  std::string why;
  const std::optional<LiveCommand> command = parse_command(text, names, why);
  if (!command || !std::holds_alternative<Command>(*command)) {
    ADD_FAILURE() << text << ": " << why;
    return {};
  }
  return std::get<Command>(*command);
}

TEST(LiveCommands, EachFormIsUnderstood) {
  EXPECT_TRUE(parsed<PauseRun>(R"({"pause": true})").held);
  EXPECT_FALSE(parsed<PauseRun>(R"({"pause": false})").held);
  parsed<StepRun>(R"({"step": true})");
  EXPECT_EQ(parsed<PaceRun>(R"({"speed": 0.5})").speed, 0.5);
  EXPECT_EQ(parsed<PaceRun>(R"({"speed": null})").speed, 0);
  const auto set = parsed<SetInput>(R"({"set": {"name": "brake", "value": -3}})");
  EXPECT_EQ(set.input, 1);
  EXPECT_EQ(set.value, -3);
  const auto push = parsed<PushBody>(R"({"push": {"body": "pole", "point": [1, 2, 3], "target": [4, 5, 6e-3]}})");
  EXPECT_EQ(push.body, 1);
  EXPECT_EQ(push.point, Vec3(1, 2, 3));
  EXPECT_EQ(push.target, Vec3(4, 5, 6e-3));
  parsed<ReleaseBody>(R"({"push": null})");
  const std::vector<std::string> changed{"M=4", "l=40 cm"};
  EXPECT_EQ(parsed<RestartRun>(R"({"restart": {"M": "4", "l": "40 cm"}})").set, changed);
  EXPECT_TRUE(parsed<RestartRun>(R"({"restart": {}})").set.empty());
}

TEST(LiveCommands, EverythingElseIsRefusedWithAReason) {
  for (const char* text : {"",
                           "{",
                           "[]",
                           "null",
                           "17",
                           "\"pause\"",
                           "{}",
                           R"({"pause": 1})",
                           R"({"pause": true, "step": true})",
                           R"({"step": false})",
                           R"({"quit": true})",
                           R"({"speed": 0})",
                           R"({"speed": -1})",
                           R"({"speed": 1e9})",
                           R"({"speed": "fast"})",
                           R"({"set": {"name": "drive"}})",
                           R"({"set": {"name": "drive", "value": 1, "more": 2}})",
                           R"({"set": {"name": "other", "value": 1}})",
                           R"({"set": {"name": "drive", "value": 1e300}})",
                           R"({"set": {"name": "drive", "value": null}})",
                           R"({"set": {"name": 3, "value": 1}})",
                           R"({"push": {"body": "ground", "point": [0, 0, 0], "target": [0, 0, 0]}})",
                           R"({"push": {"body": "cart", "point": [0, 0], "target": [0, 0, 0]}})",
                           R"({"push": {"body": "cart", "point": [0, 0, "x"], "target": [0, 0, 0]}})",
                           R"({"restart": ["M=1"]})",
                           R"({"restart": {"N": "1"}})",
                           R"({"restart": {"M": 1}})",
                           R"({"restart": {"M": ""}})",
                           R"({"restart": {"M": "1\n2"}})"}) {
    std::string why;
    EXPECT_FALSE(parse_command(text, names, why)) << text;
    EXPECT_FALSE(why.empty()) << text;
  }
  std::string why;
  EXPECT_FALSE(parse_command(R"({"restart": {"M": ")" + std::string(200, '1') + "\"}}", names, why));
}

// ---- which message goes next

struct Sent {
  int headers = 0, status = 0, frames = 0;
};

// What a page gets in one sixtieth of a second if it takes at most so many messages in that time.
void pass_a_tick(LiveTurns& turns, const LiveTurns::Versions& now, int most, Sent& sent) {
  turns.tick();
  for (int i = 0; i < most; ++i) {
    const LiveTurns::Kind kind = turns.next(now);
    if (kind == LiveTurns::Kind::nothing) return;
    turns.took(kind, now, true);
    sent.headers += kind == LiveTurns::Kind::header ? 1 : 0;
    sent.status += kind == LiveTurns::Kind::status ? 1 : 0;
    sent.frames += kind == LiveTurns::Kind::frame ? 1 : 0;
  }
}

// A dragged slider changes the status sixty times a second. With one message a tick and the status always first, no row
// at all would go.
TEST(LiveTurns, AStatusThatChangesAllTheTimeStarvesNoRows) {
  for (const int most : {1, 2, 10}) {  // from a page that is slow to one that takes what it gets
    LiveTurns turns;
    LiveTurns::Versions now{1, 1, 1};
    Sent sent;
    for (int tick = 0; tick < 62; ++tick, ++now.status, ++now.frame) pass_a_tick(turns, now, most, sent);
    EXPECT_EQ(sent.headers, 1);
    EXPECT_GE(sent.frames, most == 1 ? 30 : 60) << most;
    EXPECT_GE(sent.status, most == 1 ? 30 : 60) << most;
    EXPECT_LE(std::max(sent.frames, sent.status), 62) << "each at most once a tick";
  }
}

TEST(LiveTurns, AHeaderHoldsTheRowsBeforeIt) {
  LiveTurns turns;
  LiveTurns::Versions now{1, 1, 40};
  Sent sent;
  for (int tick = 0; tick < 5; ++tick) pass_a_tick(turns, now, 10, sent);
  EXPECT_EQ(sent.headers, 1);
  EXPECT_EQ(sent.status, 1);
  EXPECT_EQ(sent.frames, 0);
  ++now.frame;
  pass_a_tick(turns, now, 10, sent);
  EXPECT_EQ(sent.frames, 1);
}

TEST(LiveTurns, WhatThereIsNotYetIsAskedForAgainAndHoldsNothingUp) {
  using Kind = LiveTurns::Kind;
  LiveTurns turns;
  const LiveTurns::Versions now{1, 1, 1};
  EXPECT_EQ(turns.next(now), Kind::header);
  turns.took(Kind::header, now, false);
  EXPECT_EQ(turns.next(now), Kind::status);
  turns.took(Kind::status, now, false);
  EXPECT_EQ(turns.next(now), Kind::nothing);  // rows mean nothing without a header
  turns.tick();
  EXPECT_EQ(turns.next(now), Kind::header);
  turns.took(Kind::header, now, true);
  EXPECT_EQ(turns.next(now), Kind::status);
}

TEST(LiveHistory, KeepsTheWholeRunInBoundedMemory) {
  constexpr std::size_t columns = 3, most_rows = 10;
  RowHistory history(columns, most_rows * columns * sizeof(double));
  EXPECT_TRUE(history.last().empty());
  for (int i = 0; i < 1000; ++i) {
    const std::array<double, columns> row{1.0 * i, 2.0 * i, 3.0 * i};
    history.add(row);
    ASSERT_LE(history.rows(), most_rows);
    ASSERT_EQ(history.last()[0], i);
    ASSERT_EQ(history.row(0)[0], 0);
    const double step = history.rows() > 1 ? history.row(1)[0] : 1;
    for (std::size_t k = 0; k < history.rows(); ++k) {
      ASSERT_EQ(history.row(k)[0], step * static_cast<double>(k)) << "evenly spaced";
      ASSERT_EQ(history.row(k)[2], 3 * history.row(k)[0]);
    }
    ASSERT_EQ(history.last_is_kept(), history.row(history.rows() - 1)[0] == i);
    ASSERT_GT(history.row(history.rows() - 1)[0] + step, i) << "up to the end";
  }
}

TEST(LiveHistory, IsCopiedInBlocksWhileItGrows) {
  constexpr std::size_t most_rows = 300;
  RowHistory history(2, most_rows * 2 * sizeof(double));
  int added = 0;
  const auto add = [&] {
    const std::array<double, 2> row{1.0 * added, 2.0 * added};
    history.add(row);
    ++added;
  };
  for (int i = 0; i < 290; ++i) add();
  HistoryCopy copy;
  copy.reserve(most_rows * 2 * sizeof(double));
  int blocks = 1;
  for (; !copy.take(history); ++blocks)
    for (int i = 0; i < 7; ++i) add();  // thins the history out in the middle of it
  EXPECT_GT(blocks, 3);
  const std::vector<double>& values = copy.values();
  EXPECT_EQ(values[values.size() - 2], added - 1) << "the newest";
  EXPECT_GT(history.every(), 1);
  for (std::size_t i = 0; i < history.rows(); ++i)
    for (const std::size_t column : {0, 1}) ASSERT_EQ(values[2 * i + column], history.row(i)[column]);
  EXPECT_EQ(values.size(), 2 * (history.rows() + (history.last_is_kept() ? 0 : 1)));
}

// A box that floats in space, at rest.
constexpr const char* floating = R"yaml(trammel: 1
bodies:
  box: {mass: 2, inertia: [0.3, 0.2, 0.1], center_of_mass: [0.1, 0, 0]}
  bead: {kind: point, mass: 1, position: [5, 0, 0]}
  plate: {kind: planar, mass: 1, inertia: 0.1, position: [9, 0]}
simulation: {end: 3, step: 2e-3, output_step: 0.01}
)yaml";

// Runs while a point is drawn to a place.
MemoryTrajectory push_through(Model model, const PushBody& push, std::string* prefix = nullptr) {
  const Pushes pushes(model);
  if (prefix != nullptr) *prefix = pushes.prefix();
  Simulation simulation(std::move(model));
  Workspace work = simulation.equations().make_workspace();
  Pushes::Inputs inputs;
  double last = -1;
  RunOptions options;
  options.steer = [&](const State& state) {
    Orders orders;
    orders.longest_step = Pushes::longest_step;
    inputs.clear();
    if (state.t >= last + Pushes::interval) {
      pushes.draw(push, simulation.equations(), state, work, inputs);
      last = state.t;
    }
    orders.inputs = inputs;
    return orders;
  };
  MemoryTrajectory rows;
  EXPECT_EQ(simulation.run(rows, options).status, RunStatus::finished);
  return rows;
}

TEST(LivePush, DrawsTheCentreToItsTargetAndBooksTheWork) {
  for (const std::size_t body : {0, 1, 2}) {
    Model model = read_model_text(floating, "test.yaml");
    const Body& pushed = model.bodies[body];
    const std::string name = pushed.name;
    const Vec3 centre = pushed.pose.position + pushed.center_of_mass, target = centre + Vec3(0.3, 0.2, 0);
    const MemoryTrajectory rows = push_through(model, {body, pushed.center_of_mass, target});
    const double x = rows.column("body." + name + ".position.x").back() + pushed.center_of_mass.x();
    EXPECT_NEAR(x, target.x(), 1e-4) << name << ": critical damping at 1.5 Hz leaves e^-28 after 3 s";
    EXPECT_NEAR(rows.column("energy.imbalance").back(), 0, 1e-6) << name;
    const std::vector<double> work = rows.column("energy.external");
    EXPECT_GT(*std::max_element(work.begin(), work.end()), 1e-3) << name;
    const std::vector<double> fx = rows.column("force.push." + name + ".on_second.force.x");
    EXPECT_GT(fx[1], 1) << name;
    EXPECT_NEAR(fx.back(), 0, 1e-3) << name;
  }
}

TEST(LivePush, AGrabbedPointTurnsTheBody) {
  const Vec3 corner(0.1, 0.4, 0), target(0.4, 0.4, 0);  // 0.4 above the centre of mass, drawn along x
  const MemoryTrajectory rows = push_through(read_model_text(floating, "test.yaml"), {0, corner, target});
  const std::size_t first = 1;
  const double fx = rows.column("force.push.box.on_second.force.x")[first];
  EXPECT_GT(fx, 0);
  EXPECT_NEAR(rows.column("force.push.box.on_second.torque.z")[first] / fx, -0.4, 0.05) << "r x F about the centre";
  EXPECT_LT(rows.column("body.box.angular_velocity.z")[5], 0);
  EXPECT_NEAR(rows.column("energy.imbalance").back(), 0, 1e-6);
}

TEST(LivePush, IsLimitedToFiveWeightsOfTheMechanism) {
  const MemoryTrajectory rows = push_through(read_model_text(floating, "test.yaml"), {1, Vec3::Zero(), {1e6, 0, 0}});
  EXPECT_NEAR(rows.column("force.push.bead.on_second.force.x")[1], 5 * 9.81 * (2 + 1 + 1), 1e-6);
}

// Of a subsystem that is used under this name.
TEST(LivePush, AModelMayUseTheNamePush) {
  std::string prefix;
  Model model = read_model_text(floating, "test.yaml");
  add_force(model, "force", "push.box", {model.add_frame(ground, {}), model.add_frame(0, {})});
  push_through(model, {0, Vec3::Zero(), Vec3::Zero()}, &prefix);
  EXPECT_EQ(prefix, "push_.");
}

// Two inputs of one name would be one: the force of the user would act on the body.
TEST(LivePush, AModelMayUseTheNamesOfItsInputs) {
  for (const char* taken : {"push__0_fx", "push__1_fy"}) {
    Model model = read_model_text(floating, "test.yaml");
    model.inputs.push_back({taken, "N", 3, {}});
    EXPECT_EQ(Pushes(model).prefix(), "push_.") << taken;
    std::vector<std::string> inputs;
    for (const Input& input : model.inputs) inputs.push_back(input.name);
    std::sort(inputs.begin(), inputs.end());
    EXPECT_EQ(std::adjacent_find(inputs.begin(), inputs.end()), inputs.end()) << taken;
  }
}

TEST(LiveRun, ArgumentsThatDoNotFitAreRefused) {
  const testing::Command command;
  const std::string model = testing::model_file("cart_pole.yaml");
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--speed", "1"},
                                               {"--view", "--checkpoint"},
                                               {"--view", "--speed", "-1"},
                                               {"--view", "--speed", "1", "--real-time", "--step", "1e-3"}}) {
    std::vector<std::string> arguments{"run", model};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const testing::Outcome outcome = command.run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("--"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace trammel::live_test
