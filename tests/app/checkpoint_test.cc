// Checkpoints as a user meets them: a run that is killed again and again and resumed in new processes gives the same
// bits as one that was left alone; what does not fit is refused with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "tests/app/command.h"
#include "trammel/write/read_trajectory.h"

namespace trammel::checkpoint_test {
namespace {

using testing::Command;
using ::testing::HasSubstr;
using testing::model_file;
using testing::Outcome;

void expect_same_bits(const MemoryTrajectory& a, const MemoryTrajectory& b) {
  ASSERT_EQ(a.tables().size(), b.tables().size());
  for (std::size_t t = 0; t < a.tables().size(); ++t) {
    ASSERT_EQ(a.rows(t), b.rows(t)) << a.tables()[t].name;
    for (std::size_t i = 0; i < a.rows(t); ++i) {
      const auto x = a.row(t, i), y = b.row(t, i);
      ASSERT_EQ(std::memcmp(x.data(), y.data(), x.size_bytes()), 0) << a.tables()[t].name << " row " << i;
    }
  }
  for (const auto& [key, value] : a.provenance().entries) {
    if (key != "date" && key != "model_file") {
      EXPECT_EQ(b.provenance().get(key), value) << key;
    }
  }
  // The summary, except for the clock.
  auto s = nlohmann::json::parse(a.summary_json()), r = nlohmann::json::parse(b.summary_json());
  s.erase("seconds");
  r.erase("seconds");
  EXPECT_EQ(s, r);
}

std::vector<std::string> rows_of_csv(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.rfind("# summary", 0) != 0 && line.rfind("# provenance.date", 0) != 0) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

struct Case {
  const char* name;
  const char* model;
  std::vector<std::string> more;
};
void PrintTo(const Case& which, std::ostream* out) { *out << which.name; }

class Killed : public ::testing::TestWithParam<Case> {};

TEST_P(Killed, AndResumedGivesTheSameBits) {
  const Command command;
  std::vector<std::string> whole{"run", model_file(GetParam().model), "-o", "whole.h5", "--csv", "whole.csv"};
  whole.insert(whole.end(), GetParam().more.begin(), GetParam().more.end());
  ASSERT_EQ(command.run(whole).code, 0);

  std::vector<std::string> part{
      "run",     model_file(GetParam().model), "-o",     "part.h5", "--csv", "part.csv", "--checkpoint",
      "part.ck", "--checkpoint-every",         "60steps"};
  part.insert(part.end(), GetParam().more.begin(), GetParam().more.end());
  int killed = 0;
  bool finished = false;
  std::filesystem::file_time_type last{};
  for (int attempt = 0; attempt < 8 && !finished; ++attempt) {
    const pid_t child = attempt == 0 ? command.start(part)
                                     : command.start({"run", "--resume", "part.ck", "--checkpoint-every", "60steps"});
    ASSERT_GT(child, 0);
    // until the next checkpoint, and a little longer: in the middle of what follows it
    for (int i = 0; i < 2000; ++i) {
      usleep(500);
      if (command.has("part.ck") && std::filesystem::last_write_time(command.path("part.ck")) != last) break;
      if (kill(child, 0) != 0) break;
    }
    usleep(static_cast<useconds_t>(700 * attempt));
    if (attempt < 4) {
      kill(child, SIGKILL);
    } else {
      finished = true;
    }
    const Outcome outcome = command.wait(child);
    if (outcome.signal == SIGKILL) {
      ++killed;
      const MemoryTrajectory so_far = read_trajectory(command.path("part.h5"));
      EXPECT_EQ(so_far.status(), RunStatus::running);
      EXPECT_GT(so_far.rows(1), 0U);
    } else {
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      finished = true;
    }
    if (command.has("part.ck")) last = std::filesystem::last_write_time(command.path("part.ck"));
  }
  EXPECT_GT(killed, 0);
  expect_same_bits(read_trajectory(command.path("whole.h5")), read_trajectory(command.path("part.h5")));
  for (const char* file : {"%.csv", "%.steps.csv"}) {
    std::string one = file, two = file;
    one.replace(0, 1, "whole");
    two.replace(0, 1, "part");
    EXPECT_EQ(rows_of_csv(command.read(one)), rows_of_csv(command.read(two)));
  }
  // Nothing is left of what was cut off; the summary's wall-clock times have more digits or fewer.
  EXPECT_NEAR(static_cast<double>(std::filesystem::file_size(command.path("whole.h5"))),
              static_cast<double>(std::filesystem::file_size(command.path("part.h5"))), 50);
}

INSTANTIATE_TEST_SUITE_P(
    Models, Killed,
    ::testing::Values(
        Case{"Spatial", "spatial_slider_crank.yaml", {"--end", "2", "--tolerance", "1e-7"}},
        Case{"Redundant", "four_bar.yaml", {"--end", "1", "--tolerance", "1e-6", "--output-step", "0.003"}},
        Case{"FixedStep", "four_bar_twin.yaml", {"--end", "1", "--step", "1e-3"}}),
    [](const auto& test) { return test.param.name; });

TEST(Checkpoint, InterruptedRunGoesOn) {
  const Command command;
  const std::vector<std::string> settings{"--end", "3", "--tolerance", "1e-7"};
  std::vector<std::string> whole{"run", model_file("pendulum.yaml"), "-o", "whole.h5"};
  whole.insert(whole.end(), settings.begin(), settings.end());
  ASSERT_EQ(command.run(whole).code, 0);
  std::vector<std::string> part{"run", model_file("pendulum.yaml"), "-o", "part.h5", "--checkpoint"};
  part.insert(part.end(), settings.begin(), settings.end());
  const pid_t child = command.start(part);
  for (int i = 0; i < 4000 && !command.has("part.h5"); ++i) usleep(500);
  kill(child, SIGTERM);
  const Outcome outcome = command.wait(child);
  if (outcome.code == 5) {
    EXPECT_THAT(outcome.err, HasSubstr("go on with: trammel run --resume part.h5.checkpoint"));
    EXPECT_EQ(read_trajectory(command.path("part.h5")).status(), RunStatus::interrupted);
    const Outcome rest = command.run({"run", "--resume", "part.h5.checkpoint"});
    EXPECT_EQ(rest.code, 0) << rest.err;
    EXPECT_THAT(rest.out, HasSubstr("continued from t = "));
  }
  expect_same_bits(read_trajectory(command.path("whole.h5")), read_trajectory(command.path("part.h5")));
}

TEST(Checkpoint, ALaterEndIsTheOnlyChange) {
  const Command command;
  ASSERT_EQ(command
                .run({"run", model_file("pendulum.yaml"), "-o", "a.h5", "--end", "0.2", "--step", "1e-3",
                      "--output-step", "0.01", "--checkpoint", "a.ck", "--checkpoint-every", "0.15"})
                .code,
            0);
  ASSERT_EQ(command.run({"run", "--resume", "a.ck", "--end", "0.4"}).code, 0);
  ASSERT_EQ(command
                .run({"run", model_file("pendulum.yaml"), "-o", "b.h5", "--end", "0.4", "--step", "1e-3",
                      "--output-step", "0.01"})
                .code,
            0);
  expect_same_bits(read_trajectory(command.path("b.h5")), read_trajectory(command.path("a.h5")));

  const Outcome changed = command.run({"run", "--resume", "a.ck", "--tolerance", "1e-3"});
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.err, HasSubstr("only --end may change"));
  EXPECT_EQ(command.run({"run", model_file("pendulum.yaml"), "--resume", "a.ck"}).code, 2);
  EXPECT_EQ(command.run({"run", "--resume", "a.ck", "--end", "0.01"}).code, 2);
}

// A resumed run is saved as the run was: otherwise a second kill would lose what the first one did not.
TEST(Checkpoint, AResumedRunGoesOnSaving) {
  const Command command;
  ASSERT_EQ(command
                .run({"run", model_file("pendulum.yaml"), "-o", "a.h5", "--end", "0.2", "--step", "1e-3",
                      "--output-step", "0.01", "--checkpoint", "a.ck", "--checkpoint-every", "0.05"})
                .code,
            0);
  const std::string before = command.read("a.ck");
  const Outcome more = command.run({"run", "--resume", "a.ck", "--end", "0.4", "--json"});
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(more.json()["checkpoint"], command.path("a.ck"));
  EXPECT_NE(command.read("a.ck"), before);
  EXPECT_EQ(read_trajectory(command.path("a.h5")).time(0).back(), 0.4);
}

TEST(Checkpoint, AnEndThatCutsTheResultIsRefused) {
  const Command command;
  ASSERT_EQ(command
                .run({"run", model_file("pendulum.yaml"), "-o", "a.h5", "--end", "0.2", "--step", "1e-3",
                      "--output-step", "0.01", "--checkpoint", "a.ck", "--checkpoint-every", "0.15"})
                .code,
            0);
  const std::string result = command.read("a.h5");
  const Outcome cut = command.run({"run", "--resume", "a.ck", "--end", "0.18"});
  EXPECT_EQ(cut.code, 2);
  EXPECT_THAT(cut.err, HasSubstr("would be cut"));
  EXPECT_EQ(command.read("a.h5"), result);
}

TEST(Checkpoint, RefusesWhatDoesNotFit) {
  const Command command;
  command.write("m.yaml",
                "trammel: 1\ngravity: [0, 0, -9.81]\nbodies:\n  ball: {kind: point, mass: 1}\n"
                "simulation: {end: 1, tolerance: 1e-4, output_step: 0.1}\n");
  const std::vector<std::string> run{"run", "m.yaml", "--checkpoint", "m.ck", "--checkpoint-every", "0.3"};
  ASSERT_EQ(command.run(run).code, 0);
  const std::string good = command.read("m.ck");

  // another mass
  command.write("m.yaml",
                "trammel: 1\ngravity: [0, 0, -9.81]\nbodies:\n  ball: {kind: point, mass: 2}\n"
                "simulation: {end: 1, tolerance: 1e-4, output_step: 0.1}\n");
  Outcome outcome = command.run({"run", "--resume", "m.ck"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("[checkpoint-of-another-model]"));
  command.write("m.yaml",
                "trammel: 1\ngravity: [0, 0, -9.81]\nbodies:\n  ball: {kind: point, mass: 1}\n"
                "simulation: {end: 1, tolerance: 1e-4, output_step: 0.1}\n");

  // damaged, cut off, not one, missing
  std::string bad = good;
  bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 1);
  for (const std::string& text : {bad, good.substr(0, good.size() - 10), good.substr(0, 15), std::string("hello")}) {
    command.write("bad.ck", text);
    outcome = command.run({"run", "--resume", "bad.ck"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("[bad-checkpoint]"));
  }
  EXPECT_EQ(command.run({"run", "--resume", "none.ck"}).code, 2);

  // another version
  std::string other = good;
  const std::size_t at = other.find("\"version\":\"");
  ASSERT_NE(at, std::string::npos);
  other[at + 11] = '9';
  command.write("bad.ck", other);
  EXPECT_THAT(command.run({"run", "--resume", "bad.ck"}).err, HasSubstr("[bad-checkpoint]"));  // its hash is wrong

  // without the result
  std::filesystem::remove(command.path("m.h5"));
  outcome = command.run({"run", "--resume", "m.ck"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("[cannot-continue-result]"));
  // an earlier one in its place
  ASSERT_EQ(command.run({"run", "m.yaml", "--end", "0.2"}).code, 0);
  outcome = command.run({"run", "--resume", "m.ck"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("rows"));
}

TEST(Checkpoint, BadUsage) {
  const Command command;
  for (const char* every : {"-1", "0", "soon", "3 cows", "nan"}) {
    EXPECT_EQ(command.run({"run", model_file("pendulum.yaml"), "--checkpoint", "c", "--checkpoint-every", every}).code,
              2)
        << every;
  }
  EXPECT_EQ(command.run({"run", model_file("pendulum.yaml"), "--checkpoint-every", "1"}).code, 2);
}

// A checkpoint that cannot be written is told, and the run goes on.
TEST(Checkpoint, UnwritablePlaceEndsNoRun) {
  const Command command;
  const Outcome outcome = command.run({"run", model_file("pendulum.yaml"), "--end", "0.1", "--checkpoint",
                                       "none/here.ck", "--checkpoint-every", "0.05"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("warning: the checkpoint 'none/here.ck' cannot be written"));
}

// ---- Places that go away --------------------------------------------------------------------------------------------

TEST(VanishedFolder, IsAClearError) {
  for (const char* file : {"sub/run.h5", "sub/run.csv"}) {
    const Command command;
    std::filesystem::create_directory(command.path("sub"));
    const pid_t child =
        command.start({"run", model_file("pendulum.yaml"), "--end", "1e7", "--output-step", "0.01", "-o", file});
    for (int i = 0; i < 4000 && !command.has(file); ++i) usleep(1000);
    usleep(100000);
    std::error_code busy;  // the run may be writing a file of it
    for (int i = 0; i < 1000 && command.has("sub"); ++i) std::filesystem::remove_all(command.path("sub"), busy);
    const Outcome outcome = command.wait(child);
    EXPECT_EQ(outcome.code, 4) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("[write-failed]"));
    EXPECT_THAT(outcome.err, HasSubstr("its folder was removed"));
  }
}

// ---- Help -----------------------------------------------------------------------------------------------------------

TEST(Help, ExplainsMessages) {
  const Command command;
  const Outcome one = command.run({"help", "step-at-round-off"});
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.out, HasSubstr("what to do"));
  EXPECT_EQ(command.run({"help", "[unknown-key]"}).code, 0);
  const auto json = command.run({"help", "unknown-key", "--json"}).json();
  EXPECT_EQ(json["id"], "unknown-key");
  EXPECT_FALSE(json["remedy"].get<std::string>().empty());
  EXPECT_GT(command.run({"help", "--json"}).json().size(), 100U);
  EXPECT_THAT(command.run({"help"}).out, HasSubstr("motion-out-of-reach"));
  EXPECT_THAT(command.run({"help", "run"}).out, HasSubstr("--checkpoint"));
  const Outcome wrong = command.run({"help", "unknown-kye"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'unknown-key'"));
}

}  // namespace
}  // namespace trammel::checkpoint_test
