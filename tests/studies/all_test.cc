// All studies at once: whose rows are taken, what a summary holds, what is made of a process that fails.
#include "studies/all.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "studies/study.h"

namespace trammel::all_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class RowsOfAnEarlierRun : public ::testing::Test {
 protected:
  RowsOfAnEarlierRun() : folder_(fs::temp_directory_path() / ("trammel-all-test-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~RowsOfAnEarlierRun() override { fs::remove_all(folder_); }

  fs::path file() const { return folder_ / "conditioning.json"; }
  void write(const std::string& text) const { std::ofstream(file()) << text << "\n"; }
  // A result of one row that no study gives.
  static StudyResult made() {
    return {"conditioning", {Row::near("t", "an old row", "q", 1, 1, 0).because("exact")}, 12.5, 20};
  }
  // With a program in place of the studies that ends at once and leaves no rows.
  std::vector<StudyResult> run(bool reuse) const {
    return run_all({&find_study("conditioning")},
                   {.program = "/bin/true", .output = folder_, .pictures = false, .jobs = 1, .reuse = reuse});
  }
  std::string refusal(const RowsStamp& stamp, const std::string& study = "conditioning") const {
    try {
      from_rows_file(file(), study, &stamp);
    } catch (const std::exception& refused) {
      return refused.what();
    }
    return "";
  }

 private:
  fs::path folder_;
};

TEST_F(RowsOfAnEarlierRun, AreTakenFromTheSameProgram) {
  write(to_rows_file(made(), stamp_of_this_program(false, false)));
  const std::vector<StudyResult> results = run(true);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].rows[0].row, "an old row");
  EXPECT_EQ(results[0].seconds, 12.5);  // what it took then, not now
  EXPECT_EQ(results[0].core_seconds, 20);
}

// Rows were once taken whoever had made them: all three of these would have come back as "an old row", met.
TEST_F(RowsOfAnEarlierRun, OfAnotherBuildOrOfOtherDataAreNotTaken) {
  const RowsStamp now = stamp_of_this_program(false, false);
  RowsStamp build = now, data = now;
  build.build[0] = build.build[0] == '0' ? '1' : '0';
  data.data[0] = data.data[0] == '0' ? '1' : '0';
  for (const std::string& text :
       {to_rows_file(made(), build), to_rows_file(made(), data), to_json(made().rows), std::string("[")}) {
    write(text);
    const std::vector<StudyResult> results = run(true);
    EXPECT_FALSE(results[0].rows[0].ok) << text;
    EXPECT_THAT(results[0].rows[0].note, HasSubstr("it left no rows"));
    EXPECT_FALSE(fs::exists(file()));
  }
}

TEST_F(RowsOfAnEarlierRun, RefusalsSayWhy) {
  const RowsStamp now{"build", "data", false, false};
  const auto of = [&](const RowsStamp& stamp) {
    write(to_rows_file(made(), stamp));
    return refusal(now);
  };
  EXPECT_EQ(of(now), "");
  EXPECT_EQ(of({"build", "data", false, true}), "");  // pictures are no hindrance
  EXPECT_THAT(of({"other", "data", false, false}), HasSubstr("another build of the program"));
  EXPECT_THAT(of({"build", "other", false, false}), HasSubstr("models or data have changed"));
  EXPECT_THAT(of({"build", "data", true, false}), HasSubstr("with --full"));
  write(to_rows_file(made(), now));
  EXPECT_THAT(refusal({"build", "data", false, true}), HasSubstr("without pictures"));
  EXPECT_THAT(refusal(now, "rn"), HasSubstr("of the study conditioning"));
  write(to_json(made().rows));
  EXPECT_THAT(refusal(now), HasSubstr("do not say which program"));
}

TEST_F(RowsOfAnEarlierRun, AreNotTakenUnasked) {
  write(to_rows_file(made(), stamp_of_this_program(false, false)));
  EXPECT_FALSE(run(false)[0].rows[0].ok);
}

// A goal that nothing looked at: five minutes for each study.
TEST_F(RowsOfAnEarlierRun, AStudyThatTakesTooLongMissesARow) {
  StudyResult slow = made();
  slow.seconds = most_seconds + 1;
  write(to_rows_file(slow, stamp_of_this_program(false, false)));
  EXPECT_EQ(run(true)[0].rows.back().verdict(), RowVerdict::missed);
  write(to_rows_file(made(), stamp_of_this_program(false, false)));
  EXPECT_EQ(run(true)[0].rows.back().verdict(), RowVerdict::met);
}

TEST(SummaryOfStudies, HoldsTimesAndCores) {
  const StudyResult result{"conditioning", {Row::near("t", "r", "q", 1, 1, 0).because("exact")}, 12.34, 20};
  const nlohmann::json summary = nlohmann::json::parse(summary_json({result}));
  EXPECT_EQ(summary["cores"], cores_of_this_machine());
  EXPECT_EQ(summary["studies"][0]["seconds"], 12.3);
  EXPECT_EQ(summary["studies"][0]["core_seconds"], 20);
}

}  // namespace
}  // namespace trammel::all_test
