// What stands for several things in a file: $(...) in names and texts, and names of parameters and places in
// expressions of the run that are read for one value of an index or one use of a subsystem.
//
//   text   := { character | "$(" inside ")" }
//   inside := condition "?" 'text' ":" 'text'  |  name of a text  |  expression with a whole value
#include <cmath>
#include <map>

#include "trammel/base/literal.h"
#include "trammel/elements/sensor.h"
#include "trammel/math/expression_foreign.h"
#include "trammel/read/values.h"

namespace trammel {
namespace {

constexpr int deepest_template = 8;
constexpr double largest_whole = 1e15;

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_name(char c) { return starts_name(c) || (c >= '0' && c <= '9'); }
// The names of frames and joints, where no operator can stand.
bool in_place_name(char c) { return in_name(c) || c == '-' || c == '.' || static_cast<unsigned char>(c) >= 0x80; }

// The place of the bracket that closes what was opened before `at`; quotes hide brackets. npos if there is none.
std::size_t closing(std::string_view text, std::size_t at) {
  int depth = 1;
  for (char quoted = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted != 0) {
      if (c == quoted) quoted = 0;
    } else if (c == '\'') {
      quoted = c;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && --depth == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

// 'a text' without its quotes.
std::optional<std::string_view> unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() < 2 || text.front() != '\'' || text.back() != '\'') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  return text.find('\'') == std::string_view::npos ? std::optional(text) : std::nullopt;
}

std::size_t find_outside_quotes(std::string_view text, char wanted, std::size_t at = 0) {
  for (bool quoted = false; at < text.size(); ++at) {
    if (text[at] == '\'') quoted = !quoted;
    if (!quoted && text[at] == wanted) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<std::string> Values::expand_one(std::string_view inside, const Node& node, int depth) {
  const std::string owner = "$(" + std::string(inside.substr(0, 40)) + ")";
  const Place named{owner, "", ""};
  const std::string_view content = trim(inside);
  if (content.empty()) {
    error(node, "empty-expression", "$() has nothing in it", "write $(i), or any expression with a whole value");
    return std::nullopt;
  }
  if (const std::size_t question = find_outside_quotes(content, '?'); question != std::string_view::npos) {
    const std::size_t colon = find_outside_quotes(content, ':', question);
    const auto yes =
        colon == std::string_view::npos ? std::nullopt : unquoted(content.substr(question + 1, colon - question - 1));
    const auto no = colon == std::string_view::npos ? std::nullopt : unquoted(content.substr(colon + 1));
    if (yes && no) {
      const auto chosen = evaluate(trim(content.substr(0, question)), where(node), named, false);
      if (!chosen) return std::nullopt;
      return expand(chosen->value != 0 ? *yes : *no, node, depth + 1);
    }
    if (content.find('\'') != std::string_view::npos) {
      error(node, "bad-template", named.text() + " is not a choice between two texts",
            "write $(condition ? 'one' : 'other')");
      return std::nullopt;
    }
  }
  bool varies = false;
  if (const Known* known = find_known(content, varies); known != nullptr && known->is_text) return known->text;
  const auto value = evaluate(content, where(node), named, false);
  if (!value) return std::nullopt;
  if (value->value != std::round(value->value) || std::abs(value->value) > largest_whole) {
    error(node, "not-whole", named.text() + " is " + shortest(value->value) + ", but a name needs a whole number",
          "use floor(), ceil() or round()");
    return std::nullopt;
  }
  return std::to_string(static_cast<long long>(value->value));
}

std::optional<std::string> Values::expand(std::string_view text, const Node& node, int depth) {
  if (depth > deepest_template) {
    error(node, "too-deep", "$( ) within $( ) is nested too deep", "use a parameter of the repetition");
    return std::nullopt;
  }
  std::string result;
  while (!text.empty()) {
    const std::size_t open = text.find("$(");
    result += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = closing(text, open + 2);
    if (close == std::string_view::npos) {
      error(node, "bad-template", quote(text.substr(open)) + " has no closing bracket", "write $(i)");
      return std::nullopt;
    }
    const auto part = expand_one(text.substr(open + 2, close - open - 2), node, depth);
    if (!part) return std::nullopt;
    result += *part;
    if (result.size() > 1'000'000) {
      error(node, "too-large", "this text becomes longer than a million characters", "");
      return std::nullopt;
    }
    text.remove_prefix(close + 1);
  }
  return result;
}

const Node& Values::instantiate(const Node& node) {
  if (!node.templated) return node;
  Node copy = node;
  copy.templated = false;
  if (node.is_scalar()) {
    copy.text = document_.keep(expand(node.text, node, 0).value_or(""));
    return document_.keep(copy);
  }
  std::vector<Node> children;
  const std::size_t count = node.is_mapping() ? std::size_t{2} * node.count : node.count;
  children.reserve(count);
  for (std::size_t i = 0; i < count; ++i) children.push_back(instantiate(node.first[i]));
  copy.first = document_.keep(children.data(), count);
  return document_.keep(copy);
}

namespace {

// Which arguments of a function are names: all (of places, in measures), one (of a spline or table), or none.
enum class Named { none, places, first, third };
Named named_arguments(std::string_view function) {
  if (find_measure(function) != nullptr) return Named::places;
  if (const SensorDescription* sensor = find_sensor(function))
    return sensor->kind == SensorDescription::Kind::state_rate ? Named::first : Named::places;
  for (const std::string_view curve : {"spline", "spline_slope", "spline_curvature", "table"}) {
    if (function == curve) return Named::first;
  }
  std::string lower(function);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const ForeignRow* foreign = find_foreign(lower);
  if (foreign == nullptr) return Named::none;
  switch (foreign->form) {
    case ForeignForm::component:
    case ForeignForm::magnitude:
    case ForeignForm::pair: return Named::places;
    case ForeignForm::curve: return Named::third;
    default: return Named::none;
  }
}

// From where to where the name in argument `number` stands, without quotes and blanks; arguments begin at `at`.
std::pair<std::size_t, std::size_t> name_in_argument(std::string_view text, std::size_t at, int number) {
  int depth = 0;
  for (char quoted = 0; number > 0 && at < text.size(); ++at) {
    const char c = text[at];
    if (quoted != 0) {
      if (c == quoted) quoted = 0;
    } else if (c == '\'' || c == '"') {
      quoted = c;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      --depth;
    } else if (c == ',' && depth == 0) {
      --number;
    }
  }
  while (at < text.size() && (text[at] == ' ' || text[at] == '\'' || text[at] == '"')) ++at;
  std::size_t stop = at;
  while (stop < text.size() && in_place_name(text[stop])) ++stop;
  return {at, stop};
}

}  // namespace

std::string Values::with_values(std::string_view expression, const Node& node, const Place& place) {
  std::string result;
  const auto put_number = [&](double value) {
    const std::string digits = shortest(value);
    result += value < 0 || std::signbit(value) ? "(" + digits + ")" : digits;
  };
  std::map<std::size_t, std::size_t> curves;  // names of splines and tables: from where to where
  for (std::size_t at = 0; at < expression.size();) {
    const char c = expression[at];
    if (const auto curve = curves.find(at); curve != curves.end() && curve->second > at) {
      const std::string_view name = expression.substr(at, curve->second - at);
      result += qualify_ ? qualify_(name, false) : std::string(name);
      at = curve->second;
      continue;
    }
    if ((c >= '0' && c <= '9') || c == '.') {  // the e of 1e5 is no name
      while (at < expression.size() && (in_name(expression[at]) || expression[at] == '.')) result += expression[at++];
      continue;
    }
    if (!starts_name(c)) {
      result += c;
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < expression.size() && in_name(expression[end])) ++end;
    const std::string_view name = expression.substr(at, end - at);
    std::size_t open = end;
    while (open < expression.size() && expression[open] == ' ') ++open;
    const bool call = open < expression.size() && expression[open] == '(';
    bool varies = false;
    Known* const known = find_known(name, varies);
    const std::size_t close = call ? closing(expression, open + 1) : std::string_view::npos;
    const Named named = call && close != std::string_view::npos ? named_arguments(name) : Named::none;
    if (named == Named::first || named == Named::third)
      curves.insert(name_in_argument(expression.substr(0, close), open + 1, named == Named::first ? 0 : 2));
    if (call && known != nullptr && known->is_array && close != std::string_view::npos) {
      const auto value = evaluate(expression.substr(at, close + 1 - at), where(node), place, true);
      put_number(value ? value->value : 0);
      at = close + 1;
    } else if (named == Named::places) {
      // Its arguments are names of places, plain or in quotes.
      result += expression.substr(at, open + 1 - at);
      for (at = open + 1; at < close;) {
        if (!in_place_name(expression[at])) {
          result += expression[at++];
          continue;
        }
        std::size_t stop = at;
        while (stop < close && in_place_name(expression[stop])) ++stop;
        const std::string_view part = expression.substr(at, stop - at);
        const bool left_out = part == "0";  // as ADAMS writes the ground
        result += qualify_ && !left_out ? qualify_(part, true) : std::string(part);
        at = stop;
      }
    } else if (!call && known != nullptr && !known->is_text && !known->is_array && (varies || qualify_)) {
      known->used = true;
      put_number(known->si_value);
      at = end;
    } else {
      result += !call && qualify_ ? qualify_(name, false) : std::string(name);
      at = end;
    }
  }
  return result;
}

}  // namespace trammel
