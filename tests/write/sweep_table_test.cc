#include "trammel/write/sweep_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace trammel::sweep_table_test {
namespace {

std::string file_of(const std::string& rows) {
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string path = testing::TempDir() + "sweep_table_" + name + ".csv";
  std::ofstream(path) << "# trammel-sweep 1 0123456789abcdef\nrun,status,L,swing.max,message\n" << rows;
  return path;
}

TEST(SweepTable, HoldsARowForEachFinishedRun) {
  const MemoryTrajectory read =
      read_sweep_table(file_of("2,finished,3,4,\"\"\n1,failed,,,\"too fast\"\n0,finished,1,,\"\"\n3,finished,5"));
  ASSERT_EQ(read.rows(0), 2U);
  EXPECT_EQ(read.column("L"), (std::vector<double>{1, 3}));
  EXPECT_TRUE(std::isnan(read.column("swing.max")[0]));
}

TEST(SweepTable, ARunWithoutANumberIsRefused) {
  EXPECT_THROW(read_sweep_table(file_of("x,finished,1,2,\"\"\n0,finished,1,2,\"\"\n")), Failure);
  EXPECT_THROW(read_sweep_table(file_of("nan,finished,1,2,\"\"\n")), Failure);
}

}  // namespace
}  // namespace trammel::sweep_table_test
