// A table of wrong model files and the message each one gets: bad_inputs/NAME.yaml and NAME.txt, shown in
// docs/guide/bad-input.md. After a deliberate change of a message, TRAMMEL_UPDATE=1 writes the texts and the page anew;
// read them before they are kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "trammel/check/check_model.h"
#include "trammel/read/read_model.h"

namespace trammel::bad_inputs_test {
namespace {

namespace fs = std::filesystem;

const fs::path source = TRAMMEL_SOURCE_DIR;
const fs::path folder = source / "tests/read/bad_inputs";
const fs::path page = source / "docs/guide/bad-input.md";

bool updating() { return std::getenv("TRAMMEL_UPDATE") != nullptr; }

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> cases() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// What the command prints, with paths as seen from the folder.
std::string messages(const fs::path& path, std::vector<Problem>* problems = nullptr) {
  std::string text;
  try {
    const Model model = read_model(path.string());
    require_sound(model);
    return "";
  } catch (const Failure& failure) {
    if (problems != nullptr) *problems = failure.problems();
    for (const Problem& problem : failure.problems()) text += to_text(problem) + "\n";
  }
  const std::string prefix = folder.string() + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
    text.erase(at, prefix.size());
  }
  return text;
}

TEST(BadInputs, EachGetsItsMessage) {
  const std::vector<fs::path> all = cases();
  EXPECT_GE(all.size(), 60u);
  for (const fs::path& path : all) {
    std::vector<Problem> problems;
    const std::string got = messages(path, &problems);
    EXPECT_FALSE(got.empty()) << path << " was read";
    for (const Problem& problem : problems) {
      EXPECT_FALSE(problem.id.empty()) << got;
      EXPECT_FALSE(problem.hint.empty()) << got;
      ASSERT_NE(problem.where.file, nullptr) << got;
      EXPECT_GE(problem.where.line, 1) << got;
      EXPECT_GE(problem.where.column, 1) << got;
    }
    fs::path expected = path;
    expected.replace_extension(".txt");
    if (updating()) std::ofstream(expected, std::ios::binary) << got;
    EXPECT_EQ(got, text_of(expected)) << path;
  }
}

TEST(BadInputs, ThePageShowsThem) {
  std::ostringstream out;
  out << "# Wrong models and what is said about them\n\n"
         "Each of these files has one mistake. The message names the file, line and column, the part of the model, a "
         "stable\nidentifier in square brackets, and what to do. The files are in "
         "[tests/read/bad_inputs](../../tests/read/bad_inputs); this page\nis made from them.\n";
  for (const fs::path& path : cases()) {
    const std::string text = text_of(path);
    const std::size_t end = text.find('\n');
    fs::path expected = path;
    expected.replace_extension(".txt");
    out << "\n## " << text.substr(2, end - 2) << "\n\n```text\n"
        << text.substr(end + 1) << "```\n\n```text\n"
        << text_of(expected) << "```\n";
  }
  if (updating()) std::ofstream(page, std::ios::binary) << out.str();
  EXPECT_EQ(out.str(), text_of(page)) << "run this test with TRAMMEL_UPDATE=1";
}

}  // namespace
}  // namespace trammel::bad_inputs_test
