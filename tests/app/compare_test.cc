// compare: two results, signal by signal.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tests/app/command.h"

namespace trammel::testing::compare_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Outputs that are known functions of time: `wave` over its amplitude a, `root` only up to the time b.
constexpr const char* model =
    "trammel: 1\n"
    "title: Waves\n"
    "parameters: {a: 1, b: 3, dt: 0.05}\n"
    "bodies: {ball: {kind: point, mass: 1, velocity: [1, 0, 0]}}\n"
    "simulation: {end: 2, output_step: dt}\n"
    "outputs:\n"
    "  wave: {expression: a*sin(3*time), unit: m}\n"
    "  noise: {expression: 1e-9*a*cos(50*time), unit: m}\n"
    "  root: {expression: sqrt(b - time), unit: s}\n";

class Compare : public ::testing::Test {
 protected:
  Compare() { command_.write("m.yaml", model); }
  void run(const std::string& result, const std::vector<std::string>& sets = {}, const std::string& file = "m.yaml") {
    std::vector<std::string> words{"run", file, "-q", "-o", result};
    for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
    const Outcome outcome = command_.run(words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  static nlohmann::json signal(const nlohmann::json& comparison, const std::string& name) {
    for (const nlohmann::json& s : comparison["signals"])
      if (s["name"] == name) return s;
    return {};
  }
  // A CSV result with every row's time changed.
  template <class Change>
  void change_times(const std::string& from, const std::string& to, Change&& change) {
    std::istringstream lines(command_.read(from));
    std::string line, text;
    for (int row = -1; std::getline(lines, line);) {
      const std::size_t comma = line.find(',');
      if (line[0] != '#' && row++ >= 0)
        line = std::to_string(change(std::stod(line.substr(0, comma)))) + line.substr(comma);
      text += line + "\n";
    }
    command_.write(to, text);
  }
  Command command_;
};

TEST_F(Compare, MeasuresDifferencesOnCommonTimes) {
  run("a.h5");
  run("b.h5", {"a=1.01"});
  const auto json = command_.run({"compare", "a.h5", "b.h5", "--json"}).json();
  double largest = 0, at = 0, least = 0, most = 0, square = 0;
  for (int i = 0; i <= 40; ++i) {
    const double t = 0.05 * i, y = std::sin(3 * t);
    if (std::abs(0.01 * y) > largest) {
      largest = std::abs(0.01 * y);
      at = t;
    }
    least = std::min(least, 1.01 * y);
    most = std::max(most, 1.01 * y);
    square += (i == 0 || i == 40 ? 0.5 : 1) * 1e-4 * y * y / 40;
  }
  const auto wave = signal(json, "wave");
  EXPECT_NEAR(wave["largest"].get<double>(), largest, 1e-12);
  EXPECT_NEAR(wave["at"].get<double>(), at, 1e-12);
  EXPECT_NEAR(wave["range"].get<double>(), most - least, 1e-12);
  EXPECT_NEAR(wave["largest_of_range"].get<double>(), largest / (most - least), 1e-12);
  EXPECT_NEAR(wave["rms"].get<double>(), std::sqrt(square), 1e-12);
  ASSERT_GT(most - least, 2);  // the way of the ball
  // What hardly moves is measured by a millionth of the largest range of its unit: here that of the wave.
  const auto noise = signal(json, "noise");
  EXPECT_NEAR(noise["largest_of_range"].get<double>(), noise["largest"].get<double>() / (1e-6 * (most - least)), 1e-9);
  EXPECT_EQ(json["tables"][0]["times"], 41);
  EXPECT_EQ(json["tables"][0]["interpolated"], 0);
  EXPECT_EQ(json["only_in_A"].size(), 0);
  // The one that differs most comes first.
  EXPECT_EQ(json["signals"][0]["name"], "wave");
  EXPECT_EQ(signal(json, "body.ball.position.x")["largest"], 0);
  EXPECT_EQ(json["tables_left_out"][0], "steps");
  EXPECT_THAT(command_.run({"compare", "a.h5", "b.h5"}).out,
              AllOf(HasSubstr("output: compared at 41 times from 0 to 2 s; both have them all"),
                    HasSubstr("not compared: table steps")));
}

TEST_F(Compare, InterpolatesTheFinerResultByCubics) {
  run("a.h5");
  run("b.csv", {"dt=0.03"});
  for (const bool exchanged : {false, true}) {
    const Outcome outcome =
        command_.run(exchanged ? std::vector<std::string>{"compare", "b.csv", "a.h5", "wave", "--json"}
                               : std::vector<std::string>{"compare", "a.h5", "b.csv", "wave", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = outcome.json();
    EXPECT_EQ(json["signals"].size(), 1);
    // h^3 |y'''| / 62 and terms of fourth order
    EXPECT_LT(json["signals"][0]["largest"].get<double>(), 1.2 * std::pow(0.03, 3) * 27 / 62);
    EXPECT_GT(json["signals"][0]["largest"].get<double>(), 0.2 * std::pow(0.03, 3) * 27 / 62);
    EXPECT_EQ(json["tables"][0]["times"], 40);  // up to the last row of the finer one, at 1.98 s
    EXPECT_EQ(json["tables"][0]["interpolated_in"], exchanged ? "A" : "B");
    // 0, 0.15, ..., 1.95 are times of both
    EXPECT_EQ(json["tables"][0]["interpolated"], 26);
  }
  EXPECT_THAT(command_.run({"compare", "a.h5", "b.csv", "wave"}).out,
              HasSubstr("B is interpolated by cubics at 26 of them"));
}

TEST_F(Compare, ToleranceDecidesTheExitCode) {
  run("a.h5");
  run("b.h5", {"a=1.01"});
  EXPECT_EQ(command_.run({"compare", "a.h5", "a.h5", "--tolerance", "0"}).code, 0);
  EXPECT_EQ(command_.run({"compare", "a.h5", "b.h5", "wave", "--tolerance", "0.006"}).code, 0);
  const Outcome outcome = command_.run({"compare", "a.h5", "b.h5", "wave", "root", "--tolerance", "0.004"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("1 of 2 differ by more than 0.004 of their range"));
  const auto json = command_.run({"compare", "a.h5", "b.h5", "wave", "root", "--tolerance", "0.004", "--json"}).json();
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(signal(json, "wave")["exceeds"], true);
  EXPECT_EQ(signal(json, "root")["exceeds"], false);
  EXPECT_EQ(command_.run({"compare", "a.h5", "b.h5"}).code, 0);  // only says it
  EXPECT_EQ(command_.run({"compare", "a.h5", "b.h5", "--tolerance", "-1"}).code, 2);
}

TEST_F(Compare, NamesSignalsThatOnlyOneHas) {
  run("a.h5");
  command_.write("n.yaml", std::string(model) + "  extra: {expression: time, unit: s}\n");
  run("n.h5", {}, "n.yaml");
  const Outcome outcome = command_.run({"compare", "a.h5", "n.h5", "--tolerance", "1e-6"});
  EXPECT_EQ(outcome.code, 1);  // they are not the same
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("only in B: extra"), Not(HasSubstr("only in A")), HasSubstr("; in one result only: 1")));
  EXPECT_EQ(command_.run({"compare", "n.h5", "a.h5", "--json"}).json()["only_in_A"][0], "extra");
  EXPECT_EQ(command_.run({"compare", "a.h5", "n.h5", "extra"}).code, 2);  // nothing left to compare
  const Outcome unknown = command_.run({"compare", "a.h5", "n.h5", "wafe"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("[unknown-signal]"));
}

TEST_F(Compare, CountsValuesThatOnlyOneHas) {
  run("a.h5", {"b=1.51"});
  run("b.h5", {"b=1.41"});
  const Outcome outcome = command_.run({"compare", "a.h5", "b.h5", "root", "--tolerance", "1e9"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("only one has a value at 2 times"));  // 1.45 and 1.5
  EXPECT_EQ(command_.run({"compare", "a.h5", "a.h5", "root", "--tolerance", "0"}).code, 0);
}

TEST_F(Compare, RefusesUnitsThatDiffer) {
  run("a.h5");
  std::string text = model;
  text.replace(text.find("unit: m}"), 8, "unit: mm}");
  command_.write("n.yaml", text);
  run("n.h5", {}, "n.yaml");
  const Outcome outcome = command_.run({"compare", "a.h5", "n.h5"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("signal 'wave' is in 'm' in 'a.h5' and in 'mm' in 'n.h5'"), HasSubstr("[units-differ]")));
  EXPECT_EQ(command_.run({"compare", "a.h5", "n.h5", "root"}).code, 0);
}

TEST_F(Compare, RefusesTimesThatDoNotOverlapOrGoBack) {
  run("a.csv");
  change_times("a.csv", "later.csv", [](double t) { return t + 10; });
  change_times("a.csv", "back.csv", [](double t) { return 2 - t; });
  const Outcome later = command_.run({"compare", "a.csv", "later.csv"});
  EXPECT_EQ(later.code, 2);
  EXPECT_THAT(later.err, HasSubstr("[no-common-times]"));
  const Outcome back = command_.run({"compare", "a.csv", "back.csv"});
  EXPECT_EQ(back.code, 2);
  EXPECT_THAT(back.err, HasSubstr("[damaged-result]"));
  EXPECT_EQ(command_.run({"compare", "a.csv", "m.yaml"}).code, 2);
  EXPECT_EQ(command_.run({"compare", "a.csv"}).code, 2);
}

TEST_F(Compare, DrawsWhatDiffersMost) {
  run("a.h5");
  run("b.h5", {"a=1.01"});
  const Outcome outcome = command_.run({"compare", "a.h5", "b.h5", "--plot", "p.txt"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(command_.read("p.txt"), AllOf(HasSubstr("wave"), HasSubstr("B - A"), HasSubstr("that differ most")));
  EXPECT_EQ(command_.run({"compare", "a.h5", "b.h5", "--plot", "m.yaml"}).code, 4);
  EXPECT_THAT(command_.read("m.yaml"), HasSubstr("Waves"));
}

}  // namespace
}  // namespace trammel::testing::compare_test
