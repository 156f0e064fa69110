// Hostile inputs: what is typed or found by mistake, and by malice. Whatever it is, the command ends soon, by itself,
// with a message of its own and an exit code that is not that of an error inside, and no file of the user's changes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <map>
#include <new>

#include "tests/app/command.h"
#include "tests/problems/sanitized.h"
#include "trammel/base/interruption.h"
#include "trammel/ode/multistep/cvode.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"
#include "trammel/write/read_trajectory.h"

namespace trammel::testing::hostile_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* model = R"yaml(trammel: 1
title: bar
gravity: [0, 0, -9.81]
parameters: {L: 1}
bodies:
  bar: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [L, 0, 0]}
joints:
  pin: {type: revolute, between: [ground, bar], at: [0, 0, 0], axis: [0, 1, 0]}
simulation: {end: 0.05, tolerance: 1e-4, output_step: 0.01}
outputs: {x: "dx(bar, ground)"}
)yaml";

constexpr const char* coupling = R"(trammel-coupling: 1
participants:
  upper: {model: upper.yaml}
  lower: {command: [%]}
joints:
  pin: {type: revolute, frames: [upper.tip, lower.top]}
coupling: {step: 0.01, end: 0.02, solver: differences, patience: 1}
)";

struct Try {
  std::vector<std::string> arguments;
  int code;
  std::string words = {};  // that standard error has
};

class Hostile : public ::testing::Test {
 protected:
  void SetUp() override {
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    close(nothing);
    command_.write("m.yaml", model);
    command_.write("driven.yaml",
                   std::string(model) + "motions:\n  turn: {type: rotation, joint: pin, angle: \"time^2\"}\n");
    command_.write("empty", "");
    command_.write("binary", std::string("\x7f\x00\xff\x80 \x1b[31m", 10));
    command_.write("notes.txt", "what I must not forget\n");
    command_.write("measured.csv", "time,turn\n0,1\n1,2\n");
    std::filesystem::create_directory(command_.path("folder"));
    std::filesystem::create_symlink("m.yaml", command_.path("symbolic.yaml"));
    std::filesystem::create_hard_link(command_.path("m.yaml"), command_.path("hard.yaml"));
    mkfifo(command_.path("fifo").c_str(), 0600);
  }

  // Files that the user has and no verb may touch.
  std::map<std::string, std::string> users_files() const {
    std::map<std::string, std::string> all;
    for (const char* name : {"m.yaml", "driven.yaml", "notes.txt", "measured.csv", "binary"})
      all[name] = command_.read(name);
    return all;
  }

  Outcome run(const std::vector<std::string>& arguments) const { return wait(command_.start(arguments)); }
  // A hang of ten seconds is ended, and seen as a signal.
  Outcome wait(pid_t child) const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    for (;;) {
      siginfo_t info{};
      if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == child)
        break;
      if (std::chrono::steady_clock::now() > until) kill(child, SIGKILL);
      usleep(2000);
    }
    return command_.wait(child);
  }

  void expect(const std::vector<Try>& tries) const {
    const auto before = users_files();
    for (const Try& each : tries) {
      std::string line = "trammel";
      for (const std::string& word : each.arguments) line += " " + word;
      const Outcome outcome = run(each.arguments);
      EXPECT_EQ(outcome.signal, 0) << line;
      EXPECT_EQ(outcome.code, each.code) << line << "\n" << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr(each.words)) << line;
      EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos) << line;
      EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << line;
      EXPECT_THAT(outcome.err, Not(HasSubstr("json.exception"))) << line;
      EXPECT_THAT(outcome.err, Not(HasSubstr("std::"))) << line;
      EXPECT_EQ(users_files(), before) << line;
    }
  }

  const Command command_;
};

TEST_F(Hostile, EveryVerbThatReadsAModel) {
  for (const char* verb :
       {"run", "check", "info", "static", "quasi-static", "kinematic", "inverse", "linearise", "modes"}) {
    expect({{{verb, "none.yaml"}, 3, "No such file"},
            {{verb, "folder"}, 3, "directory"},
            {{verb, "/dev/zero"}, 3, "device"},
            {{verb, "empty"}, 3, "[empty-file]"},
            {{verb, "binary"}, 3, "[not-text]"},
            {{verb, "notes.txt"}, 3, ""}});
  }
}

