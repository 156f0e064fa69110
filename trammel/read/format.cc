#include "trammel/read/format.h"

#include <yaml.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "trammel/base/document.h"
#include "trammel/base/literal.h"
#include "trammel/elements/blocks/block.h"
#include "trammel/elements/registry.h"
#include "trammel/read/grammar.h"

namespace trammel {
namespace {

constexpr int level_width = 2;
constexpr std::size_t comment_gap = 2;

bool digit(char c) { return c >= '0' && c <= '9'; }

// Keys whose values are texts, in which a 1.0 is not a number.
bool is_text_key(std::string_view name) {
  static const std::set<std::string, std::less<>> names = [] {
    std::set<std::string, std::less<>> all{"unit"};
    for (int r = 0; r <= static_cast<int>(Rule::output); ++r) {
      for (const Key& key : keys_of(static_cast<Rule>(r))) {
        const bool text = key.form == Form::text || key.form == Form::name || key.form == Form::names ||
                          key.form == Form::texts || key.form == Form::version || key.form == Form::units;
        if (text) all.emplace(key.name);
      }
    }
    const auto add = [&all](const std::vector<Field>& fields) {
      for (const Field& field : fields) {
        const bool text =
            field.kind == FieldKind::text || field.kind == FieldKind::name || field.kind == FieldKind::names;
        if (text) all.insert(field.name);
      }
    };
    for (const ElementDescription& element : element_registry()) add(element.fields);
    for (const BlockDescription& block : block_registry()) add(block.fields);
    return all;
  }();
  return names.count(name) != 0;
}

struct Token {
  yaml_token_type_t type;
  std::size_t begin, end;    // bytes of the text
  std::size_t line, column;  // from 0; the column in bytes
  bool plain;                // a scalar without quotes
};

// libyaml counts characters; we count bytes.
std::vector<std::size_t> byte_offsets(std::string_view text) {
  std::vector<std::size_t> offsets;
  offsets.reserve(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) offsets.push_back(i);
  }
  offsets.push_back(text.size());
  return offsets;
}

std::vector<Token> scan(std::string_view text, const std::string& name) {
  const std::vector<std::size_t> offsets = byte_offsets(text);
  std::vector<std::size_t> line_starts{0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts.push_back(i + 1);
  }
  std::vector<Token> tokens;
  yaml_parser_t parser;
  bool good = yaml_parser_initialize(&parser) != 0;
  if (!good)
    throw Failure({Severity::error, "out-of-memory", "not enough memory to read the file", "", {intern(name), 0, 0}});
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  for (bool more = true; more && good;) {
    yaml_token_t token;
    good = yaml_parser_scan(&parser, &token) != 0;
    if (!good) break;
    more = token.type != YAML_STREAM_END_TOKEN && token.type != YAML_NO_TOKEN;
    Token out{token.type,
              offsets[std::min(token.start_mark.index, offsets.size() - 1)],
              offsets[std::min(token.end_mark.index, offsets.size() - 1)],
              token.start_mark.line,
              0,
              token.type == YAML_SCALAR_TOKEN && token.data.scalar.style == YAML_PLAIN_SCALAR_STYLE};
    while (out.end > out.begin && (text[out.end - 1] == '\n' || text[out.end - 1] == ' ')) --out.end;
    out.column = out.begin - line_starts[std::min(out.line, line_starts.size() - 1)];
    yaml_token_delete(&token);
    tokens.push_back(out);
  }
  yaml_parser_delete(&parser);
  if (!good) {
    throw Failure({Severity::error, "not-yaml", "this is not YAML", "see `trammel check`", {intern(name), 0, 0}});
  }
  return tokens;
}

// YAML also ends lines at a lone carriage return, at NEL and at the separators of Unicode. A file with those has other
// lines than those seen here, and most editors show it otherwise than it is read.
void refuse_other_line_ends(std::string_view text, const std::string& name) {
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest[0] == '\n') ++line;
    if ((rest[0] == '\r' && !rest.starts_with("\r\n")) || rest.starts_with("\xc2\x85") ||
        rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9")) {
      throw Failure({Severity::error,
                     "not-yaml",
                     "a line ends with a carriage return alone, or with another sign that only YAML takes for an end",
                     "end lines with a line feed",
                     {intern(name), static_cast<int>(line), 0}});
    }
  }
}

