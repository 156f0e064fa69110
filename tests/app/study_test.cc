// The framework of studies, with studies of its own in place of the real ones.
#include "studies/study.h"

#include <gmock/gmock.h>

#include <cmath>

#include "studies/printed.cc"
#include "studies/study.cc"  // the framework belongs to the studies, not to the library
#include "tests/app/command.h"

namespace trammel {

const std::vector<Study>& study_registry() {
  static const std::vector<Study> table{
      {"good", "meets its targets",
       [](const StudyContext&) { return std::vector<Row>{Row::near("T", "r", "q", 2, 2.05, 0.1)}; }},
      {"broken", "throws", [](const StudyContext&) -> std::vector<Row> { throw std::runtime_error("no way"); }},
      {"empty", "gives nothing", [](const StudyContext&) { return std::vector<Row>{}; }},
  };
  return table;
}

namespace testing {
namespace {

using ::testing::HasSubstr;

TEST(Row, Relations) {
  EXPECT_TRUE(Row::near("t", "r", "q", 1, 1.1, 0.2).ok);
  EXPECT_FALSE(Row::near("t", "r", "q", 1, 1.3, 0.2).ok);
  EXPECT_FALSE(Row::near("t", "r", "q", 1, std::nan(""), 0.2).ok);
  EXPECT_TRUE(Row::error("t", "r", "q", -1e-5, 1e-4).ok);
  EXPECT_FALSE(Row::error("t", "r", "q", 2e-4, 1e-4).ok);
  EXPECT_TRUE(Row::at_most("t", "r", "q", 3, 3).ok);
  EXPECT_FALSE(Row::at_most("t", "r", "q", 3, 3.1).ok);
  EXPECT_FALSE(Row::at_most("t", "r", "q", 3, std::nan("")).ok);
  EXPECT_FALSE(Row::at_least("t", "r", "q", 3, 2.9).ok);
  EXPECT_TRUE(Row::measure("t", "r", "q", 7).ok);
  EXPECT_FALSE(Row::measure("t", "r", "q", INFINITY).ok);
  EXPECT_FALSE(Row::failed("t", "r", "why").ok);
}

TEST(Row, PrintedNumbersComeFromTheList) {
  const Row steps = Row::reproduce("t", "r", "steps", "rn.table5.k-2.steps", 29, 2);
  EXPECT_EQ(*steps.printed, 29);
  EXPECT_FALSE(steps.corrected);
  EXPECT_EQ(steps.verdict(), RowVerdict::met);
  EXPECT_EQ(Row::reproduce("t", "r", "steps", "rn.table5.k-2.steps", 30, 2).verdict(), RowVerdict::missed);
  // a misprint is shown, and its correction demanded
  const Row error = Row::reproduce("t", "r", "error", "rn.table4.k-2.max", 5.2232e-3, 4);
  EXPECT_EQ(*error.printed, 5.223e-2);
  EXPECT_EQ(*error.corrected, 5.223e-3);
  EXPECT_FALSE(error.correction.empty());
  EXPECT_TRUE(error.ok);
  EXPECT_THROW(Row::reproduce("t", "r", "q", "rn.table99", 1, 1), Failure);
  const Row beside = Row::measure("t", "r", "q", 7).beside(6.9, "a prototype");
  EXPECT_EQ(*beside.own, 6.9);
  EXPECT_FALSE(beside.printed);
}

TEST(Row, Verdicts) {
  EXPECT_EQ(Row::measure("t", "r", "q", 7).verdict(), RowVerdict::missed);  // why is nothing demanded?
  EXPECT_EQ(Row::measure("t", "r", "q", 7).because("a time").verdict(), RowVerdict::measured);
  EXPECT_EQ(Row::at_most("t", "r", "q", 3, 4).verdict(), RowVerdict::missed);
  EXPECT_EQ(Row::at_most("t", "r", "q", 3, 4).missed_for("known").verdict(), RowVerdict::missed_for_reason);
  EXPECT_EQ(Row::at_most("t", "r", "q", 3, 2).missed_for("known").verdict(), RowVerdict::reason_gone);
  EXPECT_EQ(Row::at_most("t", "r", "q", 3, NAN).missed_for("known").verdict(), RowVerdict::missed);
  const RowCounts counts = count_rows({Row::at_most("t", "r", "q", 3, 2), Row::at_most("t", "r", "q", 3, 4),
                                       Row::at_most("t", "r", "q", 3, 4).missed_for("known"),
                                       Row::measure("t", "r", "q", 7).because("a time")});
  EXPECT_EQ(counts.rows, 4);
  EXPECT_EQ(counts.demanded, 3);
  EXPECT_EQ(counts.met, 1);
  EXPECT_EQ(counts.missed_for_reason, 1);
  EXPECT_EQ(counts.missed, 1);
  EXPECT_FALSE(counts.good());
}

// A count of work is no time: `steps` without a reason was once given one by its first word, "the error beside it has a
// bound", whether it had or not.
TEST(StudyFramework, OnlyTimesAreExplainedByTheirName) {
  const Study study{"s", "s", [](const StudyContext&) {
                      return std::vector<Row>{Row::measure("t", "r", "steps", 7), Row::measure("t", "r", "rejected", 7),
                                              Row::measure("t", "r", "evaluations", 7),
                                              Row::measure("t", "r", "seconds, adams", 7)};
                    }};
  const std::vector<Row> rows = run_study(study, {});
  ASSERT_EQ(rows.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(rows[i].verdict(), RowVerdict::missed) << rows[i].quantity;
  EXPECT_EQ(rows[3].verdict(), RowVerdict::measured);
  EXPECT_EQ(rows[3].reason, why::machine_time);
}

TEST(StudyFramework, FailuresBecomeRows) {
  EXPECT_TRUE(run_study(find_study("good"), {})[0].ok);
  EXPECT_EQ(run_study(find_study("good"), {})[0].study, "good");
  const std::vector<Row> rows = run_study(find_study("broken"), {});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_FALSE(rows[0].ok);
  EXPECT_EQ(rows[0].note, "no way");
  EXPECT_FALSE(run_study(find_study("empty"), {})[0].ok);
  EXPECT_THROW(find_study("god"), Failure);
}

TEST(StudyFramework, TextAndJson) {
  std::vector<Row> rows{Row::near("Table 1", "a", "period, s", 2.0064, 2.00641, 1e-4)
                            .printed_as("rn.table5.k-2.steps")
                            .because("its digits")
                            .beside(2.006, "a prototype"),
                        Row::failed("Table 1", "b", "broke"),
                        Row::at_most("Table 1", "c", "error, m", 2, 1).tuned_on("g, on this table")};
  for (Row& row : rows) row.study = "s";
  const std::string text = to_text(rows);
  EXPECT_THAT(text, HasSubstr("s: Table 1\n"));
  EXPECT_THAT(text, HasSubstr("2.00641"));  // the digits that decide are shown
  EXPECT_THAT(text, HasSubstr("demand: its digits"));
  EXPECT_THAT(text, HasSubstr("own: a prototype"));
  EXPECT_THAT(to_text(std::vector<Row>{Row::measure("t", "r", "steps", 45341)}), HasSubstr("45341"));
  EXPECT_THAT(text, HasSubstr("MISSED"));
  EXPECT_THAT(text, HasSubstr("  b: broke\n"));
  EXPECT_THAT(text, HasSubstr("ok by tuning"));
  EXPECT_THAT(text, HasSubstr("tuned: g, on this table"));
  EXPECT_THAT(text, HasSubstr("3 rows: 2 demand something, 2 met, 1 MISSED"));
  const auto json = nlohmann::json::parse(to_json(rows));
  for (const char* key : {"study", "table", "row", "quantity", "ids", "printed", "corrected", "own", "ours", "relation",
                          "target", "tolerance", "reason", "missed", "tuned", "ok"}) {
    EXPECT_TRUE(json[0].contains(key)) << key;
  }
  EXPECT_EQ(json[0]["printed"], 29);
  EXPECT_EQ(json[0]["own"], 2.006);
  EXPECT_EQ(json[1]["ours"], nullptr);
  EXPECT_EQ(json[2]["tuned"], "g, on this table");
  EXPECT_EQ(to_json(rows_from_json(to_json(rows))), to_json(rows));
}

// The pendulum's own solution, thinned out, as reference.
TEST(StudyFramework, ReferencesAndErrors) {
  const Command command;
  const ModelRun run = run_model("pendulum.yaml", {.tolerance = 1e-6, .end = 1, .output_step = 0.05});
  EXPECT_EQ(run.result.status, RunStatus::finished);
  EXPECT_DOUBLE_EQ(run.time().back(), 1);
  std::string text = "# comment\nt,angle,other\n";
  const std::vector<double> t = run.time(), y = run.column("swing");
  for (std::size_t i = 0; i < t.size(); i += 2) {
    char line[120];
    std::snprintf(line, sizeof line, "%.17g,%.17g,1e-3\r\n", t[i], -y[i] + (t[i] > 0.75 ? 0.125 : 0));
    text += line;
  }
  command.write("r.csv", text);
  const Reference reference = read_reference(command.path("r.csv"));
  EXPECT_EQ(reference.rows(), 11U);
  EXPECT_DOUBLE_EQ(max_error(run, "swing", reference, "angle", {.to = 0.7, .scale = -1}), 0);
  EXPECT_DOUBLE_EQ(max_error(run, "swing", reference, "angle", {.scale = -1}), 0.125);
  EXPECT_NEAR(
      max_error(run, "swing", reference, "angle", {.to = 0.7, .modulo_turns = true, .scale = -1, .offset = 2 * M_PI}),
      0, 1e-12);
  EXPECT_THROW(reference.column("angel"), Failure);
  EXPECT_THROW(sample(run, "swing", {0.123}), Failure);
  EXPECT_THROW(sample(run, "swing", {1.5}, Between::cubic), Failure);
  const ModelRun fine = run_model("pendulum.yaml", {.tolerance = 1e-6, .end = 1, .output_step = 0.025});
  // Error of the cubic: 9/384 h^4 times the fourth derivative, about 200 rad/s^4 for this swing
  EXPECT_NEAR(sample(run, "swing", {0.525}, Between::cubic)[0], sample(fine, "swing", {0.525})[0], 3e-5);
  EXPECT_NEAR(sample(run, "time", {0.525}, Between::cubic)[0], 0.525, 1e-14);
  EXPECT_DOUBLE_EQ(run.last("swing"), y.back());
}

TEST(StudyFramework, BadReferences) {
  const Command command;
  command.write("short.csv", "t,a\n0,1\n1\n");
  command.write("word.csv", "t,a\n0,one\n");
  command.write("empty.csv", "t,a\n");
  for (const char* file : {"short.csv", "word.csv", "empty.csv", "none.csv"}) {
    EXPECT_THROW(read_reference(command.path(file)), Failure) << file;
  }
}

TEST(StudyFramework, RunsThatFail) {
  EXPECT_THROW(run_model(data_file("out_of_reach.yaml")), Failure);
  const ModelRun run = try_model(data_file("out_of_reach.yaml"));
  EXPECT_EQ(run.result.status, RunStatus::failed);
  EXPECT_GT(run.trajectory.rows(0), 10U);
}

TEST(StudyFramework, FittedOrder) { EXPECT_NEAR(fitted_order({0.1, 0.05, 0.025}, {3e-2, 7.5e-3, 1.875e-3}), 2, 1e-12); }

}  // namespace
}  // namespace testing
}  // namespace trammel