TEST_F(Hostile, OutputsOntoFilesOfTheUser) {
  ASSERT_EQ(run({"run", "m.yaml", "-o", "r.h5", "--csv", "r.csv", "-q"}).code, 0);
  const std::string result = command_.read("r.h5");
  expect({{{"run", "m.yaml", "-o", "m.yaml"}, 4, "[output-is-input]"},
          {{"run", "m.yaml", "-o", "./m.yaml"}, 4, "left as it is"},
          {{"run", "m.yaml", "-o", "symbolic.yaml"}, 4, "left as it is"},
          {{"run", "m.yaml", "-o", "hard.yaml"}, 4, "left as it is"},
          {{"run", "m.yaml", "-o", "driven.yaml"}, 4, "[not-a-result]"},
          {{"run", "m.yaml", "-o", "folder"}, 4, "folder"},
          {{"run", "m.yaml", "--csv", "m.yaml"}, 4, "left as it is"},
          {{"run", "m.yaml", "--csv", "measured.csv"}, 4, "[not-a-result]"},
          {{"run", "m.yaml", "--checkpoint", "m.yaml"}, 4, "left as it is"},
          {{"run", "m.yaml", "--checkpoint", "notes.txt"}, 4, "[will-not-overwrite]"},
          {{"run", "m.yaml", "--checkpoint", "r.h5"}, 4, "[will-not-overwrite]"},
          {{"inverse", "driven.yaml", "-o", "driven.yaml"}, 4, "left as it is"},
          {{"inverse", "driven.yaml", "-o", "measured.csv"}, 4, "[will-not-overwrite]"},
          {{"sweep", "m.yaml", "--grid", "L=1,2", "-o", "m.yaml"}, 4, "left as it is"},
          {{"sweep", "m.yaml", "--grid", "L=1,2", "-o", "hard.yaml"}, 4, "left as it is"},
          {{"sweep", "m.yaml", "--grid", "L=1,2", "-o", "r.csv"}, 4, "[will-not-overwrite]"},
          {{"modes", "m.yaml", "--plot", "m.yaml"}, 2, ".png or .svg"},
          {{"modes", "m.yaml", "-o", "m.yaml"}, 4, "left as it is"},
          {{"modes", "m.yaml", "--page", "m.yaml"}, 4, "left as it is"},
          {{"modes", "m.yaml", "--page", "notes.txt"}, 4, "[will-not-overwrite]"},
          {{"modes", "m.yaml", "-o", "r.h5"}, 4, "[will-not-overwrite]"},
          {{"linearise", "m.yaml", "-o", "notes.txt"}, 4, "[will-not-overwrite]"},
          {{"linearise", "m.yaml", "-o", "r.h5"}, 4, "[will-not-overwrite]"},
          {{"static", "m.yaml", "-o", "m.yaml"}, 4, "left as it is"},
          {{"kinematic", "driven.yaml", "-o", "driven.yaml"}, 4, "left as it is"},
          {{"quasi-static", "m.yaml", "-o", "hard.yaml"}, 4, "left as it is"},
          {{"info", "m.yaml", "--graph", "m.yaml"}, 2, ".dot"},
          {{"cut", "m.yaml", "--at", "pin", "-o", "m.yaml"}, 3, ""},
          {{"schema", "-o", "m.yaml"}, 4, "[will-not-overwrite]"},
          {{"new", "m"}, 2, "[file-exists]"},
          {{"make", "bearing", "m"}, 2, "[file-exists]"},
          {{"plot", "r.h5", "x", "-o", "m.yaml"}, 4, "[unknown-format]"},
          {{"plot", "r.h5", "x", "-o", "notes.txt"}, 4, "[will-not-overwrite]"},
          {{"stability", "rk4", "-o", "m.yaml"}, 2, ".png or .svg"}});
  for (const char* picture : {"m.png", "m.svg"}) {
    std::filesystem::create_hard_link(command_.path("m.yaml"), command_.path(picture));
    expect({{{"plot", "r.h5", "x", "-o", picture}, 4, "[will-not-overwrite]"},
            {{"modes", "m.yaml", "--plot", picture}, 4, "left as it is"},
            {{"info", "m.yaml", "--graph", picture}, 4, "left as it is"},
            {{"stability", "rk4", "-o", picture}, 4, "[will-not-overwrite]"}});
  }
  EXPECT_EQ(command_.read("r.h5"), result);
}