class Formatter {
 public:
  Formatter(std::string_view text, const std::string& name) : text_(text) {
    refuse_other_line_ends(text, name);
    tokens_ = scan(text, name);
    std::size_t at = 0;
    while (at <= text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      source_.push_back(text_.substr(at, end - at));
      at = end + 1;
    }
    if (source_.back().empty()) source_.pop_back();
    lines_.resize(source_.size());
  }

  std::string run() {
    lay_out_tokens();
    lay_out_comments();
    return joined(ordered());
  }

 private:
  struct Line {
    std::string text;  // without its indentation
    int indent = 0;    // new
    int old_indent = 0;
    bool content = false;  // has tokens, or is inside of one
    bool verbatim = false;
    bool comment = false;
    int section = -1;  // index of the key of the file that starts here
  };
  struct Block {
    bool mapping;
    int indent;
    bool implied;  // a list whose dashes stand below the key itself
  };

  static int indent_of(std::string_view line) {
    return static_cast<int>(std::min(line.find_first_not_of(' '), line.size()));
  }
  static bool is_flow_start(yaml_token_type_t t) {
    return t == YAML_FLOW_MAPPING_START_TOKEN || t == YAML_FLOW_SEQUENCE_START_TOKEN;
  }
  static bool is_flow_end(yaml_token_type_t t) {
    return t == YAML_FLOW_MAPPING_END_TOKEN || t == YAML_FLOW_SEQUENCE_END_TOKEN;
  }

  // What stands between two tokens of a line.
  static const char* gap(const Token& before, const Token& now) {
    if (is_flow_start(before.type) || is_flow_end(now.type)) return "";
    if (now.type == YAML_FLOW_ENTRY_TOKEN) return "";
    if (now.type == YAML_VALUE_TOKEN) return before.type == YAML_ALIAS_TOKEN ? " " : "";
    return " ";
  }

  void lay_out_tokens() {
    std::vector<Block> blocks;
    std::vector<std::string_view> keys;  // the last key of each open mapping, to know texts
    int flow = 0;
    std::size_t flow_line = 0;
    const Token* previous = nullptr;  // the last one with a width
    bool next_is_key = false;
    for (const Token& token : tokens_) {
      switch (token.type) {
        case YAML_BLOCK_MAPPING_START_TOKEN:
        case YAML_BLOCK_SEQUENCE_START_TOKEN:
          blocks.push_back({token.type == YAML_BLOCK_MAPPING_START_TOKEN,
                            blocks.empty() ? 0 : blocks.back().indent + level_width, false});
          keys.push_back(token.type == YAML_BLOCK_SEQUENCE_START_TOKEN ? key_of(keys) : std::string_view{});
          continue;
        case YAML_BLOCK_END_TOKEN:
          while (!blocks.empty() && blocks.back().implied) pop(blocks, keys);
          if (!blocks.empty()) pop(blocks, keys);
          continue;
        case YAML_KEY_TOKEN:
          if (flow == 0) {
            while (!blocks.empty() && blocks.back().implied) pop(blocks, keys);
          }
          next_is_key = true;
          break;
        case YAML_BLOCK_ENTRY_TOKEN:
          if (!blocks.empty() && blocks.back().mapping) {
            blocks.push_back({false, blocks.back().indent + level_width, true});
            keys.push_back(keys.back());
          }
          break;
        case YAML_STREAM_START_TOKEN:
        case YAML_STREAM_END_TOKEN:
        case YAML_NO_TOKEN: continue;
        default: break;
      }
      if (token.end > token.begin) {
        const bool starts_line = previous == nullptr || last_line_of(*previous) != token.line;
        const bool inside_flow = flow > 0;
        int indent = blocks.empty() ? 0 : blocks.back().indent;
        const bool value_below = previous != nullptr && starts_line && !next_is_key &&
                                 (previous->type == YAML_VALUE_TOKEN || previous->type == YAML_BLOCK_ENTRY_TOKEN ||
                                  previous->type == YAML_ANCHOR_TOKEN) &&
                                 token.type != YAML_BLOCK_ENTRY_TOKEN;
        if (value_below) indent += level_width;
        if (starts_line && inside_flow) {
          // Lines inside of brackets keep their distance to the line with the first bracket.
          const Line& first = lines_[flow_line];
          indent = std::max(0, indent_of(source_[token.line]) + first.indent - first.old_indent);
        }
        put(token, previous, starts_line, indent, next_is_key ? std::string_view{} : key_of(keys));
        if (is_flow_start(token.type)) {
          if (flow++ == 0) flow_line = token.line;
          keys.push_back(token.type == YAML_FLOW_SEQUENCE_START_TOKEN ? key_of(keys) : std::string_view{});
        } else if (is_flow_end(token.type)) {
          --flow;
          keys.pop_back();
        }
        if (token.type == YAML_SCALAR_TOKEN && next_is_key) {
          if (!keys.empty()) keys.back() = text_.substr(token.begin, token.end - token.begin);
          if (flow == 0 && blocks.size() == 1 && blocks.back().mapping) {
            lines_[token.line].section = static_cast<int>(sections_.size());
            sections_.push_back(text_.substr(token.begin, token.end - token.begin));
          }
        }
        if (token.type == YAML_ANCHOR_TOKEN || token.type == YAML_ALIAS_TOKEN) has_anchors_ = true;
        if (token.type == YAML_SCALAR_TOKEN || is_flow_start(token.type) || token.type == YAML_ALIAS_TOKEN) {
          next_is_key = false;
        }
        previous = &token;
      }
    }
  }

