// Models that cannot be run: every verb that reads them says where and why, writes nothing, and ends with code 3.
#include <gmock/gmock.h>

#include "tests/app/command.h"

namespace trammel::testing::bad_model_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct BadModel {
  const char* name;
  const char* text;
  int line;
  const char* says;
};

void PrintTo(const BadModel& model, std::ostream* out) { *out << model.name; }

class BadModelTest : public ::testing::TestWithParam<BadModel> {};

TEST_P(BadModelTest, EveryVerbRefusesIt) {
  const BadModel& bad = GetParam();
  const Command command;
  command.write("bad.yaml", bad.text);
  const std::string place = "bad.yaml:" + std::to_string(bad.line) + ":";
  for (const char* verb : {"run", "check", "info"}) {
    const Outcome text = command.run({verb, "bad.yaml"});
    EXPECT_EQ(text.code, 3) << verb << "\n" << text.err;
    EXPECT_THAT(text.err, StartsWith(place)) << verb;
    EXPECT_THAT(text.err, HasSubstr("error: ")) << verb;
    EXPECT_THAT(text.err, HasSubstr(bad.says)) << verb;
    EXPECT_THAT(text.err, HasSubstr("\n  hint: ")) << verb;
    EXPECT_EQ(text.out, "") << verb;

    const Outcome machine = command.run({verb, "bad.yaml", "--json"});
    EXPECT_EQ(machine.code, 3) << verb;
    const auto json = machine.json();
    EXPECT_EQ(json["exit_code"], 3);
    const auto& problem = json["problems"][0];
    EXPECT_EQ(problem["severity"], "error");
    EXPECT_EQ(problem["file"], "bad.yaml");
    EXPECT_FALSE(problem["id"].get<std::string>().empty());
    EXPECT_EQ(problem["line"], bad.line);
    EXPECT_GE(problem["column"], 1);
  }
  EXPECT_FALSE(command.has("bad.h5"));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadModelTest,
    ::testing::Values(
        BadModel{"no_yaml", "trammel: 1\nbodies: {bar: [1, 2\n", 3, ""},
        BadModel{"tabs", "trammel: 1\nbodies:\n\tbar: {mass: 1}\n", 3, ""},
        BadModel{"binary", "\x01\x02\xff\xfe\x03", 1, "UTF-8"}, BadModel{"empty", "", 1, "no model"},
        BadModel{"unknown_key", "trammel: 1\nbodies:\n  bar: {mass: 1, inertia: [1, 1, 1], colour: red}\n", 3,
                 "colour"},
        BadModel{"wrong_type", "trammel: 1\nbodies:\n  bar:\n    mass: heavy metal\n    inertia: [1, 1, 1]\n", 4,
                 "bar"},
        BadModel{"nan", "trammel: 1\nbodies:\n  bar:\n    mass: .nan\n    inertia: [1, 1, 1]\n", 4, "bar"},
        BadModel{"negative_mass", "trammel: 1\nbodies:\n  bar: {mass: -2, inertia: [1, 1, 1]}\n", 3, "-2"},
        BadModel{"impossible_inertia", "trammel: 1\nbodies:\n  bar: {mass: 1, inertia: [1, 1, 5]}\n", 3, "impossible"},
        BadModel{"missing_body",
                 "trammel: 1\nbodies:\n  bar: {mass: 1, inertia: [1, 1, 1]}\njoints:\n"
                 "  pin: {type: revolute, between: [ground, baar], at: [0, 0, 0], axis: [0, 0, 1]}\n",
                 5, "baar"},
        BadModel{"unknown_type",
                 "trammel: 1\nbodies:\n  bar: {mass: 1, inertia: [1, 1, 1]}\njoints:\n"
                 "  pin: {type: hinge, between: [ground, bar], at: [0, 0, 0], axis: [0, 0, 1]}\n",
                 5, "hinge"},
        BadModel{"unknown_method",
                 "trammel: 1\nbodies:\n  bar: {mass: 1, inertia: [1, 1, 1]}\nsimulation: {end: 1, method: hht-i4}\n", 4,
                 "hht-i4"},
        BadModel{"unknown_option",
                 "trammel: 1\nbodies:\n  bar: {mass: 1, inertia: [1, 1, 1]}\n"
                 "simulation: {end: 1, options: {alfa: -0.1}}\n",
                 4, "alfa"},
        BadModel{"refused_option",
                 "trammel: 1\nbodies:\n  bar: {mass: 1, inertia: [1, 1, 1]}\n"
                 "simulation: {end: 1, tolerance: 1e-5, options: {alpha: 0}}\n",
                 4, "alpha"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(BadModel, MissingFile) {
  const Command command;
  for (const char* verb : {"run", "check", "info"}) {
    const Outcome outcome = command.run({verb, "nowhere.yaml"});
    EXPECT_EQ(outcome.code, 3) << verb;
    EXPECT_THAT(outcome.err, HasSubstr("nowhere.yaml")) << verb;
    EXPECT_EQ(command.run({verb, "nowhere.yaml", "--json"}).json()["exit_code"], 3) << verb;
  }
}

TEST(BadModel, FolderInsteadOfFile) {
  const Outcome outcome = Command().run({"run", "."});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("hint: "));
}

TEST(BadModel, ManyProblemsAtOnce) {
  const Command command;
  command.write("bad.yaml",
                "trammel: 1\nbodies:\n  a: {mass: -1, inertia: [1, 1, 1]}\n  b: {mass: -2, inertia: [1, 1, 1]}\n");
  const Outcome outcome = command.run({"check", "bad.yaml", "--json"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.json()["problems"].size(), 2);
}

TEST(BadModel, UnknownParameterOfSet) {
  const Outcome outcome = Command().run({"run", model_file("pendulum.yaml"), "--set", "LL=2"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("LL"));
}

// A loop that cannot close: `check` names the joints, `info` still counts.
TEST(BadModel, LoopThatDoesNotClose) {
  const Command command;
  std::string text = R"(trammel: 1
bodies:
  rod: {mass: 1, inertia: [1, 1, 1], position: [0.5, 0, 0]}
frames:
  end: {body: rod, position: [0.5, 0, 0]}
  wall: {body: ground, position: [3, 0, 0]}
joints:
  left: {type: spherical, between: [ground, rod], at: [0, 0, 0]}
  right: {type: spherical, frames: [wall, end]}
)";
  command.write("open.yaml", text);
  for (const char* verb : {"run", "check"}) {
    const Outcome outcome = command.run({verb, "open.yaml"});
    EXPECT_EQ(outcome.code, 3) << verb;
    EXPECT_THAT(outcome.err, HasSubstr("joint 'right'")) << verb;
    EXPECT_THAT(outcome.err, HasSubstr("[loop-does-not-close]")) << verb;
  }
  const Outcome info = command.run({"info", "open.yaml", "--json"});
  EXPECT_EQ(info.code, 3);
  const auto json = info.json();
  EXPECT_EQ(json["exit_code"], 3);
  EXPECT_EQ(json["sizes"]["nv"], 6);
  EXPECT_EQ(json["rank"], nullptr);
  EXPECT_EQ(json["problems"][0]["id"], "loop-does-not-close");
}

}  // namespace
}  // namespace trammel::testing::bad_model_test
