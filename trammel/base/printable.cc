#include "trammel/base/printable.h"

#include <cstdio>

namespace trammel {

std::string printable(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    const bool kept = lines && (c == '\n' || c == '\t');
    const bool of_two = c == 0xC2 && next >= 0x80 && next <= 0x9F;  // U+0080 to U+009F: some terminals obey them
    if ((c >= 0x20 && c != 0x7F && !of_two) || kept) {
      out += text[i];
      continue;
    }
    char code[8];
    std::snprintf(code, sizeof code, "\\x%02x", of_two ? next : c);
    out += code;
    if (of_two) ++i;
  }
  return out;
}

bool is_printable(std::string_view text, bool lines) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7F || c == 0xC2) return printable(text, lines) == text;
  }
  return true;
}

std::string table_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string plain_reason(const std::exception& e) {
  std::string_view what = e.what();
  if (what.starts_with("[json.exception.")) {
    const std::size_t end = what.find("] ");
    if (end != std::string_view::npos) what.remove_prefix(end + 2);
  }
  return printable(what);
}

}  // namespace trammel