// What each verb writes it writes again: no rule may be in the way of that.
TEST_F(Hostile, OwnOutputsAreReplaced) {
  for (int time = 0; time < 2; ++time) {
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {"run", "m.yaml", "--csv", "--checkpoint", "c", "--checkpoint-every", "1steps"},
             {"run", "m.yaml", "-o", "r.csv"},
             {"inverse", "driven.yaml"},
             {"sweep", "m.yaml", "--grid", "L=1,2"},
             {"modes", "m.yaml"},
             {"modes", "m.yaml", "-o", "modes.csv"},
             {"linearise", "m.yaml", "-o", "lin.h5"},
             {"linearise", "m.yaml", "-o", "lin.csv"},
             {"static", "m.yaml"},
             {"kinematic", "driven.yaml"},
             {"quasi-static", "m.yaml"},
             {"info", "m.yaml", "--graph", "g.dot"},
             {"schema", "-o", "s.json"},
             {"plot", "m.h5", "x", "-o", "p.txt"},
             {"plot", "m.h5", "x", "-o", "p.svg"},
             {"plot", "m.sweep.csv", "x.last", "-o", "p.png"}}) {
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.code, 0) << arguments[0] << " " << arguments.back() << ": " << outcome.err;
    }
  }
}

TEST_F(Hostile, AnalysesLeaveTheResultOfTheRun) {
  ASSERT_EQ(run({"run", "driven.yaml"}).code, 0);
  const std::string result = command_.read("driven.h5");
  EXPECT_EQ(run({"static", "driven.yaml"}).code, 0);
  EXPECT_EQ(run({"kinematic", "driven.yaml"}).code, 0);
  EXPECT_EQ(run({"quasi-static", "driven.yaml"}).code, 0);
  EXPECT_EQ(command_.read("driven.h5"), result);
  for (const char* file : {"driven.static.h5", "driven.kinematic.h5", "driven.quasi-static.h5"})
    EXPECT_TRUE(command_.has(file)) << file;
}

TEST_F(Hostile, NumbersOfRun) {
  for (const char* option : {"--end", "--step", "--tolerance", "--greatest-step", "--output-step"}) {
    for (const char* value : {"nan", "inf", "-1", "1e999"}) {
      const Outcome outcome = run({"run", "m.yaml", option, value});
      EXPECT_EQ(outcome.signal, 0) << option << " " << value;
      EXPECT_THAT(outcome.code, ::testing::AnyOf(2, 3)) << option << " " << value << "\n" << outcome.err;
    }
  }
  expect({{{"run", "m.yaml", "--end", "0"}, 2, "positive"},
          {{"run", "m.yaml", "--step", "0"}, 2, "positive"},
          {{"run", "m.yaml", "--tolerance", "1e308"}, 3, ""},
          {{"run", "m.yaml", "--tolerance", "1e-300"}, 3, "round-off"},
          {{"run", "m.yaml", "--end", "1", "--output-step", "1e-12"}, 3, "[too-many-outputs]"},
          {{"run", "m.yaml", "--end", "1e308", "--output-step", "1"}, 3, "[too-many-outputs]"},
          {{"kinematic", "driven.yaml", "--output-step", "1e-14"}, 3, "[too-many-outputs]"},
          {{"inverse", "driven.yaml", "--output-step", "1e-14"}, 3, "[too-many-outputs]"},
          {{"quasi-static", "m.yaml", "--steps", "1000000000"}, 2, "--steps"},
          {{"quasi-static", "m.yaml", "--end", "nan"}, 2, ""},
          {{"modes", "m.yaml", "--count", "-3"}, 2, "--count"},
          {{"modes", "m.yaml", "--around", "nan"}, 2, ""},
          {{"linearise", "m.yaml", "--around", "-1"}, 2, ""},
          {{"static", "m.yaml", "--tolerance", "-1"}, 2, "--tolerance"},
          {{"plot", "m.yaml", "x", "--width", "1000000000"}, 2, "--width"},
          {{"run", "m.yaml", "--set", "L=1e308"}, 3, "[out-of-range]"},
          {{"run", "m.yaml", "--set", "L=nan"}, 3, ""},
          {{"run", "m.yaml", "--set", "L"}, 2, "[bad-setting]"},
          {{"run", "m.yaml", "--set", "nothing=1"}, 3, "nothing"},
          {{"run", "m.yaml", "--option", "x"}, 2, "[bad-option]"},
          {{"run", "m.yaml", "--method", "\x1b[31mred"}, 2, "\\x1b[31mred"},
          {{"run", "m.yaml", "--checkpoint", "--checkpoint-every", "1e400"}, 2, "--checkpoint-every"},
          {{"cut", "m.yaml", "--at", "\x1b]0;title\x07"}, 2, "\\x1b]0;title\\x07"},
          {{"make", "bearing", "b", "--balls", "1000000000"}, 2, ""}});
}

