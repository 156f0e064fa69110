// trammel view: one page with everything inside. What the page does is tested in viewer/tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "app/view_events.h"
#include "app/view_sweep.h"
#include "tests/app/command.h"
#include "trammel/run/load_model.h"
#include "trammel/run/simulation.h"

namespace trammel::view_test {

using testing::Command;
using ::testing::HasSubstr;
using testing::model_file;
using testing::Outcome;
using ::testing::StartsWith;

class View : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(command.run({"run", model_file("pendulum.yaml"), "-o", "run.h5"}).code, 0);
    const Outcome outcome = command.run({"view", "run.h5", "-o", "run.html", "--json"});
    if (outcome.code == 4 && outcome.err.find("without the viewer") != std::string::npos)
      GTEST_SKIP() << "this trammel was built without the viewer";
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    json = outcome.json();
  }

  Command command;
  nlohmann::json json;
};

TEST_F(View, OnePageWithEverythingInside) {
  const std::string page = command.read("run.html");
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_EQ(json["bytes"], page.size());
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy"));
  EXPECT_THAT(page, HasSubstr("'sha256-"));
  EXPECT_EQ(page.find("unsafe-inline"), std::string::npos);
  EXPECT_EQ(page.find("{{trammel"), std::string::npos);  // no place is left open
}

TEST_F(View, FewerSignalsAndRowsMakeItSmaller) {
  const auto size = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"view", "run.h5", "-o", "run.html", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return command.run(words).json()["data_bytes"].get<long>();
  };
  const long all = json["data_bytes"];
  EXPECT_LT(size({"--signals", "energy.*"}), all);
  EXPECT_LT(size({"--every", "10"}), all);
  EXPECT_GT(size({"--exact"}), all);
  EXPECT_EQ(command.run({"view", "run.h5", "--signals", "no_such", "-o", "run.html"}).code, 2);
}

TEST_F(View, ReplacesOnlyPages) {
  EXPECT_EQ(command.run({"view", "run.h5", "-o", "run.html"}).code, 0);
  command.write("mine.html", "<p>precious</p>");
  EXPECT_EQ(command.run({"view", "run.h5", "-o", "mine.html"}).code, 4);
  EXPECT_EQ(command.read("mine.html"), "<p>precious</p>");
  EXPECT_EQ(command.run({"view", "run.h5", "-o", "run.h5"}).code, 4);
  EXPECT_EQ(command.run({"view", "run.h5", "-o", "run.html"}).code, 0);  // the result is still whole
}

TEST_F(View, ATitleIsText) {
  command.write("m.yaml",
                "trammel: 1\n"
                "title: \"</title><script>alert(1)</script> {{trammel-data}} & co\"\n"
                "bodies: {a: {kind: point, mass: 1}}\n"
                "simulation: {end: 0.1, step: 0.01}\n");
  ASSERT_EQ(command.run({"view", "m.yaml", "-o", "m.html"}).code, 0);
  const std::string page = command.read("m.html");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_THAT(page, HasSubstr("&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; {{trammel-data}} &amp; co"));
}

TEST_F(View, Mistakes) {
  EXPECT_EQ(command.run({"view", "missing.h5", "-o", "x.html"}).code, 2);
  command.write("no_result.h5", "hello");
  EXPECT_EQ(command.run({"view", "no_result.h5", "-o", "x.html"}).code, 2);
  EXPECT_FALSE(command.has("x.html"));
}

TEST_F(View, AModelWithoutARun) {
  EXPECT_EQ(command.run({"view", model_file("pendulum.yaml"), "-o", "model.html"}).code, 0);
  EXPECT_THAT(command.read("model.html"), StartsWith("<!doctype html>"));
}

TEST_F(View, TwoResults) {
  const nlohmann::json both = command.run({"view", "run.h5", "run.h5", "-o", "both.html", "--json"}).json();
  EXPECT_EQ(both["data_bytes"].get<long>(), 2 * json["data_bytes"].get<long>());
}

