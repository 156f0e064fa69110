// Names that stand for something else than a file, files that are read remembered under all their names.
#include "trammel/base/input_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "trammel/base/printable.h"

namespace trammel::input_file_test {
namespace {

std::string id_of(const std::string& path, std::uint64_t most = largest_input_file) {
  try {
    read_whole_file(path, most);
  } catch (const Failure& failure) {
    return failure.problems().front().id;
  }
  return "";
}

TEST(InputFile, RefusesWhatIsNoFile) {
  EXPECT_EQ(id_of("/"), "not-a-file");
  EXPECT_EQ(id_of("/dev/zero"), "not-a-file");
  EXPECT_EQ(id_of("/no/such/file"), "cannot-read");
  EXPECT_EQ(id_of(""), "cannot-read");
}

TEST(InputFile, SizesAndNames) {
  std::string folder = (std::filesystem::temp_directory_path() / "trammel-base-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string file = folder + "/a", link = folder + "/b", other = folder + "/c";
  std::ofstream(file) << "1234567890";
  std::ofstream(other) << "1234567890";
  std::filesystem::create_hard_link(file, link);
  EXPECT_EQ(read_whole_file(file), "1234567890");
  EXPECT_EQ(id_of(file, 9), "too-large");
  EXPECT_EQ(id_of(file, 10), "");
  EXPECT_FALSE(is_noted_input(file));
  note_input(file);
  EXPECT_TRUE(is_noted_input(folder + "/./a"));
  EXPECT_TRUE(is_noted_input(link));
  EXPECT_FALSE(is_noted_input(other));
  std::filesystem::remove_all(folder);
}

TEST(Printable, ControlCharactersAreSpelled) {
  EXPECT_EQ(printable("a\x1b[31mb\x7f"), "a\\x1b[31mb\\x7f");
  EXPECT_EQ(printable("two\nlines\t"), "two\\x0alines\\x09");
  EXPECT_EQ(printable("two\nlines\t", true), "two\nlines\t");
  EXPECT_EQ(printable("\xc2\x9b, \xc3\xa9"), "\\x9b, \xc3\xa9");
  EXPECT_TRUE(is_printable("\xc2\xb5m, \xc3\xa9"));
  EXPECT_FALSE(is_printable("\xc2\x9b"));
}

}  // namespace
}  // namespace trammel::input_file_test
