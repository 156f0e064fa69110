// new, fmt and schema: what helps to write models.
#include <gmock/gmock.h>

#include "tests/app/command.h"

namespace trammel::testing::author_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(New, EveryTemplateRunsAndIsLaidOut) {
  const Command command;
  const Outcome list = command.run({"new", "--list"});
  EXPECT_THAT(list.out, AllOf(HasSubstr("pendulum"), HasSubstr("chain"), HasSubstr("vehicle")));
  for (const char* kind : {"pendulum", "chain", "vehicle"}) {
    const std::string file = std::string(kind) + "_1.yaml";
    const Outcome made = command.run({"new", std::string(kind) + "_1", "--template", kind});
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr(file));
    EXPECT_THAT(command.read(file), AllOf(HasSubstr("# "), HasSubstr("'" + std::string(kind) + "_1'")));
    const Outcome run = command.run({"run", file, "--end", "0.3"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err.find("warning"), std::string::npos) << run.err;
    EXPECT_EQ(command.run({"fmt", "--check", file}).code, 0) << kind;
  }
}

TEST(New, NeverOverwrites) {
  const Command command;
  command.write("mine.yaml", "precious");
  const Outcome outcome = command.run({"new", "mine"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("mine.yaml exists"), HasSubstr("[file-exists]")));
  EXPECT_EQ(command.read("mine.yaml"), "precious");
  EXPECT_EQ(command.run({"new", "other", "--template", "pendulom"}).code, 2);
  EXPECT_THAT(command.run({"new", "other", "--template", "pendulom"}).err, HasSubstr("did you mean 'pendulum'?"));
  EXPECT_FALSE(command.has("other.yaml"));
}

TEST(Fmt, RewritesAndChecks) {
  const Command command;
  command.write("m.yaml", "title: T\ntrammel: 1   # version\nsimulation: {end: 1.0,step: 1E-2}\n");
  EXPECT_EQ(command.run({"fmt", "--check", "m.yaml"}).code, 1);
  EXPECT_EQ(command.run({"fmt", "m.yaml"}).code, 0);
  EXPECT_EQ(command.read("m.yaml"), "trammel: 1   # version\ntitle: T\nsimulation: {end: 1, step: 1e-2}\n");
  EXPECT_EQ(command.run({"fmt", "--check", "m.yaml"}).code, 0);
  EXPECT_EQ(command.run({"fmt", "--print", "m.yaml"}).out, command.read("m.yaml"));
  command.write("bad.yaml", "a: [1\n");
  EXPECT_EQ(command.run({"fmt", "bad.yaml"}).code, 3);
  EXPECT_EQ(command.read("bad.yaml"), "a: [1\n");
}

TEST(Schema, IsPrintedAndWritten) {
  const Command command;
  const Outcome outcome = command.run({"schema"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto schema = outcome.json();
  EXPECT_TRUE(schema["definitions"].contains("body"));
  EXPECT_EQ(command.run({"schema", "-o", "s.json"}).code, 0);
  EXPECT_EQ(command.read("s.json"), outcome.out);
}

}  // namespace
}  // namespace trammel::testing::author_test
