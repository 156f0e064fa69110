#include "trammel/base/document.h"

#include <yaml.h>

#include <algorithm>
#include <unordered_map>

#include "trammel/base/literal.h"
#include "trammel/base/printable.h"

namespace trammel {

namespace {
// Sections are read by what they need, not by where they stand.
std::vector<Problem> in_file_order(std::vector<Problem> problems) {
  std::vector<const std::string*> files;  // in the order of their first problem
  const auto rank = [&files](const Problem& problem) {
    return std::find(files.begin(), files.end(), problem.where.file) - files.begin();
  };
  for (const Problem& problem : problems) {
    if (rank(problem) == std::ssize(files)) files.push_back(problem.where.file);
  }
  std::stable_sort(problems.begin(), problems.end(), [&rank](const Problem& a, const Problem& b) {
    if (a.where.file != b.where.file) return rank(a) < rank(b);
    return a.where.line != b.where.line ? a.where.line < b.where.line : a.where.column < b.where.column;
  });
  return problems;
}
}  // namespace

void ProblemList::add(Problem problem) {
  if (!context_.empty()) problem.message += " (" + context_ + ")";
  problems_.push_back(std::move(problem));
  if (problems_.size() < limit) return;
  std::vector<Problem> shown = in_file_order(problems_);
  shown.push_back({Severity::note, "too-many-problems", "there may be more; reading stopped here", "", {}});
  throw Failure(std::move(shown));
}

void ProblemList::fail_if_any() const {
  if (!problems_.empty()) throw Failure(in_file_order(problems_));
}

const Node* Node::find(std::string_view name) const {
  if (!is_mapping()) return nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    if (key(i).text == name) return &value(i);
  }
  return nullptr;
}

namespace {

constexpr std::size_t deepest = 64;                // a model needs about eight levels
constexpr std::uint32_t most_aliased = 1'000'000;  // nodes that aliases may add; more is an attack or a mistake
constexpr std::size_t most_nodes =
    10'000'000;  // with repetition; half a gigabyte of them; 10,000 bodies with joints have 600,000
constexpr std::size_t most_files = 1000;
constexpr std::size_t text_block = std::size_t{1} << 16, node_block = 4096;

// libyaml owns what an event points to until it is deleted.
class Event {
 public:
  Event() = default;
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  yaml_event_t* get() { return &event_; }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_{};
};

class Parser {
 public:
  Parser() { good_ = yaml_parser_initialize(&parser_) != 0; }
  ~Parser() {
    if (good_) yaml_parser_delete(&parser_);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  yaml_parser_t* get() { return &parser_; }
  bool good() const { return good_; }

 private:
  yaml_parser_t parser_{};
  bool good_ = false;
};

std::string_view view(const yaml_char_t* text) { return reinterpret_cast<const char*>(text); }
std::string_view view(const yaml_char_t* text, std::size_t size) { return {reinterpret_cast<const char*>(text), size}; }

// Length of the UTF-8 sequence at `at`, 0 if there is none (overlong forms and surrogates are none).
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto tail = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned c = byte(at);
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c <= 0xDF) return tail(at + 1) ? 2 : 0;
  if (c >= 0xE0 && c <= 0xEF) {
    const bool second = tail(at + 1, c == 0xE0 ? 0xA0 : 0x80, c == 0xED ? 0x9F : 0xBF);
    return second && tail(at + 2) ? 3 : 0;
  }
  if (c >= 0xF0 && c <= 0xF4) {
    const bool second = tail(at + 1, c == 0xF0 ? 0x90 : 0x80, c == 0xF4 ? 0x8F : 0xBF);
    return second && tail(at + 2) && tail(at + 3) ? 4 : 0;
  }
  return 0;
}

// Line and column (in characters) of a byte.
Location place_of(const std::string* file, std::string_view text, std::size_t offset) {
  Location where{file, 1, 1};
  for (std::size_t i = 0; i < std::min(offset, text.size()); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\n') {
      ++where.line;
      where.column = 1;
    } else if ((c & 0xC0) != 0x80) {
      ++where.column;
    }
  }
  return where;
}