TEST_F(View, ReadsCsvToo) {
  ASSERT_EQ(command.run({"run", model_file("pendulum.yaml"), "-o", "run.csv"}).code, 0);
  EXPECT_EQ(command.run({"view", "run.csv", "-o", "csv.html"}).code, 0);
}

// ---- what the data say

// The header of the data in a page. gzip and base64 are tested with the page's own reader; here they are only undone.
nlohmann::json header_of(Command& command, const std::string& page) {
  const std::string text = command.read(page), mark = "id=\"trammel-data\">";
  const std::size_t begin = text.find(mark) + mark.size();
  command.write("data.b64", text.substr(begin, text.find_first_of("\n<", begin) - begin));
  const std::string unpack = "cd '" + command.folder().string() + "' && base64 -d data.b64 | gzip -dc > data.trv1";
  if (std::system(unpack.c_str()) != 0) return {};
  const std::string data = command.read("data.trv1");
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{static_cast<unsigned char>(data.at(4 + i))} << (8 * i);
  return nlohmann::json::parse(data.substr(8, length));
}

// What results say of themselves since decision 0027.
constexpr const char* described[] = {"gravity:", "bodies.", "elements.", "signals.", "switches.", "meshes."};

TEST_F(View, FreedomsOfAModel) {
  ASSERT_EQ(command.run({"view", model_file("slider_crank.yaml"), "-o", "model.html"}).code, 0);
  const nlohmann::json freedoms = header_of(command, "model.html")["freedoms"];
  ASSERT_EQ(freedoms.size(), 1u);
  EXPECT_EQ(freedoms[0]["element"], "bearing");
  EXPECT_EQ(freedoms[0]["quantity"], "angle");
  EXPECT_EQ(freedoms[0]["values"]["rows"], 91);  // a full turn
  EXPECT_EQ(freedoms[0]["ends"], nlohmann::json({false, false}));
}

// A unit of a mode, which was the reach of its slider, bends this strip of 1 m by some 5 m.
TEST(ViewSweep, ModesBendAsFarAsModesAreBelieved) {
  Simulation simulation(load_model(model_file("flexible_pendulum.yaml"), {}, nullptr));
  simulation.start();
  const Equations& equations = simulation.equations();
  int modes = 0;
  for (const Sweep& sweep : sweep_freedoms(equations, simulation.start_state())) {
    for (int column = 0; column < equations.sizes().nv; ++column) {
      const BodyVelocity& velocity = equations.velocity(column);
      if (velocity.name != sweep.quantity || !(velocity.displacement > 0)) continue;
      ++modes;
      const double reach = std::min(0.1 * equations.length() / velocity.displacement, 0.3 / velocity.turn);
      EXPECT_NEAR(sweep.values.back(), reach, 1e-9 * reach) << velocity.name;
      EXPECT_NEAR(sweep.values.front(), -reach, 1e-9 * reach) << velocity.name;
    }
  }
  EXPECT_GT(modes, 4);
}

