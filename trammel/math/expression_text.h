// Characters and quotations of expression texts: shared by the parser and the builder of the tape; not for other users.
#pragma once
#include <string>
#include <string_view>

#include "trammel/base/numbers.h"

namespace trammel::expression_text {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool is_continuation_byte(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }
// In the names of frames and joints given to a measure, where no operator can stand.
inline bool is_item_char(char c) {
  return is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80U ||
         std::string_view(".-/:#@").find(c) != std::string_view::npos;
}

inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// How many bytes of well-formed UTF-8 stand for one character at `at`; 0 if they are not well-formed.
inline std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0U;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80U) return 1;
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte(at + 1);  // overlong forms, surrogates and what is beyond U+10FFFF
  if ((lead == 0xE0U && second < 0xA0U) || (lead == 0xEDU && second > 0x9FU) || (lead == 0xF0U && second < 0x90U) ||
      (lead == 0xF4U && second > 0x8FU)) {
    return 0;
  }
  return length;
}

// Fit for a message: one line of well-formed UTF-8.
inline std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0) {
      result += '?';
      ++i;
    } else if (length == 1 && (text[i] < ' ' || text[i] == '\x7f')) {
      result += is_blank(text[i]) ? ' ' : '?';
      ++i;
    } else {
      result += text.substr(i, length);
      i += length;
    }
  }
  return result;
}

// The bytes [begin, end), moved to whole characters, with dots where something is left off.
inline std::string shortened(std::string_view text, std::size_t begin, std::size_t end) {
  end = std::min(end, text.size());
  while (begin > 0 && begin < text.size() && is_continuation_byte(text[begin])) --begin;
  while (end < text.size() && is_continuation_byte(text[end])) ++end;
  return (begin > 0 ? "..." : "") + printable(text.substr(begin, end - begin)) + (end < text.size() ? "..." : "");
}

inline std::string in_quotes(std::string_view text) { return "'" + shortened(text, 0, 40) + "'"; }

}  // namespace trammel::expression_text