  static void pop(std::vector<Block>& blocks, std::vector<std::string_view>& keys) {
    blocks.pop_back();
    keys.pop_back();
  }
  static std::string_view key_of(const std::vector<std::string_view>& keys) {
    return keys.empty() ? std::string_view{} : keys.back();
  }

  std::size_t last_line_of(const Token& token) const {
    const std::string_view inside = text_.substr(token.begin, token.end - token.begin);
    return token.line + static_cast<std::size_t>(std::count(inside.begin(), inside.end(), '\n'));
  }

  void put(const Token& token, const Token* previous, bool starts_line, int indent, std::string_view key) {
    Line* line = &lines_[token.line];
    const std::string_view whole = text_.substr(token.begin, token.end - token.begin);
    if (starts_line) {
      line->indent = indent;
      line->old_indent = indent_of(source_[token.line]);
    } else {
      line->text += gap(*previous, token);
    }
    line->content = true;
    const std::size_t last = last_line_of(token);
    if (last == token.line) {
      line->text += token.plain && !is_text_key(key) ? respelled(whole) : std::string(whole);
    } else {
      // A text over several lines: the first piece here, the others moved along.
      const int delta = line->indent - line->old_indent;
      line->text += source_[token.line].substr(token.column);
      for (std::size_t i = token.line + 1; i <= last; ++i) {
        Line& more = lines_[i];
        more.content = more.verbatim = true;
        more.old_indent = indent_of(source_[i]);
        const bool blank = source_[i].find_first_not_of(' ') == std::string_view::npos;
        more.indent = blank ? 0 : std::max(0, more.old_indent + delta);
        const std::size_t stop =
            i == last ? token.end - static_cast<std::size_t>(source_[i].data() - text_.data()) : source_[i].size();
        more.text = blank ? ""
                          : source_[i].substr(static_cast<std::size_t>(more.old_indent),
                                              stop - static_cast<std::size_t>(more.old_indent));
      }
      line = &lines_[last];
    }
    ends_[last] = token.end;
  }

  // "30.0 deg" -> "30 deg"
  static std::string respelled(std::string_view text) {
    const Literal literal = read_literal(text);
    if (!literal.is_number) return std::string(text);
    if (!literal.rest.empty() && !literal.has_unit()) return std::string(text);
    const std::size_t length = static_cast<std::size_t>(literal.rest.data() - text.data());
    const std::string_view number = literal.rest.empty() ? text : text.substr(0, length);
    const std::string_view digits = trim(number);
    return shortest_spelling(digits) + std::string(text.substr(digits.size()));
  }