TEST_F(Hostile, FilesBesideTheModel) {
  for (const char* file : {".", "folder", "/dev/zero", "/dev/full", "none", "empty", "binary", "notes.txt"}) {
    const std::string name = file;
    command_.write("spline.yaml", std::string(model) + "splines: {s: {file: " + name + "}}\n");
    command_.write("mesh.yaml", "trammel: 1\nbodies: {b: {density: 1, shape: {type: mesh, file: " + name + "}}}\n");
    command_.write("include.yaml", "include: " + name + "\n" + model);
    expect({{{"run", "--resume", name}, 2, ""},
            {{"run", "m.yaml", "--method", "runge-kutta", "--option", "tableau=" + name}, 3, ""},
            {{"check", "spline.yaml"}, 3, ""},
            {{"check", "mesh.yaml"}, 3, ""},
            {{"check", "include.yaml"}, 3, ""},
            {{"couple", name}, 3, ""},
            {{"sweep", "m.yaml", "--csv", name}, 2, ""},
            {{"plot", name, "x"}, 2, ""}});
  }
  expect({{{"fmt", "folder"}, 3, "directory"},
          {{"fmt", "/dev/zero"}, 3, "device"},
          {{"plot", "fifo", "x"}, 2, "pipe"},
          {{"stability", "folder"}, 3, ""},
          {{"study", "none"}, 2, ""}});
}

TEST_F(Hostile, ResultsThatAreNone) {
  ASSERT_EQ(
      run({"run", "m.yaml", "-o", "r.h5", "--csv", "r.csv", "--checkpoint", "c", "--checkpoint-every", "1steps"}).code,
      0);
  const std::string result = command_.read("r.h5"), checkpoint = command_.read("c"), table = command_.read("r.csv");
  command_.write("cut.h5", result.substr(0, result.size() / 2));
  command_.write("head.h5", result.substr(0, 8));
  command_.write("cut.c", checkpoint.substr(0, checkpoint.size() / 2));
  std::string escape = table;
  escape.replace(escape.find("bar"), 3, "\x1b[2J");
  command_.write("escape.csv", escape);
  expect({{{"plot", "cut.h5", "x"}, 2, "[damaged-result]"},
          {{"plot", "head.h5", "x"}, 2, "[damaged-result]"},
          {{"plot", "m.yaml", "x"}, 2, "[not-a-result]"},
          {{"plot", "c", "x"}, 2, "[not-a-result]"},
          {{"plot", "r.h5", "\x1b[31m"}, 2, "[unknown-signal]"},
          {{"plot", "escape.csv", "--list"}, 0, ""},
          {{"plot", "escape.csv", "x"}, 0, ""},
          {{"run", "--resume", "cut.c"}, 2, "[bad-checkpoint]"},
          {{"run", "--resume", "r.h5"}, 2, "[bad-checkpoint]"},
          {{"run", "--resume", "m.yaml"}, 2, "[bad-checkpoint]"},
          {{"run", "r.h5"}, 3, "[not-utf8]"},
          {{"couple", "m.yaml"}, 3, ""},
          {{"run", "--resume", "c", "--end", "nan"}, 2, ""}});
  // A damaged result of ours makes room for a new one; the same bytes of somebody else do not.
  EXPECT_EQ(run({"run", "m.yaml", "-o", "cut.h5", "-q"}).code, 0);
}

