// The command line itself: help, version, wrong words.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tests/app/command.h"

namespace trammel::testing::usage_test {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> verbs{"run", "check", "info", "plot", "methods", "elements", "study"};

TEST(Usage, HelpNamesVerbsAndExitCodes) {
  const Outcome outcome = Command().run({"--help"});
  EXPECT_EQ(outcome.code, 0);
  for (const std::string& verb : verbs) EXPECT_THAT(outcome.out, HasSubstr("\n  " + verb + " ")) << outcome.out;
  for (const char* code : {"  0 ", "  1 ", "  2 ", "  3 ", "  4 ", "  5 ", "  6 ", "  70 "}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string("\n") + code));
  }
  EXPECT_EQ(outcome.err, "");
}

TEST(Usage, EveryVerbHasHelpWithExamples) {
  const Command command;
  for (const std::string& verb : verbs) {
    const Outcome outcome = command.run({verb, "--help"});
    EXPECT_EQ(outcome.code, 0) << verb;
    EXPECT_THAT(outcome.out, HasSubstr("Example")) << verb;
    EXPECT_THAT(outcome.out, HasSubstr("trammel " + verb)) << verb;
  }
}

TEST(Usage, Version) {
  const Outcome outcome = Command().run({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "trammel " TRAMMEL_VERSION "\n");
}

TEST(Usage, NothingAskedFor) {
  const Outcome outcome = Command().run({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("trammel --help"));
  EXPECT_EQ(outcome.out, "");
}

TEST(Usage, UnknownVerbGivesTheNearest) {
  const Outcome outcome = Command().run({"runn", "model.yaml"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("there is no verb 'runn'"));
  EXPECT_THAT(outcome.err, HasSubstr("did you mean `trammel run`?"));
}

TEST(Usage, UnknownOption) {
  const Outcome outcome = Command().run({"run", model_file("pendulum.yaml"), "--tolerence", "1e-3"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--tolerence"));
  EXPECT_THAT(outcome.err, HasSubstr("trammel run --help"));
}

TEST(Usage, MissingModel) { EXPECT_EQ(Command().run({"run"}).code, 2); }

TEST(Usage, NoNumber) {
  const Outcome outcome = Command().run({"run", model_file("pendulum.yaml"), "--step", "small"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--step"));
}

TEST(Usage, JsonAlsoForBadUsage) {
  const Outcome outcome = Command().run({"run", "--json"});
  EXPECT_EQ(outcome.code, 2);
  const auto json = outcome.json();
  EXPECT_EQ(json["exit_code"], 2);
  EXPECT_EQ(json["problems"][0]["id"], "bad-usage");
  EXPECT_EQ(json["problems"][0]["line"], nullptr);
}

// Numbers that no run can use come from the command line, not from the model: code 2, and nothing is written.
TEST(Usage, ImpossibleSettings) {
  const Command command;
  const std::vector<std::vector<std::string>> bad{
      {"--step", "0"},    {"--step", "-1"},          {"--step", "nan"},      {"--tolerance", "0"},
      {"--end", "inf"},   {"--output-step", "-1"},   {"--method", "hht-i4"}, {"--option", "alpha"},
      {"--option", "=1"}, {"--option", "alpha=low"}, {"--set", "L"},         {"--greatest-step", "0"},
  };
  for (const auto& words : bad) {
    std::vector<std::string> arguments{"run", model_file("pendulum.yaml")};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Outcome outcome = command.run(arguments);
    EXPECT_EQ(outcome.code, 2) << words[0] << " " << words[1] << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("error: ")) << words[0];
    EXPECT_FALSE(command.has("pendulum.h5")) << words[0];
  }
}

TEST(Usage, FullDiskBehindStandardOutput) {
  // /dev/full takes nothing; a shell puts it in place of standard output.
  const Command command;
  const std::string line = std::string(TRAMMEL_COMMAND) + " methods > /dev/full 2> " + command.path("errors");
  const int status = std::system(line.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_THAT(command.read("errors"), HasSubstr("standard output cannot be written"));
}

}  // namespace
}  // namespace trammel::testing::usage_test
