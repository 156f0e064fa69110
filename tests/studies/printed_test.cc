// The printed list against the studies: every number has rows or a reason why not. The studies themselves see that each
// number that the list gives them has a row (run_study); the quick one is run here.
#include "studies/printed.h"

#include <gtest/gtest.h>

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
    ++(n.by.empty() ? missing : given)[n.source];
  }
  for (const char* source : printed_sources)
    std::printf("%-6s %3d with rows, %3d with a reason\n", source, given[source], missing[source]);
  EXPECT_EQ(printed_list().size(), 987U);  // a number that goes must be missed by somebody
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
  EXPECT_EQ(counts.printed, counts.met + counts.run_with + counts.missed + counts.not_demanded + counts.missing +
                                counts.only_full + counts.open);
}

}  // namespace
}  // namespace trammel::printed_test
