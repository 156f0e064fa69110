#include "trammel/base/literal.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "trammel/base/characters.h"
#include "trammel/base/diagnosis.h"

namespace trammel {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
using characters::is_digit;
using characters::is_letter;
bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool Literal::has_unit() const { return !rest.empty() && (is_letter(rest[0]) || rest[0] == '1' || rest[0] == '('); }

Literal read_literal(std::string_view text) {
  Literal literal;
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  const char* begin = text.data() + (plus ? 1 : 0);
  const char* const end = text.data() + text.size();
  const char* first = begin < end && *begin == '-' ? begin + 1 : begin;
  if (first == end || !(is_digit(*first) || *first == '.')) return literal;  // "inf" and "nan" are no numbers
  const auto [stop, status] = std::from_chars(begin, end, literal.value);
  if (status == std::errc::invalid_argument) return literal;
  literal.is_number = true;
  literal.out_of_range = status == std::errc::result_out_of_range;
  literal.rest = trim(std::string_view(stop, static_cast<std::size_t>(end - stop)));
  return literal;
}

bool is_not_finite_word(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  if (!text.empty() && text[0] == '.') text.remove_prefix(1);
  std::string lower;
  for (const char c : text.substr(0, 9)) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower == "inf" || lower == "infinity" || lower == "nan";
}

bool is_good_name(std::string_view name) {
  if (name.empty() || name.size() > 200) return false;
  const auto starts = [](char c) { return is_letter(c) || c == '_' || is_beyond_ascii(c); };
  const auto goes_on = [&](char c) { return starts(c) || is_digit(c) || c == '-'; };
  return starts(name[0]) && std::all_of(name.begin(), name.end(), goes_on);
}

bool is_plain_name(std::string_view name) {
  return is_good_name(name) &&
         std::none_of(name.begin(), name.end(), [](char c) { return c == '-' || is_beyond_ascii(c); });
}

std::string quote(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::size_t end = std::min(text.size(), longest);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string result = "'";
  for (const char c : text.substr(0, end)) result += is_blank(c) ? ' ' : static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return result + (end < text.size() ? "...'" : "'");
}

std::string list_of(const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.size() > 200) return "";  // no slip of the pen; and the distance costs the product of the lengths
  const std::string near = nearest_name(name, candidates);
  return near.empty() ? "" : "did you mean " + quote(near) + "?";
}

}  // namespace trammel
