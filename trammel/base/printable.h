// Texts of others (names in files, answers of programs, messages of libraries) made fit for a terminal.
#pragma once
#include <exception>
#include <string>
#include <string_view>

namespace trammel {

// Control characters, also those of two bytes, as \x1b and the like; line ends and tabs stay if `lines`.
std::string printable(std::string_view text, bool lines = false);
bool is_printable(std::string_view text, bool lines = false);  // there are none to replace

// As a cell of a Markdown table, which a bare '|' would end.
std::string table_cell(std::string_view text);

// What a library's exception says, without the mark of the library: "[json.exception.parse_error.101] ..."
std::string plain_reason(const std::exception& e);

}  // namespace trammel
