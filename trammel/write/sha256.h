// SHA-256 (FIPS 180-4), to tie a result to the exact text of its model.
#pragma once
#include <string>
#include <string_view>

namespace trammel {

// 64 lower-case hexadecimal digits, as printed by sha256sum.
std::string sha256_hex(std::string_view text);

}  // namespace trammel