  // What follows the last token of each line, and lines without any.
  void lay_out_comments() {
    const auto at = [this](std::size_t i) { return static_cast<std::size_t>(source_[i].data() - text_.data()); };
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      Line& line = lines_[i];
      const auto end = ends_.find(i);
      if (end != ends_.end()) {
        const std::string_view rest = source_[i].substr(std::min(end->second - at(i), source_[i].size()));
        const std::size_t mark = rest.find('#');
        if (mark == std::string_view::npos) continue;
        const std::size_t now = line.text.size() + static_cast<std::size_t>(line.indent);
        const long moved = static_cast<long>(end->second - at(i) + mark) + line.indent - line.old_indent;
        std::size_t column = now + mark;
        if (mark >= comment_gap)
          column = std::max<std::size_t>(now + comment_gap, static_cast<std::size_t>(std::max(0L, moved)));
        line.text += std::string(column - now, ' ') + std::string(without_end(rest.substr(mark)));
      } else if (!line.content) {
        const std::string_view comment = without_end(trimmed_front(source_[i]));
        line.comment = !comment.empty();
        line.text = comment;
        line.old_indent = indent_of(source_[i]);
      }
    }
    for (std::size_t i = lines_.size(); i-- > 0;) {
      Line& line = lines_[i];
      if (!line.comment) continue;
      const Line* next = nullptr;
      for (std::size_t k = i + 1; k < lines_.size() && next == nullptr; ++k) {
        if (lines_[k].content) next = &lines_[k];
      }
      const Line* before = nullptr;
      for (std::size_t k = i; k-- > 0 && before == nullptr;) {
        if (lines_[k].content && !lines_[k].verbatim) before = &lines_[k];
      }
      if (next != nullptr && next->old_indent == line.old_indent) {
        line.indent = next->indent;
      } else if (before != nullptr && before->old_indent == line.old_indent) {
        line.indent = before->indent;
      } else {
        const Line* near = next != nullptr ? next : before;
        line.indent =
            near == nullptr ? line.old_indent : std::max(0, line.old_indent + near->indent - near->old_indent);
      }
    }
  }

  static std::string_view without_end(std::string_view text) {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
    return text;
  }
  static std::string_view trimmed_front(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
  }

  struct Chunk {
    std::size_t begin, end;  // lines
    std::size_t rank;
    bool blank_before;
  };

  // The lines in the order of the sections.
  std::vector<std::size_t> ordered() const {
    std::vector<Chunk> chunks;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].section < 0) continue;
      std::size_t begin = i;
      while (begin > 0 && lines_[begin - 1].comment) --begin;
      if (chunks.empty()) begin = i;  // comments above the first section stay at the top
      chunks.push_back({begin, 0, rank(sections_[lines_[i].section]), begin > 0 && lines_[begin - 1].text.empty()});
    }
    std::vector<std::size_t> order;
    const bool sorted =
        std::is_sorted(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) { return a.rank < b.rank; });
    // An anchor must stay before its aliases; two sections in one line (JSON) stay as they are.
    if (sorted || has_anchors_ || chunks.size() != sections_.size()) {
      for (std::size_t i = 0; i < lines_.size(); ++i) order.push_back(i);
      return order;
    }
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      std::size_t end = i + 1 < chunks.size() ? chunks[i + 1].begin : lines_.size();
      while (end > chunks[i].begin && lines_[end - 1].text.empty()) --end;
      chunks[i].end = end;
    }
    for (std::size_t i = 0; i < chunks.front().begin; ++i) order.push_back(i);
    std::stable_sort(chunks.begin(), chunks.end(), [](const Chunk& a, const Chunk& b) { return a.rank < b.rank; });
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const bool tall = chunks[i].end - chunks[i].begin > 1 || (i > 0 && chunks[i - 1].end - chunks[i - 1].begin > 1);
      if (i > 0 && (chunks[i].blank_before || tall)) order.push_back(blank_line);
      for (std::size_t k = chunks[i].begin; k < chunks[i].end; ++k) order.push_back(k);
    }
    return order;
  }

  static std::size_t rank(std::string_view section) {
    const std::vector<Key>& keys = keys_of(Rule::file);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].name == section) return i;
    }
    return keys.size();
  }

  std::string joined(const std::vector<std::size_t>& order) const {
    std::string out;
    bool blank = true;  // none at the top, never two together
    for (const std::size_t i : order) {
      if (i != blank_line && lines_[i].verbatim) {
        out += std::string(static_cast<std::size_t>(lines_[i].indent), ' ') + lines_[i].text + "\n";
        blank = false;
        continue;
      }
      const bool empty = i == blank_line || lines_[i].text.empty();
      if (!empty) out += std::string(static_cast<std::size_t>(lines_[i].indent), ' ') + lines_[i].text;
      if (!empty || !blank) out += "\n";
      blank = empty;
    }
    while (out.size() > 1 && out[out.size() - 1] == '\n' && out[out.size() - 2] == '\n') out.pop_back();
    return out;
  }

  static constexpr std::size_t blank_line = static_cast<std::size_t>(-1);
  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<std::string_view> source_, sections_;
  std::vector<Line> lines_;
  std::map<std::size_t, std::size_t> ends_;  // line -> where its last token ends
  bool has_anchors_ = false;
};