[[noreturn]] void fail(const char* id, std::string message, std::string hint, const Location& where) {
  throw Failure({Severity::error, id, std::move(message), std::move(hint), where});
}

void check_bytes(const std::string* file, std::string_view text) {
  if (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF") {
    fail("not-utf8", "the file is UTF-16, not UTF-8", "save it as UTF-8", {file, 1, 1});
  }
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\0') {
      fail("not-text", "the file has a zero byte, so it is not a text", "is this the right file?",
           place_of(file, text, at));
    }
    const std::size_t length = utf8_length(text, at);
    if (length == 0) {
      fail("not-utf8", "the file is not valid UTF-8 here", "save it as UTF-8, or remove the character",
           place_of(file, text, at));
    }
    at += length;
  }
}

// The line of the text with a given number from 1.
std::string_view line_of(std::string_view text, int number) {
  std::size_t start = 0;
  for (int i = 1; i < number && start != std::string_view::npos; ++i) {
    start = text.find('\n', start);
    if (start != std::string_view::npos) ++start;
  }
  if (start == std::string_view::npos) return {};
  return text.substr(start, std::min(text.find('\n', start), text.size()) - start);
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

[[noreturn]] void fail_syntax(const std::string* file, std::string_view text, const yaml_parser_t& parser) {
  if (parser.error == YAML_MEMORY_ERROR) fail("out-of-memory", "not enough memory to read the file", "", {file, 0, 0});
  const std::string problem = parser.problem == nullptr ? "it cannot be parsed" : parser.problem;
  if (parser.error == YAML_READER_ERROR) {
    fail("not-text", "the file is not a text that YAML allows: " + problem, "remove the character",
         place_of(file, text, parser.problem_offset));
  }
  const yaml_mark_t& mark = parser.problem_mark;
  const Location where{file, static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
  std::string message = "this is not YAML: " + problem;
  if (parser.context != nullptr) {
    message += std::string(", ") + parser.context;
    if (parser.context_mark.line != mark.line) {
      message += " that starts in line " + std::to_string(parser.context_mark.line + 1);
    }
  }
  const std::string_view line = line_of(text, where.line);
  std::string hint = "see docs/guide/model-files.md for the format";
  if (contains(problem, "Unicode character escape")) {
    hint = "write the character itself instead of a pair of \\u escapes";
  } else if (contains(line.substr(0, line.find_first_not_of(" \t")), "\t")) {
    hint = "indent with spaces; YAML does not allow tabs there";
  } else if (contains(line, "${")) {
    hint = "an expression in a name is written $(i), with round brackets";
  } else if (contains(problem, "mapping values are not allowed")) {
    hint = "check the indentation, or put quotes around a text with ': ' in it";
  } else if (contains(problem, "',' or '}'") || contains(problem, "',' or ']'")) {
    hint = "a bracket is not closed, or a comma is missing";
  } else if (contains(problem, "did not find expected key") && contains(line, "]")) {
    hint = "to give a list a unit, write {value: [1, 2, 3], unit: mm}";
  }
  fail("not-yaml", std::move(message), std::move(hint), where);
}

}  // namespace

class DocumentBuilder {
 public:
  DocumentBuilder(Document& document, std::string_view text, ProblemList& problems)
      : document_(document),
        file_(document.files_.back()),
        file_index_(static_cast<std::uint16_t>(document.files_.size() - 1)),
        text_(text),
        problems_(problems) {}

  Node build() {
    Parser parser;
    if (!parser.good()) fail("out-of-memory", "not enough memory to read the file", "", {file_, 0, 0});
    yaml_parser_set_encoding(parser.get(), YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser.get(), reinterpret_cast<const unsigned char*>(text_.data()), text_.size());
    for (bool more = true; more;) {
      Event event;
      if (yaml_parser_parse(parser.get(), event.get()) == 0) fail_syntax(file_, text_, *parser.get());
      more = event->type != YAML_STREAM_END_EVENT;
      take(event);
    }
    if (pending_.size() != 1 || pending_[0].is_null()) {
      fail("empty-file", "the file holds no model", "a model file starts with `trammel: 1`", {file_, 1, 1});
    }
    return pending_[0];
  }

 private:
  struct Open {
    std::size_t begin;  // of its children among pending_
    Node node;
    std::string anchor;
  };

  Location where(const yaml_mark_t& mark) const {
    return {file_, static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
  }

  Node place(const Event& event, Node::Kind kind) const {
    Node node;
    node.kind = kind;
    node.file = file_index_;
    node.line = static_cast<int>(event->start_mark.line) + 1;
    node.column = static_cast<int>(event->start_mark.column) + 1;
    return node;
  }

  void refuse_tag(const yaml_char_t* tag, const Event& event) {
    if (tag == nullptr || view(tag) == "!") return;
    problems_.add({Severity::error, "tag", "tags are not used in model files: " + quote(view(tag)), "remove the tag",
                   where(event->start_mark)});
  }

  // Written as "\e" in YAML; on a terminal they would be obeyed.
  void refuse_control_characters(std::string_view text, const Event& event) {
    if (is_printable(text, true)) return;
    problems_.add({Severity::error, "not-text", "this text has a control character: " + quote(printable(text)),
                   "remove it", where(event->start_mark)});
  }

  void take(const Event& event) {
    switch (event->type) {
      case YAML_DOCUMENT_START_EVENT:
        if (++documents_ > 1) {
          fail("second-document", "a second document starts here", "a file holds one model: remove the line '---'",
               where(event->start_mark));
        }
        break;
      case YAML_SCALAR_EVENT: {
        const auto& scalar = event->data.scalar;
        refuse_tag(scalar.tag, event);
        Node node = place(event, Node::Kind::scalar);
        node.quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
        node.text = document_.keep(view(scalar.value, scalar.length));
        node.templated = node.text.find("$(") != std::string_view::npos;
        refuse_control_characters(node.text, event);
        finish(node, scalar.anchor == nullptr ? std::string_view{} : view(scalar.anchor));
        break;
      }
      case YAML_SEQUENCE_START_EVENT:
        refuse_tag(event->data.sequence_start.tag, event);
        open(place(event, Node::Kind::sequence), event->data.sequence_start.anchor);
        break;
      case YAML_MAPPING_START_EVENT:
        refuse_tag(event->data.mapping_start.tag, event);
        open(place(event, Node::Kind::mapping), event->data.mapping_start.anchor);
        break;
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: close(); break;
      case YAML_ALIAS_EVENT: follow(event); break;
      case YAML_NO_EVENT:
      case YAML_STREAM_START_EVENT:
      case YAML_STREAM_END_EVENT:
      case YAML_DOCUMENT_END_EVENT: break;
    }
  }

  void open(const Node& node, const yaml_char_t* anchor) {
    if (open_.size() >= deepest) {
      fail("too-deep", "the file nests more than " + std::to_string(deepest) + " levels deep",
           "a model needs about eight", document_.where(node));
    }
    open_.push_back({pending_.size(), node, anchor == nullptr ? std::string() : std::string(view(anchor))});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    Node& node = done.node;
    const Node* children = pending_.data() + done.begin;
    const std::size_t count = pending_.size() - done.begin;
    for (std::size_t i = 0; i < count; ++i) {
      node.weight += children[i].weight;  // bounded by the file and most_aliased
      node.templated = node.templated || children[i].templated;
    }
    node.first = document_.keep(children, count);
    node.count = static_cast<std::uint32_t>(node.is_mapping() ? count / 2 : count);
    pending_.resize(done.begin);
    if (node.is_mapping()) check_keys(node);
    finish(node, done.anchor);
  }

  void finish(const Node& node, std::string_view anchor) {
    pending_.push_back(node);
    if (!anchor.empty()) anchors_[std::string(anchor)] = node;
  }

  void follow(const Event& event) {
    const std::string name(view(event->data.alias.anchor));
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      fail("unknown-alias", "there is no anchor '&" + name + "' before this '*" + name + "'",
           "define it first; a text that starts with * needs quotes", where(event->start_mark));
    }
    aliased_ += found->second.weight;
    if (aliased_ > most_aliased) {
      fail("too-many-aliases", "aliases unfold to more than " + std::to_string(most_aliased) + " values",
           "write large repeated parts out", where(event->start_mark));
    }
    pending_.push_back(found->second);
  }

  void check_keys(const Node& mapping) {
    constexpr std::size_t few = 12;
    std::unordered_map<std::string_view, int> seen;
    if (mapping.count > few) seen.reserve(mapping.count);
    for (std::size_t i = 0; i < mapping.count; ++i) {
      const Node& key = mapping.key(i);
      if (!key.is_scalar()) {
        problems_.add({Severity::error, "wrong-type", "a key must be a name, not a list or a mapping",
                       "put the { } or [ ] after a name and a colon", document_.where(key)});
        continue;
      }
      if (key.text == "<<" && !key.quoted) {
        problems_.add({Severity::error, "merge-key", "merge keys (<<) are not supported", "write the values out",
                       document_.where(key)});
        continue;
      }
      int before = 0;
      if (mapping.count > few) {
        const auto [entry, fresh] = seen.emplace(key.text, key.line);
        if (!fresh) before = entry->second;
      } else {
        for (std::size_t j = 0; j < i && before == 0; ++j) {
          if (mapping.key(j).is_scalar() && mapping.key(j).text == key.text) before = mapping.key(j).line;
        }
      }
      if (before != 0) {
        problems_.add({Severity::error, "duplicate-key",
                       quote(key.text) + " is given twice; first in line " + std::to_string(before),
                       "remove or rename one of them", document_.where(key)});
      }
    }
  }

  Document& document_;
  const std::string* file_;
  std::uint16_t file_index_;
  std::string_view text_;
  ProblemList& problems_;
  std::vector<Node> pending_;  // finished nodes whose parent is still open
  std::vector<Open> open_;
  std::unordered_map<std::string, Node> anchors_;
  std::uint64_t aliased_ = 0;
  int documents_ = 0;
};

Document::Document(std::string_view text, std::string_view file_name, ProblemList& problems) {
  add(text, file_name, problems);
}

const Node& Document::add(std::string_view text, std::string_view file_name, ProblemList& problems) {
  if (files_.size() >= most_files) {
    fail("too-many-files", "the model has more than " + std::to_string(most_files) + " files", "use `repeat` instead",
         {intern(file_name), 0, 0});
  }
  files_.push_back(intern(file_name));
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);  // a byte order mark
  check_bytes(files_.back(), text);
  roots_.push_back(DocumentBuilder(*this, text, problems).build());
  return roots_.back();
}

std::string_view Document::keep(std::string_view text) {
  if (text.empty()) return {};
  if (texts_.empty() || texts_.back().capacity() - texts_.back().size() < text.size()) {
    texts_.emplace_back().reserve(std::max(text_block, text.size()));
  }
  std::vector<char>& block = texts_.back();
  const std::size_t start = block.size();
  block.insert(block.end(), text.begin(), text.end());
  return {block.data() + start, text.size()};
}

const Node* Document::keep(const Node* begin, std::size_t count) {
  if (count == 0) return nullptr;
  count_ += count;
  if (count_ > most_nodes) {
    fail("too-large", "the model holds more than " + std::to_string(most_nodes) + " values",
         "build such a model in C++", where(*begin));
  }
  if (nodes_.empty() || nodes_.back().capacity() - nodes_.back().size() < count) {
    nodes_.emplace_back().reserve(std::max(node_block, count));
  }
  std::vector<Node>& block = nodes_.back();
  const std::size_t start = block.size();
  block.insert(block.end(), begin, begin + count);
  return block.data() + start;
}

}  // namespace trammel