TEST_F(Hostile, ModelsThatUnfoldOrNest) {
  std::string bomb = "trammel: 1\nsubsystems:\n";
  for (int i = 0; i < 14; ++i) {
    bomb += "  s" + std::to_string(i) + ": {use: {";
    for (int k = 0; k < 8; ++k)
      bomb += (k > 0 ? ", u" : "u") + std::to_string(k) + ": {subsystem: s" + std::to_string(i + 1) + "}";
    bomb += "}}\n";
  }
  command_.write("bomb.yaml",
                 bomb + "  s14: {bodies: {x: {mass: 1, inertia: [1, 1, 1]}}}\nuse: {r: {subsystem: s0}}\n");
  command_.write("repeat.yaml", "trammel: 1\nrepeat: {index: i, to: 1000000000, bodies: {'b$(i)': {mass: 1}}}\n");
  command_.write("nested.yaml",
                 "trammel: 1\nrepeat: {index: i, to: 10000, repeat: {index: k, to: 10000, bodies: {'b$(i)_$(k)': "
                 "{kind: point, mass: 1}}}}\n");
  std::string laughs = "trammel: 1\ntitle: x\nparameters:\n  a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 9; ++k) laughs += ", " + before;
    laughs += "]\n";
  }
  command_.write("laughs.yaml", laughs);
  command_.write("brackets.yaml", "trammel: 1\na: " + std::string(100000, '[') + "\n");
  command_.write("deep.yaml", "trammel: 1\nparameters: {a: \"" + std::string(200000, '(') + "1" +
                                  std::string(200000, ')') + "\"}\n");
  command_.write("minus.yaml", "trammel: 1\nparameters: {a: \"" + std::string(200000, '-') + "1\"}\n");
  command_.write("long.yaml", "trammel: 1\nparameters: {" + std::string(1000000, 'a') + ": 1}\n");
  command_.write("self.yaml", "trammel: 1\ninclude: self.yaml\n");
  command_.write("escape.yaml", "trammel: 1\ntitle: \"\\e[31mred\"\nbodies: {\"b\\e\": {mass: 1}}\n");
  command_.write("time.yaml", "trammel: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1]}}\noutputs: {time: \"dx(b)\"}\n");
  command_.write("energy.yaml",
                 "trammel: 1\nsubsystems: {s: {bodies: {b: {mass: 1, inertia: [1, 1, 1]}}, outputs: {total: "
                 "\"dx(b)\"}}}\nuse: {energy: {subsystem: s}}\nsimulation: {end: 0.1}\n");
  command_.write(
      "far.yaml",
      "trammel: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 1], position: [1e308, 0, 0]}, c: {mass: 1, inertia: "
      "[1, 1, 1], position: [-1e308, 0, 0]}}\njoints: {j: {type: spherical, between: [ground, b], at: [0, 0, "
      "0]}}\n");
  command_.write("heavy.yaml", "trammel: 1\nbodies: {b: {mass: 1e308, inertia: [1e308, 1e308, 1e308]}}\n");
  for (const char* verb : {"check", "run"}) {
    expect({{{verb, "bomb.yaml"}, 3, "[too-large]"},
            {{verb, "repeat.yaml"}, 3, "[too-large]"},
            {{verb, "nested.yaml"}, 3, "[too-large]"},
            {{verb, "laughs.yaml"}, 3, "[too-many-aliases]"},
            {{verb, "brackets.yaml"}, 3, "[too-deep]"},
            {{verb, "deep.yaml"}, 3, ""},
            {{verb, "minus.yaml"}, 3, ""},
            {{verb, "long.yaml"}, 3, ""},
            {{verb, "self.yaml"}, 3, "[include-cycle]"},
            {{verb, "escape.yaml"}, 3, "[not-text]"},
            {{verb, "time.yaml"}, 3, "[reserved-name]"},
            {{verb, "far.yaml"}, 3, "[out-of-range]"},
            {{verb, "heavy.yaml"}, 3, "[out-of-range]"}});
  }
  expect({{{"run", "energy.yaml"}, 3, "[duplicate-name]"}});
}