// Whether two texts mean the same: numbers by their spelling in shortest form, the top sections in any order.
bool same_meaning(const Node& a, const Node& b, bool any_order) {
  if (a.kind != b.kind || a.count != b.count) return false;
  if (a.is_scalar()) {
    if (a.quoted != b.quoted) return false;
    if (a.text == b.text) return true;
    const Literal x = read_literal(a.text), y = read_literal(b.text);
    return x.is_number && y.is_number && x.value == y.value && x.rest == y.rest;
  }
  if (a.is_sequence()) {
    for (std::size_t i = 0; i < a.count; ++i) {
      if (!same_meaning(a.item(i), b.item(i), false)) return false;
    }
    return true;
  }
  for (std::size_t i = 0; i < a.count; ++i) {
    const Node* value = any_order ? b.find(a.key(i).text) : &b.value(i);
    if (value == nullptr || (!any_order && !same_meaning(a.key(i), b.key(i), false))) return false;
    if (!same_meaning(a.value(i), *value, false)) return false;
  }
  return true;
}

}  // namespace

std::string shortest_spelling(std::string_view number) {
  std::size_t at = 0;
  std::string sign, whole, fraction, exponent;
  if (at < number.size() && (number[at] == '+' || number[at] == '-')) sign = number[at++] == '-' ? "-" : "";
  while (at < number.size() && digit(number[at])) whole += number[at++];
  if (at < number.size() && number[at] == '.') {
    ++at;
    while (at < number.size() && digit(number[at])) fraction += number[at++];
  }
  if (whole.empty() && fraction.empty()) return std::string(number);
  bool minus = false;
  if (at < number.size() && (number[at] == 'e' || number[at] == 'E')) {
    ++at;
    if (at < number.size() && (number[at] == '+' || number[at] == '-')) minus = number[at++] == '-';
    const std::size_t start = at;
    while (at < number.size() && digit(number[at])) exponent += number[at++];
    if (at == start) return std::string(number);
  }
  if (at != number.size()) return std::string(number);
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
  fraction.resize(fraction.find_last_not_of('0') + 1);
  exponent.erase(0, std::min(exponent.find_first_not_of('0'), exponent.size()));
  std::string out = sign + (whole.empty() ? "0" : whole);
  if (!fraction.empty()) out += "." + fraction;
  if (!exponent.empty()) out += std::string("e") + (minus ? "-" : "") + exponent;
  return out;
}

std::string format_model_text(std::string_view text, const std::string& name) {
  ProblemList problems;
  const Document before(text, name, problems);
  problems.fail_if_any();
  std::string plain;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] == '\n')) continue;
    plain += text[i];
  }
  std::string result = Formatter(plain, name).run();
  bool same = false;
  try {
    const Document after(result, name, problems);
    same = problems.all().empty() && same_meaning(before.root(), after.root(), true);
  } catch (const Failure&) {
    same = false;
  }
  if (!same) {
    throw Failure({Severity::error,
                   "cannot-format",
                   "the file cannot be laid out without changing its meaning",
                   "it is left as it is; texts over several lines and unusual YAML are the likely causes",
                   {intern(name), 0, 0}});
  }
  return result;
}

}  // namespace trammel
