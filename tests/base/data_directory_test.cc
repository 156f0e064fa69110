// The order in which the data is looked for. That an installed library finds its own is tested in tests/downstream.
#include "trammel/base/data_directory.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace trammel::data_directory_test {
namespace {

TEST(DataDirectory, is_the_source_tree_in_a_build) {
  unsetenv("TRAMMEL_DATA");
  EXPECT_EQ(data_directory(), TRAMMEL_SOURCE_DIR);
}

TEST(DataDirectory, is_chosen_by_the_environment) {
  setenv("TRAMMEL_DATA", "/somewhere/else", 1);
  EXPECT_EQ(data_directory(), "/somewhere/else");
  setenv("TRAMMEL_DATA", "", 1);
  EXPECT_EQ(data_directory(), TRAMMEL_SOURCE_DIR);
  unsetenv("TRAMMEL_DATA");
}

}  // namespace
}  // namespace trammel::data_directory_test