TEST_F(Hostile, Sweeps) {
  ASSERT_EQ(run({"sweep", "m.yaml", "--grid", "L=1,2", "-o", "table.csv"}).code, 0);
  expect({{{"sweep", "m.yaml"}, 2, "--grid"},
          {{"sweep", "m.yaml", "--grid", "L=1,2", "--threads", "100000"}, 2, "--threads"},
          {{"sweep", "m.yaml", "--grid", "L=1,2", "--threads", "-1"}, 2, "--threads"},
          {{"sweep", "m.yaml", "--latin", "L=1:2", "--count", "1000000000"}, 2, "--count"},
          {{"sweep", "m.yaml", "--latin", "L=1:2"}, 2, "--count"},
          {{"sweep", "m.yaml", "--latin", "L=1", "--count", "2"}, 2, "[bad-sweep]"},
          {{"sweep", "m.yaml", "--grid", "L=1:2:1e9"}, 2, "[bad-sweep]"},
          {{"sweep", "m.yaml", "--grid", "L=1:2:nan"}, 2, "[bad-sweep]"},
          {{"sweep", "m.yaml", "--grid", "L=1:2:1000000", "--grid", "m=1:2:1000000"}, 2, "[bad-sweep]"},
          {{"sweep", "m.yaml", "--grid", "L="}, 2, "[bad-sweep]"},
          {{"sweep", "m.yaml", "--grid", "L=,"}, 2, "[bad-sweep]"},
          {{"sweep", "m.yaml", "--grid", "L=1,2", "--measure", "nothing.max"}, 2, "[unknown-signal]"},
          {{"sweep", "m.yaml", "--csv", "table.csv", "-o", "table.csv"}, 4, "[output-is-input]"},
          {{"sweep", "m.yaml", "--grid", "L=1,2", "-o", "folder"}, 4, "folder"},
          {{"sweep", "m.yaml", "--grid", "L=1,2", "-o", "none/t.csv"}, 4, "folder"},
          {{"sweep", "m.yaml", "--grid", "L=1,2", "--resume", "-o", "none.csv"}, 2, "none.csv"},
          {{"plot", "table.csv", "--list"}, 0, ""},
          {{"plot", "table.csv", "x.last"}, 0, ""},
          {{"plot", "table.csv", "nothing"}, 2, "[unknown-signal]"}});
}

TEST_F(Hostile, Couplings) {
  command_.write("upper.yaml",
                 "trammel: 1\nbodies: {bar: {kind: planar, mass: 3, inertia: 0.25, position: [0.5, 0]}}\nframes: {tip: "
                 "{body: bar, position: [0.5, 0]}}\nsimulation: {end: 1, tolerance: 1e-6}\n");
  const auto with = [&](const std::string& file, const std::string& words) {
    std::string text = coupling;
    text.replace(text.find('%'), 1, words);
    command_.write(file, text);
  };
  with("none.yaml", "/no/such/program");
  with("silent.yaml", "sleep, '100'");
  with("endless.yaml", "sh, -c, 'while :; do printf aaaaaaaaaaaaaaaa; done'");
  with("nonsense.yaml", "sh, -c, 'read x; echo \"{{{ \\033[31m\"'");
  with("number.yaml", "sh, -c, 'read x; echo 17'");
  with("keys.yaml", "sh, -c, 'read x; echo {}'");
  with("itself.yaml", "'" TRAMMEL_COMMAND "', couple, itself.yaml, -q");
  with("dead.yaml", "sh, -c, 'kill -9 $$'");
  expect({{{"couple", "none.yaml"}, 1, "participant 'lower'"},
          {{"couple", "silent.yaml"}, 1, "does not answer"},
          {{"couple", "endless.yaml"}, 1, "does not end its answer"},
          {{"couple", "nonsense.yaml"}, 1, "[bad-message]"},
          {{"couple", "number.yaml"}, 1, "[bad-message]"},
          {{"couple", "keys.yaml"}, 1, "[bad-message]"},
          {{"couple", "itself.yaml"}, 1, "[too-deep]"},
          {{"couple", "dead.yaml"}, 1, "signal 9"},
          {{"couple", "nonsense.yaml", "-o", "m.yaml"}, 4, "[not-a-result]"},
          {{"couple", "nonsense.yaml", "--option", "step=nan"}, 3, ""},
          {{"couple", "nonsense.yaml", "--resume", "folder"}, 2, "directory"},
          {{"participate", "m.yaml"}, 1, "[participant-lost]"}});
  const Outcome said = run({"couple", "keys.yaml"});
  EXPECT_THAT(said.out, HasSubstr("participant 'lower' is the program sh -c read x; echo {}"));
}

