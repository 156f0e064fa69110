// The table of messages is complete: every identifier in the sources is explained, and every explanation is of one that
// the sources use; the page of the guide is made from the table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>

#include "trammel/base/messages.h"

namespace trammel::messages_test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool looks_like_an_id(const std::string& text) {
  if (text.empty() || std::islower(static_cast<unsigned char>(text[0])) == 0 || text.back() == '-') return false;
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-'; });
}

// The first string literal behind each place where a Problem or a cause is made, if it looks like an identifier.
void collect_ids(const std::string& text, std::set<std::string>& ids) {
  for (const char* opener : {"Severity::error,", "Severity::warning,", "Severity::note,", ".id = ", "fail(",
                             "fail_file(", "error(", "warning(", "refuse(", "write_failure(", "read_failure("}) {
    for (std::size_t at = text.find(opener); at != std::string::npos; at = text.find(opener, at + 1)) {
      const std::size_t begin = at + std::string(opener).size(), quote = text.find('"', begin);
      if (quote == std::string::npos) continue;
      const std::string between = text.substr(begin, quote - begin);
      // Only plain arguments may stand between: a node, a place, a choice between two identifiers.
      if (between.size() > 60 || between.find_first_of(";{}+") != std::string::npos) continue;
      const std::size_t end = text.find('"', quote + 1);
      const std::string id = text.substr(quote + 1, end - quote - 1);
      if (looks_like_an_id(id)) ids.insert(id);
    }
  }
}

std::string all_sources(std::set<std::string>* ids) {
  std::string all;
  for (const char* folder : {"trammel", "app"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TRAMMEL_SOURCE_DIR) / folder)) {
      const std::string extension = entry.path().extension().string();
      if ((extension != ".cc" && extension != ".h") || entry.path().filename() == "messages.cc") continue;
      const std::string text = read(entry.path());
      if (ids != nullptr) collect_ids(text, *ids);
      all += text;
    }
  }
  return all;
}

TEST(Messages, EveryIdentifierIsExplained) {
  std::set<std::string> ids;
  all_sources(&ids);
  EXPECT_GT(ids.size(), 90U);
  for (const std::string& id : ids) {
    EXPECT_NE(find_message(id), nullptr) << "add '" << id << "' to trammel/base/messages.cc";
  }
}

TEST(Messages, EveryExplanationIsUsed) {
  std::string sources = all_sources(nullptr);
  for (const auto& entry : fs::directory_iterator(fs::path(TRAMMEL_SOURCE_DIR) / "studies")) {
    if (entry.path().extension() == ".cc") sources += read(entry.path());
  }
  for (const char* folder : {"python/src", "python/trammel"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(TRAMMEL_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".cc" || entry.path().extension() == ".py") sources += read(entry.path());
    }
  }
  std::set<std::string_view> seen;
  for (const MessageInfo& m : message_registry()) {
    EXPECT_NE(sources.find('"' + std::string(m.id) + '"'), std::string::npos) << m.id;
    EXPECT_TRUE(seen.insert(m.id).second) << m.id << " appears twice";
    EXPECT_TRUE(looks_like_an_id(std::string(m.id))) << m.id;
    EXPECT_FALSE(m.remedy.empty()) << m.id;
    EXPECT_EQ(m.text.back(), '.') << m.id;
    EXPECT_EQ(m.text.find('|'), std::string_view::npos) << m.id;
  }
}

TEST(Messages, ThePageOfTheGuideIsTheTable) {
  EXPECT_EQ(read(fs::path(TRAMMEL_SOURCE_DIR) / "docs/guide/messages.md"), messages_as_markdown())
      << "make it anew: trammel help --markdown > docs/guide/messages.md";
}

}  // namespace
}  // namespace trammel::messages_test