TEST_F(View, ModesOfAModel) {
  const Outcome outcome = command.run({"modes", model_file("hanging_chain.yaml"), "--page", "modes.html", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json printed = outcome.json();
  EXPECT_EQ(printed["page"], "modes.html");
  EXPECT_EQ(printed["page_left_out"], 0);
  const nlohmann::json header = header_of(command, "modes.html"), modes = header["modes"];
  EXPECT_EQ(modes["around"], "static equilibrium (stable)");
  ASSERT_EQ(modes["sets"].size(), 1u);  // nothing damps
  const nlohmann::json& set = modes["sets"][0];
  EXPECT_EQ(set["damped"], false);
  EXPECT_EQ(set["found"], 14);
  ASSERT_EQ(set["modes"].size(), 14u);
  EXPECT_EQ(set["modes"][0]["frequency"], printed["undamped"][0]["frequency"]);
  EXPECT_EQ(set["modes"][0]["bodies"], printed["undamped"][0]["bodies"]);
  EXPECT_EQ(set["modes"][0]["kind"], "");
  EXPECT_EQ(set["shapes"]["rows"], 14);
  EXPECT_EQ(set["shapes"]["count"], 6 * header["bodies"].size());
  EXPECT_EQ(header["poses"]["rows"], 1);  // as it hangs
}

TEST_F(View, DampedModesHavePhases) {
  ASSERT_EQ(command.run({"modes", model_file("rotor.yaml"), "--around", "initial", "--page", "modes.html"}).code, 0);
  const nlohmann::json header = header_of(command, "modes.html"), set = header["modes"]["sets"][0];
  EXPECT_EQ(set["damped"], true);
  EXPECT_EQ(set["shapes"]["count"], 12 * header["bodies"].size());
  EXPECT_EQ(command.run({"modes", model_file("pendulum.yaml"), "--page", "run.h5"}).code, 4);  // no page
  const Outcome file = command.run({"view", "rotor.modes.h5", "-o", "x.html"});  // the numbers, without a mechanism
  EXPECT_EQ(file.code, 2);
  EXPECT_THAT(file.err, HasSubstr("trammel modes MODEL --page FILE"));
}

TEST_F(View, ResultsOfAnalysesAndParticipantsOpen) {
  ASSERT_EQ(command.run({"static", model_file("pendulum.yaml"), "-o", "static.h5"}).code, 0);
  ASSERT_EQ(command.run({"kinematic", model_file("driven_four_bar.yaml"), "-o", "kinematic.h5"}).code, 0);
  const std::string coupling = std::string(TRAMMEL_SOURCE_DIR) + "/couplings/double_pendulum.yaml";
  ASSERT_EQ(command.run({"couple", coupling, "--option", "end=0.1"}).code, 0);
  const auto header = [&](const std::string& result) {
    const Outcome outcome = command.run({"view", result, "-o", "page.html"});
    EXPECT_EQ(outcome.code, 0) << result << ": " << outcome.err;
    return header_of(command, "page.html");
  };
  const nlohmann::json at_rest = header("static.h5"), driven = header("kinematic.h5"),
                       part = header("double_pendulum.first.h5");
  EXPECT_EQ(at_rest["poses"]["rows"], 1);
  EXPECT_EQ(driven["poses"]["rows"], 401);
  EXPECT_GT(part["poses"]["rows"], 1);
  for (const nlohmann::json& one : {at_rest, driven, part}) {
    EXPECT_GT(one["bodies"].size(), 0u);
    EXPECT_GT(one["elements"].size(), 0u);
    EXPECT_EQ(one["poses"]["count"], 7 * one["bodies"].size());
    EXPECT_TRUE(one["signals"][0].contains("of"));
  }
  // Two participants together: the second as the ghost of the first.
  const std::vector<std::string> both{"view", "double_pendulum.first.h5", "double_pendulum.second.h5", "-o",
                                      "both.html"};
  EXPECT_EQ(command.run(both).code, 0);
}

// Ten pieces of a strip between eleven points, and sixteen modes: as it is drawn, with the coordinates of every row,
// whatever signals were asked for. Also of a model without a run, and in modes of vibration.
TEST_F(View, ABodyThatBends) {
  const std::string model = model_file("flexible_pendulum.yaml");
  ASSERT_EQ(command.run({"run", model, "--end", "0.1", "-o", "strip.h5"}).code, 0);
  ASSERT_EQ(command.run({"view", "strip.h5", "--signals", "deflection", "-o", "page.html"}).code, 0);
  const nlohmann::json run = header_of(command, "page.html");
  ASSERT_EQ(run["flexible"].size(), 1u);
  const nlohmann::json& strip = run["flexible"][0];
  EXPECT_EQ(strip["body"], "strip");
  EXPECT_EQ(strip["points"]["rows"], 11);
  EXPECT_EQ(strip["segments"]["rows"], 10);
  EXPECT_EQ(strip["radii"]["rows"], 10);
  EXPECT_EQ(strip["shapes"]["count"], 48);
  EXPECT_EQ(strip["stresses"]["count"], 160);
  EXPECT_EQ(strip["stresses"]["rows"], 10);
  EXPECT_EQ(strip["round"]["rows"], 10);
  EXPECT_EQ(run["bodies"][0]["modes"], 16);
  std::vector<std::string> axes;
  for (const nlohmann::json& signal : run["signals"]) {
    if (signal["table"] == 0 && signal["quantity"] == "mode") axes.push_back(signal["axis"]);
  }
  ASSERT_EQ(axes.size(), 16u);
  EXPECT_EQ(axes.front(), "1");
  EXPECT_EQ(axes.back(), "16");
  ASSERT_EQ(command.run({"view", model, "-o", "page.html"}).code, 0);
  const nlohmann::json still = header_of(command, "page.html");
  ASSERT_GT(still["freedoms"].size(), 4u);
  for (const nlohmann::json& freedom : still["freedoms"]) {
    EXPECT_EQ(freedom["modal"]["count"], 16);
    EXPECT_EQ(freedom["modal"]["rows"], freedom["values"]["rows"]);
  }
  ASSERT_EQ(command.run({"modes", model, "--page", "page.html"}).code, 0);
  const nlohmann::json moving = header_of(command, "page.html");
  for (const nlohmann::json& set : moving["modes"]["sets"]) {
    EXPECT_EQ(set["modal"]["count"], set["damped"] == true ? 32 : 16);
    EXPECT_EQ(set["modal"]["rows"], set["modes"].size());
  }
}

// A stored result of the time before results said what to draw: shapes, and signals by their names.
TEST_F(View, AnOldResultOpens) {
  ASSERT_EQ(command.run({"run", model_file("pendulum.yaml"), "-o", "new.csv"}).code, 0);
  std::istringstream lines(command.read("new.csv"));
  std::string old, line;
  int left_out = 0;
  while (std::getline(lines, line)) {
    const bool is_new = std::any_of(std::begin(described), std::end(described), [&](const char* key) {
      return line.rfind(std::string("# provenance.") + key, 0) == 0;
    });
    left_out += is_new ? 1 : 0;
    if (!is_new) old += line + "\n";
  }
  ASSERT_GE(left_out, 4);
  command.write("new.csv", old);
  const Outcome outcome = command.run({"view", "new.csv", "-o", "old.html"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json header = header_of(command, "old.html");
  ASSERT_EQ(header["bodies"].size(), 1u);
  EXPECT_EQ(header["bodies"][0]["name"], "bar");
  EXPECT_EQ(header["elements"].size(), 0u);
  EXPECT_TRUE(header["gravity"].is_null());
  EXPECT_GT(header["shapes"].size(), 0u);
  EXPECT_GT(header["poses"]["rows"], 10);
  EXPECT_EQ(header["plots"], nlohmann::json({{0}, {1}, {2}}));
  for (const nlohmann::json& signal : header["signals"])
    EXPECT_EQ(signal.contains("of"), signal["table"] != 0) << signal;
}

TEST_F(View, EventsAreMarks) {
  command.write("ball.yaml",
                "trammel: 1\ngravity: [0, 0, -9.81]\nbodies:\n  ball: {kind: point, mass: 2, position: [0, 0, 1]}\n"
                "forces:\n  floor: {type: impact, frames: [ground, ball], restitution: 0.5}\n"
                "simulation: {end: 0.8, tolerance: 1e-8, output_step: 0.01}\n");
  ASSERT_EQ(command.run({"run", "ball.yaml", "-o", "ball.h5"}).code, 0);
  ASSERT_EQ(command.run({"view", "ball.h5", "-o", "ball.html"}).code, 0);
  const nlohmann::json events = header_of(command, "ball.html")["events"];
  ASSERT_EQ(events.size(), 1u);
  EXPECT_NEAR(events[0]["time"].get<double>(), std::sqrt(2 / 9.81), 1e-9);
  EXPECT_THAT(events[0]["text"].get<std::string>(), ::testing::AllOf(HasSubstr("force 'floor'"), HasSubstr("N s")));
  ASSERT_EQ(command.run({"run", model_file("stick_slip.yaml"), "-o", "stick.h5"}).code, 0);
  ASSERT_EQ(command.run({"view", "stick.h5", "-o", "stick.html"}).code, 0);
  const nlohmann::json changes = header_of(command, "stick.html")["events"];
  ASSERT_GT(changes.size(), 1u);
  EXPECT_THAT(changes[0]["text"].get<std::string>(), HasSubstr(", now: "));
}

// Of a result that was damaged, or cut off. A number of a switch was taken out of a double before it was looked at: the
// sanitizer stopped at not-a-number and 1e300.
TEST(ViewEvents, NumbersThatNameNothingAreLeftOut) {
  Provenance provenance;
  provenance.set("switches.1", R"([{"name": "force 'floor': contact", "modes": ["sticks", "slides"]}])");
  Table table{"events", "", {}};
  for (const char* name : {"time", "event.switch", "event.direction", "event.impulse", "event.mode"}) {
    table.signals.emplace_back();
    table.signals.back().name = name;
  }
  const EventTexts texts(provenance, table);
  const double nan = std::nan("");
  const auto text = [&](const std::vector<double>& row) {
    const nlohmann::ordered_json entry = texts.entry(row);
    return entry.is_null() ? "" : entry["text"].get<std::string>();
  };
  EXPECT_EQ(text({1, 0, 1, 0, -1}), "force 'floor': contact, rising");
  EXPECT_EQ(text({1, 0, -1, 0, 1}), "force 'floor': contact, now: slides");
  EXPECT_EQ(text({1, 0, -1, 2.5, -1}), "force 'floor': contact, impulse 2.5 N s");
  for (const double number : {nan, -1.0, 1.0, 1e300, HUGE_VAL}) EXPECT_EQ(text({1, number, 1, 0, -1}), "") << number;
  EXPECT_EQ(text({nan, 0, 1, 0, -1}), "");
  for (const double mode : {nan, 2.0, 1e300})
    EXPECT_EQ(text({1, 0, 1, 0, mode}), "force 'floor': contact, rising") << mode;
}

// A crank longer than its rod cannot turn all the way round: arm 0.3, rod 0.2, the slider on the line of the pivot.
TEST_F(View, WhatCannotBeAssembledIsTheEndOfTheRange) {
  command.write("m.yaml",
                "trammel: 1\n"
                "bodies:\n"
                "  arm: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
                "  rod: {mass: 1, inertia: [1, 1, 1], position: [0.2633, 0, 0.1438]}\n"
                "  slider: {mass: 1, inertia: [1, 1, 1], position: [0.1243, 0, 0]}\n"
                "joints:\n"
                "  pivot: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, 1, 0]}\n"
                "  pin: {type: revolute, between: [arm, rod], at: [0.2633, 0, 0.1438], axis: [0, 1, 0]}\n"
                "  wrist: {type: spherical, between: [rod, slider], at: [0.1243, 0, 0]}\n"
                "  rail: {type: translational, between: [ground, slider], at: [0.1243, 0, 0], axis: [1, 0, 0]}\n"
                "simulation: {end: 0.1, step: 0.01}\n");
  ASSERT_EQ(command.run({"view", "m.yaml", "-o", "m.html"}).code, 0);
  const nlohmann::json freedoms = header_of(command, "m.html")["freedoms"];
  ASSERT_EQ(freedoms.size(), 1u);
  EXPECT_EQ(freedoms[0]["element"], "pivot");
  EXPECT_EQ(freedoms[0]["ends"], nlohmann::json({true, true}));  // asin(2/3), 0.73 rad, each way from the rail
  EXPECT_LT(freedoms[0]["values"]["rows"], 30);
}

// ---- files

constexpr const char* tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

std::string model_with_mesh(const std::string& file) {
  return "trammel: 1\nbodies: {a: {kind: spatial, mass: 1, inertia: [1, 1, 1], shape: {type: mesh, file: " + file +
         "}}}\nsimulation: {end: 0.1, step: 0.01}\n";
}

TEST_F(View, TrianglesTravelWithTheResult) {
  command.write("part.obj", tetrahedron);
  command.write("m.yaml", model_with_mesh("part.obj"));
  ASSERT_EQ(command.run({"run", "m.yaml", "-o", "m.h5"}).code, 0);
  std::filesystem::remove(command.path("part.obj"));
  ASSERT_EQ(command.run({"view", "m.h5", "-o", "m.html"}).code, 0);
  const nlohmann::json header = header_of(command, "m.html");
  ASSERT_EQ(header["meshes"].size(), 1u);
  EXPECT_EQ(header["meshes"][0]["points"]["rows"], 4);
  EXPECT_EQ(header["meshes"][0]["triangles"]["rows"], 4);
  EXPECT_EQ(header["shapes"][0]["mesh"], 0);
  EXPECT_FALSE(header["shapes"][0].contains("file"));  // no page tells where its files were
}

TEST_F(View, MeshesOnlyFromTheFolderOfTheModel) {
  std::filesystem::create_directory(command.path("models"));
  command.write("part.obj", tetrahedron);
  command.write("models/m.yaml", model_with_mesh("../part.obj"));
  ASSERT_EQ(command.run({"view", "models/m.yaml", "-o", "m.html"}).code, 0);
  EXPECT_EQ(header_of(command, "m.html")["meshes"].size(), 0u);
}

// A browser that starts and then is of no use. When the constructor of Browser threw, nobody ended it, and the folder
// of its profile stayed.
TEST_F(View, ABrowserThatFailsLeavesNothingBehind) {
  std::filesystem::create_directory(command.path("bin"));
  std::filesystem::create_directory(command.path("tmp"));
  command.write("bin/chromium", "#!/bin/sh\necho $$ > '" + command.path("pid") + "'\nexec 3<&- 4>&-\nexec sleep 60\n");
  std::filesystem::permissions(command.path("bin/chromium"), std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  const char* temporary = std::getenv("TMPDIR");
  const std::string temporary_before = temporary == nullptr ? "" : temporary;
  setenv("PATH", (command.path("bin") + ":" + path).c_str(), 1);
  setenv("TMPDIR", command.path("tmp").c_str(), 1);
  const Outcome outcome = command.run({"view", "run.h5", "--frames", "film"});
  setenv("PATH", path.c_str(), 1);
  if (temporary == nullptr)
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", temporary_before.c_str(), 1);
  EXPECT_EQ(outcome.code, 4) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("no Chromium"));
  EXPECT_TRUE(std::filesystem::is_empty(command.path("tmp")));
  const int child = std::atoi(command.read("pid").c_str());
  ASSERT_GT(child, 1);
  const bool runs = kill(child, 0) == 0;
  EXPECT_FALSE(runs) << "process " << child;
  if (runs) kill(child, SIGKILL);
}

TEST_F(View, FramesNeedAnEmptyFolder) {
  std::filesystem::create_directory(command.path("film"));
  command.write("film/mine.txt", "precious");
  EXPECT_EQ(command.run({"view", "run.h5", "--frames", "film"}).code, 4);
  EXPECT_EQ(command.read("film/mine.txt"), "precious");
  EXPECT_EQ(command.run({"view", "run.h5", "--frames", "new", "--frame-size", "wide"}).code, 2);
  EXPECT_FALSE(command.has("new"));
}

}  // namespace trammel::view_test
