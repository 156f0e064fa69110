// The printed list against the studies: every number has rows or a reason why not. The studies themselves see that each
// number that the list gives them has a row (run_study); the quick one is run here.
#include "studies/printed.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "studies/study.h"

namespace trammel::printed_test {
namespace {

TEST(PrintedList, EveryNumberIsDemandedOrSaysWhyNot) {
  std::set<std::string> studies, ids;
  for (const Study& study : study_registry()) studies.insert(study.name);
  std::map<std::string, int> given, missing;
  for (const PrintedNumber& n : printed_list()) {
    EXPECT_TRUE(ids.insert(n.id).second) << n.id << " is listed twice";
    EXPECT_EQ(n.id.substr(0, n.id.find('.')), n.source) << n.id;
    EXPECT_TRUE(n.kind == "result" || n.kind == "datum" || n.kind == "setting") << n.id;
    EXPECT_FALSE(n.place.empty()) << n.id;
    EXPECT_NE(n.by.empty(), n.missing.empty()) << n.id << ": a study, or a reason, and not both";
    EXPECT_TRUE(n.by.empty() || studies.count(n.by) > 0) << n.id << ": there is no study " << n.by;
    EXPECT_TRUE(!n.corrected || !n.correction.empty()) << n.id;
    EXPECT_TRUE(std::isfinite(n.value) || n.text == "No conv.") << n.id << " prints " << n.text;
    ++(n.by.empty() ? missing : given)[n.source];
  }
  for (const char* source : printed_sources)
    std::printf("%-6s %3d with rows, %3d with a reason\n", source, given[source], missing[source]);
  EXPECT_EQ(printed_list().size(), 989U);  // a number that goes must be missed by somebody
}

// What an issue has still to bring names it, by the source and its piece, so that it can be found; the test lists them.
TEST(PrintedList, NumbersThatWaitForAnIssueNameIt) {
  const std::string issue = "The five works to the letter";
  std::map<std::string, std::string> waiting;  // by source and piece
  for (const PrintedNumber& n : printed_list()) {
    if (n.missing.rfind(issue, 0) != 0) continue;
    std::string source = n.source;
    for (char& c : source) c = static_cast<char>(std::toupper(c));
    const std::size_t colon = n.missing.find(": ");
    ASSERT_NE(colon, std::string::npos) << n.id << " does not say what is missing";
    const std::string piece = n.missing.substr(0, colon);
    EXPECT_EQ(piece.rfind(issue + ", " + source + " ", 0), 0U) << n.id << ": " << n.missing;
    waiting[piece] += " " + n.id;
  }
  EXPECT_FALSE(waiting.empty()) << "if the issue is done, this test and its reason go";
  for (const auto& [piece, ids] : waiting) std::printf("%s:%s\n", piece.c_str(), ids.c_str());
}

TEST(PrintedList, DataAndSettingsAreThoseOfTheCode) {
  const std::vector<Row> rows = run_study(find_study("printed-data"), {});
  for (const Row& row : rows) {
    const RowVerdict verdict = row.verdict();
    EXPECT_TRUE(verdict == RowVerdict::met || verdict == RowVerdict::missed_for_reason)
        << row.row << ": " << row.ours << " for " << row.target.value_or(NAN) << " " << row.note;
  }
}

TEST(PrintedList, NumbersWithoutARowAreFound) {
  const std::vector<Row> none;
  EXPECT_FALSE(printed_without_rows("rn", none, false).empty());
  EXPECT_GT(printed_without_rows("rn", none, true).size(), printed_without_rows("rn", none, false).size());
  const Row about = Row::reproduce("t", "r", "q", "rn.table5.k-2.steps", 29, 2).with({"rn.table5.k-2.k"});
  EXPECT_EQ(printed_without_rows("rn", {about}, false).size() + 2, printed_without_rows("rn", none, false).size());
  const PrintedCounts counts = count_printed({about}, "rn");
  EXPECT_EQ(counts.met, 1);
  EXPECT_EQ(counts.run_with, 1);
  EXPECT_EQ(counts.printed, counts.met + counts.tuned + counts.run_with + counts.missed + counts.not_demanded +
                                counts.missing + counts.only_full + counts.open);
}

// The best row once hid the others: a number that one run meets and another misses was counted as met.
TEST(PrintedList, TheWorstRowOfANumberCounts) {
  const std::string id = "rn.table5.k-2.steps";
  const Row met = Row::reproduce("t", "r", "q", id, 29, 2), open = Row::reproduce("t", "r", "q", id, 26, 2),
            missed = Row::reproduce("t", "r", "q", id, 26, 2).missed_for("known"),
            compared = Row::measure("t", "r", "q", 26).printed_as(id).because("for comparison"),
            tuned = Row::reproduce("t", "r", "q", id, 29, 2).tuned_on("its control, on this table");
  const auto of = [](const std::vector<Row>& rows) { return count_printed(rows, "rn"); };
  EXPECT_EQ(of({met, missed}).met, 0);
  EXPECT_EQ(of({met, missed}).missed, 1);
  EXPECT_EQ(of({missed, open}).open, of({}).open);  // a number without a row is open as well
  EXPECT_EQ(of({missed, open}).missed, 0);
  EXPECT_EQ(of({met, compared}).met, 1);
  EXPECT_EQ(of({compared}).not_demanded, 1);
  EXPECT_EQ(of({tuned}).tuned, 1);
  EXPECT_EQ(of({tuned}).met, 0);
  EXPECT_EQ(of({tuned, met}).met, 1);
  EXPECT_EQ(of({tuned, missed}).missed, 1);
}

}  // namespace
}  // namespace trammel::printed_test
