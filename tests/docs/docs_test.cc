// The docs stay true: every complete model in them can be run, every element and method has its page with all its
// fields, and no link leads nowhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "trammel/check/check_model.h"
#include "trammel/elements/blocks/block.h"
#include "trammel/elements/lines/line.h"
#include "trammel/elements/registry.h"
#include "trammel/integrate/registry.h"
#include "trammel/read/read_model.h"
#include "trammel/run/simulation.h"

namespace trammel::docs_test {
namespace {

namespace fs = std::filesystem;

const fs::path root = TRAMMEL_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found{root / "README.md", root / "CONTRIBUTING.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string name_of(const fs::path& page) { return fs::relative(page, root).generic_string(); }

struct Block {
  std::string language, text;
  int line = 0;  // of its first line
};

// The fenced blocks of a page; `prose`, if given, receives what is outside of them.
std::vector<Block> blocks_of(const fs::path& page, std::string* prose = nullptr) {
  std::vector<Block> blocks;
  std::istringstream lines(text_of(page));
  std::string line;
  bool inside = false;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), "", number + 1});
    } else if (inside) {
      blocks.back().text += line + "\n";
    } else if (prose != nullptr) {
      *prose += line + "\n";
    }
  }
  EXPECT_FALSE(inside) << name_of(page) << ": a fenced block is left open";
  return blocks;
}

// A model is complete if it says its version; all others are fragments.
bool is_model(const Block& block) {
  return block.language == "yaml" && ("\n" + block.text).find("\ntrammel: 1\n") != std::string::npos;
}

TEST(Docs, ModelsCanBeRun) {
  int models = 0;
  for (const fs::path& page : pages()) {
    for (const Block& block : blocks_of(page)) {
      if (!is_model(block)) continue;
      ++models;
      const std::string name = name_of(page) + ":" + std::to_string(block.line);
      try {
        Model model = read_model_text(block.text, name);
        for (const Problem& problem : require_sound(model)) ADD_FAILURE() << to_text(problem);
        Simulation simulation(std::move(model));
        simulation.start();
        for (const Problem& problem : simulation.initial().warnings) ADD_FAILURE() << name << ": " << to_text(problem);
        EXPECT_EQ(simulation.integrator().attempt(1e-5).verdict, Verdict::ok) << name;
      } catch (const Failure& failure) {
        ADD_FAILURE() << name << ": " << failure.what();
      }
    }
  }
  EXPECT_GE(models, 15);
}

TEST(Docs, EveryElementHasItsPage) {
  const std::string index = text_of(root / "docs/elements/README.md");
  const auto check = [&](const std::string& key, const std::vector<Field>& fields) {
    const std::string page = text_of(root / "docs/elements" / (key + ".md"));
    EXPECT_FALSE(page.empty()) << "docs/elements/" << key << ".md is missing";
    for (const Field& field : fields) {
      EXPECT_NE(page.find("`" + field.name + "`"), std::string::npos) << key << ": " << field.name;
    }
    // Drawn by `trammel study elements` from the model beside it.
    const std::string picture = "images/elements/" + key + ".png";
    EXPECT_NE(page.find("(../" + picture + ")"), std::string::npos) << key << " does not show " << picture;
    EXPECT_TRUE(fs::exists(root / "docs" / picture)) << picture;
    EXPECT_TRUE(fs::exists(root / "studies/elements" / (key + ".yaml"))) << key;
  };
  for (const ElementDescription& element : element_registry()) check(element.key, element.fields);
  for (const BlockDescription& block : block_registry()) check(block.key, block.fields);
  for (const LineDescription& line : line_registry()) {  // lines share one page
    check("line", line.fields);
    EXPECT_NE(text_of(root / "docs/elements/line.md").find("`" + line.key + "`"), std::string::npos) << line.key;
  }
  // The list of elements is the registry's.
  const std::string list = elements_as_markdown();
  EXPECT_NE(index.find(list), std::string::npos)
      << "docs/elements/README.md should hold what `trammel elements --markdown` prints:\n\n"
      << list;
}

TEST(Docs, EveryMethodHasItsPage) {
  const std::string index = text_of(root / "docs/methods/README.md");
  for (const MethodInfo& method : method_registry()) {
    const std::string page = text_of(root / "docs/methods" / (method.key + ".md"));
    EXPECT_FALSE(page.empty()) << "docs/methods/" << method.key << ".md is missing";
    for (const Field& option : method.options) {
      EXPECT_NE(page.find("`" + option.name + "`"), std::string::npos) << method.key << ": " << option.name;
    }
  }
  // The table is the registry's, and the only list of methods.
  EXPECT_NE(index.find(methods_as_markdown()), std::string::npos)
      << "docs/methods/README.md should hold what `trammel methods --markdown` prints";
}

// The anchor of a heading: lower case, blanks as hyphens, other marks left out.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0 || c == '_' || c == '-' || u >= 128) {
      anchor += static_cast<char>(std::tolower(u));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

bool has_anchor(const fs::path& page, const std::string& anchor) {
  std::string prose;
  blocks_of(page, &prose);
  std::istringstream lines(prose);
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t text = line.find_first_not_of('#');
    if (text == 0 || text == std::string::npos || line[text] != ' ') continue;
    if (anchor_of(line.substr(text + 1)) == anchor) return true;
  }
  return false;
}

// A bare '|' in a cell ends it, and what follows is not shown: it is written \|.
TEST(Docs, RowsOfTablesHaveAsManyCellsAsTheirHead) {
  const auto marks = [](const std::string& line) {
    long count = 0;
    for (std::size_t i = 0; i < line.size(); ++i) count += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
    return count;
  };
  int rows = 0;
  for (const fs::path& page : pages()) {
    std::string prose;
    blocks_of(page, &prose);
    std::istringstream lines(prose);
    long head = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind('|', 0) != 0) {
        head = 0;
        continue;
      }
      if (head == 0) head = marks(line);
      EXPECT_EQ(marks(line), head) << name_of(page) << ": " << line;
      ++rows;
    }
  }
  EXPECT_GE(rows, 500);
}

TEST(Docs, LinksLeadSomewhere) {
  int links = 0;
  for (const fs::path& page : pages()) {
    std::string prose;
    blocks_of(page, &prose);
    for (std::size_t at = prose.find("]("); at != std::string::npos; at = prose.find("](", at + 1)) {
      const std::string target = prose.substr(at + 2, prose.find(')', at) - at - 2);
      if (target.find("://") != std::string::npos) continue;
      ++links;
      const std::size_t hash = target.find('#');
      const fs::path file = hash == 0 ? page : page.parent_path() / target.substr(0, hash);
      EXPECT_TRUE(fs::exists(file)) << name_of(page) << ": " << target;
      if (hash == std::string::npos || !fs::exists(file)) continue;
      EXPECT_TRUE(has_anchor(file, target.substr(hash + 1))) << name_of(page) << ": " << target;
    }
  }
  EXPECT_GE(links, 50);
}

}  // namespace
}  // namespace trammel::docs_test
