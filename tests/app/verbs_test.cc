// check, info, methods, elements, plot and study.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/app/command.h"
#include "trammel/elements/measure.h"
#include "trammel/elements/registry.h"
#include "trammel/integrate/registry.h"
#include "trammel/math/expression.h"

namespace trammel::testing::verbs_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// ---- check
// -----------------------------------------------------------------------------------------------------------

TEST(Check, SaysWhatAssemblyDid) {
  const Command command;
  const Outcome outcome = command.run({"check", model_file("slider_crank.yaml")});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("positions"), HasSubstr("velocities"), HasSubstr("accelerations"),
                                 HasSubstr("degrees of freedom: 1 by rank"), HasSubstr("can be run with hht-i3")));
  EXPECT_FALSE(command.has("slider_crank.h5"));
}

TEST(Check, RedundantRowsByJoint) {
  const Outcome outcome = Command().run({"check", data_file("four_bar.yaml"), "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto rank = outcome.json()["rank"];
  EXPECT_EQ(rank["degrees_of_freedom_by_count"], -2);
  EXPECT_EQ(rank["degrees_of_freedom_by_rank"], 1);
  EXPECT_EQ(rank["redundant_rows"], 3);
  EXPECT_EQ(rank["permanent"], 3);
  EXPECT_EQ(rank["removable_rows"].size(), 3);
  EXPECT_EQ(rank["reactions_not_unique"].size(), 4);
}

TEST(Check, WarningsAreNoErrors) {
  const Command command;
  command.write("m.yaml", "trammel: 1\nparameters: {unused: 1}\nbodies:\n  bar: {mass: 1, inertia: [1, 1, 1]}\n");
  const Outcome outcome = command.run({"check", "m.yaml"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("m.yaml:2:"), HasSubstr("warning: "), HasSubstr("[unused-parameter]")));
  EXPECT_THAT(outcome.out, HasSubstr("1 warning"));
  const auto json = command.run({"check", "m.yaml", "--json"}).json();
  EXPECT_EQ(json["problems"][0]["severity"], "warning");
  EXPECT_EQ(json["problems"][0]["line"], 2);
}

// ---- info
// ------------------------------------------------------------------------------------------------------------

TEST(Info, CountsOfTheSliderCrank) {
  const Outcome outcome = Command().run({"info", model_file("slider_crank.yaml"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = outcome.json();
  EXPECT_EQ(json["bodies"].size(), 3);
  EXPECT_EQ(json["types"]["joints"]["revolute"], 1);
  EXPECT_EQ(json["rank"]["degrees_of_freedom_by_rank"], 1);
  EXPECT_EQ(json["rank"]["loops"], 1);
  EXPECT_EQ(json["sizes"]["nq"], 21);
  EXPECT_EQ(json["sizes"]["nv"], 18);
  EXPECT_EQ(json["sizes"]["ng"], 17);
  // 3 bodies, 17 rows
  EXPECT_EQ(json["equations"]["trammel_index3"]["equations"], 18 + 17);
  EXPECT_EQ(json["equations"]["adams_hht"]["equations"], 6 * 3 + 17);
  EXPECT_EQ(json["equations"]["adams_gstiff"]["equations"], 15 * 3 + 17);
  EXPECT_EQ(json["equations"]["euler_parameters"]["equations"], 8 * 3 + 17);
  EXPECT_EQ(json["equations"]["state_space"]["equations"], 2);
  const auto& pattern = json["pattern"];
  EXPECT_EQ(pattern["newton_size"], 35);
  // The Newton matrix holds vv, twice gv and the diagonal of the multipliers; factoring cannot lose entries.
  EXPECT_EQ(pattern["newton_entries"], pattern["vv_entries"].get<int>() + 2 * pattern["gv_entries"].get<int>() + 17);
  EXPECT_GE(pattern["fill_L_plus_U"], pattern["newton_entries"]);
}

TEST(Info, Text) {
  const Outcome outcome = Command().run({"info", data_file("four_bar.yaml")});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("4 revolute"), HasSubstr("ground - left"), HasSubstr("1 loop"), HasSubstr("3 of 20"),
                    HasSubstr("3 permanent"), HasSubstr("GSTIFF"), HasSubstr("L + U")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("''")));
}

TEST(Info, ModesOfABodyThatBends) {
  const Command command;
  const std::string file = model_file("flexible_pendulum.yaml");
  const auto strip = command.run({"info", file, "--json"}).json()["bodies"][0];
  EXPECT_EQ(strip["frequencies"].size(), 3 * 6 + 4 - 6);
  EXPECT_EQ(strip["normal_modes_asked"], 4);
  ASSERT_EQ(strip["held_frequencies"].size(), 4);
  // Half of the strip clamped at both ends: 22.373 sqrt(E I/(rho A)) / (2 pi L^2), for each half.
  const double clamped = 22.3733 / (2 * 3.14159265) * std::sqrt(70e9 * 0.003 * 0.003 / 12 / 2700) / 0.25;
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(strip["held_frequencies"][i].get<double>() / clamped, 1, 5e-3);
  EXPECT_THAT(command.run({"info", file}).out, HasSubstr("4 normal modes, interfaces held 6"));
}

// The vehicle of the HHT paper, with the counts that it prints.
TEST(Info, CountsTheEquationsOfAVehicleAsThePaperDoes) {
  const Command command;
  const auto vehicle = command.run({"info", model_file("atv.yaml"), "--json"}).json();
  EXPECT_EQ(vehicle["bodies"].size(), 28 + 1);
  EXPECT_EQ(vehicle["joints"].size(), 43);
  EXPECT_EQ(vehicle["motions"].size(), 5);
  EXPECT_EQ(vehicle["equations"]["adams_hht"]["equations"], 532);
  EXPECT_EQ(vehicle["equations"]["adams_gstiff"]["equations"], 927);
}

TEST(Info, GraphAsDot) {
  const Command command;
  const Outcome outcome = command.run({"info", data_file("out_of_reach.yaml"), "--graph", "g.dot"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string dot = command.read("g.dot");
  EXPECT_THAT(dot, AllOf(HasSubstr("graph \"Out of reach\" {"), HasSubstr("ground [shape=box"),
                         HasSubstr("b0 [label=\"bar\"]"), HasSubstr("ground -- b0 [label=\"hinge\\nrevolute\"]"),
                         HasSubstr("ground -- b0 [label=\"pull\\ntranslation (motion)\"")));
}

TEST(Info, GraphThatCannotBeWritten) {
  const Command command;
  EXPECT_EQ(command.run({"info", data_file("four_bar.yaml"), "--graph", "g.pdf"}).code, 2);
  EXPECT_EQ(command.run({"info", data_file("four_bar.yaml"), "--graph", "nowhere/g.dot"}).code, 4);
  EXPECT_EQ(command.run({"info", data_file("four_bar.yaml"), "--graph", "nowhere/g.svg"}).code, 4);
}

// ---- methods and elements
// --------------------------------------------------------------------------------------------

TEST(Methods, ListsTheRegistry) {
  const Command command;
  const Outcome table = command.run({"methods"});
  EXPECT_EQ(table.code, 0);
  const auto json = command.run({"methods", "--json"}).json();
  ASSERT_EQ(json.size(), method_registry().size());
  for (const MethodInfo& method : method_registry()) {
    EXPECT_THAT(table.out, HasSubstr("\n" + method.key + " "));
    const Outcome one = command.run({"methods", method.key});
    EXPECT_EQ(one.code, 0);
    for (const Field& option : method.options) EXPECT_THAT(one.out, HasSubstr("\n  " + option.name + "  ("));
    EXPECT_EQ(command.run({"methods", method.key, "--json"}).json()["options"].size(), method.options.size());
  }
}

TEST(Methods, Unknown) {
  const Outcome outcome = Command().run({"methods", "hht-i2"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean 'hht-i3'?"));
}

TEST(Elements, ListsTheRegistries) {
  const Command command;
  const Outcome table = command.run({"elements"});
  EXPECT_EQ(table.code, 0);
  for (const ElementDescription& d : element_registry()) {
    EXPECT_THAT(table.out, HasSubstr("\n  " + d.key + " "));
    const Outcome one = command.run({"elements", d.key});
    EXPECT_EQ(one.code, 0);
    for (const Field& field : d.fields) EXPECT_THAT(one.out, HasSubstr("\n  " + field.name + "  (")) << d.key;
  }
  for (const MeasureDescription& m : measure_registry()) EXPECT_THAT(table.out, HasSubstr("\n  " + m.name + " "));
  for (const ExpressionFunction& f : expression_functions()) {
    EXPECT_THAT(table.out, HasSubstr("\n  " + std::string(f.signature)));
  }
  const auto json = command.run({"elements", "--json"}).json();
  EXPECT_EQ(json["elements"].size(), element_registry().size());
  EXPECT_EQ(json["measures"].size(), measure_registry().size());
  EXPECT_EQ(json["functions"].size(), expression_functions().size());
}

TEST(Elements, MeasuresAndFunctions) {
  const Command command;
  EXPECT_THAT(command.run({"elements", "dx"}).out, HasSubstr("(measure, m)"));
  EXPECT_THAT(command.run({"elements", "atan2"}).out, HasSubstr("atan2(y, x) (function)"));
  const Outcome unknown = command.run({"elements", "revolut"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'revolute'?"));
}

// ---- plot
// ------------------------------------------------------------------------------------------------------------

class Plot : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(command_.run({"run", model_file("pendulum.yaml"), "--end", "0.2", "-q"}).code, 0); }
  Command command_;
};

TEST_F(Plot, Picture) {
  for (const char* file : {"p.png", "p.svg"}) {
    const Outcome outcome = command_.run({"plot", "pendulum.h5", "swing", "body.bar.velocity", "-o", file});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_GT(command_.read(file).size(), 1000U) << file;
  }
  EXPECT_EQ(command_.read("p.png").substr(1, 3), "PNG");
  EXPECT_THAT(command_.read("p.svg"), HasSubstr("<svg"));
}

TEST_F(Plot, TextOnTheTerminal) {
  const Outcome outcome = command_.run({"plot", "pendulum.h5", "tip_z", "--x", "tip_x", "--title", "The path"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("The path"), HasSubstr("tip_x")));
}

TEST_F(Plot, List) {
  const Outcome all = command_.run({"plot", "pendulum.h5", "--list"});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.out,
              AllOf(HasSubstr("body.bar.position.x"), HasSubstr("solver.step_size"), HasSubstr("energy.total")));
  const Outcome some = command_.run({"plot", "pendulum.h5", "--list", "joint.hinge.force"});
  EXPECT_EQ(std::count(some.out.begin(), some.out.end(), '\n'), 3);
  const auto json = command_.run({"plot", "pendulum.h5", "--list", "swing", "--json"}).json();
  ASSERT_EQ(json.size(), 1);
  EXPECT_EQ(json[0]["unit"], "rad");
}

TEST_F(Plot, Mistakes) {
  const Outcome unknown = command_.run({"plot", "pendulum.h5", "body.bar.positon.x", "-o", "p.png"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("hint: "));
  EXPECT_EQ(command_.run({"plot", "pendulum.h5"}).code, 2);
  EXPECT_EQ(command_.run({"plot", "nowhere.h5", "swing"}).code, 2);
  EXPECT_EQ(command_.run({"plot", model_file("pendulum.yaml"), "swing"}).code, 2);
  EXPECT_EQ(command_.run({"plot", "pendulum.h5", "swing", "-o", "nowhere/p.png"}).code, 4);
  EXPECT_EQ(command_.run({"plot", "pendulum.h5", "swing", "-o", "p.bmp"}).code, 4);
  EXPECT_EQ(command_.run({"plot", "pendulum.h5", "swing", "--style", "dots"}).code, 2);
  EXPECT_EQ(command_.run({"plot", "nowhere.h5", "swing", "--json", "-o", "p.png"}).json()["exit_code"], 2);
  EXPECT_EQ(command_.run({"plot", "pendulum.h5", "swing", "--json"}).json()["problems"][0]["id"], "bad-usage");
}

TEST_F(Plot, ResultOfAFailedRun) {
  ASSERT_EQ(command_.run({"run", data_file("out_of_reach.yaml"), "-q"}).code, 1);
  const Outcome outcome = command_.run({"plot", "out_of_reach.h5", "body.bar.position.x", "-o", "p.txt"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

// ---- study
// -----------------------------------------------------------------------------------------------------------

TEST(Study, ListAndUnknown) {
  const Command command;
  EXPECT_EQ(command.run({"study", "--list"}).code, 0);
  EXPECT_EQ(command.run({"study"}).code, 0);
  EXPECT_TRUE(command.run({"study", "--list", "--json"}).json().is_array());
  const Outcome unknown = command.run({"study", "no-such-study"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("[unknown-study]"));
  EXPECT_FALSE(command.has("studies-out"));
}

// Without its data no study can meet its targets, and says so row by row.
TEST(Study, MissedTargetsGiveTheirExitCode) {
  const Command command;
  setenv("TRAMMEL_DATA", command.folder().c_str(), 1);
  const Outcome text = command.run({"study", "cases"}), machine = command.run({"study", "cases", "--json"});
  unsetenv("TRAMMEL_DATA");
  EXPECT_EQ(text.code, 6) << text.out << text.err;
  EXPECT_THAT(text.out, HasSubstr("MISSED"));
  EXPECT_EQ(machine.code, 6);
  const auto json = machine.json();
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["exit_code"], 6);
  EXPECT_EQ(json["rows"][0]["study"], "cases");
  EXPECT_EQ(json["rows"][0]["ok"], false);
}

}  // namespace
}  // namespace trammel::testing::verbs_test
