// trammel run: results, overrides, failures, interruption, files that cannot be written.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/mount.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "tests/app/command.h"
#include "trammel/write/read_trajectory.h"

namespace trammel::testing::run_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Run, WritesAResultAndSaysWhatItDid) {
  const Command command;
  const Outcome outcome = command.run({"run", model_file("pendulum.yaml"), "--end", "0.5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const char* word :
       {"Pendulum", "positions", "steps", "rejected", "Newton", "energy", "constraints", "wall time", "pendulum.h5"}) {
    EXPECT_THAT(outcome.out, HasSubstr(word));
  }
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));  // no colours
  const MemoryTrajectory result = read_trajectory(command.path("pendulum.h5"));
  EXPECT_EQ(result.status(), RunStatus::finished);
  EXPECT_EQ(result.rows(0), 51U);
  EXPECT_DOUBLE_EQ(result.time(0).back(), 0.5);
  EXPECT_EQ(result.provenance().get("program"), "trammel");
  EXPECT_EQ(result.provenance().get("version"), TRAMMEL_VERSION);
  EXPECT_EQ(result.provenance().get("method"), "hht-i3");
  EXPECT_EQ(nlohmann::json::parse(result.summary_json())["reached"], 0.5);
}

TEST(Run, NoProgressLineInPipes) {
  const Outcome outcome = Command().run({"run", model_file("slider_crank.yaml"), "--tolerance", "1e-7"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, Not(HasSubstr("\r")));
}

// Explicit steps of half the stable length: the run ends, but not as if all were well. Above it, it stops.
TEST(Run, EnergyOutOfBalanceIsAWarning) {
  const Command command;
  command.write("mass.yaml", R"(trammel: 1
bodies: {mass: {kind: point, mass: 1, position: [1.1, 0, 0]}}
forces: {spring: {type: translational_spring_damper, between: [ground, mass], at: [[0, 0, 0], [1.1, 0, 0]], stiffness: 1e4, free_length: 1}}
simulation: {end: 1, method: split, step: 1e-3}
)");
  EXPECT_EQ(command.run({"run", "mass.yaml"}).err, "");
  const Outcome outcome = command.run({"run", "mass.yaml", "--step", "0.011", "--end", "0.25"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("mass.yaml: warning: energy is out of balance"));
  EXPECT_THAT(outcome.err, HasSubstr("force 'spring'"));
  const auto json = command.run({"run", "mass.yaml", "--step", "0.011", "--end", "0.25", "--json"}).json();
  EXPECT_EQ(json["warnings"][0]["id"], "energy-imbalance");
  const Outcome unstable = command.run({"run", "mass.yaml", "--step", "0.025", "--end", "0.25"});
  EXPECT_EQ(unstable.code, 1);
  EXPECT_THAT(unstable.err, HasSubstr("[energy-unexplained]"));
}

TEST(Run, QuietSaysNothing) {
  const Command command;
  const Outcome outcome = command.run({"run", model_file("pendulum.yaml"), "--end", "0.1", "-q"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_TRUE(command.has("pendulum.h5"));
}

TEST(Run, Json) {
  const Command command;
  const Outcome outcome =
      command.run({"run", model_file("pendulum.yaml"), "--end", "0.1", "--json", "-o", "a.h5", "--csv", "b.csv"});
  EXPECT_EQ(outcome.code, 0);
  const auto json = outcome.json();
  EXPECT_EQ(json["status"], "finished");
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["result"], "a.h5");
  EXPECT_EQ(json["csv"], "b.csv");
  EXPECT_EQ(json["failure"], nullptr);
  EXPECT_EQ(json["start"].size(), 3);
  EXPECT_EQ(json["summary"]["degrees_of_freedom"], 1);
  EXPECT_GT(json["summary"]["steps"], 0);
}

TEST(Run, CsvHoldsTheSameNumbers) {
  const Command command;
  ASSERT_EQ(command.run({"run", model_file("pendulum.yaml"), "--end", "0.1", "--csv"}).code, 0);
  const MemoryTrajectory a = read_trajectory(command.path("pendulum.h5")),
                         b = read_trajectory(command.path("pendulum.csv"));
  ASSERT_EQ(a.rows(0), b.rows(0));
  for (const Signal& signal : a.tables()[0].signals)
    EXPECT_EQ(a.column(signal.name), b.column(signal.name)) << signal.name;
}

TEST(Run, CsvInsteadOfHdf5) {
  const Command command;
  ASSERT_EQ(command.run({"run", model_file("pendulum.yaml"), "--end", "0.1", "-o", "only.csv"}).code, 0);
  EXPECT_THAT(command.read("only.csv"), HasSubstr("# trammel-result 1"));
  EXPECT_FALSE(command.has("pendulum.h5"));
}

TEST(Run, SetChangesParameters) {
  const Command command;
  ASSERT_EQ(command.run({"run", model_file("pendulum.yaml"), "--end", "0.1", "--set", "L=0.5", "--set", "m=1 t"}).code,
            0);
  const MemoryTrajectory result = read_trajectory(command.path("pendulum.h5"));
  // A thin rod released from the horizontal: 3 g / (2 L)
  EXPECT_NEAR(result.column("body.bar.angular_acceleration.y")[0], 1.5 * 9.81 / 0.5, 1e-9);
  EXPECT_EQ(result.provenance().get("parameter.L"), "0.5");
  EXPECT_EQ(result.provenance().get("parameter.m"), "1000");
}

TEST(Run, OptionsOfTheMethodAreRecorded) {
  const Command command;
  ASSERT_EQ(command
                .run({"run", model_file("pendulum.yaml"), "--end", "0.1", "--step", "1e-3", "--option", "alpha=-0.05",
                      "--option", "keep_rate=0"})
                .code,
            0);
  const Provenance p = read_trajectory(command.path("pendulum.h5")).provenance();
  EXPECT_EQ(p.get("option.alpha"), "-0.05");
  EXPECT_EQ(p.get("option.keep_rate"), "0");
  EXPECT_EQ(p.get("step"), "0.001");
}

// Whoever reads the result can run the model again to the same bits.
TEST(Run, ProvenanceHasAllDigitsAndLists) {
  const Command command;
  command.write("m.yaml",
                "trammel: 1\nparameters: {third: 1/3, list: [0.1, 1/7]}\nbodies: {b: {mass: list(2), inertia: [1, 1, "
                "1], position: [third, 0, 0]}}\nsimulation: {end: 0.1, tolerance: 1.23456789e-5}\n");
  ASSERT_EQ(command.run({"run", "m.yaml"}).code, 0);
  const Provenance p = read_trajectory(command.path("m.h5")).provenance();
  EXPECT_EQ(p.get("parameter.third"), "0.3333333333333333");
  EXPECT_EQ(p.get("parameter.list(1)"), "0.1");
  EXPECT_EQ(std::stod(p.get("parameter.list(2)")), 1.0 / 7);
  EXPECT_EQ(p.get("tolerance"), "1.23456789e-05");
}

// Options that a file gives for its own method do not follow it to another one, and that is said.
TEST(Run, AnotherMethodStartsFromItsOwnDefaults) {
  const Command command;
  command.write("m.yaml",
                "trammel: 1\nbodies:\n  bar: {mass: 1, inertia: [1, 1, 1]}\n"
                "simulation: {end: 0.1, step: 0.01, method: hht-i3, options: {alpha: -0.1}}\n");
  const Outcome outcome = command.run({"run", "m.yaml", "--method", "newmark-i3", "--option", "gamma=0.5"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("[options-of-another-method]"));
  const Provenance p = read_trajectory(command.path("m.h5")).provenance();
  EXPECT_EQ(p.get("method"), "newmark-i3");
  EXPECT_EQ(p.get("option.alpha"), "");
  EXPECT_EQ(p.get("option.gamma"), "0.5");
}

TEST(Run, FixedStepThatDoesNotDivideTheEnd) {
  const Command command;
  const Outcome outcome = command.run(
      {"run", model_file("pendulum.yaml"), "--end", "0.1", "--step", "0.03", "--output-step", "0", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["summary"]["steps"], 4);
  const std::vector<double> t = read_trajectory(command.path("pendulum.h5")).time(0);
  ASSERT_EQ(t.size(), 5U);
  EXPECT_DOUBLE_EQ(t[3], 0.09);
  EXPECT_EQ(t[4], 0.1);  // to the last bit: users compare with it
}

TEST(Run, FixedStepAndOutputGridDoNotMeet) {
  const Command command;
  ASSERT_EQ(
      command.run({"run", model_file("pendulum.yaml"), "--end", "0.1", "--step", "0.003", "--output-step", "0.01"})
          .code,
      0);
  const std::vector<double> t = read_trajectory(command.path("pendulum.h5")).time(0);
  ASSERT_EQ(t.size(), 11U);
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_NEAR(t[i], 0.01 * static_cast<double>(i), 1e-12);
}

TEST(Run, StepLongerThanTheRun) {
  const Command command;
  const Outcome outcome = command.run({"run", model_file("pendulum.yaml"), "--end", "0.01", "--step", "1", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["summary"]["steps"], 1);
}

// ---- Failing runs
// ----------------------------------------------------------------------------------------------------

TEST(Run, FailureNamesPartsAndKeepsTheResult) {
  const Command command;
  const Outcome outcome = command.run({"run", data_file("out_of_reach.yaml")});
  EXPECT_EQ(outcome.code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("out_of_reach.yaml: error: the run stopped at t = 0."), HasSubstr("likely causes"),
                    HasSubstr("what to try"), HasSubstr("out_of_reach.h5.state")));
  EXPECT_THAT(outcome.err,
              ::testing::AnyOf(HasSubstr("motion 'pull'"), HasSubstr("joint 'hinge'"), HasSubstr("body 'bar'")));
  EXPECT_TRUE(command.has("out_of_reach.h5.state"));
  const MemoryTrajectory result = read_trajectory(command.path("out_of_reach.h5"));
  EXPECT_EQ(result.status(), RunStatus::failed);
  EXPECT_GE(result.rows(0), 40U);
  const auto failure = nlohmann::json::parse(result.failure_json());
  EXPECT_NEAR(failure["t"].get<double>(), 0.5, 0.01);
  EXPECT_EQ(failure["state_file"], "out_of_reach.h5.state");
}

TEST(Run, FailureAsJson) {
  const Command command;
  const Outcome outcome = command.run({"run", data_file("out_of_reach.yaml"), "--json", "--step", "0.01"});
  EXPECT_EQ(outcome.code, 1);
  const auto json = outcome.json();
  EXPECT_EQ(json["status"], "failed");
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_FALSE(json["failure"]["what"].get<std::string>().empty());
  EXPECT_FALSE(json["failure"]["causes"].empty());
  EXPECT_FALSE(json["failure"]["try"].empty());
  EXPECT_GT(json["summary"]["steps"], 10);
}

// ---- Interruption
// ----------------------------------------------------------------------------------------------------

class Interrupt : public ::testing::TestWithParam<int> {};

TEST_P(Interrupt, KeepsAReadableResult) {
  const Command command;
  const pid_t child = command.start({"run", model_file("pendulum.yaml"), "--end", "1e7", "--output-step", "0.01"});
  ASSERT_GT(child, 0);
  for (int i = 0; i < 400 && !command.has("pendulum.h5"); ++i) usleep(10000);  // appears when the run begins
  usleep(50000);
  kill(child, GetParam());
  const Outcome outcome = command.wait(child);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("interrupted at t = "));
  EXPECT_THAT(outcome.out, HasSubstr("steps"));
  const MemoryTrajectory result = read_trajectory(command.path("pendulum.h5"));
  EXPECT_EQ(result.status(), RunStatus::interrupted);
  EXPECT_GE(result.rows(0), 1U);
  EXPECT_LT(result.time(0).back(), 1e7);
  EXPECT_FALSE(result.summary_json().empty());
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupt, ::testing::Values(SIGINT, SIGTERM),
                         [](const auto& test) { return test.param == SIGINT ? "SIGINT" : "SIGTERM"; });

// On a terminal a long run shows how far it is; nowhere else (see NoProgressLineInPipes).
TEST(Run, ProgressLineOnATerminal) {
  const Command command;
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "there are no pseudo-terminals here (a bare root without /dev/pts)";
  ASSERT_EQ(grantpt(terminal) + unlockpt(terminal), 0);
  const pid_t child = command.start({"run", model_file("pendulum.yaml"), "--end", "1e7"}, ptsname(terminal));
  ASSERT_GT(child, 0);
  std::string shown;
  for (int i = 0; i < 400 && shown.find("steps") == std::string::npos; ++i) {
    pollfd waiting{terminal, POLLIN, 0};
    char text[256];
    const ssize_t count = poll(&waiting, 1, 10) > 0 ? read(terminal, text, sizeof text) : 0;
    if (count > 0) shown.append(text, static_cast<std::size_t>(count));
  }
  kill(child, SIGINT);
  EXPECT_EQ(command.wait(child).code, 5);
  close(terminal);
  EXPECT_THAT(shown, HasSubstr("\r  t = "));
  EXPECT_THAT(shown, HasSubstr(" of 1e+07 s"));
}

// ---- Files that cannot be written
// ------------------------------------------------------------------------------------

TEST(Run, OutputInMissingFolder) {
  const Outcome outcome = Command().run({"run", model_file("pendulum.yaml"), "-o", "nowhere/run.h5"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("nowhere"), HasSubstr("hint: ")));
}

TEST(Run, FolderAsOutput) {
  const Command command;
  std::filesystem::create_directory(command.folder() / "there");
  for (const char* option : {"-o", "--csv"}) {
    const Outcome outcome = command.run({"run", model_file("pendulum.yaml"), option, "there"});
    EXPECT_EQ(outcome.code, 4) << option;
    EXPECT_THAT(outcome.err, HasSubstr("there")) << option;
  }
  EXPECT_EQ(command.run({"run", model_file("pendulum.yaml"), "-o", "there", "--json"}).json()["exit_code"], 4);
}

TEST(Run, NeverOverwritesAModel) {
  const Command command;
  const std::string text = "trammel: 1\nbodies:\n  bar: {mass: 1, inertia: [1, 1, 1]}\n";
  command.write("m.yaml", text);
  const Outcome outcome = command.run({"run", "m.yaml", "-o", "m.yaml"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(command.read("m.yaml"), text);
}

TEST(Run, SameFileTwice) {
  const Outcome outcome = Command().run({"run", model_file("pendulum.yaml"), "-o", "a.csv", "--csv", "a.csv"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("same file"));
}

TEST(Run, FullDiskStopsTheRun) {
  const Outcome outcome = Command().run({"run", model_file("pendulum.yaml"), "--end", "1e6", "--csv", "/dev/full"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("/dev/full"));
}

// A disk of 600 kB that really fills up; only root may mount one.
TEST(Run, ADiskThatFillsUpKeepsWhatWasWritten) {
  const Command command;
  const std::string disk = command.path("disk");
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=600k") != 0) GTEST_SKIP() << "no right to mount a disk";
  for (const char* file : {"disk/r.h5", "disk/r.csv"}) {
    const Outcome outcome =
        command.run({"run", model_file("pendulum.yaml"), "--end", "100", "--output-step", "0.001", "-o", file});
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(file), HasSubstr("No space left on device")));
    const MemoryTrajectory kept = read_trajectory(command.path(file));
    EXPECT_GT(kept.rows(0), 50U) << file;
    const std::vector<double> times = kept.time(0);
    for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(times[i], 1e-3 * static_cast<double>(i), 1e-9);
    for (const auto& entry : std::filesystem::directory_iterator(disk)) std::filesystem::remove(entry.path());
  }
  EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0);
}

// A model that fails before its first step must leave an earlier result alone.
TEST(Run, EarlierResultSurvivesABadModel) {
  const Command command;
  ASSERT_EQ(command.run({"run", model_file("pendulum.yaml"), "--end", "0.1"}).code, 0);
  EXPECT_EQ(command.run({"run", model_file("pendulum.yaml"), "--option", "alpha=0"}).code, 3);
  EXPECT_EQ(read_trajectory(command.path("pendulum.h5")).status(), RunStatus::finished);
}

}  // namespace
}  // namespace trammel::testing::run_test
