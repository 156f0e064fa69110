// trammel view: one page with everything inside. What the page does is tested in viewer/tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/command.h"

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

}  // namespace trammel::view_test
