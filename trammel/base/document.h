// YAML (or JSON) texts as trees of nodes that know their file, line and column, built from libyaml's events. Strict
// where YAML is lax: one document, no duplicate keys, no tags, no merge keys; aliases are bounded, so that a small file
// cannot unfold into a huge tree. Several megabytes take well under a second: nodes and texts lie in a few large
// blocks.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "trammel/base/diagnosis.h"

namespace trammel {

// Collects what is wrong with a file, so that one run shows most of it; gives up at `limit`.
class ProblemList {
 public:
  static constexpr std::size_t limit = 20;
  void add(Problem problem);  // throws the Failure when the list is full
  void fail_if_any() const;   // throws the Failure unless the list is empty
  const std::vector<Problem>& all() const { return problems_; }
  // Added to every message in parentheses, "i = 3": where a part of a file is read several times.
  void set_context(std::string context) { context_ = std::move(context); }

 private:
  std::string context_;
  std::vector<Problem> problems_;
};

struct Node {
  enum class Kind : std::uint8_t { scalar, sequence, mapping };
  Kind kind = Kind::scalar;
  bool quoted = false;          // a scalar in quotes or a block text
  bool templated = false;       // it, or something below it, has a $( in it
  std::uint16_t file = 0;       // index of Document::files
  int line = 0, column = 0;     // from 1
  std::uint32_t count = 0;      // items of a sequence, pairs of a mapping
  std::uint32_t weight = 1;     // nodes below and including this one, aliases followed
  const Node* first = nullptr;  // items of a sequence; key, value, key, value, ... of a mapping
  std::string_view text;        // of a scalar; lives as long as the document

  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_mapping() const { return kind == Kind::mapping; }
  bool is_null() const { return is_scalar() && !quoted && (text.empty() || text == "~" || text == "null"); }
  const Node& item(std::size_t i) const { return first[i]; }
  const Node& key(std::size_t i) const { return first[2 * i]; }
  const Node& value(std::size_t i) const { return first[2 * i + 1]; }
  const Node* find(std::string_view name) const;  // value of a key, or nullptr; for mappings of few keys
};

class Document {
 public:
  // Throws a Failure where the text cannot be followed any further; smaller problems go to the list.
  // `text` need not outlive the call.
  Document(std::string_view text, std::string_view file_name, ProblemList& problems);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  // One more file of the same model; returns its root, which lives as long as the document.
  const Node& add(std::string_view text, std::string_view file_name, ProblemList& problems);

  const Node& root() const { return roots_.front(); }
  Location where(const Node& node) const { return {files_[node.file], node.line, node.column}; }
  const std::string* file() const { return files_.front(); }
  const std::vector<const std::string*>& files() const { return files_; }

  // Copies that live as long as the document. Nodes count towards the limit of a model.
  std::string_view keep(std::string_view text);
  const Node* keep(const Node* begin, std::size_t count);
  const Node& keep(const Node& node) { return *keep(&node, 1); }

 private:
  friend class DocumentBuilder;

  std::vector<const std::string*> files_;
  std::deque<Node> roots_;
  std::size_t count_ = 0;                // nodes
  std::deque<std::vector<char>> texts_;  // blocks: filled up to their capacity, never moved
  std::deque<std::vector<Node>> nodes_;
};

}  // namespace trammel
