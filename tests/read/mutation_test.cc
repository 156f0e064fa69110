// Damaged model files are either read or refused with a Failure that names a place; nothing else ever happens. Every
// file under models/ is damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "trammel/check/check_model.h"
#include "trammel/read/read_model.h"

namespace trammel::mutation_test {
namespace {

std::string text_of(const std::string& name) {
  std::ifstream file(std::string(TRAMMEL_SOURCE_DIR) + "/models/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

std::string join(const std::vector<std::string>& parts, char with) {
  std::string text;
  for (const std::string& part : parts) text += part + with;
  return text;
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutate(std::string text) {
    const std::size_t times = 1 + below(3);
    for (std::size_t i = 0; i < times && !text.empty(); ++i) text = once(std::move(text));
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  std::string once(std::string text) {
    static const std::vector<std::string> words = {"-",
                                                   ":",
                                                   ": ",
                                                   "{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   ",",
                                                   "\n",
                                                   "\t",
                                                   "#",
                                                   "\"",
                                                   "'",
                                                   "&a ",
                                                   "*a",
                                                   "!!str ",
                                                   "---\n",
                                                   "null",
                                                   "nan",
                                                   "1e999",
                                                   "mm",
                                                   "%",
                                                   "<<: ",
                                                   "\xC3",
                                                   "\\u0000",
                                                   "ground",
                                                   "value",
                                                   "unit",
                                                   "()",
                                                   "0",
                                                   "$(",
                                                   "$(i)",
                                                   "$(i > 1 ? 'a' : 'b')",
                                                   "repeat: ",
                                                   "index: i\n",
                                                   "to: 1e6",
                                                   "when: 0",
                                                   "include: ",
                                                   "use: ",
                                                   "subsystem: ",
                                                   "subsystems: ",
                                                   "parameters: ",
                                                   "needs: ",
                                                   "connect: ",
                                                   "shape: ",
                                                   "parts: ",
                                                   "density: -1",
                                                   "type: mesh",
                                                   "file: x.stl",
                                                   "inputs: ",
                                                   "coordinates: "};
    switch (below(8)) {
      case 0: text[below(text.size())] = static_cast<char>(below(256)); return text;
      case 1: text[below(text.size())] ^= static_cast<char>(1u << below(8)); return text;
      case 2: return text.insert(below(text.size()), words[below(words.size())]);
      case 3: return text.erase(below(text.size()), 1 + below(10));
      case 4: {
        auto lines = split(text, '\n');
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size())));
        return join(lines, '\n');
      }
      case 5: {
        auto lines = split(text, '\n');
        const std::size_t from = below(lines.size()), to = below(lines.size());
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), std::string(lines[from]));
        return join(lines, '\n');
      }
      case 6: {
        auto tokens = split(text, ' ');
        std::swap(tokens[below(tokens.size())], tokens[below(tokens.size())]);
        return join(tokens, ' ');
      }
      default: return text.substr(0, below(text.size()));
    }
  }

  std::mt19937 random_;
};

std::vector<std::string> all_models() {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(TRAMMEL_SOURCE_DIR) / "models";
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".yaml") found.push_back(fs::relative(entry.path(), root).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(Mutation, ReadOrRefused) {
  int read_well = 0, refused = 0;
  for (const std::string& name : all_models()) {
    const std::string original = text_of(name);
    ASSERT_FALSE(original.empty());
    Mutator mutator(20240501);
    const int times = original.size() < 5000 ? 150 : 30;
    for (int i = 0; i < times; ++i) {
      const std::string text = mutator.mutate(original);
      try {
        check_model(read_model_text(text, std::string(TRAMMEL_SOURCE_DIR) + "/models/" + name));
        ++read_well;
      } catch (const Failure& failure) {
        ++refused;
        ASSERT_FALSE(failure.problems().empty());
        for (const Problem& problem : failure.problems()) {
          EXPECT_FALSE(problem.id.empty());
          EXPECT_FALSE(problem.message.empty());
          if (problem.id == "too-many-problems") continue;
          EXPECT_NE(problem.where.file, nullptr) << to_text(problem);
          EXPECT_GE(problem.where.line, 1) << to_text(problem);
          EXPECT_GE(problem.where.column, 1) << to_text(problem);
        }
      } catch (const std::exception& other) {
        FAIL() << "mutant " << i << " of " << name << ": " << other.what() << "\n" << text;
      }
    }
  }
  EXPECT_GT(read_well, 100);  // both ends are reached
  EXPECT_GT(refused, 1000);
}

TEST(Mutation, EveryPrefixOfAFile) {
  const std::string original = text_of("slider_crank.yaml");
  const std::string repeated = text_of("tree_repeat.yaml");
  for (std::size_t n = 0; n < repeated.size(); n += 11) {
    try {
      read_model_text(repeated.substr(0, n), "prefix.yaml");
    } catch (const Failure&) {
    }
  }
  for (std::size_t n = 0; n < original.size(); n += 7) {
    try {
      read_model_text(original.substr(0, n), "prefix.yaml");
    } catch (const Failure&) {
    }
  }
}

}  // namespace
}  // namespace trammel::mutation_test