// y' = -1e6 (y - sin t), until the flag goes up in the hundredth evaluation.
class AskedToStop final : public FirstOrderProblem {
 public:
  explicit AskedToStop(std::atomic<bool>& flag) : flag_(flag) {}
  int size() const override { return 1; }
  Eval f(double t, const Vec& y, Vec& dydt) override {
    if (++evaluations == 100) flag_ = true;
    dydt.resize(1);
    dydt[0] = -1e6 * (y[0] - std::sin(t));
    return Eval::ok;
  }
  long evaluations = 0;

 private:
  std::atomic<bool>& flag_;
};

TEST(Interruption, ReachesIntoACallOfCvode) {
  std::atomic<bool> flag{false};
  AskedToStop problem(flag);
  CvodeOptions options;
  options.family = CvodeOptions::Family::adams;
  options.newton = false;
  Cvode method(problem, options);
  const InterruptionScope scope(&flag);
  method.start(0, Vec::Ones(1));
  EXPECT_NE(method.attempt(1000).verdict, Verdict::ok);
  EXPECT_LT(problem.evaluations, 110);
}

// SIGTERM reaches a run that writes a flood of outputs in every step; what it has is kept.
TEST_F(Hostile, RunsThatAreAskedToStop) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", "m.yaml", "--end", "1000", "--output-step", "1e-6", "-o", "long.h5"}}) {
    const pid_t child = command_.start(arguments);
    for (int i = 0; i < 4000 && !command_.has(arguments.back()); ++i) usleep(1000);
    usleep(300000);
    kill(child, SIGTERM);
    const Outcome outcome = wait(child);
    EXPECT_EQ(outcome.code, 5) << outcome.err;
    EXPECT_EQ(read_trajectory(command_.path(arguments.back()), {{"output/time"}}).status(), RunStatus::interrupted);
  }
}

// Memory that ends with the fifth row.
class LittleMemory final : public TrajectorySink {
 public:
  MemoryTrajectory kept;
  void begin(const std::vector<Table>& tables, const Provenance& provenance) override {
    kept.begin(tables, provenance);
  }
  bool append(std::size_t table, std::span<const double> row) override {
    if (table == 0 && kept.rows(0) == 4) throw std::bad_alloc();
    return kept.append(table, row);
  }
  void flush() override { kept.flush(); }
  void finish(RunStatus status, std::string_view summary_json, std::string_view failure_json) override {
    kept.finish(status, summary_json, failure_json);
  }
};

TEST(UsedUpMemory, KeepsTheRows) {
  Simulation simulation(read_model_text(model, "m.yaml"));
  LittleMemory sink;
  try {
    simulation.run(sink);
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.problems().front().id, "memory-used-up");
    EXPECT_EQ(failure.exit_code(), ExitCode::failed_run);
  }
  EXPECT_EQ(sink.kept.rows(0), 4U);
  EXPECT_EQ(sink.kept.status(), RunStatus::failed);
}

// A command that may use so much memory and needs more says so.
TEST_F(Hostile, MemoryThatIsUsedUp) {
#if TRAMMEL_SANITIZED
  GTEST_SKIP() << "sanitizers reserve more addresses than any limit";
#endif
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  for (const rlim_t megabytes : {100, 200}) {
    rlimit tight = before;
    tight.rlim_cur = megabytes << 20;
    setrlimit(RLIMIT_AS, &tight);
    const pid_t child = command_.start({"run", model_file("chain_repeat.yaml"), "--set", "n=20000", "-o", "chain.h5"});
    setrlimit(RLIMIT_AS, &before);
    const Outcome outcome = command_.wait(child);
    EXPECT_EQ(outcome.signal, 0) << megabytes << " MB";
    EXPECT_EQ(outcome.code, 1) << megabytes << " MB\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("[memory-used-up]")) << megabytes << " MB";
  }
}

}  // namespace
}  // namespace trammel::testing::hostile_test
